//go:build !amd64 || noasm

package kernel

// Best returns the fastest family that this machine runs.
func Best() Kind { return Generic }

func (k Kind) micro(rows, _ int, t *tile) { generic(rows, t) }

func (k Kind) transpose(dst []float32, cols int, src []float32, ld, blocks int) {
	panic("kernel: no assembly")
}

func expAsm(dst, x []float32) bool                        { return false }
func eluAsm(dst, x []float32) bool                        { return false }
func eluGradAsm(dx, dy, y []float32) bool                 { return false }
func axpyAsm(dst []float32, a float32, x []float32) bool  { return false }
func scaleAsm(dst []float32, a float32, x []float32) bool { return false }
func mulAsm(dst, x, y []float32) bool                     { return false }

func adamWAsm(w, g, m, v []float32, lr, keep, beta1, beta2, rest1, rest2, eps, c1, c2 float32) bool {
	return false
}

const hasBF16 = false

func (k Kind) wide(rows int, bf16 bool) int { return 1 }

func (k Kind) strip(rows, _ int, _ bool, t *strip) { stripGeneric(rows, t) }

func toBF16Asm(dst []uint16, src []float32) bool                                        { return false }
func peakAsm(bf16 bool, rounds int) int                                                 { return 0 }
func reluAsm(dst, x []float32) bool                                                     { return false }
func sigmoidAsm(dst, x []float32) bool                                                  { return false }
func tanhAsm(dst, x []float32) bool                                                     { return false }
func reluGradAsm(dx, dy, y []float32) bool                                              { return false }
func sigmoidGradAsm(dx, dy, y []float32) bool                                           { return false }
func tanhGradAsm(dx, dy, y []float32) bool                                              { return false }
func lstmCellsAsm(h, c Matrix, gates Panels, bias []float32, biasStride, rows int) bool { return false }
func addAsm(dst, x, y []float32) bool                                                   { return false }
func maxAsm(dst, x, y []float32) bool                                                   { return false }
func normalizeAsm(dst, x, mean, inv []float32) bool                                     { return false }
func affineAsm(dst, x, scale, shift []float32) bool                                     { return false }
