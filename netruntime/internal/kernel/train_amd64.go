//go:build amd64 && !noasm

package kernel

func blendGradAsm(dx, dw, g, x, w []float32, n int) bool {
	switch active {
	case AVX512:
		blendGradAVX512(&dx[0], &dw[0], &g[0], &x[0], &w[0], len(w), n)
	case AVX2:
		blendGradAVX2(&dx[0], &dw[0], &g[0], &x[0], &w[0], len(w), n)
	}
	return active != Generic
}

// maskAsm returns how many values it has written.
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
