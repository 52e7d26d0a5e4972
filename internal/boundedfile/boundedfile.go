// Package boundedfile reads whole files up to a size limit.
package boundedfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Read returns the bytes of the regular file at path. Devices, pipes, folders and files of more
// than limit bytes are errors, and are not loaded.
func Read(path string, limit int64) ([]byte, error) {
	info, err := stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read", path, info.Size(), limit)
	}
	return os.ReadFile(path)
}

// Open opens the regular file at path for reading, at any size.
func Open(path string) (*os.File, error) {
	if _, err := stat(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

func stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return info, nil
}

// missing is the error for a path that does not exist. It is an fs.ErrNotExist for errors.Is, but
// not for os.IsNotExist, which knows only the errors of package os.
type missing string

func (m missing) Error() string        { return string(m) + ": no such file" }
func (m missing) MissingFile() string  { return string(m) }
func (m missing) Is(target error) bool { return target == fs.ErrNotExist }
