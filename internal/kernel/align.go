package kernel

import "unsafe"

// aligned returns n zeros that begin on a cache line.
func aligned(n int) []float32 {
	const line = 64 / 4
	x := make([]float32, n+line-1)
	skip := 0
	if n > 0 {
		skip = int(-uintptr(unsafe.Pointer(&x[0]))%64) / 4
	}
	return x[skip : skip+n : skip+n]
}

// aligned16 is aligned for an even number of bfloat16 values.
func aligned16(n int) []uint16 {
	x := aligned(n / 2)
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(x))), n)
}
