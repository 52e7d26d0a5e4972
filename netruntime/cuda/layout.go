//go:build cuda

package cuda

// #cgo CFLAGS: -I${SRCDIR}/kernels
// #include "ops.h"
import "C"

import (
	"unsafe"

	"mannequin/netruntime/internal/program"
)

// The constants of package program equal those of the kernels (ops.h). If one differs, this line does not compile.
var _ = [1]struct{}{}[(C.ACTIVATE^program.Activate|C.AFFINE^program.Affine|C.NORMALIZE^program.Normalize|C.SKIP^program.Skip)+
	program.PointKind(C.IDENTITY^program.Identity|C.ELU^program.ELU|C.RELU^program.ReLU|C.SIGMOID^program.Sigmoid|C.TANH^program.Tanh)+
	program.PointKind(C.ZERO^program.Zero|C.COPY^program.Copy|C.POINT^program.Elementwise|C.ADD^program.Add|C.DENSE^program.Dense|
		C.SOFTMAX^program.Softmax|C.MAX_POOL^program.MaxPool|C.DEPOOL^program.Depool|C.LSTM^program.LSTM)+
	program.PointKind(C.NOTHING^program.Plain|C.FLOAT32^program.FP32|C.TF32^program.TF32|C.BF16^program.BF16)+
	C.POINTS^program.MostPoints|C.STEP^program.StepBytes|C.CHUNK^program.ChunkBytes]

// call is a launch of a kernel.
type call struct {
	form  program.Form // of a product
	chain int          // light operations, or 0 for a product
	n     int          // columns of a product
	op    int          // offset of its first operation
	rows  int          // of a sequence
	frame int
}

// appendCalls appends the launches of a run, and their operations in the kernels' layout, for a lane
// whose memory is at base.
func appendCalls(calls []call, ops []byte, l *program.Layout, constants, base C.address) ([]call, []byte) {
	w := writer{Layout: l, constants: constants, base: base, ops: ops}
	var two [2]call
	for i := range l.Program.Launches {
		la := &l.Program.Launches[i]
		once := two[:0]
		rows := l.Frames[la.Rows]
		if p := la.Product; p != nil {
			once = append(once, call{form: p.Form, n: p.N, op: len(w.ops), rows: rows})
			w.product(p)
		}
		chain := call{op: len(w.ops), rows: rows}
		for j := range la.Chain {
			if o := &la.Chain[j]; l.Program.Writes(o) {
				w.light(o)
				chain.chain++
			}
		}
		if chain.chain > 0 {
			once = append(once, chain)
		}
		if la.Loop == nil {
			calls = append(calls, once...)
			continue
		}
		frames := l.Frames[la.Loop.Frames]
		for f := range frames {
			for _, c := range once {
				c.frame = la.Loop.Frame(f, frames)
				calls = append(calls, c)
			}
		}
	}
	return calls, w.ops
}

// writer writes operations.
type writer struct {
	*program.Layout
	constants, base C.address
	ops             []byte
}

func (w *writer) constant(c program.Constant) C.address {
	if c == program.None {
		return 0
	}
	return w.constants + C.address(c)
}

func number(n int) C.longlong { return C.longlong(n) }

// array returns the place of v in one of its forms. If frame is set, it is one frame at a time: the
// rows are sequences.
func (w *writer) array(v int, f program.Form, frame bool) C.struct_sink {
	row := f.Row(w.Program.Values[v].Channels)
	s := C.struct_sink{at: w.base + C.address(w.At[v][f]), _type: number(int(f)), row: number(row)}
	if f == program.Plain {
		s._type = C.FLOAT32
	}
	if frame {
		s.step, s.row = s.row, number(row*w.Frames[v])
	}
	return s
}

// sinks returns the places where v is to be stored, from a column on.
func (w *writer) sinks(v, column int, frame, copies bool) [C.SINKS]C.struct_sink {
	var out [C.SINKS]C.struct_sink
	n := 0
	for f := range program.Form(program.Forms) {
		if !w.Program.Values[v].Forms[f] || f == program.Plain && copies {
			continue
		}
		out[n] = w.array(v, f, frame)
		out[n].at += C.address(column * f.Bytes())
		n++
	}
	return out
}

func (w *writer) point(p program.Point) C.struct_point {
	return C.struct_point{kind: number(int(p.Kind)), act: number(int(p.Act)), scale: w.constant(p.Scale), rest: w.constant(p.Rest)}
}

func (w *writer) product(p *program.Product) {
	op := C.struct_product{
		sources: number(len(p.Sources)), segments: number(p.Segments), frames: number(w.Frames[p.Out]), before: number(p.Before),
		channels: number(p.Form.Row(p.Sources[0].Part.Channels)), b: w.constant(p.B), n: number(p.N), columns: number(program.RoundUp(p.N, program.TileColumns)),
		bias: w.constant(p.Bias), points: number(len(p.Points)), sink: w.sinks(p.Out, 0, false, false),
	}
	for i, s := range p.Sources {
		a := w.array(s.Value, p.Form, s.Frame)
		op.source[i] = C.struct_source{at: a.at, row: a.row, step: a.step, k: number(s.Part.K(p.Form)), steps: number(s.Part.Steps(p.Form))}
	}
	if p.Omega >= 0 {
		op.omega = w.array(p.Omega, program.Plain, false).at
	}
	for i, q := range p.Points {
		op.point[i] = w.point(q)
	}
	w.ops = append(w.ops, unsafe.Slice((*byte)(unsafe.Pointer(&op)), unsafe.Sizeof(op))...)
}

func (w *writer) light(o *program.Light) {
	op := C.struct_light{
		kind: number(int(o.Kind)), width: number(o.Width), x: w.array(o.X, program.Plain, false), column: w.constant(o.Columns), point: w.point(o.Point),
		inputs: number(o.Inputs), w: w.constant(o.W), b: w.constant(o.B), sink: w.sinks(o.Out, o.Column, o.Frame, o.Copies),
	}
	if o.X2 >= 0 {
		op.x2 = w.array(o.X2, program.Plain, false)
	}
	w.ops = append(w.ops, unsafe.Slice((*byte)(unsafe.Pointer(&op)), unsafe.Sizeof(op))...)
}

// deviceAddress returns p in the kernels' type.
func deviceAddress[P ~uintptr](p P) C.address { return C.address(p) }
