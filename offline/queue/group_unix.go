//go:build unix

package queue

import (
	"os/exec"
	"syscall"
)

// ownGroup lets a stopped job end with all processes that it started.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
