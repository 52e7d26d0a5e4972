package boundedfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("four"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 4); err != nil || string(b) != "four" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Read(path, 3); err == nil {
		t.Error("read more than the limit")
	}
	if _, err := Read(filepath.Dir(path), 100); err == nil {
		t.Error("read a folder")
	}
	if _, err := Read(path+"x", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := Read("/dev/zero", 100); err == nil {
			t.Error("read a device")
		}
	}
}
