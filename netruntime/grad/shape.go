package grad

import (
	"slices"

	"mannequin/netruntime/internal/kernel"
)

// Param returns a parameter as a matrix, so that it can be an operand, such as of a penalty on the
// weights.
func (t *Tape) Param(p *Param) *Mat {
	t.use(p)
	y := t.view(p.Rows, p.Cols, !p.Frozen)
	y.Val, y.Grad, y.param = p.Val, p.Grad, p
	return y
}

// Reshape returns the same values in the same order as a matrix of another shape: for example
// (batch·length, channels) as (batch, length·channels).
func (t *Tape) Reshape(x *Mat, rows, cols int) *Mat {
	if rows*cols != x.Rows*x.Cols {
		panic("grad: Reshape to another number of values")
	}
	y := t.view(rows, cols, x.wants)
	y.Val, y.Grad, y.of = x.Val, x.Grad, x
	return y
}

// Concat returns the parts side by side: (rows, n) and (rows, m) become (rows, n+m).
func (t *Tape) Concat(parts ...*Mat) *Mat {
	if len(parts) == 0 {
		panic("grad: Concat of nothing")
	}
	rows, cols := parts[0].Rows, 0
	for _, p := range parts {
		if p.Rows != rows {
			panic("grad: Concat: parts of different numbers of rows")
		}
		cols += p.Cols
	}
	return t.joined(rows, cols, rows, parts)
}

// Join returns the parts one after the other in time: sequences (batch·m, n) and (batch·k, n)
// become sequences (batch·(m+k), n).
func (t *Tape) Join(batch int, parts ...*Mat) *Mat {
	if len(parts) == 0 {
		panic("grad: Join of nothing")
	}
	rows, cols := 0, parts[0].Cols
	for _, p := range parts {
		if batch < 1 || p.Rows%batch != 0 || p.Cols != cols {
			panic("grad: Join: parts of different shapes")
		}
		rows += p.Rows
	}
	return t.joined(rows, cols, batch, parts)
}

// joined returns a matrix (rows, cols) of blocks of whole rows, each the same block of all parts one
// after the other.
func (t *Tape) joined(rows, cols, blocks int, parts []*Mat) *Mat {
	y := t.node(rows, cols, slices.ContainsFunc(parts, (*Mat).Wants))
	y.parts, y.n, y.back = append(y.parts, parts...), blocks, joinedBack
	t.split(y, blocks, 2*rows/blocks*cols, func(_ *Tape, y *Mat, s0, s1 int) {
		for s := s0; s < s1; s++ {
			dst := y.Val[s*y.Rows/y.n*y.Cols:]
			for _, p := range y.parts {
				size := p.Rows / y.n * p.Cols
				copy(dst[:size], p.Val[s*size:])
				dst = dst[size:]
			}
		}
	})
	return y
}

func joinedBack(t *Tape, y *Mat) {
	at := 0
	for _, p := range y.parts {
		size := p.Rows / y.n * p.Cols
		if p.wants {
			t.arg = arg{dst: p.Grad, cols: size, at: at, add: p.into(), k: 1}
			t.split(y, y.n, 2*size, func(t *Tape, y *Mat, s0, s1 int) {
				a := &t.arg
				for s := s0; s < s1; s++ {
					a.accumulate(a.dst[s*a.cols:][:a.cols], y.Grad[s*y.Rows/y.n*y.Cols+a.at:][:a.cols])
				}
			})
		}
		at += size
	}
}

// Columns returns columns [from, to) of x.
func (t *Tape) Columns(x *Mat, from, to int) *Mat {
	if from < 0 || from >= to || to > x.Cols {
		panic("grad: Columns outside the matrix")
	}
	return t.cut(x, 1, from, x.Rows, to-from)
}

// Frames returns frames [from, to) of every sequence of x (batch·length, n): (batch·(to−from), n).
// With the number of rows as length it selects rows.
func (t *Tape) Frames(x *Mat, length, from, to int) *Mat {
	checkSequences("Frames", x, length)
	if from < 0 || from >= to || to > length {
		panic("grad: Frames outside the sequences")
	}
	return t.cut(x, length, from*x.Cols, x.Rows/length*(to-from), x.Cols)
}

// cut returns a matrix (rows, cols) of the values from index at on of every sequence of x.
func (t *Tape) cut(x *Mat, length, at, rows, cols int) *Mat {
	batch := x.Rows / length
	y := t.node(rows, cols, x.wants)
	y.a, y.length, y.n, y.back = x, length, at, cutBack
	t.split(y, batch, 2*len(y.Val)/batch, func(_ *Tape, y *Mat, s0, s1 int) {
		size, from := y.cutSizes()
		for s := s0; s < s1; s++ {
			copy(y.Val[s*size:][:size], y.a.Val[s*from+y.n:])
		}
	})
	return y
}

func cutBack(t *Tape, y *Mat) {
	y.a.cleared()
	size, _ := y.cutSizes()
	t.split(y, len(y.Val)/size, 3*size, func(_ *Tape, y *Mat, s0, s1 int) {
		size, from := y.cutSizes()
		for s := s0; s < s1; s++ {
			kernel.Axpy(y.a.Grad[s*from+y.n:][:size], 1, y.Grad[s*size:][:size])
		}
	})
}

// cutSizes returns the number of values of a sequence of a cut, and of the operand.
func (y *Mat) cutSizes() (size, from int) {
	return len(y.Val) * y.length / y.a.Rows, y.length * y.a.Cols
}

// Reverse returns every sequence of x, of length frames, from its last frame to its first.
func (t *Tape) Reverse(x *Mat, length int) *Mat {
	checkSequences("Reverse", x, length)
	y := t.node(x.Rows, x.Cols, x.wants)
	y.a, y.length, y.back = x, length, reverseBack
	t.split(y, y.Rows, 2*y.Cols, func(_ *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			copy(y.Val[r*y.Cols:][:y.Cols], y.a.Val[mirrored(r, y.length)*y.Cols:])
		}
	})
	return y
}

// mirrored returns the row that replaces row r when time is reversed.
func mirrored(r, length int) int { return r - r%length + length - 1 - r%length }

func reverseBack(t *Tape, y *Mat) {
	t.arg = arg{add: y.a.into(), k: 1}
	t.split(y, y.Rows, 3*y.Cols, func(t *Tape, y *Mat, r0, r1 int) {
		for r := r0; r < r1; r++ {
			t.arg.accumulate(y.a.Grad[mirrored(r, y.length)*y.Cols:][:y.Cols], y.Grad[r*y.Cols:][:y.Cols])
		}
	})
}

// Diff returns the difference of each frame from the one before it: sequences of length−1 frames
// from x, sequences of length frames. Twice gives an acceleration.
func (t *Tape) Diff(x *Mat, length int) *Mat {
	checkSequences("Diff", x, length)
	if length < 2 {
		panic("grad: Diff of sequences of one frame")
	}
	y := t.node(x.Rows/length*(length-1), x.Cols, x.wants)
	y.a, y.length, y.back = x, length, diffBack
	t.split(y, x.Rows/length, 3*length*y.Cols, func(_ *Tape, y *Mat, s0, s1 int) {
		size := (y.length - 1) * y.Cols
		for s := s0; s < s1; s++ {
			x := y.a.Val[s*y.length*y.Cols:]
			kernel.Sub(y.Val[s*size:][:size], x[y.Cols:][:size], x[:size])
		}
	})
	return y
}

func diffBack(t *Tape, y *Mat) {
	y.a.cleared()
	t.split(y, y.a.Rows/y.length, 6*y.length*y.Cols, func(_ *Tape, y *Mat, s0, s1 int) {
		size := (y.length - 1) * y.Cols
		for s := s0; s < s1; s++ {
			dx, dy := y.a.Grad[s*y.length*y.Cols:], y.Grad[s*size:][:size]
			kernel.Axpy(dx[:size], -1, dy)
			kernel.Axpy(dx[y.Cols:][:size], 1, dy)
		}
	})
}
