//go:build !amd64 || noasm

package kernel

func blendGradAsm(dx, dw, g, x, w []float32, n int) bool { return false }

func maskAsm(dst []float32, next, limit uint64, value float32) int { return 0 }
