package grad

import "mannequin/netruntime/internal/kernel"

// activation is an elementwise function whose slope follows from its result.
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

// ELU returns x where it is positive and eˣ−1 elsewhere.
func (t *Tape) ELU(x *Mat) *Mat { return t.activate(x, &elu) }

// ReLU returns x where it is positive and 0 elsewhere.
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
	t.split(y, y.Rows, 4*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
		y.act.value(y.Val[r0*y.Cols:r1*y.Cols], y.a.Val[r0*y.Cols:r1*y.Cols])
	})
	return y
}

func activateBack(t *Tape, y *Mat) {
	g, acc := t.partial(y.a)
	t.arg = arg{dst: g}
	t.split(y, y.Rows, 4*y.Cols, func(t *Tape, y *Mat, r0, r1 int) {
		i, j := r0*y.Cols, r1*y.Cols
		y.act.slope(t.arg.dst[i:j], y.Grad[i:j], y.Val[i:j])
	})
	t.finish(y.a, acc)
}
