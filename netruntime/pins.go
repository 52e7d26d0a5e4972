package netruntime

import "fmt"

// Pins describes how to make a correction of sequences vanish at pinned frames. It subtracts the
// correction's value at the pinned frame, and between two pinned frames a mix of both. Each column
// belongs to a group, such as a limb, with pinned frames of its own. Frames count from the start of
// the row's sequence.
//
//	y[t] = x[t] − (1−u)·w_prev·x[prev] − u·w_next·x[next]
//
// A row with only one of the two subtracts that one in full, and a row with none stays as it is. If
// both are the same frame, u does not matter. So y is exactly 0 at a frame that is its own prev, or
// its own next with u = 1, if the weight is 1.
type Pins struct {
	Group      []int32   // (columns): each column's group
	Prev, Next []int32   // (rows, groups): the pinned frames before and after, −1 for none
	U          []float32 // (rows, groups): the row's place between them, in [0, 1]
	Weight     []float32 // (rows, groups): strength of the pin at this row, in [0, 1]; read at rows that Prev and Next name
}

// Apply sets dst to y. dst and x are (rows, columns), in sequences of length frames, and must not
// overlap. It allocates nothing, and panics if sizes do not fit: see Check.
func (p *Pins) Apply(dst, x []float32, length int) {
	rows := 0
	if len(p.Group) > 0 {
		rows = len(x) / len(p.Group)
	}
	if len(dst) != len(x) {
		panic(fmt.Sprintf("netruntime: Pins: %d values to %d", len(x), len(dst)))
	}
	p.Check(rows, len(x), length)
	p.Rows(dst, x, rows, length, 0, rows)
}

// Check panics unless the pins fit the given number of rows, of values in all rows, and of frames
// per sequence.
func (p *Pins) Check(rows, values, length int) {
	if rows < 1 || rows*len(p.Group) != values || length < 1 || rows%length != 0 {
		panic(fmt.Sprintf("netruntime: Pins: %d values are not whole sequences of %d frames of %d columns", values, length, len(p.Group)))
	}
	n := len(p.Prev)
	if n%rows != 0 || len(p.Next) != n || len(p.U) != n || len(p.Weight) != n {
		panic("netruntime: Pins: the numbers of frames, ratios and weights are not rows × groups")
	}
	for _, g := range p.Group {
		if g < 0 || int(g) >= n/rows {
			panic(fmt.Sprintf("netruntime: Pins: a column of group %d of %d", g, n/rows))
		}
	}
	for i, f := range p.Prev {
		if uint32(f+1) > uint32(length) || uint32(p.Next[i]+1) > uint32(length) {
			panic(fmt.Sprintf("netruntime: Pins: frames %d, %d of %d", f, p.Next[i], length))
		}
	}
}

// Rows sets rows [r0, r1) of dst, for callers that share the rows among workers. Call Check first.
func (p *Pins) Rows(dst, x []float32, rows, length, r0, r1 int) {
	if r0 >= r1 {
		return
	}
	cols, groups := len(p.Group), len(p.Prev)/rows
	for r := r0; r < r1; r++ {
		y, first := dst[r*cols:][:cols], r-r%length
		copy(y, x[r*cols:][:cols])
		for c, end := 0, 0; c < cols; c = end {
			end = p.run(c)
			prev, next, a, b := p.at(r*groups, first, groups, int(p.Group[c]))
			if a != 0 {
				subtract(y[c:end], a, x[prev*cols+c:])
			}
			if b != 0 {
				subtract(y[c:end], b, x[next*cols+c:])
			}
		}
	}
}

// Adjoint is the backward pass of Rows, without dx = dx + dy. It subtracts from dx, in sequences
// [s0, s1), the part of the gradient dy that goes to the pinned frames.
func (p *Pins) Adjoint(dx, dy []float32, rows, length, s0, s1 int) {
	if s0 >= s1 {
		return
	}
	cols, groups := len(p.Group), len(p.Prev)/rows
	for r := s0 * length; r < s1*length; r++ {
		g, first := dy[r*cols:][:cols], r-r%length
		for c, end := 0, 0; c < cols; c = end {
			end = p.run(c)
			prev, next, a, b := p.at(r*groups, first, groups, int(p.Group[c]))
			if a != 0 {
				subtract(dx[prev*cols+c:][:end-c], a, g[c:])
			}
			if b != 0 {
				subtract(dx[next*cols+c:][:end-c], b, g[c:])
			}
		}
	}
}

// run returns the end of the run of columns from c that share a group.
func (p *Pins) run(c int) int {
	g := p.Group[c]
	for c++; c < len(p.Group) && p.Group[c] == g; c++ {
	}
	return c
}

// at returns the terms of a group in a row: subtract a times row prev and b times row next. row is
// the index of the row's first group, first the first row of the sequence.
func (p *Pins) at(row, first, groups, g int) (prev, next int, a, b float32) {
	prev, next = int(p.Prev[row+g]), int(p.Next[row+g])
	if prev >= 0 {
		prev += first
		a = p.Weight[prev*groups+g]
		if next < 0 || next+first == prev {
			return prev, prev, a, 0
		}
	}
	if next < 0 {
		return 0, 0, 0, 0
	}
	next += first
	b = p.Weight[next*groups+g]
	if prev >= 0 {
		u := p.U[row+g]
		a, b = (1-u)*a, u*b
	}
	return prev, next, a, b
}

// subtract subtracts k·x from y. A limb has too few columns for a kernel.
func subtract(y []float32, k float32, x []float32) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] -= k * v
	}
}
