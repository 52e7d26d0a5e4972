package grad

// LSTM runs a long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers
// et al. 2000) over the sequences of x, (batch·length, in):
//
//	i, f, g, o = x[t]·Wᵀ + h[t−1]·Rᵀ + b
//	c[t] = σ(f)·c[t−1] + σ(i)·tanh(g)
//	h[t] = σ(o)·tanh(c[t])
//
// wx is (4H, in), wh (4H, H), b has 4H values, with the gates' rows in the order i, f, g, o. h0 and
// c0 are the first state, (batch, H); nil is zero. reverse runs from the last frame to the first.
// The results are h at every frame, (batch·length, H), and the state after the last step, h and c
// (batch, H).
func (t *Tape) LSTM(x *Mat, length int, wx, wh, b *Param, h0, c0 *Mat, reverse bool) (seq, h, c *Mat) {
	checkSequences("LSTM", x, length)
	n, batch := wh.Cols, x.Rows/length
	if wx.Cols != x.Cols || wx.Rows != 4*n || wh.Rows != 4*n || b.Rows*b.Cols != 4*n {
		panic("grad: LSTM: " + wx.Name + ", recurrent weights or bias do not fit")
	}
	wants := x.wants || !wx.Frozen || !wh.Frozen || !b.Frozen
	for _, s := range []*Mat{h0, c0} {
		if s != nil {
			if s.Rows != batch || s.Cols != n {
				panic("grad: LSTM: a first state of another shape")
			}
			wants = wants || s.wants
		}
	}
	t.use(wx, wh, b)
	y := t.node(x.Rows, n, wants)
	y.a, y.w, y.v, y.c, y.back = x, wx, wh, b, lstmBack
	y.parts = append(y.parts, h0, c0)
	y.length, y.flag = length, reverse
	y.aux = grow(y.aux, x.Rows*6*n)
	m := memoryOf(y)
	t.rowsOf(y, m.gates, b.Val)
	if length > 1 { // all frames at once
		t.pool.Gemm(false, true, x.Rows, 4*n, x.Cols, x.Val, x.Cols, wx.Val, wx.Cols, true, m.gates, 4*n)
	}
	t.recurrence.run(t, y, length, true)
	seq, h = y, y
	last := m.frame(length - 1)
	if length > 1 {
		h = t.Frames(y, length, last, last+1)
	}
	c = t.node(batch, n, wants)
	c.a, c.back = y, func(_ *Tape, c *Mat) { c.a.cleared() } // y's backward reads the gradient of c
	for s := range batch {
		copy(c.Val[s*n:][:n], m.c[(s*length+last)*n:])
	}
	y.b = c
	return seq, h, c
}

// LSTMStep is LSTM for one frame of each sequence: x (batch, in).
func (t *Tape) LSTMStep(x, h, c *Mat, wx, wh, b *Param) (hNext, cNext *Mat) {
	_, hNext, cNext = t.LSTM(x, 1, wx, wh, b, h, c, false)
	return hNext, cNext
}

// lstmMemory is the values that an LSTM's forward keeps for backward, a row per frame.
type lstmMemory struct {
	*Mat
	gates []float32 // (rows, 4H): the gates' values; in backward the gradients of their sums
	c     []float32 // (rows, H)
	tanh  []float32 // (rows, H): tanh(c)
}

func memoryOf(y *Mat) lstmMemory {
	size := len(y.Val)
	return lstmMemory{y, y.aux[:4*size], y.aux[4*size:][:size], y.aux[5*size:][:size]}
}

// frame returns the frame that a step computes.
func (m *lstmMemory) frame(step int) int {
	if m.flag {
		return m.length - 1 - step
	}
	return step
}

// before returns c before a step of sequence s, or nil for zeros.
func (m *lstmMemory) before(s, step int) []float32 {
	n := m.Cols
	if step > 0 {
		return m.c[(s*m.length+m.frame(step-1))*n:][:n]
	}
	if c0 := m.parts[1]; c0 != nil {
		return c0.Val[s*n:][:n]
	}
	return nil
}

func lstmBack(t *Tape, y *Mat) {
	m, x, wx, wh, b := memoryOf(y), y.a, y.w, y.v, y.c
	h0, c0, last := y.parts[0], y.parts[1], y.b
	n, length := y.Cols, y.length
	batch := y.Rows / length
	// The state's gradients, and two rows of working memory per sequence.
	t.scratch = grow(t.scratch, 4*batch*n)
	dh, dc := t.scratch[:batch*n], t.scratch[batch*n:][:batch*n]
	clear(dh)
	clear(dc)
	if last.touched {
		copy(dc, last.Grad)
	}
	steps := length
	if h0 != nil && h0.wants {
		steps++ // one more product
	}
	t.recurrence.run(t, y, steps, false)
	if h0 != nil && h0.wants {
		(&arg{add: h0.into(), k: 1}).accumulate(h0.Grad, dh)
	}
	if c0 != nil && c0.wants {
		(&arg{add: c0.into(), k: 1}).accumulate(c0.Grad, dc)
	}
	if length == 1 {
		t.recurrence.postpone(y)
	} else {
		// The h that each frame read replaces tanh(c).
		t.split(y, y.Rows, 2*n, lstmBefore)
		t.lstmWeights(wx, wh, b, y.Rows, m.gates, x.Val, m.tanh)
	}
	if x.wants {
		t.pool.Gemm(false, false, y.Rows, x.Cols, 4*n, m.gates, 4*n, wx.Val, x.Cols, x.into(), x.Grad, x.Cols)
	}
}

// lstmWeights computes the weights' gradients from all rows: dg of the gates' sums, the inputs x,
// and the states h that the frames read.
func (t *Tape) lstmWeights(wx, wh, b *Param, rows int, dg, x, h []float32) {
	n := wx.Rows
	if !b.Frozen {
		t.sumRows(b.Grad, dg, rows, n, b.into(t))
	}
	for _, q := range [2]struct {
		w *Param
		v []float32
	}{{wx, x}, {wh, h}} {
		if w := q.w; !w.Frozen {
			t.pool.Gemm(true, false, n, w.Cols, rows, dg, n, q.v, w.Cols, w.into(t), w.Grad, w.Cols)
		}
	}
}

// lstmBefore writes the h that frames [r0, r1) read over tanh(c).
func lstmBefore(_ *Tape, y *Mat, r0, r1 int) {
	m, n := memoryOf(y), y.Cols
	for r := r0; r < r1; r++ {
		s, dst := r/y.length, m.tanh[r*n:][:n]
		step := m.frame(r % y.length) // its own inverse
		switch h0 := y.parts[0]; {
		case step > 0:
			copy(dst, y.Val[(s*y.length+m.frame(step-1))*n:])
		case h0 != nil:
			copy(dst, h0.Val[s*n:])
		default:
			clear(dst)
		}
	}
}
