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
	"strings"
	"syscall"
	"testing"

	"mannequin/internal/testing/must"
)

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, want := range []string{"first", "second"} {
		must.Do(t, Write(path, text(want)))
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Fatalf("read %q, want %q", got, want)
		}
	}
}

func TestFailureLeavesTheOldFileAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must.Do(t, os.WriteFile(path, []byte("old"), 0o644))
	boom := fmt.Errorf("the skin's %w", &fs.PathError{Op: "open", Path: "texture.png", Err: fs.ErrNotExist})
	err := Write(path, func(w io.Writer) error {
		fmt.Fprint(w, "half")
		return boom
	})
	if !errors.Is(err, boom) || err.Error() != "cannot write "+path+": "+boom.Error() {
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

// What killed processes left of a file is gone after its next write. The temporary files of a process
// that is still writing, and other files, stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, name := range []string{".f.tmp1", ".f.tmp18446744073709551615", ".f.tmp", ".f.tmpx", ".g.tmp1", "f.tmp1"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	must.Do(t, os.MkdirAll(filepath.Join(dir, ".f.tmp2", "deeper"), 0o755))
	must.Do(t, os.Symlink("f.tmp1", filepath.Join(dir, ".f.tmp3")))
	slow := must.Get(Create(path))(t)
	frames := must.Get(CreateFolder(path))(t)
	must.Do(t, frames.Write("a", text("a")))
	must.Do(t, Write(path, text("new")))
	if _, err := os.Stat(slow.Temp()); err != nil {
		t.Errorf("the file that is being written: %v", err)
	}
	slow.Abort()
	if _, err := os.Stat(filepath.Join(frames.temp, "a")); err != nil {
		t.Errorf("the folder that is being written: %v", err)
	}
	frames.Abort()
	if got, want := names(t, dir), []string{".f.tmp", ".f.tmp3", ".f.tmpx", ".g.tmp1", "f", "f.tmp1"}; !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
}

// text returns a function that writes s.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// names lists a folder.
func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	for _, f := range must.Get(os.ReadDir(dir))(t) {
		out = append(out, f.Name())
	}
	return out
}

// A step that fails leaves the old file and nothing else, and its error is the cause and the user's
// path, without the temporary name.
func TestFaults(t *testing.T) {
	defer func() { Fault = nil }()
	for _, step := range []string{"create", "write", "sync", "close", "rename"} {
		for _, cause := range []error{syscall.EIO, syscall.ENOSPC, syscall.EMFILE} {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			must.Do(t, os.WriteFile(path, []byte("old"), 0o644))
			Fault = func(at, of string) error {
				if at == step && of == path {
					return &fs.PathError{Op: at, Path: "a temporary name", Err: cause}
				}
				return nil
			}
			err := Write(path, text("new"))
			if !errors.Is(err, cause) || err.Error() != "cannot write "+path+": "+cause.Error() {
				t.Errorf("%s: %v", step, err)
			}
			Fault = nil
			if got, _ := os.ReadFile(path); string(got) != "old" || len(names(t, dir)) != 1 {
				t.Errorf("%s: %q in %q", step, got, names(t, dir))
			}
		}
	}
}

// The system's own errors: a rename to a folder that came meanwhile, a file that was removed.
func TestErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	f := must.Get(Create(path))(t)
	must.Do(t, os.MkdirAll(filepath.Join(path, "sub"), 0o755))
	err := f.Commit()
	if err == nil || !strings.HasPrefix(err.Error(), "cannot write "+path+": ") || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("renaming: %v", err)
	}
	f = must.Get(Create(filepath.Join(dir, "g")))(t)
	f.file.Close()
	if _, err := f.Write([]byte("x")); err == nil || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("writing: %v", err)
	}
	if err := f.Commit(); err == nil || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("flushing: %v", err)
	}
	d := must.Get(CreateFolder(filepath.Join(dir, "h")))(t)
	must.Do(t, d.Write("a", text("a")))
	if err := d.Write("a/b", text("b")); err == nil || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("in a folder: %v", err)
	}
	must.Do(t, os.WriteFile(d.path, nil, 0o644))
	if err := d.Commit(); err == nil || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("moving a folder: %v", err)
	}
	if got, want := names(t, dir), []string{"f", "h"}; !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
}

// A folder's files are put into an old folder beside its others, also through a link.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "frames"), filepath.Join(dir, "link")
	must.Do(t, os.Symlink("frames", link))
	for i, to := range []string{path, path, link} {
		d := must.Get(CreateFolder(to))(t)
		must.Do(t, d.Write("a", text(fmt.Sprint(i))))
		must.Do(t, d.Write(fmt.Sprint(i), text("")))
		must.Do(t, d.Commit())
		if got, _ := os.ReadFile(filepath.Join(path, "a")); string(got) != fmt.Sprint(i) {
			t.Errorf("%s: %q", to, got)
		}
	}
	if got, want := names(t, path), []string{"0", "1", "2", "a"}; !slices.Equal(got, want) {
		t.Errorf("it holds %q, want %q", got, want)
	}
	if got, want := names(t, dir), []string{"frames", "link"}; !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
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
	for _, path := range []string{link, fresh} {
		must.Do(t, Write(path, text("new")))
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
