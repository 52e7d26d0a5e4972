//go:build unix

package boundedfile

import (
	"io/fs"
	"syscall"
)

// nonBlocking keeps the opening of a pipe from waiting for its writer.
const nonBlocking = syscall.O_NONBLOCK

// hardLinked reports whether a file has more than one name.
func hardLinked(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}

func sameOwner(a, b fs.FileInfo) bool {
	x, okA := a.Sys().(*syscall.Stat_t)
	y, okB := b.Sys().(*syscall.Stat_t)
	return okA && okB && x.Uid == y.Uid
}
