package kernel

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
)

// sweep returns values over the whole range of interest, densest near zero.
func sweep() []float32 {
	x := []float32{0, float32(math.Copysign(0, -1)), 1e-30, -1e-30, 1e-7, -1e-7}
	for v := float32(-110); v < 95; v += 0.00173 {
		x = append(x, v)
	}
	for e := -20.0; e < 3; e += 0.001 {
		v := float32(math.Pow(10, e))
		x = append(x, v, -v)
	}
	return x
}

func TestExp(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		x := sweep()
		y := make([]float32, len(x))
		Exp(y, x)
		for i, v := range x {
			want := math.Exp(float64(v))
			if want > math.MaxFloat32 {
				if y[i] != inf && v > 88.73 {
					t.Fatalf("exp(%v) = %v", v, y[i])
				}
				continue
			}
			if err := math.Abs(float64(y[i]) - want); !(err <= 3e-7*want+2e-38) {
				t.Fatalf("exp(%v) = %v, want %v", v, y[i], want)
			}
		}
		in := []float32{nan, inf, -inf, -1000, 1000}
		out := make([]float32, len(in))
		Exp(out, in)
		if out[0] == out[0] || out[1] != inf || out[2] != 0 || out[3] != 0 || out[4] != inf {
			t.Fatalf("exp(%v) = %v", in, out)
		}
	})
}

func TestELU(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		x := sweep()
		y := make([]float32, len(x))
		ELU(y, x)
		for i, v := range x {
			want := float64(v)
			if v <= 0 {
				want = math.Expm1(want)
			}
			if err := math.Abs(float64(y[i]) - want); !(err <= 2e-7) {
				t.Fatalf("ELU(%v) = %v, want %v", v, y[i], want)
			}
		}
		in := []float32{nan, inf, -inf, -1000}
		ELU(in, in)
		if in[0] == in[0] || in[1] != inf || in[2] != -1 || in[3] != -1 {
			t.Fatalf("ELU of NaN, ±Inf, −1000 = %v", in)
		}
		// The slope against a central difference of the closed form.
		x = []float32{-5, -1, -0.3, -0.01, 0.01, 0.5, 3, nan}
		y = make([]float32, len(x))
		dx, dy := make([]float32, len(x)), make([]float32, len(x))
		for i := range dy {
			dy[i] = float32(i) - 2.5
		}
		ELU(y, x)
		ELUGrad(dx, dy, y)
		for i, v := range x[:len(x)-1] {
			f := func(x float64) float64 { return math.Max(x, math.Expm1(math.Min(x, 0))) }
			want := float64(dy[i]) * (f(float64(v)+1e-6) - f(float64(v)-1e-6)) / 2e-6
			if !(math.Abs(float64(dx[i])-want) <= 1e-5) {
				t.Fatalf("slope at %v times %v = %v, want %v", v, dy[i], dx[i], want)
			}
		}
		if dx[len(dx)-1] == dx[len(dx)-1] {
			t.Fatal("NaN did not reach the gradient")
		}
	})
}

// TestElementwiseEdges runs every function at every length around the vector
// sizes, against its formula, and checks that an element's bits do not depend
// on its place and that nothing is written beyond the end.
func TestElementwiseEdges(t *testing.T) {
	ops := []struct {
		name string
		run  func(dst, x, y []float32)
		want func(dst, x, y float64) float64
	}{
		{"Exp", func(d, x, _ []float32) { Exp(d, x) }, func(_, x, _ float64) float64 { return math.Exp(x) }},
		{"ELU", func(d, x, _ []float32) { ELU(d, x) }, func(_, x, _ float64) float64 { return math.Max(x, math.Expm1(math.Min(x, 0))) }},
		{"ELUGrad", func(d, x, y []float32) { ELUGrad(d, x, y) }, func(_, x, y float64) float64 { return x * (1 + math.Min(y, 0)) }},
		{"Axpy", func(d, x, _ []float32) { Axpy(d, -1.5, x) }, func(d, x, _ float64) float64 { return d - 1.5*x }},
		{"Scale", func(d, x, _ []float32) { Scale(d, 0.3, x) }, func(_, x, _ float64) float64 { return float64(float32(0.3)) * x }},
		{"Mul", Mul, func(_, x, y float64) float64 { return x * y }},
		{"Add", Add, func(_, x, y float64) float64 { return x + y }},
		{"Max", Max, func(_, x, y float64) float64 { return math.Max(x, y) }},
		{"Normalize", func(d, x, y []float32) { Normalize(d, x, y, d) }, func(d, x, y float64) float64 { return (x - y) * d }},
		{"Affine", func(d, x, y []float32) { Affine(d, x, y, d) }, func(d, x, y float64) float64 { return x*y + d }},
		{"ReLU", func(d, x, _ []float32) { ReLU(d, x) }, func(_, x, _ float64) float64 { return math.Max(x, 0) }},
		{"Sigmoid", func(d, x, _ []float32) { Sigmoid(d, x) }, func(_, x, _ float64) float64 { return 1 / (1 + math.Exp(-x)) }},
		{"Tanh", func(d, x, _ []float32) { Tanh(d, x) }, func(_, x, _ float64) float64 { return math.Tanh(x) }},
		{"ReLUGrad", ReLUGrad, func(_, x, y float64) float64 {
			if y > 0 {
				return x
			}
			return 0
		}},
		{"SigmoidGrad", SigmoidGrad, func(_, x, y float64) float64 { return x * y * (1 - y) }},
		{"TanhGrad", TanhGrad, func(_, x, y float64) float64 { return x * (1 - y*y) }},
	}
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 9))
		x, y, d := randoms(r, 70), randoms(r, 70), randoms(r, 71)
		for _, op := range ops {
			whole := append([]float32(nil), d...)
			op.run(whole[:70], x, y)
			for n := range 70 {
				from := r.IntN(70 - n)
				got := append([]float32(nil), d...)
				op.run(got[from:from+n], x[from:from+n], y[from:from+n])
				for i := range got {
					want := d[i]
					if i >= from && i < from+n {
						want = whole[i]
						exact := op.want(float64(d[i]), float64(x[i]), float64(y[i]))
						if !(math.Abs(float64(want)-exact) <= 5e-7*(1+math.Abs(exact))) {
							t.Fatalf("%s: element %d is %v, want %v", op.name, i, want, exact)
						}
					}
					if math.Float32bits(got[i]) != math.Float32bits(want) {
						t.Fatalf("%s of %d at %d: element %d is %v, want %v", op.name, n, from, i, got[i], want)
					}
				}
			}
		}
	})
}

// TestAdamW follows three weights, and every tail length, for twenty steps
// against the formulas in float64.
func TestAdamW(t *testing.T) {
	const lr, wd, b1, b2, eps = 1e-2, 0.1, 0.9, 0.999, 1e-8
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 4))
		for n := range 40 {
			w, m, v := randoms(r, n+1), make([]float32, n+1), make([]float32, n+1)
			W, M, V := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range W {
				W[i] = float64(w[i])
			}
			guard := w[n]
			for step := 1.0; step <= 20; step++ {
				g := randoms(r, n)
				c1, c2 := 1-math.Pow(b1, step), 1-math.Pow(b2, step)
				AdamW(w[:n], g, m[:n], v[:n], lr, wd, b1, b2, eps, float32(c1), float32(c2))
				for i := range W {
					x := float64(g[i])
					M[i] = b1*M[i] + (1-b1)*x
					V[i] = b2*V[i] + (1-b2)*x*x
					W[i] -= lr*wd*W[i] + lr*(M[i]/c1)/(math.Sqrt(V[i]/c2)+eps)
				}
			}
			for i := range W {
				if !(math.Abs(float64(w[i])-W[i]) <= 3e-6) {
					t.Fatalf("%d weights: weight %d is %v, want %v", n, i, w[i], W[i])
				}
			}
			if w[n] != guard || m[n] != 0 || v[n] != 0 {
				t.Fatalf("%d weights: wrote beyond the end", n)
			}
		}
	})
}

// TestAVX2UsesSixteenRegisters guards the generator: the assembler accepts
// registers that only AVX-512 machines have.
func TestAVX2UsesSixteenRegisters(t *testing.T) {
	beyond := regexp.MustCompile(`\b[XY](1[6-9]|2\d|3[01])\b|\bZ\d|\bK[0-7]\b`)
	for _, name := range []string{"gemm_amd64.s", "elem_amd64.s", "packed_amd64.s"} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fn := ""
		for s := bufio.NewScanner(f); s.Scan(); {
			if strings.HasPrefix(s.Text(), "TEXT") {
				fn = s.Text()
			}
			if !strings.Contains(fn, "AVX512") && !strings.Contains(fn, "BF16") && beyond.MatchString(s.Text()) {
				t.Fatalf("%s: %s: %s", name, fn, s.Text())
			}
		}
	}
}

func BenchmarkELU(b *testing.B) {
	for _, kind := range Kinds() {
		b.Run("kernel="+kind.String(), func(b *testing.B) {
			defer Force(kind)()
			x := randoms(rand.New(rand.NewPCG(1, 1)), 4096)
			y := make([]float32, len(x))
			b.SetBytes(int64(8 * len(x)))
			for b.Loop() {
				ELU(y, x)
			}
		})
	}
}

func BenchmarkAdamW(b *testing.B) {
	for _, kind := range Kinds() {
		for _, n := range []int{1 << 12, 5 << 20} {
			b.Run(fmt.Sprintf("kernel=%v/n=%d", kind, n), func(b *testing.B) {
				defer Force(kind)()
				w, g, m, v := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
				b.SetBytes(int64(28 * n))
				for b.Loop() {
					AdamW(w, g, m, v, 1e-4, 1e-3, 0.9, 0.999, 1e-8, 0.5, 0.5)
				}
			})
		}
	}
}
