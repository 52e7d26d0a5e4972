//go:build !amd64 || noasm

package kernel

// Functions that have kernels only for amd64.

const hasBF16 = false

func (k Kind) wide(rows int, bf16 bool) int { return 1 }

func (k Kind) transpose(dst []float32, cols int, src []float32, ld, blocks int) {
	panic("kernel: no assembly")
}

func toBF16Asm(dst []uint16, src []float32) bool             { return false }
func peakAsm(bf16 bool, rounds int) int                      { return 0 }
func reluAsm(dst, x []float32) bool                          { return false }
func eluGradAsm(dx, dy, y []float32) bool                    { return false }
func reluGradAsm(dx, dy, y []float32) bool                   { return false }
func sigmoidGradAsm(dx, dy, y []float32) bool                { return false }
func tanhGradAsm(dx, dy, y []float32) bool                   { return false }
func maxAsm(dst, x, y []float32) bool                        { return false }
func signAsm(dst []float32, a float32, x []float32) bool     { return false }
func boxes16Asm(d *[16]float32, low, high, q []float32) bool { return false }
func sumAbsAsm(s *lanes, x []float32) bool                   { return false }
func dealAsm(first, second, x []float32, bits uint64) bool   { return false }
func pickAsm(dst, first, second []float32, bits uint64) bool { return false }

func adamWAsm(w, g, m, v []float32, lr, keep, beta1, beta2, rest1, rest2, eps, c1, c2 float32) bool {
	return false
}
func adaDeltaAsm(w, g, sq, step []float32, lr, rho, rest, eps float32) bool { return false }
func penalizeAsm(g, w []float32, l1, l2 float32) bool                       { return false }
func clampAsm(x []float32, limit float32) bool                              { return false }

func blendGradAsm(dx, dw, g, x, w []float32, n int) bool { return false }

func maskAsm(dst []float32, next, limit uint64, value float32) int { return 0 }
