//go:build unix

package serve

import "syscall"

// maxFiles returns the number of files and connections that the program may hold open.
func maxFiles() int {
	var lim syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim) != nil || lim.Cur > 1<<20 {
		return 1 << 20
	}
	return int(lim.Cur)
}
