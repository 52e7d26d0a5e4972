package grad

// Dense returns x·wᵀ + b for x (rows, in), w (out, in) and b (1, out).
func (t *Tape) Dense(x *Mat, w, b *Param) *Mat { return t.dense(x, w, b, false) }

// DenseT is Dense with the axes of its weights swapped, for a decoder that shares the encoder's
// weights. It returns x·w + b for x (rows, out), w (out, in) and b (1, in).
func (t *Tape) DenseT(x *Mat, w, b *Param) *Mat { return t.dense(x, w, b, true) }

func (t *Tape) dense(x *Mat, w, b *Param, tied bool) *Mat {
	in, out := w.Cols, w.Rows
	if tied {
		in, out = out, in
	}
	if in != x.Cols || b.Rows*b.Cols != out {
		panic("grad: Dense: " + w.Name + " does not fit its input or bias")
	}
	y := t.node(x.Rows, out, x.wants || !w.Frozen || !b.Frozen)
	y.a, y.w, y.c, y.flag, y.back = x, w, b, tied, denseBack
	t.use(w, b)
	t.rowsOf(y, y.Val, b.Val)
	t.pool.Gemm(false, !tied, x.Rows, out, in, x.Val, in, w.Val, w.Cols, true, y.Val, out)
	return y
}

func denseBack(t *Tape, y *Mat) {
	x, w, tied := y.a, y.w, y.flag
	t.biasGrad(y)
	if !w.Frozen { // dw = dyᵀ·x, or xᵀ·dy if tied
		left, right := y.Grad, x.Val
		if tied {
			left, right = right, left
		}
		t.pool.Gemm(true, false, w.Rows, w.Cols, x.Rows, left, w.Rows, right, w.Cols, w.into(t), w.Grad, w.Cols)
	}
	if x.wants { // dx = dy·w, or dy·wᵀ if tied
		t.pool.Gemm(false, tied, x.Rows, x.Cols, y.Cols, y.Grad, y.Cols, w.Val, w.Cols, x.into(), x.Grad, x.Cols)
	}
}
