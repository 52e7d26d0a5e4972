package netruntime

import (
	"mannequin/netruntime/internal/kernel"
)

// block is a range of sequences: those that a worker takes through the network, or all of a small
// batch.
type block struct {
	first int // the block's first sequence in the caller's memory
	slot  int // and in the worker's part of the buffers
	part  int // index of that part: the worker, or 0
	n     int
}

// task is the context of an operation: one worker's block and memory.
type task struct {
	s       *session
	scratch *kernel.Scratch
	worker  int
	block   block
	some    someExperts
	steps   []float32 // an LSTM's operand at one frame
	steps16 []uint16
}

// view is a value's memory in the current run.
type view struct {
	data   []float32 // from the first sequence on, with its padding
	half   []uint16  // the same in bfloat16, by slot
	frames int       // of a sequence
	width  int       // channels
	seq    int       // floats from one sequence to the next
	start  int       // floats of padding before a sequence's first frame
	trail  int       // and after its last
	bySlot bool
	part   int // floats of a worker's part of data, if bySlot is set
	half16 int // and of half
}

// stretch is a range of rows that are contiguous in all values involved: frames of one sequence, or
// of several if there is no padding between them.
type stretch struct {
	q, f, n int // sequence of the block, first frame, number of frames
	rest    int // rows after these
	length  int // frames of a sequence, or 0 if the rows are contiguous across sequences
}

// first returns the first stretch of rows [r0, r1) of value v, contiguous in the other values too.
func (t *task) first(v, r0, r1 int, others ...int) stretch {
	x := &t.s.views[v]
	flat := x.seq == x.frames*x.width
	for _, o := range others {
		y := &t.s.views[o]
		flat = flat && y.seq == y.frames*y.width
	}
	if flat {
		return stretch{f: r0, n: r1 - r0}
	}
	s := stretch{q: r0 / x.frames, f: r0 % x.frames, length: x.frames}
	s.n = min(x.frames-s.f, r1-r0)
	s.rest = r1 - r0 - s.n
	return s
}

// next returns the stretch after s, or one of no rows.
func (t *task) next(s stretch) stretch {
	n := min(s.rest, s.length)
	return stretch{q: s.q + 1, n: n, rest: s.rest - n, length: s.length}
}

// times returns s in a value of n times the length.
func (s stretch) times(n int) stretch {
	s.f, s.n, s.length = s.f*n, s.n*n, s.length*n
	return s
}

func (t *task) width(v int) int { return t.s.views[v].width }

// gates returns a worker's memory for an LSTM's gates.
func (t *task) gates(worker int) []float32 { return t.s.gates[worker*t.s.gateSize:][:t.s.gateSize] }

// f32 returns v from the stretch's first frame on.
func (t *task) f32(v int, at stretch) []float32 {
	x := &t.s.views[v]
	i := x.start + at.f*x.width + at.q*x.seq
	if x.bySlot {
		return x.data[i+t.block.part*x.part+t.block.slot*x.seq:]
	}
	return x.data[i+t.block.first*x.seq:]
}

// f16 returns v in bfloat16 from the stretch's first frame on.
func (t *task) f16(v int, at stretch) []uint16 {
	x := &t.s.views[v]
	return x.half[t.block.part*x.half16+(t.block.slot+at.q)*x.seq+x.start+at.f*x.width:]
}

// finish completes a stretch of v for its readers: it writes the padding and the copy in bfloat16.
func (t *task) finish(v int, at stretch) {
	t.finishColumns(v, at, t.s.views[v].width, 0, t.s.views[v].width)
}

// operand returns v from the stretch's first frame on, in bfloat16 if half is set.
func (t *task) operand(v int, at stretch, stride int, half bool) kernel.Operand {
	if half {
		return kernel.Operand{BF16: t.f16(v, at), Stride: stride}
	}
	return kernel.Operand{F32: t.f32(v, at), Stride: stride}
}

// finishColumns is finish for columns [c0, c1) of rows of the given width, which may hold several
// frames.
func (t *task) finishColumns(v int, at stretch, width, c0, c1 int) {
	x := &t.s.views[v]
	if c0 == 0 && x.seq > x.frames*x.width {
		t.pad(v, at)
	}
	if x.half == nil {
		return
	}
	src, dst := t.f32(v, at), t.f16(v, at)
	rows := at.n * x.width / width
	if c1-c0 == width {
		kernel.ToBF16(dst[:rows*width], src[:rows*width])
		return
	}
	for r := range rows {
		kernel.ToBF16(dst[r*width+c0:r*width+c1], src[r*width+c0:r*width+c1])
	}
}

// pad writes the zeros before a sequence if the stretch begins with its first frame, and those
// after it if the stretch ends with its last. Every run writes them again: the last run may have
// had another length, or another value in this memory.
func (t *task) pad(v int, at stretch) {
	x := &t.s.views[v]
	if at.f == 0 {
		from := stretch{q: at.q, f: -x.start / x.width}
		clear(t.f32(v, from)[:x.start])
		if x.half != nil {
			clear(t.f16(v, from)[:x.start])
		}
	}
	if at.f+at.n == x.frames {
		from := stretch{q: at.q, f: x.frames}
		clear(t.f32(v, from)[:x.trail])
		if x.half != nil {
			clear(t.f16(v, from)[:x.trail])
		}
	}
}
