//go:build unix

package train

import (
	"os"
	"syscall"
)

// lockFile locks the file at path and creates it if needed. The lock ends with the process.
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
		// The former holder may have removed the file between our two calls. Then the lock is on a
		// file that no other process finds.
		ours, err := f.Stat()
		if err == nil {
			if now, err := os.Stat(path); err == nil && os.SameFile(ours, now) {
				return f, nil
			}
		}
		f.Close()
	}
}

// unlockFile releases the lock. It removes the file while it is locked, so no other process can
// have locked a new file of that name.
func unlockFile(f *os.File, path string) {
	os.Remove(path)
	f.Close()
}
