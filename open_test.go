package mannequin_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// opens are the files of the tree that open or create files by themselves, with the reason. All
// others read with package boundedfile, which refuses pipes and devices and has a limit, and write
// with package atomicfile, which never leaves half a file and hides its temporary names. An entry
// that ends with a slash is a folder.
var opens = []struct{ path, why string }{
	{"internal/boundedfile/", "opens regular files for all readers"},
	{"internal/atomicfile/", "creates its own files"},
	{"internal/testing/", "reads the files of tests"},
	{"cmd/mannequin/internal/serve/", "opens its folder"},
	{"offline/train/lock", "opens the lock that it or another run made"},
	{"offline/queue/folder.go", "appends to its journal"},
	{"offline/queue/group_", "opens the folders of jobs, to lock them"},
	{"offline/queue/run.go", "makes the folders of jobs, and files in them"},
	{"cmd/demo/tape.go", "a tape can be played as far as it was written"},
}

// sources calls f with every Go file of the module.
func sources(t *testing.T, f func(path string, set *token.FileSet, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err == nil {
			f(path, set, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Files of users are opened in one place, and made in one.
func TestOpens(t *testing.T) {
	names := []string{"Open", "OpenFile", "ReadFile", "OpenRoot", "OpenInRoot", "DirFS", "CopyFS",
		"Create", "CreateTemp", "MkdirTemp", "WriteFile", "Rename", "Link", "Symlink", "Truncate"}
	used := make([]bool, len(opens))
	sources(t, func(path string, set *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok || !(pkg.Name == "os" && slices.Contains(names, sel.Sel.Name) || pkg.Name == "syscall" && strings.HasPrefix(sel.Sel.Name, "Open")) {
				return true
			}
			row := slices.IndexFunc(opens, func(o struct{ path, why string }) bool {
				return strings.HasPrefix(filepath.ToSlash(path), o.path)
			})
			if row < 0 {
				t.Errorf("%s: %s.%s: read files with internal/boundedfile, write them with internal/atomicfile", set.Position(n.Pos()), pkg.Name, sel.Sel.Name)
			} else {
				used[row] = true
			}
			return true
		})
	})
	for i, u := range used {
		if !u {
			t.Errorf("nothing in %s opens a file: remove it from the list", opens[i].path)
		}
	}
}
