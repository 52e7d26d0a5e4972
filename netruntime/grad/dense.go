package grad

// Dense returns x·wᵀ + b for x (rows, in), w (out, in) and b (1, out).
func (t *Tape) Dense(x *Mat, w, b *Param) *Mat {
	if w.Cols != x.Cols || b.Rows*b.Cols != w.Rows {
		panic("grad: Dense: " + w.Name + " does not fit its input or bias")
	}
	y := t.node(x.Rows, w.Rows, x.wants || !w.Frozen || !b.Frozen)
	y.a, y.w, y.c, y.back = x, w, b, denseBack
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

// Blend is a dense layer whose weights are a mixture of experts, another one
// for every row: y = Σ_k ω_k (W_k·x + b_k) with x (rows, in), ω (rows, K),
// w (K·in, out) holding the transposed W_k one below the other, and
// b (K, out). (Zhang, Starke et al. 2018, eq. 5 and 6.)
//
// Scaling the input instead of the weights makes it one product that reads
// every weight once for the whole batch: [ω_1·x … ω_K·x]·w.
func (t *Tape) Blend(x, omega *Mat, w, b *Param) *Mat {
	k := omega.Cols
	if w.Rows != k*x.Cols || b.Rows != k || b.Cols != w.Cols || omega.Rows != x.Rows {
		panic("grad: Blend: " + w.Name + " does not fit its input, gating or bias")
	}
	y := t.node(x.Rows, w.Cols, x.wants || omega.wants || !w.Frozen || !b.Frozen)
	y.a, y.b, y.w, y.c, y.back = x, omega, w, b, blendBack
	y.aux = grow(y.aux, x.Rows*w.Rows) // (rows, K·in), kept for dw
	t.rows(y, w.Rows, blendStack)
	t.pool.Gemm(false, false, y.Rows, y.Cols, k, omega.Val, k, b.Val, b.Cols, false, y.Val, y.Cols)
	t.pool.Gemm(false, false, y.Rows, y.Cols, w.Rows, y.aux, w.Rows, w.Val, w.Cols, true, y.Val, y.Cols)
	return y
}

// blendStack writes [ω_1·x … ω_K·x].
func blendStack(y *Mat, r0, r1 int) {
	x, omega := y.a, y.b
	for r := r0; r < r1; r++ {
		xr := x.Val[r*x.Cols:][:x.Cols]
		for k, o := range omega.Val[r*omega.Cols:][:omega.Cols] {
			s := y.aux[r*y.w.Rows+k*x.Cols:][:x.Cols]
			for i, v := range xr {
				s[i] = o * v
			}
		}
	}
}

func blendBack(t *Tape, y *Mat) {
	x, omega, w, b := y.a, y.b, y.w, y.c
	k := omega.Cols
	if !b.Frozen { // db = ωᵀ·dy
		t.pool.Gemm(true, false, k, y.Cols, y.Rows, omega.Val, k, y.Grad, y.Cols, b.into(t), b.Grad, b.Cols)
	}
	if !w.Frozen { // dw = [ω·x]ᵀ·dy
		t.pool.Gemm(true, false, w.Rows, w.Cols, y.Rows, y.aux, w.Rows, y.Grad, y.Cols, w.into(t), w.Grad, w.Cols)
	}
	if !x.wants && !omega.wants {
		return
	}
	if omega.wants { // dω = dy·bᵀ, and below the share of x
		t.pool.Gemm(false, true, y.Rows, k, y.Cols, y.Grad, y.Cols, b.Val, b.Cols, omega.into(), omega.Grad, k)
	}
	if x.wants && !x.into() {
		clear(x.Grad)
	}
	// The gradient of the stacked input takes the place of the stack itself,
	// which dw has read.
	t.pool.Gemm(false, true, y.Rows, w.Rows, y.Cols, y.Grad, y.Cols, w.Val, w.Cols, false, y.aux, w.Rows)
	t.rows(y, 2*w.Rows, blendUnstack)
}

// blendUnstack turns the gradient of the stack into those of x and ω.
func blendUnstack(y *Mat, r0, r1 int) {
	x, omega := y.a, y.b
	for r := r0; r < r1; r++ {
		for k := range omega.Cols {
			s := y.aux[r*y.w.Rows+k*x.Cols:][:x.Cols]
			if omega.wants {
				omega.Grad[r*omega.Cols+k] += dot(s, x.Val[r*x.Cols:][:x.Cols])
			}
			if x.wants {
				o := omega.Val[r*omega.Cols+k]
				g := x.Grad[r*x.Cols:][:x.Cols]
				for i, v := range s {
					g[i] += o * v
				}
			}
		}
	}
}

// dot sums in eight strands, which the processor overlaps.
func dot(a, b []float32) float32 {
	var s [8]float32
	b = b[:len(a)]
	i := 0
	for ; i+8 <= len(a); i += 8 {
		p, q := a[i:i+8:i+8], b[i:i+8:i+8]
		s[0] += p[0] * q[0]
		s[1] += p[1] * q[1]
		s[2] += p[2] * q[2]
		s[3] += p[3] * q[3]
		s[4] += p[4] * q[4]
		s[5] += p[5] * q[5]
		s[6] += p[6] * q[6]
		s[7] += p[7] * q[7]
	}
	for ; i < len(a); i++ {
		s[0] += a[i] * b[i]
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}
