package soak

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// rss returns the process's memory in bytes.
func rss() int {
	b, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(b)
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(string(fields[1]))
	return pages * os.Getpagesize()
}

// openFiles returns the number of file descriptors.
func openFiles() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return max(len(all)-1, 0) // without that of the folder itself
}

// descriptors lets the process open more files, but not many, until back is called.
func descriptors(more int) (back func()) {
	var old syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old) != nil {
		return func() {}
	}
	// The kernel gives out the lowest free number.
	next, err := syscall.Dup(0)
	if err != nil {
		return func() {}
	}
	syscall.Close(next)
	now := old
	now.Cur = uint64(next + more)
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now) != nil {
		return func() {}
	}
	return func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old) }
}
