package grad

import "mannequin/netruntime/internal/kernel"

// activation is an elementwise function whose slope is a function of its result.
type activation struct {
	value func(y, x []float32)
	slope func(dx, dy, y []float32)
}

var (
	elu     = activation{kernel.ELU, kernel.ELUGrad} // below zero the slope eˣ is y + 1
	relu    = activation{kernel.ReLU, kernel.ReLUGrad}
	sigmoid = activation{kernel.Sigmoid, kernel.SigmoidGrad}
	tanh    = activation{kernel.Tanh, kernel.TanhGrad}
	exp     = activation{kernel.Exp, kernel.Mul}
)

// ELU returns x if it is positive and eˣ−1 otherwise.
func (t *Tape) ELU(x *Mat) *Mat { return t.activate(x, &elu) }

// ReLU returns x if it is positive and 0 otherwise.
func (t *Tape) ReLU(x *Mat) *Mat { return t.activate(x, &relu) }

// Sigmoid returns 1/(1 + e⁻ˣ).
func (t *Tape) Sigmoid(x *Mat) *Mat { return t.activate(x, &sigmoid) }

// Tanh returns the hyperbolic tangent of x.
func (t *Tape) Tanh(x *Mat) *Mat { return t.activate(x, &tanh) }

// Exp returns eˣ.
func (t *Tape) Exp(x *Mat) *Mat { return t.activate(x, &exp) }

func (t *Tape) activate(x *Mat, f *activation) *Mat {
	y := t.node(x.Rows, x.Cols, x.wants)
	y.a, y.act, y.back = x, f, activateBack
	t.split(y, len(y.Val), 4, func(_ *Tape, y *Mat, i, j int) {
		y.act.value(y.Val[i:j], y.a.Val[i:j])
	})
	return y
}

func activateBack(t *Tape, y *Mat) {
	t.slopes(y.a, y, len(y.Val), 4, func(t *Tape, y *Mat, i, j int) {
		y.act.slope(t.arg.dst[i:j], y.Grad[i:j], y.Val[i:j])
	})
}
