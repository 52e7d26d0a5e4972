//go:build !amd64 || noasm

package kernel

func blendGradAsm(dx, dw, g, x, w []float32, n int) bool { return false }

func maskAsm(dst []float32, next, limit uint64, value float32) int { return 0 }

func adaDeltaAsm(w, g, sq, step []float32, lr, rho, rest, eps float32) bool { return false }
func penalizeAsm(g, w []float32, l1, l2 float32) bool                       { return false }
func clampAsm(x []float32, limit float32) bool                              { return false }
