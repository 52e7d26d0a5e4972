package kernel

import "unsafe"

// aligned returns n zeros that begin on a cache line, or large ones on a huge
// page that the system is asked for.
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

// hugePage is the size of the processor's large memory pages: reading weights
// at the speed of the cache takes fewer of them than of small ones.
const hugePage = 2 << 20

// aligned16 is aligned for an even number of bfloat16 values.
func aligned16(n int) []uint16 {
	x := aligned(n / 2)
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(x))), n)
}
