package netruntime

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

// sizes of a test network.
type sizes struct{ in, out, h0, h1, g0, g1, gin, k int }

var (
	tiny  = sizes{in: 5, out: 3, h0: 4, h1: 6, g0: 2, g1: 3, gin: 2, k: 2}
	odd   = sizes{in: 70, out: 41, h0: 33, h1: 65, g0: 7, g1: 9, gin: 5, k: 3}
	paper = sizes{in: 480, out: 363, h0: 512, h1: 512, g0: 32, g1: 32, gin: 19, k: 8}
)

func (z sizes) meta() Meta {
	m := Meta{Name: "test", Arch: "mann", SchemaHash: "abc"}
	for i := range z.gin {
		m.GatingColumns = append(m.GatingColumns, (3*i+1)%z.in)
	}
	return m
}

func (z sizes) tensors(seed uint64) []Tensor {
	r := rand.New(rand.NewPCG(seed, 1))
	gen := func(name string, scale float64, shape ...int) Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		t := Tensor{Name: name, Shape: shape, Data: make([]float32, n)}
		for i := range t.Data {
			t.Data[i] = float32(scale * r.NormFloat64())
		}
		return t
	}
	std := func(t Tensor) Tensor {
		for i := range t.Data {
			t.Data[i] = 0.5 + t.Data[i]*t.Data[i]
		}
		return t
	}
	w := func(fan int) float64 { return 1.2 / math.Sqrt(float64(fan)) }
	return []Tensor{
		gen("x_mean", 1, z.in), std(gen("x_std", 1, z.in)), gen("y_mean", 1, z.out), std(gen("y_std", 1, z.out)),
		gen("gating.0.weight", w(z.gin), z.g0, z.gin), gen("gating.0.bias", 0.2, z.g0),
		gen("gating.1.weight", w(z.g0), z.g1, z.g0), gen("gating.1.bias", 0.2, z.g1),
		gen("gating.2.weight", w(z.g1), z.k, z.g1), gen("gating.2.bias", 0.2, z.k),
		gen("experts.0.weight", w(z.in), z.k, z.h0, z.in), gen("experts.0.bias", 0.2, z.k, z.h0),
		gen("experts.1.weight", w(z.h0), z.k, z.h1, z.h0), gen("experts.1.bias", 0.2, z.k, z.h1),
		gen("experts.2.weight", w(z.h1), z.k, z.out, z.h1), gen("experts.2.bias", 0.2, z.k, z.out),
	}
}

func (z sizes) net(t testing.TB, seed uint64) *Net {
	n := must.Get(New(z.meta(), z.tensors(seed)))(t)
	return n
}

// reference is the network in float64 and in the paper's form: it first blends the experts' weights
// (eq. 6) and then runs one network.
func reference(n *Net, x []float32) (omega, y []float64) {
	get := func(name string) []float32 {
		t, ok := n.Tensor(name)
		if !ok {
			panic(name)
		}
		return t.Data
	}
	one := func(s float32) float64 {
		if s == 0 {
			return 1
		}
		return float64(s)
	}
	elu := func(v []float64) []float64 {
		for i := range v {
			if v[i] < 0 {
				v[i] = math.Expm1(v[i])
			}
		}
		return v
	}
	dense := func(w, b, h []float64) []float64 {
		out := slices.Clone(b)
		for i := range out {
			for j, v := range h {
				out[i] += w[i*len(h)+j] * v
			}
		}
		return out
	}
	wide := func(v []float32) []float64 {
		out := make([]float64, len(v))
		for i := range v {
			out[i] = float64(v[i])
		}
		return out
	}
	xm, xs := get("x_mean"), get("x_std")
	h := make([]float64, len(x))
	for i := range x {
		h[i] = (float64(x[i]) - float64(xm[i])) / one(xs[i])
	}
	var g []float64
	for _, c := range n.Meta().GatingColumns {
		g = append(g, h[c])
	}
	for l := range 3 {
		g = dense(wide(get(fmt.Sprintf("gating.%d.weight", l))), wide(get(fmt.Sprintf("gating.%d.bias", l))), g)
		if l < 2 {
			g = elu(g)
		}
	}
	sum, top := 0.0, slices.Max(g)
	for i := range g {
		g[i] = math.Exp(g[i] - top)
		sum += g[i]
	}
	for i := range g {
		g[i] /= sum
	}
	mix := func(v []float32) []float64 {
		n := len(v) / len(g)
		out := make([]float64, n)
		for k, o := range g {
			for i, w := range v[k*n:][:n] {
				out[i] += o * float64(w)
			}
		}
		return out
	}
	for l := range 3 {
		h = dense(mix(get(fmt.Sprintf("experts.%d.weight", l))), mix(get(fmt.Sprintf("experts.%d.bias", l))), h)
		if l < 2 {
			h = elu(h)
		}
	}
	ym, ys := get("y_mean"), get("y_std")
	for i := range h {
		h[i] = h[i]*one(ys[i]) + float64(ym[i])
	}
	return g, h
}

func forKinds(t *testing.T, f func(t *testing.T)) {
	for _, k := range kernel.Kinds() {
		t.Run(k.String(), func(t *testing.T) {
			defer kernel.Force(k)()
			f(t)
		})
	}
}

// open returns a session that the test closes.
func open(t testing.TB, n *Net, rows, workers int) Session {
	s := must.Get(n.NewSession(SessionOptions{Batch: rows, Workers: workers}))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func randomRows(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(2 * r.NormFloat64())
	}
	return x
}

func TestForwardAgainstFloat64(t *testing.T) {
	const rows = 9
	for i, z := range []sizes{tiny, odd, paper} {
		n := z.net(t, uint64(i))
		if n.Inputs() != z.in || n.Outputs() != z.out {
			t.Fatalf("network of %d inputs and %d outputs, want %d and %d", n.Inputs(), n.Outputs(), z.in, z.out)
		}
		x := randomRows(uint64(i), rows*z.in)
		before := slices.Clone(x)
		var omega, want [rows][]float64
		for r := range rows {
			omega[r], want[r] = reference(n, x[r*z.in:][:z.in])
		}
		forKinds(t, func(t *testing.T) {
			s := open(t, n, rows, 2)
			y := make([]float32, rows*z.out)
			must.Do(t, s.Run(y, x, rows))
			if !slices.Equal(x, before) {
				t.Fatal("Run changed its input")
			}
			for r := range rows {
				for k, o := range s.Gating()[r*z.k:][:z.k] {
					if !(math.Abs(float64(o)-omega[r][k]) <= 1e-5) {
						t.Fatalf("%+v row %d: ω[%d] = %v, want %v", z, r, k, o, omega[r][k])
					}
				}
				most := 0.0
				for _, v := range want[r] {
					most = max(most, math.Abs(v))
				}
				for j, v := range y[r*z.out:][:z.out] {
					if !(math.Abs(float64(v)-want[r][j]) <= 1e-5*most) {
						t.Fatalf("%+v row %d: y[%d] = %v, want %v", z, r, j, v, want[r][j])
					}
				}
			}
		})
	}
}

// TestRowsKeepTheirBits computes every row alone, then in batches of several sizes, at other
// positions and with other numbers of workers.
func TestRowsKeepTheirBits(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		z := odd
		n := z.net(t, 5)
		const rows = 400
		x := randomRows(6, rows*z.in)
		want, gating := make([]float32, rows*z.out), make([]float32, rows*z.k)
		alone := open(t, n, 1, 1)
		for r := range rows {
			must.Do(t, alone.Run(want[r*z.out:], x[r*z.in:], 1))
			copy(gating[r*z.k:], alone.Gating())
		}
		r := rand.New(rand.NewPCG(7, 7))
		for workers := 1; workers <= 3; workers++ {
			s := open(t, n, rows, workers)
			for _, b := range []int{2, 3, 4, 7, 12, 13, 31, 32, 33, 64, 95, 96, 191, 192, 193, 287, 289, 400} {
				from := r.IntN(rows - b + 1)
				y := make([]float32, b*z.out)
				must.Do(t, s.Run(y, x[from*z.in:], b))
				if i := different(y, want[from*z.out:]); i >= 0 {
					t.Fatalf("%d workers, %d rows from %d: row %d differs from itself alone", workers, b, from, i/z.out)
				}
				if i := different(s.Gating(), gating[from*z.k:]); i >= 0 {
					t.Fatalf("%d workers, %d rows from %d: gating of row %d differs", workers, b, from, i/z.k)
				}
			}
		}
	})
}

// different returns the first index at which the bits of a and b differ, or −1.
func different(a, b []float32) int {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}

func TestBadRowsStayAlone(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		z := odd
		n := z.net(t, 8)
		for _, rows := range []int{20, 300} {
			s := open(t, n, rows, 2)
			x := randomRows(9, rows*z.in)
			want, y := make([]float32, rows*z.out), make([]float32, rows*z.out)
			must.Do(t, s.Run(want, x, rows))
			bad := map[int]float32{3: float32(math.NaN()), 11: float32(math.Inf(1)), 18: -3e38}
			for r, v := range bad {
				for i := range z.in {
					x[r*z.in+i] = v
				}
			}
			must.Do(t, s.Run(y, x, rows))
			for r := range rows {
				if _, ok := bad[r]; !ok && different(y[r*z.out:(r+1)*z.out], want[r*z.out:]) >= 0 {
					t.Fatalf("row %d of %d changed with its neighbours", r, rows)
				}
			}
			if y[3*z.out] == y[3*z.out] {
				t.Fatal("NaN in, number out")
			}
		}
	})
}

func TestZeroDeviationIsOne(t *testing.T) {
	ts := tiny.tensors(3)
	ts[1].Data[2], ts[3].Data[1] = 0, 0
	n := must.Get(New(tiny.meta(), ts))(t)
	x := randomRows(1, tiny.in)
	y := make([]float32, tiny.out)
	must.Do(t, open(t, n, 1, 1).Run(y, x, 1))
	_, want := reference(n, x)
	for i := range y {
		if !(math.Abs(float64(y[i])-want[i]) <= 1e-5) {
			t.Fatalf("y = %v, want %v", y, want)
		}
	}
}

// With logits beyond the range of exp, the gating still sums to one.
func TestLargeLogits(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		ts := odd.tensors(3)
		bias := ts[9].Data // gating.2.bias
		bias[0], bias[1], bias[2] = -300, 300, 300
		clear(ts[8].Data)
		n := must.Get(New(odd.meta(), ts))(t)
		s := open(t, n, 1, 1)
		must.Do(t, s.Run(make([]float32, odd.out), randomRows(1, odd.in), 1))
		if g := s.Gating(); g[0] != 0 || g[1] != 0.5 || g[2] != 0.5 {
			t.Errorf("gating %v", g)
		}
	})
}
