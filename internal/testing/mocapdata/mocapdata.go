// Package mocapdata finds the motion-capture sets that tests read. They are not part of the
// repository: tests that need them are skipped without them.
package mocapdata

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mannequin/internal/testing/must"
)

// Dir returns the folder of the unpacked sets (dog, odd-bvh, cmu-locomotion, … and reference). It
// is $MANNEQUIN_DATA if that is set. Otherwise archives in ../shared/data beside the repository are
// unpacked once into the user's cache. Without either the test is skipped.
func Dir(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv("MANNEQUIN_DATA"); dir != "" {
		return dir
	}
	src := filepath.Join(filepath.Dir(root(tb)), "shared", "data")
	unpack := filepath.Join(src, "unpack.sh")
	if _, err := os.Stat(unpack); err != nil {
		tb.Skip("motion-capture sets are not here: set MANNEQUIN_DATA to the folder that holds dog/, odd-bvh/ and reference/")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dst := filepath.Join(cache, "mannequin", "data")
	if _, err := os.Stat(dst); err == nil {
		return dst
	}
	// Unpack beside and rename, so that packages testing at the same time never see half a folder.
	// The loser of the race deletes its copy.
	must.Do(tb, os.MkdirAll(filepath.Dir(dst), 0o755))
	tmp := must.Get(os.MkdirTemp(filepath.Dir(dst), "unpack"))(tb)
	defer os.RemoveAll(tmp)
	if out, err := exec.Command("sh", unpack, tmp).CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v\n%s", unpack, err, out)
	}
	if err := os.Rename(tmp, dst); err != nil {
		if _, serr := os.Stat(dst); serr != nil {
			tb.Fatal(err)
		}
	}
	return dst
}

// root returns the folder of go.mod.
func root(tb testing.TB) string {
	dir := must.Get(os.Getwd())(tb)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("go.mod not found above the working directory")
		}
		dir = up
	}
}
