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
