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

func reluAsm(dst, x []float32) bool {
	switch active {
	case AVX512:
		reluAVX512(&dst[0], &x[0], len(dst))
	case AVX2:
		reluAVX2(&dst[0], &x[0], len(dst))
	}
	return active != Generic
}

func sigmoidAsm(dst, x []float32) bool {
	switch active {
	case AVX512:
		sigmoidAVX512(&dst[0], &x[0], len(dst))
	case AVX2:
		sigmoidAVX2(&dst[0], &x[0], len(dst))
	}
	return active != Generic
}

func tanhAsm(dst, x []float32) bool {
	switch active {
	case AVX512:
		tanhAVX512(&dst[0], &x[0], len(dst))
	case AVX2:
		tanhAVX2(&dst[0], &x[0], len(dst))
	}
	return active != Generic
}

func reluGradAsm(dx, dy, y []float32) bool {
	switch active {
	case AVX512:
		reluGradAVX512(&dx[0], &dy[0], &y[0], len(dx))
	case AVX2:
		reluGradAVX2(&dx[0], &dy[0], &y[0], len(dx))
	}
	return active != Generic
}

func sigmoidGradAsm(dx, dy, y []float32) bool {
	switch active {
	case AVX512:
		sigmoidGradAVX512(&dx[0], &dy[0], &y[0], len(dx))
	case AVX2:
		sigmoidGradAVX2(&dx[0], &dy[0], &y[0], len(dx))
	}
	return active != Generic
}

func tanhGradAsm(dx, dy, y []float32) bool {
	switch active {
	case AVX512:
		tanhGradAVX512(&dx[0], &dy[0], &y[0], len(dx))
	case AVX2:
		tanhGradAVX2(&dx[0], &dy[0], &y[0], len(dx))
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

func addAsm(dst, x, y []float32) bool {
	switch active {
	case AVX512:
		addAVX512(&dst[0], &x[0], &y[0], len(dst))
	case AVX2:
		addAVX2(&dst[0], &x[0], &y[0], len(dst))
	}
	return active != Generic
}

func maxAsm(dst, x, y []float32) bool {
	switch active {
	case AVX512:
		maxAVX512(&dst[0], &x[0], &y[0], len(dst))
	case AVX2:
		maxAVX2(&dst[0], &x[0], &y[0], len(dst))
	}
	return active != Generic
}

func normalizeAsm(dst, x, mean, inv []float32) bool {
	switch active {
	case AVX512:
		normalizeAVX512(&dst[0], &x[0], &mean[0], &inv[0], len(dst))
	case AVX2:
		normalizeAVX2(&dst[0], &x[0], &mean[0], &inv[0], len(dst))
	}
	return active != Generic
}

func affineAsm(dst, x, scale, shift []float32) bool {
	switch active {
	case AVX512:
		affineAVX512(&dst[0], &x[0], &scale[0], &shift[0], len(dst))
	case AVX2:
		affineAVX2(&dst[0], &x[0], &scale[0], &shift[0], len(dst))
	}
	return active != Generic
}

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
