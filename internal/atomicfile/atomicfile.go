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

// Write makes the file at path with the output of write. It writes a temporary file in the same
// folder, flushes it to disk and renames it to path. If any step fails, path keeps its old contents
// and the temporary file is removed. A new file has the usual permissions and a replaced file keeps
// its own. If path is a symbolic link, its target is replaced. It is an error if path is a folder,
// a device or a pipe, which a rename would destroy.
func Write(path string, write func(io.Writer) error) error {
	if err := replace(path, write); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// Sweep removes files that killed calls of Write have left beside path. The caller must ensure that
// nothing writes path at the same time.
func Sweep(path string) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	dir, base := filepath.Dir(path), filepath.Base(path)
	files, err := os.ReadDir(dir)
	if err != nil {
		return // Write will report it
	}
	for _, f := range files {
		number, ok := strings.CutPrefix(f.Name(), temporary(base))
		if _, err := strconv.ParseUint(number, 10, 64); ok && err == nil && f.Type().IsRegular() {
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// temporary returns the start of a temporary file's name; a number follows.
func temporary(base string) string { return "." + base + ".tmp" }

func replace(path string, write func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	old, err := os.Stat(path)
	if err == nil && !old.Mode().IsRegular() {
		return errors.New("it exists and is not a regular file")
	}
	dir, base := filepath.Split(path)
	temp := fmt.Sprintf("%s%s%d", dir, temporary(base), rand.Uint64())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) { // without the temporary name
			err = p.Err
		}
		return err
	}
	done := false
	defer func() {
		if !done { // also when write panics
			f.Close()
			os.Remove(temp)
		}
	}()
	if old != nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	done = true
	// The rename itself must reach the disk too. Not every system can sync a folder, and the file's
	// bytes are safe either way.
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		d.Sync()
		d.Close()
	}
	return nil
}
