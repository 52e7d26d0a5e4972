package kernel

import "syscall"

// adviseHuge asks for large pages: for those to come when they are first
// written to, and for those that are there at once. Without them all is the
// same but slower.
func adviseHuge(b []byte) {
	const madvHugePage, madvCollapse = 14, 25
	_ = syscall.Madvise(b, madvHugePage)
	_ = syscall.Madvise(b[:len(b)/hugePage*hugePage], madvCollapse)
}
