package grad

import "mannequin/netruntime/internal/kernel"

// recurrence runs an LSTM's steps, forward or backward, and keeps the workers awake between them. A
// task is some of the units at one step: their products and their cells.
type recurrence struct {
	y      *Mat
	x, h   *[4]kernel.Packed // weights by gate
	panels int               // of units per task
	counts []int             // tasks by step

	scratch                   []kernel.Scratch // by worker
	forwardStep, backwardStep func(worker, step, task int)

	steps []*Mat       // steps whose weights have no gradient yet
	rows  [3][]float32 // all rows of these steps: gradients of the gates' sums, x, h

	packing  *Param
	backward int
	pack     func(worker, gate int)
}

func (r *recurrence) run(t *Tape, y *Mat, steps int, forward bool) {
	if r.scratch == nil { // functions are made once, because they allocate
		r.scratch = make([]kernel.Scratch, t.pool.Workers())
		r.forwardStep = r.stepForward
		r.backwardStep = func(worker, step, task int) { r.stepBackward(t, worker, step, task) }
		r.pack = r.packGate
	}
	r.y = y
	job := r.backwardStep
	if forward {
		job = r.forwardStep
		r.h = r.gates(t, y.v, 0)
		if y.length == 1 {
			r.x = r.gates(t, y.w, 0)
		}
	} else {
		r.h = r.gates(t, y.v, 1)
	}
	all, want := r.h[0].Panels(), 4*t.pool.Workers()
	r.panels = (all + want - 1) / want
	r.counts = r.counts[:0]
	for range steps {
		r.counts = append(r.counts, (all+r.panels-1)/r.panels)
	}
	t.pool.Steps(r.counts, job)
}

// packs are a parameter's gates laid out for products with few rows, valid for one pass.
type packs struct {
	tape  *Tape
	pass  uint64
	gates [4]kernel.Packed
}

// gates returns p's gates packed: for x·Wᵀ if backward is 0, for dy·W if it is 1.
func (r *recurrence) gates(t *Tape, p *Param, backward int) *[4]kernel.Packed {
	if p.packs == nil {
		p.packs = new([2]packs)
	}
	k := &p.packs[backward]
	if k.tape != t || k.pass != t.pass {
		k.tape, k.pass = t, t.pass
		r.packing, r.backward = p, backward
		t.pool.Run(len(k.gates), r.pack)
	}
	return &k.gates
}

func (r *recurrence) packGate(_, gate int) {
	p := r.packing
	n := p.Rows / 4
	k, src := &p.packs[r.backward].gates[gate], p.Val[gate*n*p.Cols:]
	if r.backward == 0 {
		k.Repack(true, 1, p.Cols, n, src, p.Cols)
	} else {
		k.Repack(false, 1, n, p.Cols, src, p.Cols)
	}
}

// block returns the task's panels and units.
func (r *recurrence) block(task int) (p0, p1, u0, u1 int) {
	p0 = task * r.panels
	p1 = min(p0+r.panels, r.h[0].Panels())
	cols := kernel.Active().PanelCols()
	return p0, p1, p0 * cols, min(p1*cols, r.y.Cols)
}

func (r *recurrence) stepForward(worker, step, task int) {
	y, s := r.y, &r.scratch[worker]
	m, n, batch := memoryOf(y), y.Cols, y.Rows/y.length
	p0, p1, u0, u1 := r.block(task)
	at := m.frame(step)
	var h kernel.Operand
	switch h0 := y.parts[0]; {
	case step > 0:
		h = kernel.Operand{F32: y.Val[m.frame(step-1)*n:], Stride: y.length * n}
	case h0 != nil:
		h = kernel.Operand{F32: h0.Val, Stride: n}
	}
	for g := range 4 {
		sum := kernel.Matrix{Data: m.gates[(at*4+g)*n:], Stride: y.length * 4 * n}
		if y.length == 1 {
			r.x[g].Mul(s, sum, one, kernel.Operand{F32: y.a.Val, Stride: y.a.Cols}, batch, true, kernel.Epilogue{}, p0, p1)
		}
		if h.F32 != nil {
			r.h[g].Mul(s, sum, one, h, batch, true, kernel.Epilogue{}, p0, p1)
		}
	}
	for s := range batch {
		row := s*y.length + at
		i, f, g, o := m.gatesOf(row, u0, u1)
		c, tanh := m.c[row*n:][u0:u1], m.tanh[row*n:][u0:u1]
		kernel.Sigmoid(i, i)
		kernel.Sigmoid(f, f)
		kernel.Tanh(g, g)
		kernel.Sigmoid(o, o)
		kernel.Mul(c, i, g)
		if before := m.before(s, step); before != nil {
			kernel.MulAdd(c, f, before[u0:u1])
		}
		kernel.Tanh(tanh, c)
		kernel.Mul(y.Val[row*n:][u0:u1], o, tanh)
	}
}

// gatesOf returns the gates of units [u0, u1) of a row.
func (m *lstmMemory) gatesOf(row, u0, u1 int) (i, f, g, o []float32) {
	n := m.Cols
	v := m.gates[row*4*n:][:4*n]
	return v[u0:u1], v[n+u0 : n+u1], v[2*n+u0 : 2*n+u1], v[3*n+u0 : 3*n+u1]
}

// stepBackward takes the gradient of h from the step after and turns the gates' values into the
// gradients of their sums. The gradients of the state are in the tape's scratch: see lstmBack. One
// more step than the sequence has gives the gradient of the first h.
func (r *recurrence) stepBackward(t *Tape, worker, count, task int) {
	y := r.y
	m, n, batch := memoryOf(y), y.Cols, y.Rows/y.length
	p0, p1, u0, u1 := r.block(task)
	step := y.length - 1 - count
	if count > 0 {
		dh := kernel.Matrix{Data: t.scratch, Stride: n}
		for g := range 4 {
			dg := kernel.Operand{F32: m.gates[(m.frame(step+1)*4+g)*n:], Stride: y.length * 4 * n}
			r.h[g].Mul(&r.scratch[worker], dh, one, dg, batch, g > 0, kernel.Epilogue{}, p0, p1)
		}
	}
	if step < 0 {
		return
	}
	for s := range batch {
		row := s*y.length + m.frame(step)
		dh, dc := t.scratch[s*n:][u0:u1], t.scratch[(batch+s)*n:][u0:u1]
		a, b := t.scratch[(2*batch+s)*n:][u0:u1], t.scratch[(3*batch+s)*n:][u0:u1]
		i, f, g, o := m.gatesOf(row, u0, u1)
		tanh := m.tanh[row*n:][u0:u1]
		kernel.Add(dh, dh, y.Grad[row*n:][u0:u1])
		kernel.Mul(a, dh, o)
		kernel.TanhGrad(a, a, tanh)
		kernel.Add(dc, dc, a)
		kernel.Mul(a, dh, tanh)
		kernel.SigmoidGrad(o, a, o)
		kernel.Mul(a, dc, i)
		kernel.Mul(b, dc, g)
		kernel.TanhGrad(g, a, g)
		kernel.SigmoidGrad(i, b, i)
		if before := m.before(s, step); before != nil {
			kernel.Mul(a, dc, before[u0:u1])
		} else {
			clear(a)
		}
		kernel.Mul(dc, dc, f)
		kernel.SigmoidGrad(f, a, f)
	}
}

// postpone delays the weights' gradient of a single step.
func (r *recurrence) postpone(y *Mat) {
	if !y.w.Frozen || !y.v.Frozen || !y.c.Frozen {
		r.steps = append(r.steps, y)
		for _, p := range [...]*Param{y.w, y.v, y.c} {
			p.left++ // until finish
		}
	}
}

// finish computes the postponed gradients: one product for all steps with the same weights, because
// reading and writing the gradients of large weights takes longer than computing those of one step.
func (r *recurrence) finish(t *Tape) {
	for i, first := range r.steps {
		if first == nil {
			continue
		}
		rows := 0
		for k := range r.rows {
			r.rows[k] = r.rows[k][:0]
		}
		for j, y := range r.steps[i:] {
			if y == nil || y.w != first.w || y.v != first.v || y.c != first.c {
				continue
			}
			r.steps[i+j] = nil
			rows += y.Rows
			r.rows[0] = append(r.rows[0], memoryOf(y).gates...)
			r.rows[1] = append(r.rows[1], y.a.Val...)
			if h0 := y.parts[0]; h0 != nil {
				r.rows[2] = append(r.rows[2], h0.Val...)
			} else {
				at := len(r.rows[2])
				r.rows[2] = append(r.rows[2], y.Val...)
				clear(r.rows[2][at:])
			}
		}
		t.lstmWeights(first.w, first.v, first.c, rows, r.rows[0], r.rows[1], r.rows[2])
	}
	r.steps = r.steps[:0]
}
