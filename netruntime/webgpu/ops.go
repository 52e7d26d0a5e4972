//go:build webgpu

package webgpu

import (
	"encoding/binary"
	"math"

	"mannequin/netruntime/internal/program"
)

// none is no place.
const none = 1<<32 - 1

const (
	callBytes  = 16
	callStride = 256 // every device can bind a uniform at a multiple of this
	runBytes   = 16
)

// call is a launch of a kernel.
type call struct {
	columns int // of a product, or 0 for a chain
	rows    int // of a sequence
	format  format
}

// writer writes operations as the kernels read them: words of 32 bits.
type writer struct {
	*program.Layout
	half  bool // products of weights in float16 have sums in it
	calls []call
	ops   []byte // the operations
	args  []byte // the calls' arguments, callStride bytes each
}

// writeAll writes the launches of a run.
func (w *writer) writeAll() {
	w.calls, w.ops, w.args = w.calls[:0], w.ops[:0], w.args[:0]
	for i := range w.Program.Launches {
		la := &w.Program.Launches[i]
		p, rows := la.Product, w.Frames[la.Rows]
		if p != nil && !w.Program.Kept(p.Out) {
			continue
		}
		product := len(w.ops) / 4
		if p != nil {
			w.product(p)
		}
		chain, count := len(w.ops)/4, 0
		if p != nil {
			// The functions of a product's results are not in its kernel, which they would make long.
			for _, q := range p.Points {
				w.light(&program.Light{Kind: program.Elementwise, Width: p.N, X: p.Out, X2: -1, Columns: program.None, Point: q, W: program.None, B: program.None, Out: p.Out})
				count++
			}
		}
		for j := range la.Chain {
			if o := &la.Chain[j]; w.Program.Writes(o) {
				w.light(o)
				count++
			}
		}
		frames := 1
		if la.Loop != nil {
			frames = w.Frames[la.Loop.Frames]
		}
		for f := range frames {
			if la.Loop != nil {
				f = la.Loop.Frame(f, frames)
			}
			if p != nil {
				w.call(call{p.N, rows, w.format(p)}, product, 0, f)
			}
			if count > 0 {
				w.call(call{rows: rows}, chain, count, f)
			}
		}
	}
}

func (w *writer) call(c call, op, count, frame int) {
	w.calls = append(w.calls, c)
	at := len(w.args)
	w.args = append(w.args, make([]byte, callStride)...)
	for i, v := range [...]int{op, count, c.rows, frame} {
		binary.LittleEndian.PutUint32(w.args[at+4*i:], uint32(v))
	}
}

func (w *writer) format(p *program.Product) format {
	switch {
	case p.Pairs == program.Brains:
		return brains
	case p.Pairs == program.Halves && w.half:
		return sums16
	case p.Pairs == program.Halves:
		return halves
	}
	return singles
}

func (w *writer) words(words ...int) {
	for _, v := range words {
		w.ops = binary.LittleEndian.AppendUint32(w.ops, uint32(v))
	}
}

// constant returns the place of a constant, in floats.
func constant(c program.Constant) int {
	if c == program.None {
		return none
	}
	return int(c / 4)
}

// array writes the place of v, in floats. If frame is set, it is one frame at a time: the rows are
// sequences.
func (w *writer) array(v, column int, frame bool) {
	row, step := w.Program.Values[v].Channels, 0
	if frame {
		row, step = row*w.Frames[v], row
	}
	w.words(int(w.At[v][program.Plain]/4)+column, row, step)
}

func (w *writer) point(p program.Point) {
	w.words(int(p.Kind), int(p.Act), constant(p.Scale), constant(p.Rest))
}

func (w *writer) product(p *program.Product) {
	omega := none
	if p.Omega >= 0 {
		omega = int(w.At[p.Omega][program.Plain] / 4)
	}
	w.words(len(p.Sources), p.Segments, w.Frames[p.Out], p.Before, p.Sources[0].Part.Channels, constant(p.B), p.N,
		program.RoundUp(p.N, program.TileColumns), constant(p.Bias), omega)
	for i := range 2 {
		s := p.Sources[min(i, len(p.Sources)-1)]
		w.array(s.Value, 0, s.Frame)
		w.words(s.Part.K(program.Plain))
	}
	w.array(p.Out, 0, false)
	w.words(int(math.Float32bits(p.Scale)))
}

func (w *writer) light(o *program.Light) {
	w.words(int(o.Kind), o.Width)
	w.array(o.X, 0, false)
	w.array(max(o.X2, 0), 0, false)
	w.words(constant(o.Columns))
	w.point(o.Point)
	w.words(o.Inputs, constant(o.W), constant(o.B), o.Factor)
	w.array(o.Out, o.Column, o.Frame)
}
