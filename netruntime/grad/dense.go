package grad

// Dense returns x·wᵀ + b for x (rows, in), w (out, in) and b (1, out).
func (t *Tape) Dense(x *Mat, w, b *Param) *Mat {
	if w.Cols != x.Cols || b.Rows*b.Cols != w.Rows {
		panic("grad: Dense: " + w.Name + " does not fit its input or bias")
	}
	y := t.node(x.Rows, w.Rows, x.wants || !w.Frozen || !b.Frozen)
	y.a, y.w, y.c, y.back = x, w, b, denseBack
	t.use(w, b)
	t.rowsOf(y, b.Val)
	t.pool.Gemm(false, true, x.Rows, w.Rows, x.Cols, x.Val, x.Cols, w.Val, w.Cols, true, y.Val, y.Cols)
	return y
}

func denseBack(t *Tape, y *Mat) {
	x, w, b := y.a, y.w, y.c
	if !b.Frozen {
		t.columnSums(b.Grad, y, b.into(t))
	}
	if !w.Frozen { // dw = dyᵀ·x
		t.pool.Gemm(true, false, w.Rows, w.Cols, x.Rows, y.Grad, y.Cols, x.Val, x.Cols, w.into(t), w.Grad, w.Cols)
	}
	if x.wants { // dx = dy·w
		t.pool.Gemm(false, false, x.Rows, x.Cols, w.Rows, y.Grad, y.Cols, w.Val, w.Cols, x.into(), x.Grad, x.Cols)
	}
}

// DenseT is Dense with the axes of its weights swapped, as a decoder with the
// encoder's weights has: it returns x·w + b for x (rows, out), w (out, in) and
// b (1, in).
func (t *Tape) DenseT(x *Mat, w, b *Param) *Mat {
	if w.Rows != x.Cols || b.Rows*b.Cols != w.Cols {
		panic("grad: DenseT: " + w.Name + " does not fit its input or bias")
	}
	y := t.node(x.Rows, w.Cols, x.wants || !w.Frozen || !b.Frozen)
	y.a, y.w, y.c, y.back = x, w, b, denseTBack
	t.use(w, b)
	t.rowsOf(y, b.Val)
	t.pool.Gemm(false, false, x.Rows, w.Cols, w.Rows, x.Val, x.Cols, w.Val, w.Cols, true, y.Val, y.Cols)
	return y
}

func denseTBack(t *Tape, y *Mat) {
	x, w, b := y.a, y.w, y.c
	if !b.Frozen {
		t.columnSums(b.Grad, y, b.into(t))
	}
	if !w.Frozen { // dw = xᵀ·dy
		t.pool.Gemm(true, false, w.Rows, w.Cols, x.Rows, x.Val, x.Cols, y.Grad, y.Cols, w.into(t), w.Grad, w.Cols)
	}
	if x.wants { // dx = dy·wᵀ
		t.pool.Gemm(false, true, x.Rows, x.Cols, w.Cols, y.Grad, y.Cols, w.Val, w.Cols, x.into(), x.Grad, x.Cols)
	}
}
