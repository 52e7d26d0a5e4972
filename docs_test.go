package mannequin_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// Every test that docs/reliability.md names exists: "animsys.TestStairs" is in the folder animsys,
// and "mannequin.TestImports" in this one.
func TestNamedTests(t *testing.T) {
	doc, err := os.ReadFile("docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllStringSubmatch(string(doc), -1)
	if len(names) < 50 {
		t.Errorf("only %d names of tests found", len(names))
	}
	sources := map[string]string{}
	for _, n := range names {
		folder := strings.TrimPrefix(n[1], "mannequin")
		if _, ok := sources[folder]; !ok {
			files, _ := filepath.Glob(filepath.Join(".", folder, "*_test.go"))
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources[folder] += string(b)
			}
		}
		if !strings.Contains(sources[folder], "\nfunc "+n[2]+"(") {
			t.Errorf("%s.%s does not exist", n[1], n[2])
		}
	}
}

// All Go code in docs/in-your-game.md is code of a test or an example.
func TestDocsCode(t *testing.T) {
	var code []string
	for _, pattern := range []string{"*/*_test.go", "*/*/*_test.go", "examples/*/*.go"} {
		for _, name := range must.Get(filepath.Glob(pattern))(t) {
			code = append(code, unindented(string(must.Get(os.ReadFile(name))(t))))
		}
	}
	page := string(must.Get(os.ReadFile("docs/in-your-game.md"))(t))
	blocks := strings.Split(page, "```")
	for i := 1; i < len(blocks); i += 2 {
		block, ok := strings.CutPrefix(blocks[i], "go\n")
		if ok && !slices.ContainsFunc(code, func(c string) bool { return strings.Contains(c, unindented(block)) }) {
			t.Errorf("no test or example has this code:\n%s", block)
		}
	}
}

// unindented returns the lines of code without what they begin with.
func unindented(code string) string {
	lines := strings.Split(code, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
