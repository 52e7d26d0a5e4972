package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"mannequin/internal/testing/must"
)

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"first", "second"} {
		must.Do(t, Write(path, func(w io.Writer) error { _, err := fmt.Fprint(w, text); return err }))
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Fatalf("read %q, want %q", got, text)
		}
	}
}

func TestFailureLeavesTheOldFileAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must.Do(t, os.WriteFile(path, []byte("old"), 0o644))
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

func TestPanicLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	must.Panic(t, "boom", func() {
		Write(filepath.Join(dir, "f"), func(io.Writer) error { panic("boom") })
	})
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	write := func(names ...string) {
		for _, name := range names {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
		}
	}
	write(".f.tmp1", ".f.tmp18446744073709551615")
	Sweep(filepath.Join(dir, "f")) // which does not exist yet
	write("f", ".f.tmp7", ".f.tmp", ".f.tmpx", ".g.tmp1", "f.tmp1")
	Sweep(filepath.Join(dir, "f"))
	left := must.Get(os.ReadDir(dir))(t)
	var names []string
	for _, f := range left {
		names = append(names, f.Name())
	}
	if want := []string{".f.tmp", ".f.tmpx", ".g.tmp1", "f", "f.tmp1"}; !slices.Equal(names, want) {
		t.Errorf("left %q, want %q", names, want)
	}
	Sweep(filepath.Join(dir, "no", "f"))
}

func TestMissingFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "f")
	err := Write(path, func(io.Writer) error { return nil })
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != "cannot write "+path+": "+syscall.ENOENT.Error() {
		t.Errorf("a missing folder gives %v", err)
	}
}

// A rename to a device or a socket would replace it with a file.
func TestOnlyRegularFilesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	for _, path := range []string{socket, dir} {
		if err := Write(path, func(io.Writer) error { return nil }); err == nil {
			t.Errorf("%s was replaced", path)
		}
	}
	if st, err := os.Stat(socket); err != nil || st.Mode().IsRegular() {
		t.Errorf("the socket is gone: %v", err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestLinksAndPermissionsStay(t *testing.T) {
	dir := t.TempDir()
	file, link, fresh, other := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "fresh"), filepath.Join(dir, "other")
	must.Do(t, os.WriteFile(file, []byte("old"), 0o600))
	if err := os.Symlink("file", link); err != nil {
		t.Skip(err)
	}
	text := func(w io.Writer) error { _, err := fmt.Fprint(w, "new"); return err }
	for _, path := range []string{link, fresh} {
		must.Do(t, Write(path, text))
	}
	st, err := os.Lstat(link)
	if err != nil || st.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", st.Mode(), err)
	}
	if b, _ := os.ReadFile(file); string(b) != "new" {
		t.Errorf("the link's target holds %q", b)
	}
	if st, _ := os.Stat(file); st.Mode().Perm() != 0o600 {
		t.Errorf("permissions became %v", st.Mode())
	}
	// With the default permissions of a new file.
	f := must.Get(os.Create(other))(t)
	f.Close()
	a, _ := os.Stat(fresh)
	b, _ := os.Stat(other)
	if a.Mode() != b.Mode() {
		t.Errorf("a new file has the permissions %v, want %v", a.Mode(), b.Mode())
	}
}
