//go:build unix

package train

import (
	"os"
	"syscall"
)

// lockFile locks the file at path, which it makes where needed. The lock ends
// with the process, so that one of a dead process holds nothing.
func lockFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			f.Close()
			if err == syscall.EWOULDBLOCK {
				err = errHeld
			}
			return nil, err
		}
		// Its holder may have removed the file between our two calls: then the
		// lock is on a file that nobody else finds.
		ours, err := f.Stat()
		if err == nil {
			if now, err := os.Stat(path); err == nil && os.SameFile(ours, now) {
				return f, nil
			}
		}
		f.Close()
	}
}

// unlockFile gives back what lockFile took. It removes the file while that is
// held: nobody can have locked another one of the name.
func unlockFile(f *os.File, path string) {
	os.Remove(path)
	f.Close()
}
