package netruntime

import (
	"errors"
	"fmt"

	"mannequin/internal/kernel"
)

// mannSession runs a MANN on the processor.
//
// Few rows are bound by reading the weights: the workers then share out the
// columns of each layer, so that every weight is read once for all rows. Many
// rows are bound by arithmetic: each worker takes blocks of rows through the
// whole network and nobody waits between the layers. Either way an element's
// sum is the same.
type mannSession struct {
	m       *mann
	w       *packedMANN
	pool    *kernel.Pool
	scratch []kernel.Scratch // by worker
	maxRows int

	xn    kernel.Matrix    // (rows, in) normalised input
	gx    kernel.Matrix    // (rows, gating in)
	g     [3]kernel.Matrix // gating layers, rows padded to whole panels
	omega []float32        // (rows, K)
	h     [3]kernel.Matrix // hidden layers and normalised output, rows padded

	closed bool

	// The Run in progress.
	y, x   []float32
	rows   int
	done   int    // rows of omega that are valid
	block  int    // rows per task
	counts [4]int // tasks of preparation and each layer

	byRows  func(worker, i int) // bound once
	byLayer func(worker, step, i int)
}

const (
	blockRows  = 192 // rows that fit the second-level cache with their hidden layers
	splitRows  = 96  // rows per worker from which rows are shared out instead of columns
	prepRows   = 16  // rows per task of normalisation and gating
	taskPanels = 4
)

var errClosed = errors.New("netruntime: the session is closed")

var one = kernel.Matrix{Data: []float32{1}}

func matrix(rows, cols int) kernel.Matrix {
	return kernel.Matrix{Data: make([]float32, rows*cols), Stride: cols}
}

func (m *mann) session(packed any, maxRows, workers int) Session {
	w := packed.(*packedMANN)
	s := &mannSession{
		m: m, w: w, maxRows: maxRows,
		pool: kernel.NewPool(workers), scratch: make([]kernel.Scratch, workers),
		xn: matrix(maxRows, m.in), gx: matrix(maxRows, m.gin),
		omega: make([]float32, maxRows*m.k),
	}
	for l := range 3 {
		s.g[l] = matrix(maxRows, w.gating[l].Cols())
		s.h[l] = matrix(maxRows, w.bias[l].Cols())
	}
	s.byRows, s.byLayer = s.runRows, s.runLayer
	return s
}

func (s *mannSession) MaxRows() int { return s.maxRows }

// Gating returns ω (rows, K) of the last Run.
func (s *mannSession) Gating() []float32 { return s.omega[:s.done*s.m.k] }

func (s *mannSession) Close() error {
	s.closed = true
	s.pool.Close()
	return nil
}

func (s *mannSession) Run(y, x []float32, rows int) error {
	switch {
	case s.closed:
		return errClosed
	case rows < 0 || rows > s.maxRows:
		return fmt.Errorf("netruntime: %d rows, the session holds 0 to %d", rows, s.maxRows)
	case len(x) < rows*s.m.in:
		return fmt.Errorf("netruntime: x has %d values, %d rows of %d inputs need %d", len(x), rows, s.m.in, rows*s.m.in)
	case len(y) < rows*s.m.out:
		return fmt.Errorf("netruntime: y has %d values, %d rows of %d outputs need %d", len(y), rows, s.m.out, rows*s.m.out)
	}
	s.y, s.x, s.rows, s.done = y, x, rows, rows
	workers := s.pool.Workers()
	if workers == 1 || rows >= splitRows*workers {
		// Even blocks, the same number for each worker.
		n := (rows + blockRows*workers - 1) / (blockRows * workers) * workers
		s.block = max(1, (rows+n-1)/n)
		s.pool.Run((rows+s.block-1)/s.block, s.byRows)
	} else if rows > 0 {
		s.block = prepRows
		s.counts[0] = (rows + prepRows - 1) / prepRows
		for l := range s.h {
			s.counts[1+l] = (s.w.bias[l].Panels() + taskPanels - 1) / taskPanels
		}
		s.pool.Steps(s.counts[:], s.byLayer)
	}
	s.y, s.x = nil, nil
	return nil
}

func (s *mannSession) runRows(worker, i int) {
	r0, r1 := s.span(i)
	s.prepare(&s.scratch[worker], r0, r1)
	for l := range s.h {
		s.blend(&s.scratch[worker], l, r0, r1, 0, s.w.bias[l].Panels())
	}
}

func (s *mannSession) runLayer(worker, step, i int) {
	sc := &s.scratch[worker]
	if step == 0 {
		r0, r1 := s.span(i)
		s.prepare(sc, r0, r1)
		return
	}
	l, p0 := step-1, i*taskPanels
	s.blend(sc, l, 0, s.rows, p0, min(p0+taskPanels, s.w.bias[l].Panels()))
}

func (s *mannSession) span(i int) (r0, r1 int) {
	return min(i*s.block, s.rows), min((i+1)*s.block, s.rows)
}

// prepare normalises rows [r0, r1) and computes their gating.
func (s *mannSession) prepare(sc *kernel.Scratch, r0, r1 int) {
	m := s.m
	for r := r0; r < r1; r++ {
		x, xn := s.x[r*m.in:][:m.in], s.xn.Row(r).Data[:m.in]
		for i, v := range x {
			xn[i] = (v - m.xMean[i]) * m.xInv[i]
		}
		gx := s.gx.Row(r).Data
		for i, c := range m.columns {
			gx[i] = xn[c]
		}
	}
	in := s.gx.Row(r0)
	for l, b := range m.gb {
		out := s.g[l].Row(r0)
		w, ep := s.w.gating[l], kernel.Epilogue{Bias: b}
		if l < 2 {
			ep.Act = kernel.ActELU
		}
		w.Mul(sc, out, one, in, r1-r0, false, ep, 0, w.Panels())
		in = out
	}
	for r := r0; r < r1; r++ {
		softmax(s.omega[r*m.k:][:m.k], s.g[2].Row(r).Data)
	}
}

// softmax sets dst from as many logits. A NaN among them makes all NaN.
func softmax(dst, logits []float32) {
	top := logits[0]
	for _, v := range logits[1:len(dst)] {
		top = max(top, v)
	}
	for i := range dst {
		dst[i] = logits[i] - top
	}
	kernel.Exp(dst, dst)
	var sum float32
	for _, v := range dst {
		sum += v
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// blend computes panels [p0, p1) of layer l for rows [r0, r1), and of the last
// layer the caller's outputs.
func (s *mannSession) blend(sc *kernel.Scratch, l, r0, r1, p0, p1 int) {
	m, rows := s.m, r1-r0
	in := s.xn
	if l > 0 {
		in = s.h[l-1]
	}
	in = in.Row(r0)
	out := s.h[l].Row(r0)
	omega := kernel.Matrix{Data: s.omega, Stride: m.k}.Row(r0)
	ep := kernel.Epilogue{}
	if l < 2 {
		ep.Act = kernel.ActELU
	}
	s.w.bias[l].Mul(sc, out, one, omega, rows, false, kernel.Epilogue{}, p0, p1)
	s.w.experts[l].Mul(sc, out, omega, in, rows, true, ep, p0, p1)
	if l < 2 {
		return
	}
	cols := out.Stride / s.w.bias[l].Panels()
	c0, c1 := p0*cols, min(p1*cols, m.out)
	mean, std := m.yMean[c0:c1], m.yStd[c0:c1]
	for r := range rows {
		y := s.y[(r0+r)*m.out+c0:][:len(mean)]
		for i, v := range out.Row(r).Data[c0:c1] {
			y[i] = float32(v*std[i]) + mean[i]
		}
	}
}
