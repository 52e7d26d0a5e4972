package kernel

import "fmt"

// Activation is a function that a layer applies to every element.
type Activation uint8

// The activations.
const (
	ActIdentity Activation = iota
	ActELU
	ActReLU
	ActSigmoid
	ActTanh
)

var activationNames = [...]string{"identity", "elu", "relu", "sigmoid", "tanh"}

// String returns the activation's name.
func (a Activation) String() string {
	if int(a) < len(activationNames) {
		return activationNames[a]
	}
	return fmt.Sprintf("kernel.Activation(%d)", uint8(a))
}

// Apply sets dst = a(x): see the function of the same name.
func (a Activation) Apply(dst, x []float32) {
	switch a {
	case ActIdentity:
		same("Apply", len(dst), len(x))
		copy(dst, x)
	case ActELU:
		ELU(dst, x)
	case ActReLU:
		ReLU(dst, x)
	case ActSigmoid:
		Sigmoid(dst, x)
	case ActTanh:
		Tanh(dst, x)
	default:
		panic("kernel: Apply: unknown " + a.String())
	}
}

// ELU sets dst = x if x > 0 and e^x − 1 otherwise, with an absolute error of at most 2e-7. NaN
// stays NaN.
func ELU(dst, x []float32) {
	same("ELU", len(dst), len(x))
	if len(dst) == 0 || eluAsm(dst, x) {
		return
	}
	for i, v := range x {
		dst[i] = elu(v)
	}
}

// ReLU sets dst = x if x > 0 and 0 otherwise. NaN stays NaN.
func ReLU(dst, x []float32) {
	same("ReLU", len(dst), len(x))
	if len(dst) == 0 || reluAsm(dst, x) {
		return
	}
	for i, v := range x {
		dst[i] = atLeast(v, 0)
	}
}

// Sigmoid sets dst = 1/(1 + e^−x). The relative error is at most 4e-7 for results of normal size,
// the absolute error at most 2e-38 below. NaN stays NaN.
func Sigmoid(dst, x []float32) {
	same("Sigmoid", len(dst), len(x))
	if len(dst) == 0 || sigmoidAsm(dst, x) {
		return
	}
	for i, v := range x {
		dst[i] = 1 / sigmoid(v)
	}
}

// Tanh sets dst to the hyperbolic tangent of x, with a relative error of at most 4e-7. NaN stays
// NaN.
func Tanh(dst, x []float32) {
	same("Tanh", len(dst), len(x))
	if len(dst) == 0 || tanhAsm(dst, x) {
		return
	}
	for i, v := range x {
		num, den := tanh(v)
		dst[i] = num / den
	}
}

// ELUGrad sets dx = dy·ELU'(x), given y = ELU(x). The slope is 1 if y > 0 and 1 + y otherwise.
func ELUGrad(dx, dy, y []float32) {
	same("ELUGrad", len(dx), len(dy), len(y))
	if len(dx) == 0 || eluGradAsm(dx, dy, y) {
		return
	}
	for i, v := range y {
		if v > 0 {
			v = 0
		}
		dx[i] = dy[i] * (1 + v)
	}
}

// ReLUGrad sets dx = dy·ReLU'(x), given y = ReLU(x). The slope is 0 if y ≤ 0 and 1 otherwise.
func ReLUGrad(dx, dy, y []float32) {
	same("ReLUGrad", len(dx), len(dy), len(y))
	if len(dx) == 0 || reluGradAsm(dx, dy, y) {
		return
	}
	for i, v := range y {
		if v <= 0 {
			dx[i] = 0
		} else {
			dx[i] = dy[i]
		}
	}
}

// SigmoidGrad sets dx = dy·σ'(x), given y = σ(x). The slope is y·(1 − y).
func SigmoidGrad(dx, dy, y []float32) {
	same("SigmoidGrad", len(dx), len(dy), len(y))
	if len(dx) == 0 || sigmoidGradAsm(dx, dy, y) {
		return
	}
	for i, v := range y {
		dx[i] = dy[i] * (v * (1 - v))
	}
}

// TanhGrad sets dx = dy·tanh'(x), given y = tanh(x). The slope is 1 − y².
func TanhGrad(dx, dy, y []float32) {
	same("TanhGrad", len(dx), len(dy), len(y))
	if len(dx) == 0 || tanhGradAsm(dx, dy, y) {
		return
	}
	for i, v := range y {
		dx[i] = dy[i] * fma(-v, v, 1)
	}
}

// LSTMCells computes one step of long short-term memories (Hochreiter and Schmidhuber 1997, with
// the forget gate of Gers et al. 2000) on rows of n cells:
//
//	c = σ(f)·c + σ(i)·tanh(g)
//	h = σ(o)·tanh(c)
//
// i, f, g and o are gates + bias, 4·n columns in that order. n is at most a panel's columns, and
// the rows of the gates are contiguous in each panel. The errors are those of Sigmoid and Tanh.
func LSTMCells(h, c Matrix, gates Panels, bias []float32, rows, n int) {
	cols := active.PanelCols()
	switch {
	case rows == 0 || n == 0:
		return
	case gates.Row != cols || n > cols:
		panic("kernel: LSTMCells: more cells than a panel has columns, or rows of gates apart")
	case len(bias) < 4*n, len(h.Data) < (rows-1)*h.Stride+n, len(c.Data) < (rows-1)*c.Stride+n,
		len(gates.Data) < (4*n-1)/cols*gates.Stride+rows*cols:
		panic("kernel: LSTMCells: a slice is too small")
	case n == cols:
		lstmCells(h, c, gates, bias, n, rows)
		return
	}
	// The gates of a row are contiguous: give them rows as long as a panel's.
	var row, b [4 * maxCols]float32
	var hc [2][maxCols]float32
	copy(b[:], bias[:4*n])
	for i := range rows {
		for from := 0; from < 4*n; from += cols {
			copy(row[from:4*n], gates.Data[from/cols*gates.Stride+i*cols:][:cols])
		}
		copy(hc[1][:n], c.Data[i*c.Stride:])
		lstmCells(Matrix{Data: hc[0][:]}, Matrix{Data: hc[1][:]}, Panels{Data: row[:], Stride: n, Row: cols}, b[:], n, 1)
		copy(h.Data[i*h.Stride:][:n], hc[0][:])
		copy(c.Data[i*c.Stride:][:n], hc[1][:])
	}
}

// lstmCells is LSTMCells for a panel's columns. gates.Stride and biasStride are the distances from
// gate to gate.
func lstmCells(h, c Matrix, gates Panels, bias []float32, biasStride, rows int) {
	if lstmCellsAsm(h, c, gates, bias, biasStride, rows) {
		return
	}
	for i := range rows {
		h, c := h.Data[i*h.Stride:], c.Data[i*c.Stride:]
		for j := range gates.Row {
			gate := func(q int) float32 { return gates.Data[q*gates.Stride+i*gates.Row+j] + bias[q*biasStride+j] }
			num, den := tanh(gate(2))
			c[j] = c[j]/sigmoid(gate(1)) + num/float32(den*sigmoid(gate(0)))
			num, den = tanh(c[j])
			h[j] = num / float32(den*sigmoid(gate(3)))
		}
	}
}
