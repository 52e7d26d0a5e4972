package grad

import "mannequin/netruntime/internal/kernel"

// Blend is a dense layer whose weights are a mixture of experts, with a mixture for every row: y =
// Σ_k ω_k (W_k·x + b_k). x is (rows, in), ω is (rows, K), w (K·in, out) holds the transposed W_k
// one below the other, and b is (K, out). (Zhang, Starke et al. 2018, eq. 5 and 6.)
//
// It scales the input instead of the weights. So it is one product that reads every weight once for
// the whole batch: [ω_1·x … ω_K·x]·w.
func (t *Tape) Blend(x, omega *Mat, w, b *Param) *Mat {
	k := omega.Cols
	if w.Rows != k*x.Cols || b.Rows != k || b.Cols != w.Cols || omega.Rows != x.Rows {
		panic("grad: Blend: " + w.Name + " does not fit its input, gating or bias")
	}
	y := t.node(x.Rows, w.Cols, x.wants || omega.wants || !w.Frozen || !b.Frozen)
	y.a, y.b, y.w, y.c, y.back = x, omega, w, b, blendBack
	t.use(w, b)
	j := blendOf(y)
	y.aux = grow(y.aux, (x.Cols+k)*j.width)
	kernel.Transpose(j.input(0), j.width, x.Val, x.Cols, x.Rows, x.Cols)
	kernel.Transpose(j.gating(0), j.width, omega.Val, k, x.Rows, k)
	t.blend.stack = grow(t.blend.stack, w.Rows*x.Rows)
	t.split(y, w.Rows, x.Rows, blendStack)
	t.pool.Gemm(false, false, y.Rows, y.Cols, k, omega.Val, k, b.Val, b.Cols, false, y.Val, y.Cols)
	t.pool.Gemm(true, false, y.Rows, y.Cols, w.Rows, t.blend.stack, x.Rows, w.Val, w.Cols, true, y.Val, y.Cols)
	return y
}

// blended is the Mat of a blend. Its aux holds the input and the gating, transposed, in rows of the
// given width. The stack [ω_1·x … ω_K·x] has K times the size of the input, so it is made anew where it
// is needed.
type blended struct {
	*Mat
	width int // rows, rounded up to whole panels of the kernels
}

func blendOf(y *Mat) blended {
	cols := kernel.Active().PanelCols()
	return blended{y, (y.Rows + cols - 1) / cols * cols}
}

func (y blended) input(i int) []float32            { return y.aux[i*y.width:] }
func (y blended) gating(k int) []float32           { return y.aux[(y.a.Cols+k)*y.width:] }
func (y blended) row(m []float32, i int) []float32 { return m[i*y.width:][:y.width] }

// stack writes row i of the stack, transposed.
func (y blended) stack(dst []float32, i int) {
	n := y.Rows
	kernel.Mul(dst[:n], y.gating(i / y.a.Cols)[:n], y.input(i % y.a.Cols)[:n])
}

func blendStack(t *Tape, n *Mat, i0, i1 int) {
	y := blendOf(n)
	for i := i0; i < i1; i++ {
		y.stack(t.blend.stack[i*n.Rows:], i)
	}
}

// blendJob is the backward pass of layers.
//
// The gradients of input and gating come layer by layer: each task takes some of the input's columns,
// and reads its part of every expert's weights. Weights of one layer alone get their gradient in the
// same task, while they are in the cache. The gradient of weights that several layers share, such as
// those of a network that goes on from its own output, waits for the backward pass of the first of
// these layers. Then it is one product over the rows of all: reading and writing the gradients of
// large weights takes longer than computing those of few rows. It reads what the tape holds of these
// layers anyway, beside two copies of their output's gradients, for one set of weights at a time.
type blendJob struct {
	t     *Tape
	stack []float32 // of the layer that forward computes
	y     blended
	run   func(worker, i int)
	dyT   kernel.Packed // (out, rows)
	parts []float32     // by task and expert: the task's share of the gating's gradient, transposed
	work  []blendWork   // by worker
	accX  bool          // the input's gradient is added to

	waiting []*Mat // layers whose weights have no gradient yet

	// The product for the gradient of weights:
	w       *Param
	layers  []*Mat // that use w
	rows    int    // of all these layers
	dys     []float32
	dy      kernel.Packed // (rows, out)
	weights func(worker, i int)
	accW    bool // the gradient is added to
	direct  bool // it goes to Update
}

type blendWork struct {
	kernel.Scratch
	g  []float32 // (blendCols, width), gradient of a part of the stack
	dx []float32 // (blendCols, width), of the input
	a  []float32 // (blendRows, rows), of the stacks of all layers, side by side
	dw []float32 // (blendRows, out), of the weights
}

const (
	blendCols = 24 // input columns per task: two of the kernels' tallest tiles
	blendRows = 48 // rows of shared weights per task
)

// one is the weight of a product that is not a mixture.
var one = kernel.Matrix{Data: []float32{1}}

func (j *blendJob) init(t *Tape) {
	j.t, j.run, j.work = t, j.task, make([]blendWork, t.pool.Workers())
	j.weights = func(worker, i int) {
		row := i * blendRows
		j.product(&j.work[worker], row, min(blendRows, j.w.Rows-row))
	}
}

func blendBack(t *Tape, n *Mat) {
	j := &t.blend
	x, omega, w, b := n.a, n.b, n.w, n.c
	k := omega.Cols
	j.y = blendOf(n)
	if !b.Frozen { // db = ωᵀ·dy
		t.pool.Gemm(true, false, k, n.Cols, n.Rows, omega.Val, k, n.Grad, n.Cols, b.into(t), b.Grad, b.Cols)
	}
	j.w = nil
	if !w.Frozen {
		j.waiting = append(j.waiting, n)
		if w.uses == 1 {
			j.take(w)
		}
	}
	if x.wants || omega.wants {
		j.dyT.Repack(true, 1, n.Cols, n.Rows, n.Grad, n.Cols)
	}
	if omega.wants { // dω = dy·bᵀ; the share of x is added below
		t.pool.Gemm(false, true, n.Rows, k, n.Cols, n.Grad, n.Cols, b.Val, b.Cols, omega.into(), omega.Grad, k)
	}
	if x.wants {
		j.accX = x.into()
	}
	tasks := (x.Cols + blendCols - 1) / blendCols
	j.parts = grow(j.parts, tasks*k*j.y.width)
	t.pool.Run(tasks, j.run)
	if omega.wants {
		sum := j.parts[:k*j.y.width]
		for i := 1; i < tasks; i++ {
			kernel.Add(sum, sum, j.parts[i*len(sum):][:len(sum)])
		}
		for i := range k {
			for r, v := range j.y.row(sum, i)[:n.Rows] {
				omega.Grad[r*k+i] += v
			}
		}
	}
	j.y.Mat = nil
}

// task computes the input columns from i·blendCols on.
func (j *blendJob) task(worker, i int) {
	s, y := &j.work[worker], j.y
	x, omega, w := y.a, y.b, y.w
	i0 := i * blendCols
	n := min(blendCols, x.Cols-i0)
	s.g, s.dx = grow(s.g, blendCols*y.width), grow(s.dx, blendCols*y.width)
	parts := j.parts[i*omega.Cols*y.width:][:omega.Cols*y.width]
	clear(s.dx)
	clear(parts)
	for k := range omega.Cols {
		row := k*x.Cols + i0
		if x.wants || omega.wants {
			a := kernel.Operand{F32: w.Val[row*w.Cols:], Stride: w.Cols}
			j.dyT.Mul(&s.Scratch, kernel.Matrix{Data: s.g, Stride: y.width}, one, a, n, false, kernel.Epilogue{}, 0, j.dyT.Panels())
			kernel.BlendGrad(s.dx, y.row(parts, k), s.g, y.input(i0), y.gating(k)[:y.width], n)
		}
		if j.w != nil {
			j.product(s, row, n)
		}
	}
	if x.wants {
		y.addInput(s, i0, n, j.accX)
	}
}

// finish computes the gradient of weights that several layers share, after the backward pass of all.
func (j *blendJob) finish(w *Param) {
	if j.take(w) {
		j.t.pool.Run((w.Rows+blendRows-1)/blendRows, j.weights)
	}
}

// take prepares the product for the gradient of w, if layers wait for it.
func (j *blendJob) take(w *Param) bool {
	j.layers, j.rows, j.dys = j.layers[:0], 0, j.dys[:0]
	rest := j.waiting[:0]
	for _, y := range j.waiting {
		if y.w != w {
			rest = append(rest, y)
			continue
		}
		j.layers, j.rows = append(j.layers, y), j.rows+y.Rows
	}
	j.waiting = rest
	if len(j.layers) == 0 {
		return false
	}
	dy := j.layers[0].Grad
	if len(j.layers) > 1 {
		for _, y := range j.layers {
			j.dys = append(j.dys, y.Grad...)
		}
		dy = j.dys
	}
	j.dy.Repack(false, 1, j.rows, w.Cols, dy, w.Cols)
	j.w, j.accW = w, w.into(j.t)
	if j.direct = w.Update != nil && !j.accW; j.direct { // no operation adds to it later
		w.updated = j.t.pass
	}
	return true
}

// product computes the gradient of rows [row, row+n) of w.
func (j *blendJob) product(s *blendWork, row, n int) {
	w, at := j.w, row*j.w.Cols
	s.a, s.dw = grow(s.a, blendRows*j.rows), grow(s.dw, blendRows*w.Cols)
	for i := range n {
		dst := s.a[i*j.rows:]
		for _, y := range j.layers {
			blendOf(y).stack(dst, row+i)
			dst = dst[y.Rows:]
		}
	}
	dw := s.dw
	if !j.direct {
		dw = w.Grad[at:]
	}
	a := kernel.Operand{F32: s.a, Stride: j.rows}
	j.dy.Mul(&s.Scratch, kernel.Matrix{Data: dw, Stride: w.Cols}, one, a, n, j.accW, kernel.Epilogue{}, 0, j.dy.Panels())
	if j.direct {
		w.Update(at, dw[:n*w.Cols])
	}
}

// addInput writes or adds the gradient of the input columns [i0, i0+n).
func (y blended) addInput(s *blendWork, i0, n int, acc bool) {
	x := y.a
	if !acc {
		kernel.Transpose(x.Grad[i0:], x.Cols, s.dx, y.width, n, x.Rows)
		return
	}
	kernel.Transpose(s.g, n, s.dx, y.width, n, x.Rows)
	for r := range x.Rows {
		kernel.Axpy(x.Grad[r*x.Cols+i0:][:n], 1, s.g[r*n:][:n])
	}
}
