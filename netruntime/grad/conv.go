package grad

import (
	"fmt"

	"mannequin/netruntime/internal/kernel"
)

// Conv is a convolution over time that keeps the length. x is (batch·length, in), sequences of
// length frames one below the other. Within each sequence
//
//	y[t] = b + Σ_j W_j·x[t + j − (width−1)/2],   0 ≤ j < width
//
// with zeros outside the sequence. w is (out, width·in): W_0, W_1 and so on side by side, each
// (out, in). flip reverses their order, as in a mathematical convolution.
func (t *Tape) Conv(x *Mat, length int, w, b *Param, width int, flip bool) *Mat {
	checkSequences("Conv", x, length)
	if width < 1 || w.Cols != width*x.Cols || b.Rows*b.Cols != w.Rows {
		panic("grad: Conv: " + w.Name + " does not fit its input, width or bias")
	}
	t.use(w, b)
	y := t.node(x.Rows, w.Rows, x.wants || !w.Frozen || !b.Frozen)
	y.a, y.w, y.c, y.back = x, w, b, convBack
	y.length, y.n, y.flag = length, width, flip
	y.aux = t.pad(y.aux, x.Val, y, x.Cols, (width-1)/2)
	t.rowsOf(y, y.Val, b.Val)
	t.pool.GemmWindows(y.windows(y.aux, x.Cols), w.Cols, true, w.Rows, t.taps(w, y, flip), w.Cols, true, y.Val, y.Cols)
	return y
}

func convBack(t *Tape, y *Mat) {
	x, w, width := y.a, y.w, y.n
	t.biasGrad(y)
	if !w.Frozen { // dW = dyᵀ·(windows of x)
		t.tapGradient(y, y.flag, y.Grad, y.windows(y.aux, x.Cols))
	}
	if x.wants { // dx[s] = Σ_j W_jᵀ·dy[s − j + (width−1)/2]
		t.scratch = t.pad(t.scratch, y.Grad, y, y.Cols, width/2)
		t.adjoint(x.Grad, y, t.taps(w, y, y.flag), t.scratch, x.into())
	}
}

// ConvT is the convolution with the axes of Conv's weights swapped. x is (batch·length, out), w is
// (out, width·in) as in Conv, y is (batch·length, in),
//
//	y[t] = b + Σ_j W_jᵀ·x[t + j − (width−1)/2]
//
// flip reverses the order of the W. With flip and an odd width, ConvT is the adjoint of Conv: the
// decoder of an autoencoder with tied weights (Holden et al. 2016, eq. 2). b has in values or is
// nil.
func (t *Tape) ConvT(x *Mat, length int, w, b *Param, width int, flip bool) *Mat {
	checkSequences("ConvT", x, length)
	if width < 1 || w.Rows != x.Cols || w.Cols%width != 0 || b != nil && b.Rows*b.Cols*width != w.Cols {
		panic("grad: ConvT: " + w.Name + " does not fit its input, width or bias")
	}
	y := t.node(x.Rows, w.Cols/width, x.wants || !w.Frozen || b != nil && !b.Frozen)
	y.a, y.w, y.c, y.back = x, w, b, convTBack
	y.length, y.n, y.flag = length, width, flip
	t.use(w)
	if b != nil {
		t.use(b)
		t.rowsOf(y, y.Val, b.Val)
	}
	t.scratch = t.pad(t.scratch, x.Val, y, x.Cols, (width-1)/2)
	t.adjoint(y.Val, y, t.taps(w, y, !flip), t.scratch, b != nil)
	return y
}

func convTBack(t *Tape, y *Mat) {
	x, w, width := y.a, y.w, y.n
	t.biasGrad(y)
	if w.Frozen && !x.wants {
		return
	}
	t.scratch = t.pad(t.scratch, y.Grad, y, y.Cols, width/2)
	dy := y.windows(t.scratch, y.Cols)
	if !w.Frozen { // dW = xᵀ·(windows of dy)
		t.tapGradient(y, !y.flag, x.Val, dy)
	}
	if x.wants {
		t.pool.GemmWindows(dy, w.Cols, true, w.Rows, t.taps(w, y, !y.flag), w.Cols, x.into(), x.Grad, x.Cols)
	}
}

func checkSequences(op string, x *Mat, length int) {
	if length < 1 || x.Rows%length != 0 {
		panic(fmt.Sprintf("grad: %s: %d rows are not whole sequences of %d frames", op, x.Rows, length))
	}
}

// windows returns the windows of y.n frames over a padded copy of y's shape.
func (y *Mat) windows(padded []float32, cols int) kernel.Windows {
	return kernel.Windows{Data: padded, Batch: y.Rows / y.length, Length: y.length, Stride: cols, Skip: (y.length + y.n - 1) * cols}
}

// pad copies sequences of y's length to dst with zeros around each: before frames before them, and
// y.n − 1 in all.
func (t *Tape) pad(dst, src []float32, y *Mat, cols, before int) []float32 {
	batch, frames := y.Rows/y.length, y.length+y.n-1
	dst = grow(dst, batch*frames*cols)
	t.arg = arg{dst: dst, src: src, cols: cols, at: before}
	t.split(y, batch, frames*cols, padRows)
	return dst
}

func padRows(t *Tape, y *Mat, s0, s1 int) {
	a := &t.arg
	size, begin := (y.length+y.n-1)*a.cols, a.at*a.cols
	for s := s0; s < s1; s++ {
		dst, src := a.dst[s*size:][:size], a.src[s*y.length*a.cols:][:y.length*a.cols]
		clear(dst[:begin])
		copy(dst[begin:], src)
		clear(dst[begin+len(src):])
	}
}

// taps returns the weights, reversed in time if flip is set.
func (t *Tape) taps(w *Param, y *Mat, flip bool) []float32 {
	if !flip {
		return w.Val
	}
	t.flipped = grow(t.flipped, len(w.Val))
	t.arg = arg{dst: t.flipped, src: w.Val, cols: w.Cols / y.n}
	t.split(y, w.Rows, w.Cols, flipRows)
	return t.flipped
}

func flipRows(t *Tape, y *Mat, r0, r1 int) {
	a, width := &t.arg, y.n
	for r := r0; r < r1; r++ {
		for j := range width {
			to, from := (r*width+j)*a.cols, (r*width+width-1-j)*a.cols
			if a.add {
				kernel.Axpy(a.dst[to:][:a.cols], 1, a.src[from:][:a.cols])
			} else {
				copy(a.dst[to:][:a.cols], a.src[from:])
			}
		}
	}
}

// tapGradient computes the weights' gradient aᵀ·x, reversed in time if flip is set.
func (t *Tape) tapGradient(y *Mat, flip bool, a []float32, x kernel.Windows) {
	w := y.w
	acc := w.into(t)
	if !flip {
		t.pool.GemmOfWindows(w.Rows, a, w.Rows, x, w.Cols, acc, w.Grad, w.Cols)
		return
	}
	t.flipped = grow(t.flipped, len(w.Val))
	t.pool.GemmOfWindows(w.Rows, a, w.Rows, x, w.Cols, false, t.flipped, w.Cols)
	t.arg = arg{dst: w.Grad, src: t.flipped, cols: w.Cols / y.n, add: acc}
	t.split(y, w.Rows, w.Cols, flipRows)
}

// adjoint computes dst[t] = Σ_j W_jᵀ·p[t + width − 1 − j] over the padded p.
func (t *Tape) adjoint(dst []float32, y *Mat, w, p []float32, acc bool) {
	out, in := y.w.Rows, y.w.Cols/y.n
	t.spread = grow(t.spread, len(w))
	t.arg = arg{dst: t.spread, src: w, cols: in}
	t.split(y, out, y.w.Cols, spreadRows)
	t.pool.GemmWindows(y.windows(p, out), y.n*out, false, in, t.spread, in, acc, dst, in)
}

// spreadRows writes the transposed taps one below the other, the last one first: row j·out + o is
// row o of W_(width−1−j).
func spreadRows(t *Tape, y *Mat, o0, o1 int) {
	a, out, width := &t.arg, y.w.Rows, y.n
	for o := o0; o < o1; o++ {
		for j := range width {
			copy(a.dst[(j*out+o)*a.cols:][:a.cols], a.src[(o*width+width-1-j)*a.cols:])
		}
	}
}
