// Package examples_test checks that the README shows the programs of this folder and what they
// print. That they print it is checked by the Example of each program.
package examples_test

import (
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// code matches a block of code in Markdown: its text is the first group.
var code = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```\n")

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReadmeShowsPrograms(t *testing.T) {
	readme := read(t, "../README.md")
	for _, name := range []string{"dog", "people"} {
		_, after, found := strings.Cut(readme, "<!-- examples/"+name+" -->\n")
		blocks := code.FindAllStringSubmatch(after, 2)
		if !found || len(blocks) < 2 {
			t.Errorf("README.md has no mark for examples/%s with two blocks of code after it", name)
			continue
		}
		if blocks[0][1] != read(t, filepath.Join(name, "main.go")) {
			t.Errorf("README.md's program is not examples/%s/main.go: copy it", name)
		}
		tests, err := parser.ParseFile(token.NewFileSet(), filepath.Join(name, "main_test.go"), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if want := doc.Examples(tests)[0].Output; blocks[1][1] != want {
			t.Errorf("README.md says that examples/%s prints\n%s\nand it prints\n%s", name, blocks[1][1], want)
		}
	}
}

func TestReadmeIsShort(t *testing.T) {
	prose := code.ReplaceAllString(read(t, "../README.md"), "")
	if n := len(strings.Fields(prose)); n > 1000 {
		t.Errorf("README.md has %d words beside its code, want at most 1000", n)
	}
}
