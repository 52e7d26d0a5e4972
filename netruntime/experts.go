package netruntime

import (
	"mannequin/netruntime/internal/kernel"
)

// someExperts is the memory in which rows of one expert are gathered.
type someExperts struct {
	x, c  []float32
	x16   []uint16
	omega []float32
	rows  []int
}

// gatherRows is how many rows are gathered at most.
const gatherRows = 192

func newSomeExperts(width int) someExperts {
	return someExperts{
		x: make([]float32, gatherRows*width), c: make([]float32, gatherRows*width), x16: make([]uint16, gatherRows*width),
		omega: make([]float32, gatherRows), rows: make([]int, gatherRows),
	}
}

// bytesOfSomeExperts returns the memory of newSomeExperts.
func bytesOfSomeExperts(width int) float64 { return gatherRows * (10*float64(width) + 12) }

// blendSome is blend without the experts whose weight is below the session's
// bound. The rows that an expert is computed for lie together in a matrix of
// their own meanwhile. Each row's sum runs over its experts in order, so that
// it does not depend on what other rows there are.
func (p *product) blendSome(t *task, c, omega kernel.Matrix, at stretch, p0, p1 int) {
	for r := 0; r < at.n; r += gatherRows {
		part := stretch{q: at.q, f: at.f + r, n: min(gatherRows, at.n-r)}
		p.blendPart(t, c.Row(r), omega.Row(r), part, p0, p1)
	}
}

func (p *product) blendPart(t *task, c, omega kernel.Matrix, at stretch, p0, p1 int) {
	g, bound := &t.some, t.s.skip
	c0, c1 := p.columns(p0, p1)
	for r := range at.n {
		clear(c.Data[r*c.Stride+c0 : r*c.Stride+c1])
	}
	for e := range p.experts {
		rows := g.rows[:0]
		for r := range at.n {
			if w := omega.Data[r*omega.Stride+e]; !(w < bound) {
				g.omega[len(rows)] = w
				rows = append(rows, r)
			}
		}
		if len(rows) == 0 {
			continue
		}
		all := len(rows) == at.n
		to := c
		if !all {
			to = kernel.Matrix{Data: g.c, Stride: p.n}
			for i, r := range rows {
				copy(g.c[i*p.n+c0:i*p.n+c1], c.Data[r*c.Stride+c0:])
			}
		}
		bias := p.expertBias[e*p.n:][:p.n]
		for i := range rows {
			kernel.Axpy(to.Data[i*to.Stride+c0:i*to.Stride+c1], g.omega[i], bias[c0:c1])
		}
		w := kernel.Matrix{Data: g.omega, Stride: 1}
		if p.half != nil {
			a := kernel.MatrixBF16{Data: t.f16(p.in, at), Stride: p.k}
			if !all {
				for i, r := range rows {
					copy(g.x16[i*p.k:][:p.k], a.Data[r*p.k:])
				}
				a.Data = g.x16
			}
			p.singleHalf[e].Mul(t.scratch, to, w, a, len(rows), true, kernel.Epilogue{}, p0, p1)
		} else {
			a := kernel.Matrix{Data: t.f32(p.in, at), Stride: p.k}
			if !all {
				for i, r := range rows {
					copy(g.x[i*p.k:][:p.k], a.Data[r*p.k:])
				}
				a.Data = g.x
			}
			p.single[e].Mul(t.scratch, to, w, a, len(rows), true, kernel.Epilogue{}, p0, p1)
		}
		if !all {
			for i, r := range rows {
				copy(c.Data[r*c.Stride+c0:r*c.Stride+c1], g.c[i*p.n+c0:])
			}
		}
	}
	for r := range at.n {
		row := c.Data[r*c.Stride+c0 : r*c.Stride+c1]
		p.act.Apply(row, row)
	}
}
