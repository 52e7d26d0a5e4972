//go:build !unix

package train

import (
	"errors"
	"io/fs"
	"os"
)

// lockFile creates the file at path, which must not exist. Users must remove a file that a killed
// process has left.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		err = errHeld
	}
	return f, err
}

// unlockFile releases the lock. It closes the file first, because some systems cannot remove an
// open one.
func unlockFile(f *os.File, path string) {
	f.Close()
	os.Remove(path)
}
