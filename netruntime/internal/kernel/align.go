package kernel

import "unsafe"

// aligned returns n zeros that begin on a cache line. Large arrays begin on a huge page, which it
// requests from the system.
func aligned(n int) []float32 {
	to := 64
	if 4*n >= hugePage {
		to = hugePage
	}
	x := make([]float32, n+to/4-1)
	skip := 0
	if n > 0 {
		skip = int(-uintptr(unsafe.Pointer(&x[0]))%uintptr(to)) / 4
	}
	x = x[skip : skip+n : skip+n]
	if to == hugePage {
		adviseHuge(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*n))
	}
	return x
}

// hugePage is the size in bytes of the processor's large memory pages. With them, reading weights
// at the speed of the cache needs fewer pages.
const hugePage = 2 << 20

// aligned16 is aligned for an even number of bfloat16 values.
func aligned16(n int) []uint16 {
	x := aligned(n / 2)
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(x))), n)
}
