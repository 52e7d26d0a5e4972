//go:build amd64 && !noasm

package kernel

import "unsafe"

func subAsm(dst, x, y []float32) bool {
	switch active {
	case AVX512:
		subAVX512(&dst[0], &x[0], &y[0], len(dst))
	case AVX2:
		subAVX2(&dst[0], &x[0], &y[0], len(dst))
	}
	return active != Generic
}

func mulAddAsm(dst, x, y []float32) bool {
	switch active {
	case AVX512:
		mulAddAVX512(&dst[0], &x[0], &y[0], len(dst))
	case AVX2:
		mulAddAVX2(&dst[0], &x[0], &y[0], len(dst))
	}
	return active != Generic
}

func signAsm(dst []float32, a float32, x []float32) bool {
	switch active {
	case AVX512:
		signAVX512(&dst[0], a, &x[0], len(dst))
	case AVX2:
		signAVX2(&dst[0], a, &x[0], len(dst))
	}
	return active != Generic
}

func dotAsm(s *lanes, x, y []float32) bool {
	switch active {
	case AVX512:
		dotAVX512(&s[0], &x[0], &y[0], len(x))
	case AVX2:
		dotAVX2(&s[0], &x[0], &y[0], len(x))
	}
	return active != Generic
}

func distances16Asm(d *[16]float32, sums *[48]float32, x, q, turned []float32, plane, tall int) bool {
	switch active {
	case AVX512:
		distances16AVX512(&d[0], &sums[0], &x[0], &q[0], unsafe.SliceData(turned), plane, tall)
	case AVX2:
		distances16AVX2(&d[0], &sums[0], &x[0], &q[0], unsafe.SliceData(turned), plane, tall)
	}
	return active != Generic
}

func sumAbsAsm(s *lanes, x []float32) bool {
	switch active {
	case AVX512:
		sumAbsAVX512(&s[0], &x[0], len(x))
	case AVX2:
		sumAbsAVX2(&s[0], &x[0], len(x))
	}
	return active != Generic
}

func dealAsm(first, second, x []float32, bits uint64) bool {
	switch active {
	case AVX512:
		dealAVX512(&first[0], &second[0], &x[0], len(x), bits)
	case AVX2:
		dealAVX2(&first[0], &second[0], &x[0], len(x), bits)
	}
	return active != Generic
}

func pickAsm(dst, first, second []float32, bits uint64) bool {
	switch active {
	case AVX512:
		pickAVX512(&dst[0], &first[0], &second[0], len(dst), bits)
	case AVX2:
		pickAVX2(&dst[0], &first[0], &second[0], len(dst), bits)
	}
	return active != Generic
}
