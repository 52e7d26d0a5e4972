//go:build amd64 && !noasm

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var hasBF16 = cpu.X86.HasAVX512BF16

func toBF16Asm(dst []uint16, src []float32) bool {
	if active == AVX512 {
		toBF16AVX512(&dst[0], &src[0], len(dst))
	}
	return active == AVX512
}

func peakAsm(bf16 bool, rounds int) (flop int) {
	switch {
	case bf16:
		peakBF16(rounds)
		return rounds * 24 * 64
	case active == AVX512:
		peakAVX512(rounds)
		return rounds * 24 * 32
	case active == AVX2:
		peakAVX2(rounds)
		return rounds * 12 * 16
	}
	return 0
}

func expAsm(dst, x []float32) bool     { return apply(expAVX512, expAVX2, dst, x) }
func eluAsm(dst, x []float32) bool     { return apply(eluAVX512, eluAVX2, dst, x) }
func reluAsm(dst, x []float32) bool    { return apply(reluAVX512, reluAVX2, dst, x) }
func sigmoidAsm(dst, x []float32) bool { return apply(sigmoidAVX512, sigmoidAVX2, dst, x) }
func tanhAsm(dst, x []float32) bool    { return apply(tanhAVX512, tanhAVX2, dst, x) }

// apply runs the active family's kernel on dst and x, and reports whether there is one.
func apply(avx512, avx2 func(dst, x *float32, n int), dst, x []float32) bool {
	switch active {
	case AVX512:
		avx512(&dst[0], &x[0], len(dst))
	case AVX2:
		avx2(&dst[0], &x[0], len(dst))
	}
	return active != Generic
}

func eluGradAsm(dx, dy, y []float32) bool  { return combine(eluGradAVX512, eluGradAVX2, dx, dy, y) }
func mulAsm(dst, x, y []float32) bool      { return combine(mulAVX512, mulAVX2, dst, x, y) }
func reluGradAsm(dx, dy, y []float32) bool { return combine(reluGradAVX512, reluGradAVX2, dx, dy, y) }
func sigmoidGradAsm(dx, dy, y []float32) bool {
	return combine(sigmoidGradAVX512, sigmoidGradAVX2, dx, dy, y)
}
func tanhGradAsm(dx, dy, y []float32) bool { return combine(tanhGradAVX512, tanhGradAVX2, dx, dy, y) }
func addAsm(dst, x, y []float32) bool      { return combine(addAVX512, addAVX2, dst, x, y) }
func maxAsm(dst, x, y []float32) bool      { return combine(maxAVX512, maxAVX2, dst, x, y) }
func subAsm(dst, x, y []float32) bool      { return combine(subAVX512, subAVX2, dst, x, y) }
func mulAddAsm(dst, x, y []float32) bool   { return combine(mulAddAVX512, mulAddAVX2, dst, x, y) }

func combine(avx512, avx2 func(dst, x, y *float32, n int), dst, x, y []float32) bool {
	switch active {
	case AVX512:
		avx512(&dst[0], &x[0], &y[0], len(dst))
	case AVX2:
		avx2(&dst[0], &x[0], &y[0], len(dst))
	}
	return active != Generic
}

func normalizeAsm(dst, x, mean, inv []float32) bool {
	return combine3(normalizeAVX512, normalizeAVX2, dst, x, mean, inv)
}
func affineAsm(dst, x, scale, shift []float32) bool {
	return combine3(affineAVX512, affineAVX2, dst, x, scale, shift)
}

func combine3(avx512, avx2 func(dst, x, y, z *float32, n int), dst, x, y, z []float32) bool {
	switch active {
	case AVX512:
		avx512(&dst[0], &x[0], &y[0], &z[0], len(dst))
	case AVX2:
		avx2(&dst[0], &x[0], &y[0], &z[0], len(dst))
	}
	return active != Generic
}

func axpyAsm(dst []float32, a float32, x []float32) bool {
	return scaled(axpyAVX512, axpyAVX2, dst, a, x)
}
func scaleAsm(dst []float32, a float32, x []float32) bool {
	return scaled(scaleAVX512, scaleAVX2, dst, a, x)
}
func signAsm(dst []float32, a float32, x []float32) bool {
	return scaled(signAVX512, signAVX2, dst, a, x)
}

func scaled(avx512, avx2 func(dst *float32, a float32, x *float32, n int), dst []float32, a float32, x []float32) bool {
	switch active {
	case AVX512:
		avx512(&dst[0], a, &x[0], len(dst))
	case AVX2:
		avx2(&dst[0], a, &x[0], len(dst))
	}
	return active != Generic
}

func dealAsm(first, second, x []float32, bits uint64) bool {
	return chosen(dealAVX512, dealAVX2, first, second, x, bits)
}
func pickAsm(dst, first, second []float32, bits uint64) bool {
	return chosen(pickAVX512, pickAVX2, dst, first, second, bits)
}

func chosen(avx512, avx2 func(x, y, z *float32, n int, bits uint64), x, y, z []float32, bits uint64) bool {
	switch active {
	case AVX512:
		avx512(&x[0], &y[0], &z[0], len(x), bits)
	case AVX2:
		avx2(&x[0], &y[0], &z[0], len(x), bits)
	}
	return active != Generic
}

func lstmCellsAsm(h, c Matrix, gates Panels, bias []float32, biasStride, rows int) bool {
	switch active {
	case AVX512:
		lstmCellsAVX512(&h.Data[0], h.Stride, &c.Data[0], c.Stride, &gates.Data[0], gates.Stride, &bias[0], biasStride, rows)
	case AVX2:
		lstmCellsAVX2(&h.Data[0], h.Stride, &c.Data[0], c.Stride, &gates.Data[0], gates.Stride, &bias[0], biasStride, rows)
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

func boxes16Asm(d *[16]float32, low, high, q []float32) bool {
	switch active {
	case AVX512:
		boxes16AVX512(&d[0], &low[0], &high[0], &q[0], len(q))
	case AVX2:
		boxes16AVX2(&d[0], &low[0], &high[0], &q[0], len(q))
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

func blendGradAsm(dx, dw, g, x, w []float32, n int) bool {
	switch active {
	case AVX512:
		blendGradAVX512(&dx[0], &dw[0], &g[0], &x[0], &w[0], len(w), n)
	case AVX2:
		blendGradAVX2(&dx[0], &dw[0], &g[0], &x[0], &w[0], len(w), n)
	}
	return active != Generic
}

// maskAsm returns the number of values that it has written.
func maskAsm(dst []float32, next, limit uint64, value float32) int {
	switch active {
	case AVX512:
		maskAVX512(&dst[0], len(dst), next, limit, value)
	case AVX2:
		maskAVX2(&dst[0], len(dst), next, limit, value)
	default:
		return 0
	}
	return len(dst)
}

func adaDeltaAsm(w, g, sq, step []float32, lr, rho, rest, eps float32) bool {
	switch active {
	case AVX512:
		adaDeltaAVX512(&w[0], &g[0], &sq[0], &step[0], len(w), lr, rho, rest, eps)
	case AVX2:
		adaDeltaAVX2(&w[0], &g[0], &sq[0], &step[0], len(w), lr, rho, rest, eps)
	}
	return active != Generic
}

func penalizeAsm(g, w []float32, l1, l2 float32) bool {
	switch active {
	case AVX512:
		penalizeAVX512(&g[0], &w[0], len(g), l1, l2)
	case AVX2:
		penalizeAVX2(&g[0], &w[0], len(g), l1, l2)
	}
	return active != Generic
}

func clampAsm(x []float32, limit float32) bool {
	switch active {
	case AVX512:
		clampAVX512(&x[0], len(x), limit)
	case AVX2:
		clampAVX2(&x[0], len(x), limit)
	}
	return active != Generic
}
