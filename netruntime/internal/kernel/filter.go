package kernel

// Taps describes how a convolution over time reads its operand, a sequence of frames of Channels
// values:
//
//	y[t] = Σ_w x[t − Before + w]·W_w   for w < Width, with zeros outside.
//
// # Minimal filtering
//
// Two neighbouring outputs of three taps take four multiplications instead of six (Winograd,
// Arithmetic Complexity of Computations, 1980; as F(2,3) in Lavin and Gray, Fast Algorithms for
// Convolutional Neural Networks, 2016). Here the taps are three runs of s = ⌈Width/3⌉ neighbours,
// padded with zeros, and a pair is the frames t and t + s. With the operand's planes
//
//	D[t] = x[t] − x[t+2s]    P[t] = x[t] + x[t+s]    N[t] = x[t+s] − x[t]
//
// and w0, w1 and w2 for the runs of taps, leaving out Before,
//
//	m0 = D[t … t+s)·w0           m1 = P[t+s … t+2s)·(w0+w1+w2)/2
//	m3 = D[t+s … t+2s)·w2        m2 = N[t+s … t+2s)·(w0−w1+w2)/2
//	y[t] = m0 + m1 + m2          y[t+s] = m1 − m2 − m3
//
// 2s products per output replace Width products, and the row of a product is still one run of
// frames in memory. A block is 2s frames: each of the first s is paired with one of the last s.
// Blocks begin with a sequence's first frame, so that a frame's pair depends only on its number.
type Taps struct {
	Width, Before, Channels int
}

// run returns s, the length of a run of taps.
func (g Taps) run() int { return (g.Width + 2) / 3 }

// Block returns the frames of a block, 2s.
func (g Taps) Block() int { return 2 * g.run() }

// Lead returns the number of frames of the planes before a sequence's first.
func (g Taps) Lead() int { return g.Before }

// Trail returns the number of frames of the planes after a sequence's last.
func (g Taps) Trail() int { return max(0, g.Block()-1-g.Before) }

// PlaneSize returns the number of values of a sequence's planes.
func (g Taps) PlaneSize(frames int) int { return 3 * g.plane(frames) }

// plane returns the number of values of one plane.
func (g Taps) plane(frames int) int { return (g.Lead() + frames + g.Trail()) * g.Channels }

// Planes computes frames [from, to) of the planes of a sequence x of the given number of frames.
// dst holds D, P and N one after the other, each from frame −Lead to frames + Trail.
func (g Taps) Planes(dst, x []float32, frames, from, to int) {
	size, s := g.plane(frames), g.run()
	if len(dst) < 3*size || len(x) < frames*g.Channels || from < -g.Lead() || to > frames+g.Trail() {
		panic("kernel: Planes: the slices are too short")
	}
	g.lagged(dst[:size], x, frames, from, to, 2*s, 1, -1)
	g.lagged(dst[size:2*size], x, frames, from, to, s, 1, 1)
	g.lagged(dst[2*size:3*size], x, frames, from, to, s, -1, 1)
}

// lagged sets frames [from, to) of a plane to a·x[t] + b·x[t+lag]. a and b are ±1 and not both −1.
func (g Taps) lagged(plane, x []float32, frames, from, to, lag int, a, b float32) {
	c := g.Channels
	for t := from; t < to; {
		end := to // of the range of frames for which the same terms exist
		for _, edge := range [...]int{-lag, frames - lag, 0, frames} {
			if edge > t {
				end = min(end, edge)
			}
		}
		dst := plane[(g.Lead()+t)*c : (g.Lead()+end)*c]
		var now, then []float32
		if t >= 0 && t < frames {
			now = x[t*c : end*c]
		}
		if t+lag >= 0 && t+lag < frames {
			then = x[(t+lag)*c : (end+lag)*c]
		}
		switch {
		case now == nil && then == nil:
			clear(dst)
		case then == nil:
			Scale(dst, a, now)
		case now == nil:
			Scale(dst, b, then)
		case a == b:
			Add(dst, now, then)
		case a > 0:
			Sub(dst, now, then)
		default:
			Sub(dst, then, now)
		}
		t = end
	}
}

// Filter is a convolution over time by minimal filtering, laid out for the active kernels.
type Filter struct {
	Taps
	packed *Packed
	parts  [4]*Packed // the right sides of m0 to m3
}

// PackFilter lays out the weights w, (Width·Channels)×n and row-major.
func PackFilter(g Taps, n int, w []float32) *Filter {
	switch {
	case g.Width < 1 || g.Width > MaxFilterWidth || g.Before < 0 || g.Channels < 1:
		panic("kernel: PackFilter: invalid taps")
	case len(w) < g.Width*g.Channels*n:
		panic("kernel: PackFilter: the weights are too short")
	}
	size := g.run() * g.Channels * n
	right := make([]float32, 4*size)
	for i := range size {
		var v [3]float64
		for r := range v {
			if at := r*size + i; at < g.Width*g.Channels*n {
				v[r] = float64(w[at])
			}
		}
		right[i] = float32(v[0])
		right[size+i] = float32((v[0] + v[1] + v[2]) / 2)
		right[2*size+i] = float32((v[0] - v[1] + v[2]) / 2)
		right[3*size+i] = float32(v[2])
	}
	f := &Filter{Taps: g, packed: Pack(false, 4, g.run()*g.Channels, n, right, n)}
	for e := range f.parts {
		f.parts[e] = f.packed.Part(e)
	}
	return f
}

// Panels returns the number of panels of PanelCols columns of the result.
func (f *Filter) Panels() int { return f.packed.panels }

// MaxFilterWidth is the greatest number of taps of a Filter.
const MaxFilterWidth = 3 * stripRows

// filterScratch is the working memory of Filter.Mul.
type filterScratch struct {
	runs [stripRows]rowRun
	from [stripRows]runFrames
	sums []float32 // y[t], y[t+s], m1 and m2 of the rows
}

// runFrames is the frames of a run of rows.
type runFrames struct {
	sequence, frame int // of the first row
	hop             int // from tile to tile
}

// Mul computes panels [p0, p1) of act(convolution + bias) for blocks [b0, b1) of y, counted over
// all sequences: each has ⌈Length/2s⌉ blocks. planes holds the planes of all sequences. ep may have
// no Biases.
//
// No element's bits depend on how blocks and panels are divided. A value that is not finite reaches
// the frames that see it through 3s taps, the last of which are zeros, and stays in its sequence.
func (f *Filter) Mul(scratch *Scratch, y Windows, planes []float32, b0, b1 int, ep Epilogue, p0, p1 int) {
	s, n := f.run(), f.packed.n
	y.check(min(n, p1*f.packed.cols))
	each := (y.Length + 2*s - 1) / (2 * s)
	switch {
	case b0 >= b1 || p0 >= p1:
		return
	case b0 < 0 || b1 > each*y.Batch || p0 < 0 || p1 > f.packed.panels:
		panic("kernel: Filter: blocks or panels are out of range")
	case len(planes) < y.Batch*f.PlaneSize(y.Length):
		panic("kernel: Filter: the planes are too small")
	case ep.Bias != nil && len(ep.Bias) < min(n, p1*f.packed.cols):
		panic("kernel: Filter: the bias is too small")
	}
	scratch.Reserve(true)
	m := filterMul{f, y, planes, each, ep}
	most := stripRows / s
	for strips := (b1 - b0 + most - 1) / most; strips > 0; strips-- {
		blocks := (b1 - b0) / strips
		m.strip(scratch, b0, b0+blocks, p0, p1)
		b0 += blocks
	}
}

// filterMul is a Filter's Mul in progress.
type filterMul struct {
	*Filter
	y      Windows
	planes []float32
	blocks int // of a sequence
	ep     Epilogue
}

// strip computes blocks [b0, b1), panel by panel.
func (m *filterMul) strip(scratch *Scratch, b0, b1, p0, p1 int) {
	w := scratch.filter
	runs, step, rows := m.runs(w, b0, b1)
	c, s := m.Channels, m.run()
	t := &scratch.s
	size := rows * m.packed.cols
	first, second, m1, m2 := w.sums[:size], w.sums[size:2*size], w.sums[2*size:3*size], w.sums[3*size:4*size]
	plane := m.plane(m.y.Length)
	for p := p0; p < p1; p++ {
		bias := m.ep.Bias != nil
		if bias {
			m.begin(w.sums[:2*size], p)
		}
		for e, sum := range [...][]float32{first, m1, m2, second} {
			at := [...]int{0, plane + s*c, 2*plane + s*c, s * c}[e]
			o := operands{layout: &m.parts[e].layout, a: m.planes[at:], rs: step * c, b: m.packed.data}
			sign := Matrix{Data: unit}
			if e == 3 {
				sign.Data = minus
			}
			t.first = !bias || e == 1 || e == 2
			o.multiplyRuns(t, sum, sign, w.runs[:runs], p, 1, 1)
		}
		Add(first, first, m1)
		Add(first, first, m2)
		Add(second, second, m1)
		Sub(second, second, m2)
		m.ep.Act.Apply(w.sums[:2*size], w.sums[:2*size])
		m.store(first, w, runs, step, p, 0)
		m.store(second, w, runs, step, p, s)
	}
}

var minus = []float32{-1}

// runs lists the rows of blocks [b0, b1), the first frames of their pairs. It returns the number of
// runs, the frames from row to row of a tile, and the number of rows. The rows of a tile are the
// same frame of several blocks, or several frames of one block: whichever gives the larger tiles.
// The former suits long sequences, the latter short ones.
func (m *filterMul) runs(w *filterScratch, b0, b1 int) (runs, step, rows int) {
	s, block, kind := m.run(), m.Block(), m.packed.kind
	most, _ := kind.tile()
	tiles := func(rows int) int { return (rows + most - 1) / most }
	add := func(sequence, frame, hop int, g tileRun) {
		if g.n > 0 {
			w.from[runs] = runFrames{sequence, frame, hop}
			w.runs[runs] = rowRun{g, sequence*m.PlaneSize(m.y.Length) + frame*m.Channels, hop * m.Channels}
			runs, rows = runs+1, rows+g.n*g.rows
		}
	}
	step = 1
	if long := min(m.blocks, b1-b0); s*tiles(long) < long*tiles(s) {
		step = block
	}
	for b0 < b1 {
		sequence := b0 / m.blocks
		n := min(b1, (sequence+1)*m.blocks) - b0
		first := (b0 - sequence*m.blocks) * block
		left := m.y.Length - first // frames of the sequence
		b0 += n
		if step == block {
			for j := range min(s, left) {
				frame := first + j
				for _, g := range kind.tiles(min(n, (left-j+block-1)/block)) {
					add(sequence, frame, g.rows*block, g)
					frame += g.n * g.rows * block
				}
			}
			continue
		}
		full := min(n, (left+s)/block) // blocks whose first frames all exist
		for _, part := range [...]struct{ first, rows, blocks int }{{0, s, full}, {full * block, left - full*block, n - full}} {
			j := 0
			for i := range tiles(part.rows) {
				rows := (part.rows - j) / (tiles(part.rows) - i)
				add(sequence, first+part.first+j, block, tileRun{rows, part.blocks})
				j += rows
			}
		}
	}
	return runs, step, rows
}

// begin writes the bias into every row.
func (m *filterMul) begin(sums []float32, p int) {
	cols := m.packed.cols
	bias := m.ep.Bias[p*cols : min(m.packed.n, (p+1)*cols)]
	for ; len(sums) > 0; sums = sums[cols:] {
		copy(sums, bias)
	}
}

// store copies the rows to their frames plus later, if the sequence has that frame.
func (m *filterMul) store(sums []float32, w *filterScratch, runs, step, p, later int) {
	cols := m.packed.cols
	first := p * cols
	n := min(cols, m.packed.n-first)
	for i, g := range w.runs[:runs] {
		from := w.from[i]
		y := m.y.Data[from.sequence*m.y.Skip+first:]
		for tile := range g.n {
			for row := range g.rows {
				if t := from.frame + tile*from.hop + row*step + later; t < m.y.Length {
					copy(y[t*m.y.Stride:][:n], sums)
				}
				sums = sums[cols:]
			}
		}
	}
}
