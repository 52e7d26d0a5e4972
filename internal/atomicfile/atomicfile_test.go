package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"first", "second"} {
		if err := Write(path, func(w io.Writer) error { _, err := fmt.Fprint(w, text); return err }); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Fatalf("read %q, want %q", got, text)
		}
	}
}

func TestFailureLeavesTheOldFileAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := Write(path, func(w io.Writer) error {
		fmt.Fprint(w, "half")
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("error %v does not wrap the cause", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the old file now holds %q", got)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestMissingFolder(t *testing.T) {
	if Write(filepath.Join(t.TempDir(), "no", "f"), func(io.Writer) error { return nil }) == nil {
		t.Error("a missing folder was not reported")
	}
}
