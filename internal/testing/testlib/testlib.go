// Package testlib builds the C library for tests of programs in other languages.
package testlib

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"mannequin/internal/testing/must"
)

// Root returns the folder of the module.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// Shared builds libmannequin.so into a folder that the test leaves, and returns the folder.
func Shared(t testing.TB) (dir string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("the test loads libmannequin.so, and this is %s", runtime.GOOS)
	}
	dir = t.TempDir()
	must.Do(t, Build(dir, nil))
	return dir
}

// Build builds libmannequin.so into a folder. env and flags are added to those of go build.
func Build(dir string, env []string, flags ...string) error {
	exports := filepath.Join(Root(), "cmd", "libmannequin", "exports.map")
	args := append([]string{"build", "-buildmode=c-shared", "-ldflags=-s -w -extldflags=-Wl,--version-script=" + exports}, flags...)
	cmd := exec.Command("go", append(args, "-o", filepath.Join(dir, "libmannequin.so"), "./cmd/libmannequin")...)
	cmd.Dir, cmd.Env = Root(), append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// Wasm builds the library for JavaScript into a folder that the test leaves: see scripts/wasm.sh.
func Wasm(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	Run(t, Root(), "sh", "scripts/wasm.sh", dir)
	return dir
}

// Program finds a program, or skips the test. With MANNEQUIN_ENGINES set, as in make test-engines, the test fails.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("MANNEQUIN_ENGINES") != "" {
		t.Fatalf("none of the programs %q is installed", names)
	}
	t.Skipf("none of the programs %q is installed: make test-engines installs one and runs this test", names)
	return ""
}

// Run runs a program in a folder and returns what it prints. The test ends if it fails.
func Run(t testing.TB, dir string, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// Copy copies a file or all files of a folder.
func Copy(t testing.TB, to, from string) {
	t.Helper()
	info := must.Get(os.Stat(from))(t)
	if info.IsDir() {
		must.Do(t, os.CopyFS(to, os.DirFS(from)))
		return
	}
	must.Do(t, os.WriteFile(to, must.Get(os.ReadFile(from))(t), 0o644))
}
