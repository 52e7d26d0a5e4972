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
	y.aux = grow(y.aux, (w.Rows+x.Cols+k)*j.width)
	kernel.Transpose(j.input(), j.width, x.Val, x.Cols, x.Rows, x.Cols)
	kernel.Transpose(j.gating(), j.width, omega.Val, k, x.Rows, k)
	t.split(y, w.Rows, j.width, blendStack)
	t.pool.Gemm(false, false, y.Rows, y.Cols, k, omega.Val, k, b.Val, b.Cols, false, y.Val, y.Cols)
	t.pool.Gemm(true, false, y.Rows, y.Cols, w.Rows, y.aux, j.width, w.Val, w.Cols, true, y.Val, y.Cols)
	return y
}

// blended is the Mat of a blend. Its aux holds, transposed, in rows of the given width: the stack
// [ω_1·x … ω_K·x], the input and the gating.
type blended struct {
	*Mat
	width int // rows, rounded up to whole panels of the kernels
}

func blendOf(y *Mat) blended {
	cols := kernel.Active().PanelCols()
	return blended{y, (y.Rows + cols - 1) / cols * cols}
}

func (y blended) stack(i int) []float32            { return y.aux[i*y.width:] }
func (y blended) input() []float32                 { return y.stack(y.w.Rows) }
func (y blended) gating() []float32                { return y.stack(y.w.Rows + y.a.Cols) }
func (y blended) row(m []float32, i int) []float32 { return m[i*y.width:][:y.width] }

// blendStack writes rows [i0, i1) of the stack.
func blendStack(_ *Tape, n *Mat, i0, i1 int) {
	y := blendOf(n)
	x, omega := y.input(), y.gating()
	for i := i0; i < i1; i++ {
		kernel.Mul(y.row(y.aux, i), y.row(omega, i/y.a.Cols), y.row(x, i%y.a.Cols))
	}
}

// blendJob is the backward pass of one layer. Each task takes some of the input's columns. It reads
// its part of every expert's weights for the gradient of input and gating, computes the gradient of
// these weights and passes it on, all while they are in the cache.
type blendJob struct {
	t     *Tape
	y     blended
	run   func(worker, i int)
	dy    kernel.Packed // (rows, out)
	dyT   kernel.Packed // (out, rows)
	parts []float32     // by task and expert: the task's share of the gating's gradient, transposed
	work  []blendWork   // by worker

	accX, accW bool // gradients to add to
	direct     bool // the gradient of w goes to its Update
}

type blendWork struct {
	kernel.Scratch
	g  []float32 // (blendCols, width), gradient of a part of the stack
	dx []float32 // (blendCols, width), of the input
	dw []float32 // (blendCols, out), of the weights
}

const blendCols = 24 // input columns per task: two of the kernels' tallest tiles

// one is the weight of a product that is not a mixture.
var one = kernel.Matrix{Data: []float32{1}}

func (j *blendJob) init(t *Tape) {
	j.t, j.run, j.work = t, j.task, make([]blendWork, t.pool.Workers())
}

func blendBack(t *Tape, n *Mat) {
	j := &t.blend
	x, omega, w, b := n.a, n.b, n.w, n.c
	k := omega.Cols
	j.y = blendOf(n)
	if !b.Frozen { // db = ωᵀ·dy
		t.pool.Gemm(true, false, k, n.Cols, n.Rows, omega.Val, k, n.Grad, n.Cols, b.into(t), b.Grad, b.Cols)
	}
	if !w.Frozen {
		j.accW, j.direct = w.into(t), w.direct()
		if j.direct {
			w.updated = t.pass
		}
		j.dy.Repack(false, 1, n.Rows, n.Cols, n.Grad, n.Cols)
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
	s.g, s.dx, s.dw = grow(s.g, blendCols*y.width), grow(s.dx, blendCols*y.width), grow(s.dw, blendCols*w.Cols)
	parts := j.parts[i*omega.Cols*y.width:][:omega.Cols*y.width]
	clear(s.dx)
	clear(parts)
	for k := range omega.Cols {
		row := k*x.Cols + i0
		if x.wants || omega.wants {
			a := kernel.Operand{F32: w.Val[row*w.Cols:], Stride: w.Cols}
			j.dyT.Mul(&s.Scratch, kernel.Matrix{Data: s.g, Stride: y.width}, one, a, n, false, kernel.Epilogue{}, 0, j.dyT.Panels())
			kernel.BlendGrad(s.dx, y.row(parts, k), s.g, y.input()[i0*y.width:], y.row(y.gating(), k), n)
		}
		if !w.Frozen {
			j.weights(s, row, n)
		}
	}
	if x.wants {
		y.addInput(s, i0, n, j.accX)
	}
}

// weights computes the gradient of rows [row, row+n) of w.
func (j *blendJob) weights(s *blendWork, row, n int) {
	w, at := j.y.w, row*j.y.w.Cols
	dw := w.Grad
	if j.direct {
		dw = s.dw
	} else {
		dw = dw[at:]
	}
	a := kernel.Operand{F32: j.y.stack(row), Stride: j.y.width}
	j.dy.Mul(&s.Scratch, kernel.Matrix{Data: dw, Stride: w.Cols}, one, a, n, j.accW && !j.direct, kernel.Epilogue{}, 0, j.dy.Panels())
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
