//go:build unix

package queue

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup lets a stopped job end with all processes that it started.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// hold locks a folder for as long as this process lives, or one that inherits the file. It fails if another process has
// the lock, or has removed the folder.
func hold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		_, err = os.Lstat(dir)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// own reports whether dir is a folder of this user.
func own(dir os.FileInfo) bool {
	st, ok := dir.Sys().(*syscall.Stat_t)
	return ok && dir.IsDir() && int(st.Uid) == os.Geteuid()
}
