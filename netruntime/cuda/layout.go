//go:build cuda

package cuda

// #include "ops.h"
import "C"

import "unsafe"

// layout is the place of a plan's values in memory, for runs of a number of sequences of a length.
type layout struct {
	plan   *plan
	frames []int          // of a sequence, by value
	at     [][forms]int64 // offsets in the lane's memory, by value
	size   int64
}

// align is the alignment of every array, in bytes.
const align = 256

func newLayout(p *plan) *layout {
	return &layout{plan: p, frames: make([]int, len(p.values)), at: make([][forms]int64, len(p.values))}
}

// place places the values. It returns false for a length that is not possible.
func (l *layout) place(sequences, length int) bool {
	l.size = 0
	for i := range l.plan.values {
		v := &l.plan.values[i]
		n := v.like.Length(length)
		if n == 0 {
			return false
		}
		l.frames[i] = n
		for f := range form(forms) {
			if v.forms[f] {
				l.at[i][f] = l.size
				l.size += roundUp(int64(sequences)*int64(n)*int64(f.row(v.channels))*int64(f.bytes()), align)
			}
		}
	}
	return true
}

// floats returns the number of values of one sequence of v.
func (l *layout) floats(v int) int { return l.frames[v] * l.plan.values[v].channels }

// call is a launch of a kernel.
type call struct {
	form  form // of a product
	chain int  // light operations, or 0 for a product
	n     int  // columns of a product
	op    int  // offset of its first operation
	rows  int  // of a sequence
	frame int
}

// calls appends the launches of a run, and their operations in the kernels' layout, for a lane
// whose memory is at base.
func (l *layout) calls(calls []call, ops []byte, constants, base C.address) ([]call, []byte) {
	w := writer{layout: l, constants: constants, base: base, ops: ops}
	var two [2]call
	for i := range l.plan.launches {
		la := &l.plan.launches[i]
		once := two[:0]
		rows := l.frames[la.rows]
		if p := la.product; p != nil {
			once = append(once, call{form: p.form, n: p.n, op: len(w.ops), rows: rows})
			w.product(p)
		}
		chain := call{op: len(w.ops), rows: rows}
		for j := range la.chain {
			if o := &la.chain[j]; !o.copies || w.plan.values[o.out].operands() {
				w.light(o)
				chain.chain++
			}
		}
		if chain.chain > 0 {
			once = append(once, chain)
		}
		if la.loop == nil {
			calls = append(calls, once...)
			continue
		}
		frames := l.frames[la.loop.frames]
		for f := range frames {
			if la.loop.reverse {
				f = frames - 1 - f
			}
			for _, c := range once {
				c.frame = f
				calls = append(calls, c)
			}
		}
	}
	return calls, w.ops
}

// writer writes operations.
type writer struct {
	*layout
	constants, base C.address
	ops             []byte
}

func (w *writer) constant(c constant) C.address {
	if c == none {
		return 0
	}
	return w.constants + C.address(c)
}

func number(n int) C.longlong { return C.longlong(n) }

// array returns the place of v in one of its forms. If frame is set, it is one frame at a time: the
// rows are sequences.
func (w *writer) array(v int, f form, frame bool) C.struct_sink {
	row := f.row(w.plan.values[v].channels)
	s := C.struct_sink{at: w.base + C.address(w.at[v][f]), _type: number(int(f)), row: number(row)}
	if f == plain {
		s._type = C.FLOAT32
	}
	if frame {
		s.step, s.row = s.row, number(row*w.frames[v])
	}
	return s
}

// sinks returns the places where v is to be stored, from a column on.
func (w *writer) sinks(v, column int, frame, copies bool) [C.SINKS]C.struct_sink {
	var out [C.SINKS]C.struct_sink
	n := 0
	for f := range form(forms) {
		if !w.plan.values[v].forms[f] || f == plain && copies {
			continue
		}
		out[n] = w.array(v, f, frame)
		out[n].at += C.address(column * f.bytes())
		n++
	}
	return out
}

func (w *writer) point(p point) C.struct_point {
	return C.struct_point{kind: number(p.kind), act: number(p.act), scale: w.constant(p.scale), rest: w.constant(p.rest)}
}

func (w *writer) product(p *product) {
	op := C.struct_product{
		sources: number(len(p.sources)), segments: number(p.segments), frames: number(w.frames[p.out]), before: number(p.before),
		channels: number(p.form.row(p.sources[0].part.channels)), b: w.constant(p.b), n: number(p.n), columns: number(roundUp(p.n, tileColumns)),
		bias: w.constant(p.bias), points: number(len(p.points)), sink: w.sinks(p.out, 0, false, false),
	}
	for i, s := range p.sources {
		a := w.array(s.value, p.form, s.frame)
		op.source[i] = C.struct_source{at: a.at, row: a.row, step: a.step, k: number(s.part.k(p.form)), steps: number(s.part.steps(p.form))}
	}
	if p.omega >= 0 {
		op.omega = w.array(p.omega, plain, false).at
	}
	for i, q := range p.points {
		op.point[i] = w.point(q)
	}
	w.ops = append(w.ops, unsafe.Slice((*byte)(unsafe.Pointer(&op)), unsafe.Sizeof(op))...)
}

func (w *writer) light(o *light) {
	op := C.struct_light{
		kind: number(o.kind), width: number(o.width), x: w.array(o.x, plain, false), column: w.constant(o.columns), point: w.point(o.point),
		inputs: number(o.inputs), w: w.constant(o.w), b: w.constant(o.b), sink: w.sinks(o.out, o.column, o.frame, o.copies),
	}
	if o.x2 >= 0 {
		op.x2 = w.array(o.x2, plain, false)
	}
	w.ops = append(w.ops, unsafe.Slice((*byte)(unsafe.Pointer(&op)), unsafe.Sizeof(op))...)
}

// deviceAddress returns p in the kernels' type.
func deviceAddress[P ~uintptr](p P) C.address { return C.address(p) }
