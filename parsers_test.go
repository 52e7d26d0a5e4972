package mannequin_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// decoders are the functions that read bytes from outside, by package. With binary they are the
// methods of a byte order.
var decoders = map[string][]string{
	"binary":      {"Uint16", "Uint32", "Uint64"},
	"boundedfile": {"Open", "Read", "ReadWithFolder"},
	"boundedtoml": {"Decode"},
	"bufio":       {"NewReader", "NewScanner"},
	"csv":         {"NewReader"},
	"image":       {"Decode", "DecodeConfig"},
	"input":       {"NewTable"},
	"json":        {"NewDecoder", "Unmarshal"},
	"npz":         {"NewReader"},
	"toml":        {"Decode"},
	"xml":         {"NewDecoder", "Unmarshal"},
	"zip":         {"NewReader"},
}

// plain are packages that call a decoder and need no fuzz test, with the reason.
var plain = []struct{ path, why string }{
	{"cmd/demo", "hands tapes to scenes/tape"},
	{"cmd/mannequin/internal/serve", "splits tokens at spaces; certificates are for crypto/tls"},
	{"internal/testing/testcli", "reads what our own commands write"},
	{"offline/character", "hands files to animsys/skin and offline/fbx"},
	{"offline/procgen/internal/clips", "compares a licence with its own"},
}

// Every package that decodes bytes from outside has a fuzz test.
func TestParsersAreFuzzed(t *testing.T) {
	calls, fuzzed := map[string]string{}, map[string]bool{} // by folder
	sources(t, func(path string, set *token.FileSet, file *ast.File) {
		dir := filepath.ToSlash(filepath.Dir(path))
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				fuzzed[dir] = fuzzed[dir] || strings.HasSuffix(path, "_test.go") && strings.HasPrefix(n.Name.Name, "Fuzz")
			case *ast.SelectorExpr:
				x := n.X
				if order, ok := x.(*ast.SelectorExpr); ok {
					x = order.X
				}
				pkg, ok := x.(*ast.Ident)
				if ok && !strings.HasSuffix(path, "_test.go") && slices.Contains(decoders[pkg.Name], n.Sel.Name) && (x == n.X) != (pkg.Name == "binary") {
					calls[dir] = set.Position(n.Pos()).String() + ": " + pkg.Name + "." + n.Sel.Name
				}
			}
			return true
		})
	})
	for _, p := range plain {
		if calls[p.path] == "" || fuzzed[p.path] {
			t.Errorf("%s decodes nothing, or has a fuzz test: remove it from the list", p.path)
		}
		delete(calls, p.path)
	}
	for dir, call := range calls {
		if !fuzzed[dir] {
			t.Errorf("%s, and no test of %s is a fuzz test: add one", call, dir)
		}
	}
}
