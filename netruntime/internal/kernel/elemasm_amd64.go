//go:build amd64 && !noasm

package kernel

import "golang.org/x/sys/cpu"

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
