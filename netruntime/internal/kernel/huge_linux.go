package kernel

import "syscall"

// adviseHuge requests large pages: for memory that is written for the first time, and at once for
// memory that is already there. Without them everything works, but slower.
func adviseHuge(b []byte) {
	const madvHugePage, madvCollapse = 14, 25
	_ = syscall.Madvise(b, madvHugePage)
	_ = syscall.Madvise(b[:len(b)/hugePage*hugePage], madvCollapse)
}
