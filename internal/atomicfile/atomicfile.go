// Package atomicfile writes files that are either whole or absent.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Write makes the file at path with the output of write, as [Create] and [File.Commit] do. If any
// step fails, path keeps its old contents and nothing is left beside it.
func Write(path string, write func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	return f.fill(write)
}

// fill writes the whole file.
func (f *File) fill(write func(io.Writer) error) error {
	defer f.Abort() // also when write panics
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return f.failed(err)
	}
	if err := w.Flush(); err != nil {
		return f.failed(err)
	}
	return f.Commit()
}

// Fault is for tests of what a program does when the disk fails: if it is not nil, it is called
// before each step of a write, "create", "write", "sync", "close" or "rename", and returns the
// step's error.
var Fault func(step, path string) error

// File is a temporary file beside the one that it replaces. Errors name the file to replace.
type File struct {
	path   string // as the caller names it
	target string // where links lead
	temp   string
	file   *os.File
	lock   io.Closer // shows other processes that the temporary file has an owner
}

// Create makes a temporary file in the folder of path, and removes those that killed processes left
// of earlier attempts. A new file has the usual permissions and a replaced file keeps its own. If
// path is a symbolic link, its target is replaced. It is an error if path is a folder, a device or a
// pipe, which a rename would destroy.
func Create(path string) (*File, error) {
	f := &File{path: path, target: follow(path)}
	if err := f.create(); err != nil {
		return nil, f.failed(bare(err))
	}
	return f, nil
}

func (f *File) create() error {
	old, err := os.Stat(f.target)
	if err == nil && !old.Mode().IsRegular() {
		return errors.New("it exists and is not a regular file")
	}
	if err := f.fault("create"); err != nil {
		return err
	}
	f.temp, f.lock, err = temporary(f.target, func(temp string) (err error) {
		f.file.Close() // of an attempt before
		f.file, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	if err != nil {
		f.file.Close()
		return err
	}
	if old != nil {
		if err := f.file.Chmod(old.Mode().Perm()); err != nil {
			f.Abort()
			return err
		}
	}
	return nil
}

// Temp returns the path of the temporary file, for another program that writes it.
func (f *File) Temp() string { return f.temp }

// Write writes to the temporary file. Its error does not name the file.
func (f *File) Write(b []byte) (int, error) {
	if err := f.fault("write"); err != nil {
		return 0, bare(err)
	}
	n, err := f.file.Write(b)
	return n, bare(err)
}

// Commit flushes the temporary file to disk and renames it to path. After an error path has its old
// contents.
func (f *File) Commit() error {
	defer f.Abort()
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"sync", f.file.Sync},
		{"close", f.file.Close},
		{"rename", func() error { return os.Rename(f.temp, f.target) }},
	} {
		err := f.fault(step.name)
		if err == nil {
			err = step.do()
		}
		if err != nil {
			return f.failed(bare(err))
		}
	}
	f.temp = ""
	// The rename itself must reach the disk too. Not every system can sync a folder, and the file's
	// bytes are safe either way.
	if d, err := os.Open(filepath.Dir(f.target)); err == nil {
		d.Sync()
		d.Close()
	}
	return nil
}

// Abort removes the temporary file. After Commit it does nothing.
func (f *File) Abort() {
	f.file.Close()
	if f.temp != "" {
		os.Remove(f.temp)
		f.temp = ""
	}
	f.lock.Close()
}

func (f *File) fault(step string) error {
	if Fault == nil {
		return nil
	}
	return Fault(step, f.path)
}

func (f *File) failed(err error) error { return fmt.Errorf("cannot write %s: %w", f.path, err) }

// bare returns the cause of an error of package os, which would name the temporary file.
func bare(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// follow returns where links lead, or path if it does not exist.
func follow(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// errOwned is the error of a temporary file that belongs to another process.
var errOwned = errors.New("another process owns it")

// temporary sweeps and then makes a file or folder with a temporary name beside path. It belongs to
// this process until lock is closed.
func temporary(path string, create func(temp string) error) (temp string, lock io.Closer, err error) {
	dir, base := filepath.Split(path)
	start := "." + base + ".tmp" // a number follows
	sweep(dir, start)
	for {
		temp = dir + start + strconv.FormatUint(rand.Uint64(), 10)
		if err := create(temp); err != nil {
			return "", nil, err
		}
		lock, err := claim(temp)
		switch {
		case lock != nil: // even without a lock, which some file systems do not have
			return temp, lock, nil
		case !errors.Is(err, errOwned) && !errors.Is(err, fs.ErrNotExist):
			os.Remove(temp)
			return "", nil, err
		}
		// Another process has swept it before the claim.
	}
}

// sweep removes the temporary files and folders in dir whose process has ended.
func sweep(dir, start string) {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return // making the file will report it
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			number, ok := strings.CutPrefix(name, start)
			if _, err := strconv.ParseUint(number, 10, 64); !ok || err != nil {
				continue
			}
			temp := dir + name
			if st, err := os.Lstat(temp); err != nil || !st.Mode().IsRegular() && !st.IsDir() {
				continue
			}
			lock, err := claim(temp)
			if err == nil {
				os.RemoveAll(temp)
			}
			if lock != nil {
				lock.Close()
			}
		}
		if err != nil {
			return
		}
	}
}
