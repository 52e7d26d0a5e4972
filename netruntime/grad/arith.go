package grad

import "mannequin/netruntime/internal/kernel"

func sameShape(op string, x, y *Mat) {
	if x.Rows != y.Rows || x.Cols != y.Cols {
		panic("grad: " + op + ": shapes differ")
	}
}

// Add returns x + y.
func (t *Tape) Add(x, y *Mat) *Mat { return t.sum(x, y, 1) }

// Sub returns x − y.
func (t *Tape) Sub(x, y *Mat) *Mat { return t.sum(x, y, -1) }

// sum returns x + k·y.
func (t *Tape) sum(x, y *Mat, k float32) *Mat {
	sameShape("Add or Sub", x, y)
	z := t.node(x.Rows, x.Cols, x.wants || y.wants)
	z.a, z.b, z.k, z.back = x, y, k, sumBack
	t.split(z, len(z.Val), 3, func(_ *Tape, z *Mat, i, j int) {
		if z.k == 1 {
			kernel.Add(z.Val[i:j], z.a.Val[i:j], z.b.Val[i:j])
		} else {
			kernel.Sub(z.Val[i:j], z.a.Val[i:j], z.b.Val[i:j])
		}
	})
	return z
}

func sumBack(t *Tape, z *Mat) {
	t.passGradient(z.a, z, 1)
	t.passGradient(z.b, z, z.k)
}

// passGradient adds k times z's gradient to the gradient of x, which has the same number of values.
func (t *Tape) passGradient(x, z *Mat, k float32) {
	if !x.wants {
		return
	}
	t.arg = arg{dst: x.Grad, add: x.into(), k: k}
	t.split(z, len(z.Val), 3, func(t *Tape, z *Mat, i, j int) {
		t.arg.accumulate(t.arg.dst[i:j], z.Grad[i:j])
	})
}

// accumulate sets dst to k·g, or adds it.
func (a *arg) accumulate(dst, g []float32) {
	if a.add {
		kernel.Axpy(dst, a.k, g)
	} else {
		kernel.Scale(dst, a.k, g)
	}
}

// Mul returns the product of x and y element by element. y may be x.
func (t *Tape) Mul(x, y *Mat) *Mat {
	sameShape("Mul", x, y)
	z := t.node(x.Rows, x.Cols, x.wants || y.wants)
	z.a, z.b, z.back = x, y, mulBack
	t.split(z, len(z.Val), 3, func(_ *Tape, z *Mat, i, j int) {
		kernel.Mul(z.Val[i:j], z.a.Val[i:j], z.b.Val[i:j])
	})
	return z
}

func mulBack(t *Tape, z *Mat) {
	t.mulGrad(z.a, z, z.b.Val)
	t.mulGrad(z.b, z, z.a.Val)
}

// mulGrad adds z's gradient times the values to the gradient of x.
func (t *Tape) mulGrad(x, z *Mat, by []float32) {
	if !x.wants {
		return
	}
	t.arg = arg{dst: x.Grad, src: by, add: x.into()}
	t.split(z, len(z.Val), 3, func(t *Tape, z *Mat, i, j int) {
		if t.arg.add {
			kernel.MulAdd(t.arg.dst[i:j], z.Grad[i:j], t.arg.src[i:j])
		} else {
			kernel.Mul(t.arg.dst[i:j], z.Grad[i:j], t.arg.src[i:j])
		}
	})
}

// Scale returns k·x.
func (t *Tape) Scale(x *Mat, k float32) *Mat {
	y := t.node(x.Rows, x.Cols, x.wants)
	y.a, y.k, y.back = x, k, func(t *Tape, y *Mat) { t.passGradient(y.a, y, y.k) }
	t.split(y, len(y.Val), 2, func(_ *Tape, y *Mat, i, j int) {
		kernel.Scale(y.Val[i:j], y.k, y.a.Val[i:j])
	})
	return y
}

// Bias returns x + k·b for every row of x (rows, n). b has n values.
func (t *Tape) Bias(x *Mat, b *Param, k float32) *Mat {
	if b.Rows*b.Cols != x.Cols {
		panic("grad: Bias: " + b.Name + " does not fit its input")
	}
	t.use(b)
	y := t.node(x.Rows, x.Cols, x.wants || !b.Frozen)
	y.a, y.c, y.k, y.back = x, b, k, biasBack
	t.split(y, y.Rows, 2*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
		copy(y.Val[r0*y.Cols:r1*y.Cols], y.a.Val[r0*y.Cols:])
		for r := r0; r < r1; r++ {
			kernel.Axpy(y.Val[r*y.Cols:][:y.Cols], y.k, y.c.Val)
		}
	})
	return y
}

func biasBack(t *Tape, y *Mat) {
	if y.k == 1 {
		t.biasGrad(y)
	} else if b := y.c; !b.Frozen {
		t.scratch = grow(t.scratch, y.Cols)
		t.sumRows(t.scratch, y.Grad, y.Rows, y.Cols, false)
		(&arg{add: b.into(t), k: y.k}).accumulate(b.Grad, t.scratch)
	}
	t.passGradient(y.a, y, 1)
}

// Affine returns x·scale + shift, column by column. With a deviation and a mean it undoes a
// normalisation inside a loss. scale and shift have a value for each column and must stay unchanged
// until the next Reset. A nil shift is 0.
func (t *Tape) Affine(x *Mat, scale, shift []float32) *Mat {
	if len(scale) != x.Cols || shift != nil && len(shift) != x.Cols {
		panic("grad: Affine: scale or shift does not fit the input")
	}
	y := t.node(x.Rows, x.Cols, x.wants)
	y.a, y.con, y.back = x, [2][]float32{scale, shift}, affineBack
	t.split(y, y.Rows, 4*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			dst, x := y.Val[r*y.Cols:][:y.Cols], y.a.Val[r*y.Cols:][:y.Cols]
			if y.con[1] == nil {
				kernel.Mul(dst, x, y.con[0])
			} else {
				kernel.Affine(dst, x, y.con[0], y.con[1])
			}
		}
	})
	return y
}

func affineBack(t *Tape, y *Mat) {
	t.slopes(y.a, y, y.Rows, 4*y.Cols, func(t *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			kernel.Mul(t.arg.dst[r*y.Cols:][:y.Cols], y.Grad[r*y.Cols:][:y.Cols], y.con[0])
		}
	})
}
