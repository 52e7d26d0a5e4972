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
