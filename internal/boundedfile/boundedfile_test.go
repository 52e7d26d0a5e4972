package boundedfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"mannequin/internal/testing/must"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must.Do(t, os.WriteFile(path, []byte("four"), 0o644))
	if b, err := Read(path, 4); err != nil || string(b) != "four" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Read(path, 3); err == nil {
		t.Error("read more than the limit")
	}
	if _, err := Read(filepath.Dir(path), 100); err == nil {
		t.Error("read a folder")
	}
	if f, err := Open(path); err != nil || f.Close() != nil {
		t.Errorf("opening it: %v", err)
	}
	if f, err := Open(filepath.Dir(path)); err == nil {
		t.Errorf("opened a folder: %v", f.Close())
	}
	_, read := Read(path+"x", 100)
	_, opened := Open(path + "x")
	for _, err := range []error{read, opened} {
		if !errors.Is(err, fs.ErrNotExist) || err.Error() != path+"x: no such file" {
			t.Errorf("missing file: %v", err)
		}
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := Read("/dev/zero", 100); err == nil {
			t.Error("read a device")
		}
	}
}
