package mannequin_test

import (
	"go/ast"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// unraced are packages in which goroutines meet whose tests run without the race detector, with the reason.
var unraced = []struct{ path, why string }{
	{".", "a test calls functions on a goroutine, one after the other, to notice one that does not return"},
	{"animsys/skin", "a goroutine of a test opens a file, to notice one that is never opened; the test waits for it"},
	{"cmd/demo", "a goroutine of a test waits for the program"},
	{"cmd/mannequin/internal/motion", "one goroutine of a test runs the command, the others write and read its pipes"},
}

// Every package in which goroutines meet is one of those that make test runs with the race detector.
func TestGoroutinesAreRaced(t *testing.T) {
	out := must.Get(exec.Command("sh", "scripts/race.sh").Output())(t)
	raced := map[string]bool{}
	for _, dir := range strings.Fields(string(out)) {
		raced[strings.TrimPrefix(dir, "./")] = true
	}
	meet := map[string]string{} // where, by folder
	sources(t, func(path string, set *token.FileSet, file *ast.File) {
		dir := filepath.ToSlash(filepath.Dir(path))
		ast.Inspect(file, func(n ast.Node) bool {
			found := false
			switch n := n.(type) {
			case *ast.GoStmt:
				found = true
			case *ast.SelectorExpr:
				pkg, _ := n.X.(*ast.Ident)
				switch {
				case pkg != nil && pkg.Name == "atomic":
					found = true
				case pkg != nil && pkg.Name == "sync": // tests make what they share once
					found = !strings.HasPrefix(n.Sel.Name, "Once") || !strings.HasSuffix(path, "_test.go")
				default:
					found = slices.Contains([]string{"NewPool", "Go", "Parallel"}, n.Sel.Name)
				}
			}
			if found {
				meet[dir] = set.Position(n.Pos()).String()
			}
			return true
		})
	})
	if len(raced) < 30 {
		t.Fatalf("scripts/race.sh prints %d packages", len(raced))
	}
	for _, p := range unraced {
		if meet[p.path] == "" || raced[p.path] {
			t.Errorf("%s has no goroutines, or is raced: remove it from the list", p.path)
		}
		delete(meet, p.path)
	}
	for dir, at := range meet {
		if !raced[dir] {
			t.Errorf("%s: goroutines meet in %s, which scripts/race.sh does not print", at, dir)
		}
	}
}
