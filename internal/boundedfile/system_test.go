//go:build unix

package boundedfile

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mannequin/internal/testing/must"
)

// Pipes, sockets, devices and folders are refused at once, also through links, in a root, and if
// they take a file's name after it was looked at.
func TestNotRegular(t *testing.T) {
	dir := must.Get(os.MkdirTemp("", "b"))(t) // short: a socket's name has a limit
	t.Cleanup(func() { os.RemoveAll(dir) })
	root := must.Get(os.OpenRoot(dir))(t)
	defer root.Close()
	in := func(name string) string { return filepath.Join(dir, name) }
	must.Do(t, os.WriteFile(in("file"), []byte("four"), 0o644))
	must.Do(t, syscall.Mkfifo(in("pipe"), 0o644))
	must.Do(t, os.Symlink("pipe", in("link")))
	must.Do(t, os.Mkdir(in("folder"), 0o755))
	socket := must.Get(net.Listen("unix", in("socket")))(t)
	defer socket.Close()
	regular := func(string) (fs.FileInfo, error) { return os.Stat(in("file")) }
	for _, name := range []string{"pipe", "link", "folder", "socket", "/dev/null", "/dev/zero"} {
		path := in(name)
		if name[0] == '/' {
			path = name
		}
		for how, read := range map[string]func() error{
			"Read":       func() error { _, err := Read(path, 100); return err },
			"Open":       func() error { _, err := Open(path); return err },
			"OpenIn":     func() error { _, err := OpenIn(root, name); return err },
			"ReadBeside": func() error { _, err := ReadBeside(root, in("file"), name, 100); return err },
			"exchanged":  func() error { _, err := open(path, regular, os.OpenFile); return err },
		} {
			result := make(chan error, 1)
			go func() { result <- read() }()
			select {
			case err := <-result:
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s of %s: %v", how, name, err)
				}
			case <-time.After(5 * time.Second):
				t.Errorf("%s of %s blocks", how, name)
			}
		}
	}
}

// A hard link is read if it belongs to the owner of the file that refers to it, and only then.
func TestHardLinks(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a.gltf", "theirs"} {
		must.Do(t, os.WriteFile(in(name), []byte("four"), 0o644))
	}
	must.Do(t, os.Link(in("theirs"), in("a.bin")))
	root := must.Get(os.OpenRoot(dir))(t)
	defer root.Close()
	read := func(name string) (string, error) {
		b, err := ReadBeside(root, in("a.gltf"), name, 4)
		return string(b), err
	}
	if got := must.Get(read("a.bin"))(t); got != "four" {
		t.Errorf("read %q", got)
	}
	must.Fail(ReadBeside(root, in("a.gltf"), "a.bin", 3))(t, "a.bin: 4 bytes, at most 3 are read")
	if os.Chown(in("theirs"), 1, -1) != nil {
		t.Skip("only root gives files away")
	}
	must.Fail(read("a.bin"))(t, "a.bin: a hard link to a file of another owner than a.gltf: use a copy")
	must.Do(t, os.Remove(in("theirs"))) // with one name, the owner does not matter
	must.Get(read("a.bin"))(t)
}
