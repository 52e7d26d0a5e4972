package mannequin_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// private are words that only this project used for things that the field has a word for, with the
// word to use. They are not for readers: not in documentation, exported names, or what programs print.
// Words with a plain meaning elsewhere are left out: turn, saving, attention, room, part, routine.
var private = map[string]struct {
	use   string
	prose bool // the word is fine in a sentence, not in a name
}{
	"stroller":  {use: "crowd of package latent, people on sliders"},
	"stroll":    {use: "Sample; walk"},
	"wanderer":  {use: "crowd of package strnn, people on predicted motion"},
	"performer": {use: "crowd of package keypose", prose: true}, // of a recording
	"amble":     {use: "Sample", prose: true},                   // a gait of Hildebrand's
	"rehearse":  {use: "Generate"},
	"errand":    {use: "window, worker"},
	"mind":      {use: "agent, agent state"},
	"troupe":    {use: "cast"},
	"company":   {use: "group"},
	"wardrobe":  {use: "style set"},
	"playbill":  {use: "package scenes/open"},
	"stylist":   {use: "GramOptimizer, StyleTranslator"},
	"leapt":     {use: "restarted"},
	"afoot":     {use: "on the ground"},
	"learnt":    {use: "training, hyperparameters", prose: true}, // a verb
}

// splitWords returns the words of a text or of a name, in lower case and without a plural's s.
func splitWords(text string) (words []string) {
	var word strings.Builder
	end := func() {
		if w := strings.ToLower(word.String()); w != "" {
			words = append(words, strings.TrimSuffix(w, "s"))
		}
		word.Reset()
	}
	last := ' '
	for _, r := range text {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && unicode.IsLower(last) {
			end()
		}
		if unicode.IsLetter(r) {
			word.WriteRune(r)
		}
		last = r
	}
	end()
	return words
}

// Readers meet the field's words, and none that only this project knows.
func TestPublicWords(t *testing.T) {
	check := func(where, text string, prose bool) {
		for _, w := range splitWords(text) {
			if p, found := private[w]; found && !(prose && p.prose) {
				t.Errorf("%s: %q is a private word: use %s", where, w, p.use)
			}
		}
	}
	pages := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "models/LICENSES.md"}
	more, err := filepath.Glob("docs/*.md")
	if err != nil || len(more) == 0 {
		t.Fatal("no pages in docs", err)
	}
	for _, page := range append(pages, more...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if page == "CHANGELOG.md" && strings.HasPrefix(line, "|") {
				continue // old names beside the new ones
			}
			check(page, line, true)
		}
	}

	names := 0
	files := token.NewFileSet()
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "out" || d.Name() != "." && d.Name()[0] == '.'):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		prints := strings.HasPrefix(path, "cmd/") || strings.HasPrefix(path, "scenes/")
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field: // keys of files in tags stay as they are
				if n.Tag != nil {
					n.Tag = nil
				}
			case *ast.Ident:
				if n.IsExported() {
					names++
					check(files.Position(n.Pos()).String(), n.Name, false)
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING && prints {
					check(files.Position(n.Pos()).String(), n.Value, true)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if names < 10000 {
		t.Errorf("found only %d exported names", names)
	}
}
