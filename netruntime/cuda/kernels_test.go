package cuda_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/ptx"
	"mannequin/internal/testing/race"
)

// The kernels' operations, as kernels/ops.h has them.

const (
	stepBytes, chunkBytes, stages = 64, 16, 4
	lightRows, lightThreads       = 32, 256
)

const (
	nothing = iota
	float32s
	tf32s
	bf16s
)

const (
	activate = iota
	affine
	normalize
	skip
	pointKinds
)

const (
	identity = iota
	elu
	relu
	sigmoid
	tanh
	acts
)

const (
	zero = iota
	copyOf
	pointOf
	add
	dense
	softmax
	maxPool
	depool
	lstm
	lightKinds
)

type sink struct{ At, Type, Row, Step int64 }

type point struct{ Kind, Act, Scale, Rest int64 }

type source struct{ At, Row, Step, K, Steps int64 }

type product struct {
	Sources, Segments                                int64
	Source                                           [2]source
	Frames, Before, Channels, B, N, Columns, Bias, W int64
	Points                                           int64
	Point                                            [4]point
	Sink                                             [3]sink
}

type light struct {
	Kind, Width int64
	X, X2       sink
	Column      int64
	Point       point
	Inputs      int64
	W, B        int64
	Sink        [3]sink
}

// gpu is memory for a launch.
type gpu struct {
	regions []ptx.Region
	r       *rand.Rand
}

// alloc adds memory to which nothing was written.
func (g *gpu) alloc(n int) (at int64, b []byte) {
	at = int64(len(g.regions)+1) << 32
	g.regions = append(g.regions, ptx.Region{Begin: uint64(at), Bytes: bytes.Repeat([]byte{0xff}, n), Written: make([]byte, n)})
	return at, g.regions[len(g.regions)-1].Bytes
}

// put adds data.
func (g *gpu) put(data any) int64 {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, data)
	at, to := g.alloc(b.Len())
	copy(to, b.Bytes())
	for i := range g.regions[len(g.regions)-1].Written {
		g.regions[len(g.regions)-1].Written[i] = 1
	}
	return at
}

func (g *gpu) floats(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(g.r.NormFloat64())
	}
	return x
}

func (g *gpu) pick(from ...int) int { return from[g.r.IntN(len(from))] }

func roundTo(n, to int) int { return (n + to - 1) / to * to }

// elementBytes is the size of a number of a type.
func elementBytes(kind int) int {
	if kind == bf16s {
		return 2
	}
	return 4
}

// rounded returns v in a type.
func rounded(kind int, v float32) float32 {
	u := math.Float32bits(v)
	switch {
	case v != v:
	case kind == tf32s:
		u = (u + 1<<12) &^ (1<<13 - 1)
	case kind == bf16s:
		u = (u + 0x7fff + u>>16&1) &^ 0xffff
	}
	return math.Float32frombits(u)
}

// encode stores numbers in a type.
func encode(kind int, x []float32) []byte {
	var b []byte
	for _, v := range x {
		if u := math.Float32bits(rounded(kind, v)); kind == bf16s {
			b = binary.LittleEndian.AppendUint16(b, uint16(u>>16))
		} else {
			b = binary.LittleEndian.AppendUint32(b, u)
		}
	}
	return b
}

// stored is a result in memory: element c of row r is element from + r·row + c of b.
type stored struct {
	kind, from, row int
	b               []byte
}

func (s stored) at(r, c int) float32 {
	i := s.from + r*s.row + c
	if s.kind == bf16s {
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(s.b[2*i:])) << 16)
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(s.b[4*i:]))
}

// sinks draws where a result goes: at least one is float32. Products store four elements at once, where rows are a multiple of that.
func (g *gpu) sinks(rows, n, frame int, fours bool) (list [3]sink, results []stored) {
	sure := g.r.IntN(3)
	for i := range list {
		kind := g.pick(nothing, float32s, tf32s, tf32s, bf16s, bf16s)
		if i == sure {
			kind = float32s
		}
		row := n + g.r.IntN(3)
		if fours && (kind == bf16s || g.r.IntN(2) == 0) {
			row = roundTo(n, 4)
		}
		if kind == nothing {
			continue
		}
		step := rows * row
		if fours && kind != bf16s && g.r.IntN(4) == 0 {
			step++ // the row's beginning is no multiple of four elements
		} else if fours {
			step = roundTo(step, 4)
		}
		at, b := g.alloc((step*frame + rows*row) * elementBytes(kind))
		list[i] = sink{at, int64(kind), int64(row), int64(step)}
		results = append(results, stored{kind, step * frame, row, b})
	}
	return list, results
}

// compare compares results with what they should be. All hold one float32 number, in their type.
func compare(results []stored, want [][]float64) error {
	if results == nil {
		return nil
	}
	var exact stored
	for _, s := range results {
		if s.kind == float32s {
			exact = s
		}
	}
	size := 0.1
	for _, row := range want {
		for _, v := range row {
			if v == v {
				size = max(size, math.Abs(v))
			}
		}
	}
	for r, row := range want {
		for c, w := range row {
			v := exact.at(r, c)
			if e := math.Abs(float64(v) - w); (w != w) != (v != v) || !(w != w) && !(e <= 1e-5*size) {
				return fmt.Errorf("row %d, column %d is %g, want %g", r, c, v, w)
			}
			for _, s := range results {
				got, want := s.at(r, c), rounded(s.kind, v)
				if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
					return fmt.Errorf("row %d, column %d is %g in type %d, want %g", r, c, got, s.kind, want)
				}
			}
		}
	}
	return nil
}

// point draws an elementwise function, and returns it.
func (g *gpu) point(n int) (p point, f func(c int, v float64) float64) {
	p = point{Kind: int64(g.r.IntN(pointKinds)), Act: int64(g.r.IntN(acts))}
	scale, rest := g.floats(roundTo(n, 4)), g.floats(roundTo(n, 4))
	if p.Kind == skip {
		for i := range rest { // nothing is near to what it is compared with
			rest[i] = float32(g.pick(-1, 1)) * 1e9
		}
	}
	if p.Kind == affine || p.Kind == normalize {
		p.Scale = g.put(scale)
	}
	if p.Kind != activate {
		p.Rest = g.put(rest)
	}
	return p, func(c int, v float64) float64 {
		s, t := float64(scale[c]), float64(rest[c])
		switch p.Kind {
		case affine:
			return v*s + t
		case normalize:
			return (v - t) * s
		case skip:
			if v < t {
				return 0
			}
			return v
		}
		return activated(int(p.Act), v)
	}
}

func activated(act int, v float64) float64 {
	switch {
	case v != v:
	case act == elu && v <= 0:
		return math.Expm1(v)
	case act == relu:
		return max(v, 0)
	case act == sigmoid:
		return 1 / (1 + math.Exp(-v))
	case act == tanh:
		return math.Tanh(v)
	}
	return v
}

// unit is a product's kernel.
type unit struct {
	name          string
	kind          int
	m, n, threads int // rows and columns of a tile
}

// units are the kernels of products. Types are rounded beforehand, so that sums of products are nearly exact.
var units = []unit{
	{"bf16_large", bf16s, 256, 128, 256}, {"bf16_medium", bf16s, 128, 128, 128}, {"bf16_small", bf16s, 64, 64, 128},
	{"tf32_large", tf32s, 256, 128, 256}, {"tf32_medium", tf32s, 128, 128, 128}, {"tf32_small", tf32s, 64, 64, 128},
	{"fp32_large", float32s, 256, 128, 256}, {"fp32_medium", float32s, 128, 128, 128}, {"fp32_small", float32s, 64, 64, 128},
}

// mostSteps is more than a warp does in any of these launches: a wrong jump may never end.
const mostSteps = 1 << 20

// product runs a random product.
func (u unit) product(k *ptx.Kernel, seed uint64) error {
	g := &gpu{r: rand.New(rand.NewPCG(seed, 11))}
	chunk, depth := chunkBytes/elementBytes(u.kind), stepBytes/elementBytes(u.kind)
	rows := g.pick(1, 2, 3, 5, 6, 7, 34, 39, u.m/2+1, u.m-1, u.m, u.m+1, u.m+3)
	n := g.pick(1, 2, 3, 4, 33, 38, u.n-1, u.n, u.n+1)
	frame := g.r.IntN(2)
	p := product{Sources: 1, Segments: 1, N: int64(n), Columns: int64(roundTo(n, 128))}
	channels := g.pick(1, chunk-1, chunk, depth, depth+1, 3*depth-1, 5*depth)
	x := channels // of a row, with padding
	x = roundTo(x, chunk)
	taps, frames := 1, rows
	switch g.r.IntN(4) {
	case 0: // experts
		p.Segments = int64(2 + g.r.IntN(2))
	case 1: // an LSTM's gates
		p.Sources, p.Segments = 2, 2
	case 2: // a convolution over sequences
		taps = g.pick(2, 3)
		channels = min(channels, 2*depth)
		x = roundTo(channels, chunk)
		frames = max(1, rows/g.pick(1, 3))
		rows -= rows % frames
		p.Before = int64(g.r.IntN(taps))
	}
	more := 0 // rows after the last one
	if frames == rows && g.r.IntN(2) == 0 {
		frames, more = 1<<33, taps // more than 32 bits
	}
	p.Frames, p.Channels = int64(frames), int64(x)

	// The left side, whose padding is zeros, in its type.
	a := make([][]float32, p.Sources)
	for i := range a {
		width := x
		if i == 1 {
			width = roundTo(g.pick(1, chunk, depth+1), chunk)
		}
		step := (rows + more) * width
		data := g.floats(step * (frame + 1))
		if i == 0 {
			for j := range data {
				if j%width >= channels {
					data[j] = 0
				}
			}
		}
		for j := range data {
			data[j] = rounded(u.kind, data[j])
		}
		a[i] = data[step*frame:]
		window := width
		if i == 0 {
			window *= taps
		}
		p.Source[i] = source{g.put(encode(u.kind, data)), int64(width), int64(step), int64(window), int64((window + depth - 1) / depth)}
	}
	// The right side, by steps of the inner dimension.
	var right, bias []float32
	parts := make([][][]float32, p.Segments) // of each segment, by its inner dimension
	for s := range parts {
		from := p.Source[0]
		if s > 0 && p.Sources == 2 {
			from = p.Source[1]
		}
		data := make([]float32, int(from.Steps)*int(p.Columns)*depth)
		for range from.K {
			row := g.floats(n)
			i := len(parts[s])
			for c := range row {
				row[c] = rounded(u.kind, row[c]/float32(math.Sqrt(float64(from.K))))
				data[(i/depth*int(p.Columns)+c)*depth+i%depth] = row[c]
			}
			parts[s] = append(parts[s], row)
		}
		right = append(right, data...)
		bias = append(bias, g.floats(int(p.Columns))...)
	}
	p.B, p.Bias = g.put(encode(u.kind, right)), g.put(bias)
	omega := make([]float32, rows*int(p.Segments))
	for i := range omega {
		omega[i] = 1
	}
	if p.Segments > 1 && p.Sources == 1 {
		for i := range omega {
			omega[i] = g.r.Float32() + 0.1
			if g.r.IntN(9) == 0 {
				omega[i] = 0
			}
		}
		p.W = g.put(omega)
	}
	p.Points = int64(g.r.IntN(4))
	var functions []func(int, float64) float64
	for i := range p.Points {
		var f func(int, float64) float64
		p.Point[i], f = g.point(n)
		functions = append(functions, f)
	}
	var results []stored
	p.Sink, results = g.sinks(rows, n, frame, true)

	want := make([][]float64, rows)
	for r := range want {
		want[r] = make([]float64, n)
		for c := range want[r] {
			v := 0.0
			for s, part := range parts {
				sum, side := float64(bias[s*int(p.Columns)+c]), a[0]
				if s > 0 && p.Sources == 2 {
					side = a[1]
				}
				width := len(side) / (rows + more)
				for k := range part {
					i := r*width + k - int(p.Before)*x
					if t := r%frames + k/x - int(p.Before); taps > 1 && (t < 0 || t >= frames) {
						continue
					}
					sum += float64(side[i]) * float64(part[k][c])
				}
				v += float64(omega[r*int(p.Segments)+s]) * sum
			}
			for _, f := range functions {
				v = f(c, v)
			}
			want[r][c] = v
		}
	}
	blocks := (rows + u.m - 1) / u.m * ((n + u.n - 1) / u.n)
	l := ptx.Launch{Blocks: blocks, Threads: u.threads, Shared: stages * (u.m + u.n) * stepBytes, Seed: seed, Steps: mostSteps,
		Parameters: []uint64{uint64(g.put(p)), uint64(rows), uint64(frame)}}
	if err := k.Run(ptx.NewMemory(g.regions...), l); err != nil {
		return err
	}
	return compare(results, want)
}

// chain runs a chain of random operations.
func chain(k *ptx.Kernel, seed uint64) error {
	g := &gpu{r: rand.New(rand.NewPCG(seed, 12))}
	rows, frame := g.pick(1, 2, 31, 32, 33, 65), g.r.IntN(2)
	type check struct {
		results []stored
		want    [][]float64
	}
	var checks []check
	ops := make([]light, g.r.IntN(11))
	for i := range ops {
		o := &ops[i]
		kind, n := g.pick(-1, zero, copyOf, pointOf, pointOf, pointOf, add, dense, dense, softmax, maxPool, depool, lstm, lightKinds), g.pick(1, 2, 3, 4, 5, 7, 31, 32, 33, 70)
		o.Kind, o.Width = int64(kind), int64(n)
		inRows, inputs := rows, n
		switch kind {
		case maxPool:
			inRows = 2 * rows
		case depool:
			inRows = (rows + 1) / 2
		case dense:
			inputs = g.pick(0, 1, 2, 3, 5, 6, 40)
		case lstm:
			inputs = 4 * n
		case copyOf:
			inputs = n + 3
		}
		side := func(rows, n, steps int) (sink, [][]float32) {
			row := n + g.r.IntN(3)
			step := rows * row
			x := g.floats(step * (steps + 1))
			if len(x) > 0 && g.r.IntN(3) == 0 {
				x[g.r.IntN(len(x))] = float32(math.NaN())
			}
			s := sink{At: g.put(x), Row: int64(row), Step: int64(step)}
			var m [][]float32
			for r := range rows {
				m = append(m, x[step*steps+r*row:][:n])
			}
			return s, m
		}
		var x, x2 [][]float32
		o.X, x = side(inRows, inputs, frame)
		if i > 0 && g.r.IntN(2) == 0 && inRows == rows && inputs <= int(ops[i-1].Width) { // what the operation before has written
			j := slices.IndexFunc(ops[i-1].Sink[:], func(s sink) bool { return s.Type == float32s })
			o.X = ops[i-1].Sink[j]
			for r, row := range checks[i-1].want {
				x[r] = nil
				for _, v := range row {
					x[r] = append(x[r], float32(v))
				}
			}
		}
		if kind == add {
			o.X2, x2 = side(rows, n, frame)
		}
		if kind == lstm {
			o.X2, x2 = side(rows, n, 0)
		}
		var columns []int64
		if kind == copyOf && g.r.IntN(2) == 0 {
			for range n {
				columns = append(columns, int64(g.r.IntN(inputs)))
			}
			o.Column = g.put(columns)
		}
		var f func(int, float64) float64
		if kind == pointOf {
			if o.Point, f = g.point(n); g.r.IntN(9) == 0 {
				o.Point.Kind = int64(g.pick(-1, pointKinds))
			}
		}
		var w, b []float32
		if kind == dense {
			w, b = g.floats(inputs*n), g.floats(n)
			o.Inputs, o.W, o.B, o.Point.Act = int64(inputs), g.put(w), g.put(b), int64(g.r.IntN(acts))
		}
		want := make([][]float64, rows)
		for r := range want {
			want[r] = make([]float64, n)
			sum := 0.0
			for c := range want[r] {
				at := func(r, c int) float64 { return float64(x[r][c]) }
				gate := func(i, act int) float64 { return activated(act, at(r, i*n+c)) }
				v := 0.0
				switch kind {
				case copyOf:
					if v = at(r, c); columns != nil {
						v = at(r, int(columns[c]))
					}
				case pointOf:
					v = f(c, at(r, c))
				case add:
					v = at(r, c) + float64(x2[r][c])
				case dense:
					v = float64(b[c])
					for j := range inputs {
						v += float64(w[j*n+c]) * at(r, j)
					}
					v = activated(int(o.Point.Act), v)
				case softmax:
					v = math.Exp(at(r, c))
					sum += v
				case maxPool:
					v = math.Max(at(2*r, c), at(2*r+1, c))
				case depool:
					v = at(r/2, c) / 2
				case lstm:
					v = gate(3, sigmoid) * math.Tanh(gate(1, sigmoid)*float64(x2[r][c])+gate(0, sigmoid)*gate(2, tanh))
				}
				want[r][c] = v
			}
			if kind == softmax {
				for c := range want[r] {
					want[r][c] /= sum
				}
			}
		}
		var results []stored
		if o.Sink, results = g.sinks(rows, n, frame, false); kind < 0 || kind == lightKinds || kind == pointOf && (o.Point.Kind < 0 || o.Point.Kind == pointKinds) {
			results = nil // there is no such operation: it does nothing
			ops[i].Width = 0
		}
		checks = append(checks, check{results, want})
	}
	l := ptx.Launch{Blocks: (rows + lightRows - 1) / lightRows, Threads: lightThreads, Seed: seed, Steps: mostSteps,
		Parameters: []uint64{uint64(g.put(ops)), uint64(len(ops)), uint64(rows), uint64(frame)}}
	if err := k.Run(ptx.NewMemory(g.regions...), l); err != nil {
		return err
	}
	for i, c := range checks {
		if err := compare(c.results, c.want); err != nil {
			return fmt.Errorf("operation %d: %+v: %w", i, ops[i], err)
		}
	}
	return nil
}

// test is how a kernel is run.
type test struct {
	name     string
	run      func(k *ptx.Kernel, seed uint64) error
	faults   int      // of each kind
	harmless []string // kinds of faults that change no result, once each
}

func kernelTests() []test {
	tests := []test{{"light_chain", chain, 3, []string{"TF32 is cut, not rounded", "BF16 is cut, not rounded"}}} // zeros have nothing to round
	for _, u := range units {
		// The first barrier of a warp comes after one of the block; n and n rounded up to 128 are as many tiles.
		c := test{"product_" + u.name, u.product, 1, []string{"a barrier of a warp is dropped", "a field is read for the next one"}}
		if u.m == 64 {
			c.faults, c.harmless = 3, c.harmless[:1]
		}
		tests = append(tests, c)
	}
	return tests
}

// TestKernels runs the PTX that a GPU gets, with random operations of sizes about the tiles' edges, until each basic block has run but those
// that are proven to run in no launch. Where the compiler takes a row's last elements four at a time, at most three are left; for chains it
// has made a second softmax for a single column, and asks for kinds twice.
// Results are those of float64, and in each type rounded as they should be. Then it makes one instruction wrong, of many of all
// kinds, and sees that the same runs find it.
func TestKernels(t *testing.T) {
	race.Single(t)
	a, b := must.Get(os.ReadFile("kernels/sm_80.ptx"))(t), must.Get(os.ReadFile("kernels/sm_90.ptx"))(t)
	m := must.Get(ptx.Read(bytes.NewReader(b)))(t)
	if !bytes.Equal(bytes.Replace(a, []byte("sm_80"), []byte("sm_90"), 1), b) {
		t.Error("the kernels for 8.0 and 9.0 differ: only those for 9.0 are run")
	}
	for _, c := range kernelTests() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k, missed, seed := m.Kernel(c.name), map[int]bool{}, uint64(0)
			dead := k.Unreachable()
			seeds := map[int][]uint64{} // of the runs that run a line
			for _, line := range k.Missed() {
				if !slices.Contains(dead, line) {
					missed[line] = true
				}
			}
			for len(missed) > 0 || seed < 100 {
				if seed++; seed > 5000 {
					t.Fatalf("%d of %d basic blocks did not run, and can: at lines %v", len(missed), k.Blocks(), slices.Sorted(maps.Keys(missed)))
				}
				if err := c.run(k, seed); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for _, line := range k.Ran() {
					if slices.Contains(dead, line) {
						t.Fatalf("seed %d: line %d has run, and can't", seed, line)
					}
					delete(missed, line)
					seeds[line] = append(seeds[line], seed)
				}
				k.Forget()
			}
			t.Logf("%d runs, of all %d basic blocks but %d that no launch reaches", seed, k.Blocks(), len(dead))

			kinds, faults, harmless := map[string]int{}, 0, slices.Clone(c.harmless)
			for _, f := range k.Faults(c.faults) {
				runs := seeds[f.Line]
				if len(runs) == 0 {
					continue
				}
				faults++
				kinds[f.Kind]++
				wrong := k.With(f)
				if !slices.ContainsFunc(runs[:min(len(runs), 60)], func(seed uint64) bool { return c.run(wrong, seed) != nil }) {
					if i := slices.Index(harmless, f.Kind); i >= 0 {
						harmless = slices.Delete(harmless, i, i+1)
						t.Logf("line %d: %s: no run finds it", f.Line, f.Kind)
					} else {
						t.Errorf("line %d: %s: no run finds it", f.Line, f.Kind)
					}
				}
			}
			t.Logf("%d faults of %d kinds, each found but %d", faults, len(kinds), len(c.harmless))
		})
	}
}
