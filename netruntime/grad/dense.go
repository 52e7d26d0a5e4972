package grad

// Dense returns x·wᵀ + b for x (rows, in), w (out, in) and b (1, out).
func (t *Tape) Dense(x *Mat, w, b *Param) *Mat {
	if w.Cols != x.Cols || b.Rows*b.Cols != w.Rows {
		panic("grad: Dense: " + w.Name + " does not fit its input or bias")
	}
	y := t.node(x.Rows, w.Rows, x.wants || !w.Frozen || !b.Frozen)
	y.a, y.w, y.c, y.back = x, w, b, denseBack
	t.use(w, b)
	for r := range y.Rows {
		copy(y.Val[r*y.Cols:], b.Val)
	}
	t.pool.Gemm(false, true, x.Rows, w.Rows, x.Cols, x.Val, x.Cols, w.Val, w.Cols, true, y.Val, y.Cols)
	return y
}

func denseBack(t *Tape, y *Mat) {
	x, w, b := y.a, y.w, y.c
	if !b.Frozen {
		if !b.into(t) {
			clear(b.Grad)
		}
		for r := range y.Rows {
			for j, g := range y.Grad[r*y.Cols:][:y.Cols] {
				b.Grad[j] += g
			}
		}
	}
	if !w.Frozen { // dw = dyᵀ·x
		t.pool.Gemm(true, false, w.Rows, w.Cols, x.Rows, y.Grad, y.Cols, x.Val, x.Cols, w.into(t), w.Grad, w.Cols)
	}
	if x.wants { // dx = dy·w
		t.pool.Gemm(false, false, x.Rows, x.Cols, w.Rows, y.Grad, y.Cols, w.Val, w.Cols, x.into(), x.Grad, x.Cols)
	}
}
