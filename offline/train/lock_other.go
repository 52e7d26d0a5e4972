//go:build !unix

package train

import (
	"errors"
	"io/fs"
	"os"
)

// lockFile makes the file at path, which must not exist. One that a killed
// process has left must be removed by hand.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		err = errHeld
	}
	return f, err
}

// unlockFile gives back what lockFile took. Not every system removes an open
// file.
func unlockFile(f *os.File, path string) {
	f.Close()
	os.Remove(path)
}
