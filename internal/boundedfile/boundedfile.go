// Package boundedfile opens and reads regular files, up to a size limit. Everything else that a
// name can stand for is an error at once: folders, devices, sockets, and pipes, which would block.
package boundedfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Read returns the bytes of the regular file at path. A file of more than limit bytes is an error,
// and is not loaded.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return readAll(f, path, limit)
}

// ReadWithFolder is Read, and opens the folder of the file for ReadBeside. The caller closes it.
func ReadWithFolder(path string, limit int64) (data []byte, folder *os.Root, err error) {
	if data, err = Read(path, limit); err != nil {
		return nil, nil, err
	}
	// A root keeps paths and links inside the folder.
	folder, err = os.OpenRoot(filepath.Dir(path))
	return data, folder, err
}

// ReadBeside returns the bytes of the regular file name, which the file at path refers to. root is
// the folder of path, and name lies in it or below.
//
// A hard link can lead out of the folder, and does not show where to. So a file with several names
// is read only if its owner is that of path. This leaves alone package managers, backups and other
// programs that store equal files once: all of their links have one owner.
func ReadBeside(root *os.Root, path, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && hardLinked(info) {
		var from fs.FileInfo
		if from, err = os.Stat(path); err == nil && !sameOwner(info, from) {
			err = fmt.Errorf("%s: a hard link to a file of another owner than %s: use a copy", name, filepath.Base(path))
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return readAll(f, name, limit)
}

// readAll returns the rest of f, and closes it.
func readAll(f *os.File, path string, limit int64) ([]byte, error) {
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	var data bytes.Buffer
	if size <= limit {
		data.Grow(int(size) + bytes.MinRead)
		_, err = data.ReadFrom(io.LimitReader(f, limit+1)) // the file may be growing
		size = max(size, int64(data.Len()))
	}
	if size > limit {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read", path, size, limit)
	}
	return data.Bytes(), err
}

// Open opens the regular file at path for reading, at any size.
func Open(path string) (*os.File, error) { return open(path, os.Stat, os.OpenFile) }

// OpenIn opens the regular file name in root or below for reading, at any size.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return open(name, root.Stat, root.OpenFile)
}

func open(path string, stat func(string) (fs.FileInfo, error), open func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	info, err := stat(path) // first: to open a device may change its state
	if err := check(path, info, err); err != nil {
		return nil, err
	}
	// Another file may have the name by now. A pipe does not block, and is found below.
	f, err := open(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, check(path, nil, err)
	}
	info, err = f.Stat()
	if err := check(path, info, err); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// check returns the error of a file that cannot be read.
func check(path string, info fs.FileInfo, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing(path)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: not a regular file", path)
	}
	return nil
}

// missing is the error for a path that does not exist. It is an fs.ErrNotExist for errors.Is, but
// not for os.IsNotExist, which knows only the errors of package os.
type missing string

func (m missing) Error() string        { return string(m) + ": no such file" }
func (m missing) MissingFile() string  { return string(m) }
func (m missing) Is(target error) bool { return target == fs.ErrNotExist }
