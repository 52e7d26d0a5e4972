//go:build unix

package atomicfile

import (
	"io"
	"os"
	"syscall"
)

// claim makes this process the owner of temp, until lock is closed or the process ends. With an
// error and a lock the file system has no locks.
func claim(temp string) (lock io.Closer, err error) {
	f, err := os.OpenFile(temp, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	ours, e := f.Stat()
	now, gone := os.Lstat(temp)
	if err == syscall.EWOULDBLOCK || e != nil || gone != nil || !os.SameFile(ours, now) {
		f.Close()
		return nil, errOwned
	}
	return f, err
}
