package grad

import "mannequin/internal/kernel"

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
	t.split(y, y.Rows, w.Rows, blendStack)
	t.pool.Gemm(false, false, y.Rows, y.Cols, k, omega.Val, k, b.Val, b.Cols, false, y.Val, y.Cols)
	t.pool.Gemm(false, false, y.Rows, y.Cols, w.Rows, y.aux, w.Rows, w.Val, w.Cols, true, y.Val, y.Cols)
	return y
}

// blendStack writes [ω_1·x … ω_K·x].
func blendStack(_ *Tape, y *Mat, r0, r1 int) {
	x, omega := y.a, y.b
	for r := r0; r < r1; r++ {
		xr := x.Val[r*x.Cols:][:x.Cols]
		for k, o := range omega.Val[r*omega.Cols:][:omega.Cols] {
			kernel.Scale(y.aux[r*y.w.Rows+k*x.Cols:][:x.Cols], o, xr)
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
	// The gradient of the stacked input, transposed, takes the place of the
	// stack itself, which dw has read. Transposed, because w then passes
	// through the product in the order in which it lies in memory.
	t.pool.Gemm(false, true, w.Rows, y.Rows, y.Cols, w.Val, w.Cols, y.Grad, y.Cols, false, y.aux, y.Rows)
	xt := t.borrow((x.Cols + k) * y.Rows)
	transpose(xt, x.Val, x.Rows, x.Cols)
	transpose(xt[x.Cols*y.Rows:], omega.Val, y.Rows, k)
	if omega.wants {
		t.split(y, k, 2*x.Cols*y.Rows, blendOmega)
	}
	if x.wants {
		t.split(y, x.Cols, 2*k*y.Rows, blendInput)
	}
}

// blendOmega adds x's share to the gradient of the gating columns [k0, k1).
func blendOmega(t *Tape, y *Mat, k0, k1 int) {
	x, omega, rows := y.a, y.b, y.Rows
	for k := k0; k < k1; k++ {
		// The transposed gating is not read here: its row takes the sums.
		sum := t.scratch[(x.Cols+k)*rows:][:rows]
		clear(sum)
		for i := range x.Cols {
			g := y.aux[(k*x.Cols+i)*rows:][:rows]
			xi := t.scratch[i*rows:][:rows]
			for r, v := range g {
				sum[r] += v * xi[r]
			}
		}
		for r, v := range sum {
			omega.Grad[r*omega.Cols+k] += v
			sum[r] = omega.Val[r*omega.Cols+k]
		}
	}
}

// blendInput adds to the gradient of the input columns [i0, i1).
func blendInput(t *Tape, y *Mat, i0, i1 int) {
	x, omega, rows := y.a, y.b, y.Rows
	for i := i0; i < i1; i++ {
		sum := t.scratch[i*rows:][:rows] // likewise in place of x
		clear(sum)
		for k := range omega.Cols {
			g := y.aux[(k*x.Cols+i)*rows:][:rows]
			o := t.scratch[(x.Cols+k)*rows:][:rows]
			for r, v := range g {
				sum[r] += o[r] * v
			}
		}
		for r, v := range sum {
			x.Grad[r*x.Cols+i] += v
		}
	}
}

// transpose writes the transpose of src (rows, cols).
func transpose(dst, src []float32, rows, cols int) {
	for r := range rows {
		for c, v := range src[r*cols:][:cols] {
			dst[c*rows+r] = v
		}
	}
}
