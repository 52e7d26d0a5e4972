package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// wholeRange returns numbers of every exponent and sign, including subnormal ones and the
// infinities, and a dense sweep where the functions curve.
func wholeRange() []float32 {
	x := append(sweep(), inf, -inf, math.MaxFloat32, -math.MaxFloat32)
	r := rand.New(rand.NewPCG(21, 22))
	for e := uint32(0); e < 255; e++ {
		for range 40 {
			x = append(x, math.Float32frombits(e<<23|r.Uint32()&0x807fffff))
		}
	}
	return x
}

// TestActivationsOverTheWholeRange checks every function against the error bound of its comment.
// Relative errors count from the smallest normal number up.
func TestActivationsOverTheWholeRange(t *testing.T) {
	x := wholeRange()
	for _, c := range []struct {
		act             Activation
		relative, below float64
	}{
		{ActIdentity, 0, 0}, {ActReLU, 0, 0}, {ActELU, 0, 2e-7}, {ActSigmoid, 4e-7, 2e-38}, {ActTanh, 4e-7, 1e-45},
	} {
		forKinds(t, func(t *testing.T) {
			y := make([]float32, len(x))
			c.act.Apply(y, x)
			for i, v := range x {
				want := c.act.float64(float64(v))
				if err := math.Abs(float64(y[i]) - want); !(err <= c.relative*math.Abs(want)+c.below) && float64(y[i]) != want {
					t.Fatalf("%v(%v) = %v, want %v", c.act, v, y[i], want)
				}
			}
			if y := []float32{nan, 1}; true {
				c.act.Apply(y, y)
				if y[0] == y[0] || y[1] != y[1] {
					t.Fatalf("%v of NaN and 1 = %v", c.act, y)
				}
			}
		})
	}
}

// TestActivationGradients compares with central differences in float64.
func TestActivationGradients(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		x := []float32{-40, -5, -1, -0.3, -0.01, 0.01, 0.5, 3, 40, nan}
		y, dx, dy := make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x))
		for i := range dy {
			dy[i] = float32(i) - 2.5
		}
		for act, grad := range map[Activation]func(dx, dy, y []float32){ActELU: ELUGrad, ActReLU: ReLUGrad, ActSigmoid: SigmoidGrad, ActTanh: TanhGrad} {
			act.Apply(y, x)
			dy[len(dy)-1] = y[len(y)-1] // a NaN input gives a NaN
			grad(dx, dy, y)
			for i, v := range x[:len(x)-1] {
				want := float64(dy[i]) * (act.float64(float64(v)+1e-6) - act.float64(float64(v)-1e-6)) / 2e-6
				if !(math.Abs(float64(dx[i])-want) <= 1e-5) {
					t.Errorf("%v: slope at %v times %v = %v, want %v", act, v, dy[i], dx[i], want)
				}
			}
			if dx[len(dx)-1] == dx[len(dx)-1] {
				t.Errorf("%v: NaN did not reach the gradient", act)
			}
		}
	})
}

// TestLSTMCells compares rows of cells for ten steps with the formulas in float64, for every number
// of cells up to a panel's columns. The memory around them must not change.
func TestLSTMCells(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(23, 24))
		cols := active.PanelCols()
		for n := 1; n <= cols; n++ {
			const rows, between = 3, 5
			hs, cs, stride := n+between, n+between+1, rows*cols+between
			h, c, bias := randoms(r, rows*hs), randoms(r, rows*cs), randoms(r, 4*n)
			gates := Panels{make([]float32, 4*stride), stride, cols}
			gate := func(i, j int) *float32 { return &gates.Data[j/cols*stride+i*cols+j%cols] }
			H, C := slices.Clone(h), make([]float64, len(c))
			for i, v := range c {
				C[i] = float64(v)
			}
			for range 10 {
				for j := range gates.Data {
					gates.Data[j] = float32(5 * r.NormFloat64())
				}
				was := slices.Clone(gates.Data)
				LSTMCells(Matrix{h, hs}, Matrix{c, cs}, gates, bias, rows, n)
				for i := range rows {
					for j := range n {
						g := func(q int) float64 { return float64(*gate(i, q*n+j)) + float64(bias[q*n+j]) }
						s := &C[i*cs+j]
						*s = ActSigmoid.float64(g(1))**s + ActSigmoid.float64(g(0))*math.Tanh(g(2))
						want := ActSigmoid.float64(g(3)) * math.Tanh(*s)
						got := h[i*hs+j]
						if !(math.Abs(float64(c[i*cs+j])-*s) <= 4e-6) || !(math.Abs(float64(got)-want) <= 4e-6) {
							t.Fatalf("%d cells: h, c of cell %d, row %d = %v, %v, want %v, %v", n, j, i, got, c[i*cs+j], want, *s)
						}
						H[i*hs+j] = got
					}
				}
				if !slices.Equal(was, gates.Data) {
					t.Fatalf("%d cells: the gates changed", n)
				}
			}
			for i := range rows {
				for j := range between {
					if k := i*cs + n + j; float64(c[k]) != C[k] {
						t.Fatalf("%d cells: wrote to c beyond row %d", n, i)
					}
				}
			}
			if !slices.Equal(h, H) {
				t.Fatalf("%d cells: wrote to h beyond a row", n)
			}
		}
		// Saturated gates of both signs, and a NaN in the second of three cells.
		h, c, g := []float32{0, 0, 0}, []float32{2, 2, 2}, make([]float32, 3*cols)
		copy(g, []float32{inf, nan, -inf, -inf, 0, inf, 1e30, 0, 5, inf, 0, -1000})
		LSTMCells(Matrix{h, 3}, Matrix{c, 3}, Panels{g, cols, cols}, make([]float32, 12), 1, 3)
		if c[0] != 1 || math.Abs(float64(h[0])-math.Tanh(1)) > 1e-6 || c[1] == c[1] || h[1] == h[1] || c[2] != 2 || math.Abs(float64(h[2])) > 1e-30 {
			t.Fatalf("h, c = %v, %v", h, c)
		}
	})
}

// TestToBF16 takes every upper half with lower halves around the ties.
func TestToBF16(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		var x []float32
		for up := range uint32(1 << 16) {
			for _, low := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
				x = append(x, math.Float32frombits(up<<16|low))
			}
		}
		y := make([]uint16, len(x)+1)
		y[len(x)] = 0x1234
		ToBF16(y[:len(x)], x)
		for i, v := range x {
			if v != v {
				if got := math.Float32frombits(uint32(y[i]) << 16); got == got {
					t.Fatalf("NaN %x became %v", math.Float32bits(v), got)
				}
			} else if y[i] != bf16Of(v) {
				t.Fatalf("%v = %x became %x, want %x", v, math.Float32bits(v), y[i], bf16Of(v))
			}
		}
		if y[len(x)] != 0x1234 {
			t.Fatal("wrote beyond the end")
		}
		for n := range 40 {
			z := make([]uint16, n+1)
			ToBF16(z[:n], x[1000:1000+n])
			for i, v := range z[:n] {
				if v != y[1000+i] {
					t.Fatalf("%d values: value %d is %x, want %x", n, i, v, y[1000+i])
				}
			}
			if z[n] != 0 {
				t.Fatalf("%d values: wrote beyond the end", n)
			}
		}
	})
}

func TestMaxKeepsNaN(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		x, y := []float32{nan, 1, 2, -inf, -1}, []float32{1, nan, 3, -5, -2}
		d := make([]float32, 5)
		Max(d, x, y)
		if d[0] == d[0] || d[1] == d[1] || d[2] != 3 || d[3] != -5 || d[4] != -1 {
			t.Fatalf("max(%v, %v) = %v", x, y, d)
		}
	})
}

func TestPeakIsPositive(t *testing.T) {
	forPacked(t, func(t *testing.T, bf16 bool) {
		if p := Peak(bf16, 0); !(p > 0 && p < 1e5) {
			t.Fatalf("%v GFLOP/s", p)
		}
	})
}
