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

	"mannequin/internal/testing/must"
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

// TestElementwiseEdges runs every function at every length around the vector sizes and compares it
// with its formula. An element's bits may not depend on its position, and nothing may be written
// beyond the end.
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

// TestAdamW compares three weights, and every tail length, for twenty steps with the formulas in
// float64.
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
		f := must.Get(os.Open(name))(t)
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

func TestVectorFunctions(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000} {
			x, y, old := randoms(r, n), randoms(r, n), randoms(r, n+1)
			for i := 0; i < n; i += 5 {
				x[i] = 0
			}
			sub, mulAdd, sign := append([]float32(nil), old...), append([]float32(nil), old...), append([]float32(nil), old...)
			Sub(sub[:n], x, y)
			MulAdd(mulAdd[:n], x, y)
			Sign(sign[:n], -0.3, x)
			var dot, abs, dotSize float64
			for i := range n {
				if sub[i] != x[i]-y[i] {
					t.Fatalf("Sub of %d: %v − %v = %v", n, x[i], y[i], sub[i])
				}
				p := float64(x[i]) * float64(y[i])
				if want := float64(old[i]) + p; math.Abs(float64(mulAdd[i])-want) > 1e-6*(math.Abs(p)+math.Abs(want)) {
					t.Fatalf("MulAdd of %d: %v + %v·%v = %v", n, old[i], x[i], y[i], mulAdd[i])
				}
				want := float32(0)
				if x[i] != 0 {
					want = float32(math.Copysign(0.3, -float64(x[i])))
				}
				if sign[i] != want {
					t.Fatalf("Sign of %d: %v gives %v", n, x[i], sign[i])
				}
				dot += p
				dotSize += math.Abs(p)
				abs += math.Abs(float64(x[i]))
			}
			for _, v := range [][]float32{sub, mulAdd, sign} {
				if v[n] != old[n] {
					t.Fatalf("%d values: wrote beyond the end", n)
				}
			}
			if got := Dot(x, y); math.Abs(float64(got)-dot) > 1e-6*dotSize {
				t.Fatalf("Dot of %d: %v, want %v", n, got, dot)
			}
			if got := SumAbs(x); math.Abs(float64(got)-abs) > 1e-6*abs {
				t.Fatalf("SumAbs of %d: %v, want %v", n, got, abs)
			}
		}
	})
}

// Values that are not finite stay visible.
func TestVectorFunctionsKeepNaN(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		for _, n := range []int{1, 40, 70} {
			for i := range n {
				x, zero, one := make([]float32, n), make([]float32, n), make([]float32, n)
				x[i] = nan
				one[0] = 1
				y := make([]float32, n)
				for name, f := range map[string]func(){
					"Sub x": func() { Sub(y, x, zero) }, "Sub y": func() { Sub(y, zero, x) },
					"MulAdd": func() { MulAdd(y, x, zero) }, "Sign": func() { Sign(y, 2, x) },
				} {
					clear(y)
					f()
					for j, v := range y {
						if (v != v) != (i == j) {
							t.Fatalf("%s: a NaN in place %d of %d gives %v in place %d", name, i, n, v, j)
						}
					}
				}
				if v := Dot(x, zero); v == v {
					t.Fatalf("Dot loses a NaN in place %d of %d", i, n)
				}
				if v := SumAbs(x); v == v {
					t.Fatalf("SumAbs loses a NaN in place %d of %d", i, n)
				}
			}
		}
	})
}

func TestDealAndPick(t *testing.T) {
	forKinds(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 9))
		for n := range 65 {
			bits := r.Uint64()
			x, first, second, back := randoms(r, n), randoms(r, n+1), randoms(r, n+1), randoms(r, n+1)
			ends := []float32{first[n], second[n], back[n]}
			Deal(first[:n], second[:n], x, bits)
			for i, v := range x {
				if set := bits>>i&1 != 0; set && (first[i] != 0 || second[i] != v) || !set && (first[i] != v || second[i] != 0) {
					t.Fatalf("%d values: value %d with bit %v goes to %v and %v", n, i, set, first[i], second[i])
				}
			}
			y := randoms(r, n)
			Pick(back[:n], x, y, bits)
			for i, v := range back[:n] {
				want := x[i]
				if bits>>i&1 != 0 {
					want = y[i]
				}
				if v != want {
					t.Fatalf("%d values: picked %v in place %d, want %v", n, v, i, want)
				}
			}
			if first[n] != ends[0] || second[n] != ends[1] || back[n] != ends[2] {
				t.Fatalf("%d values: wrote beyond the end", n)
			}
		}
	})
}

func TestDistances16(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, plane := range []int{0, 2, 4, 6, 24, 50} {
		for _, tall := range []int{0, 1, 2, 3, 8, 31} {
			n := plane + tall
			x, q, turned := make([]float32, 16*(n+2)), make([]float32, n+2), make([]float32, plane)
			complete := func(v []float32, stride int) {
				half := float32(0)
				for i := range n {
					v[i*stride] = float32(r.NormFloat64())
					half += v[i*stride] * v[i*stride] / 2
				}
				v[n*stride], v[(n+1)*stride] = r.Float32(), half
			}
			complete(q, 1)
			for l := range 16 {
				complete(x[l:], 16)
			}
			for i := range plane / 2 {
				turned[i], turned[plane/2+i] = q[plane/2+i], -q[i]
			}
			start := [48]float32{3: 0.5, 17: -1, 40: 0.25}
			forKinds(t, func(t *testing.T) {
				guard, sums := [18]float32{0: 1, 17: 2}, start
				got := (*[16]float32)(guard[1:17])
				Distances16(got, &sums, x, q, turned, plane, tall)
				for l := range got {
					re, im, h := float64(start[l]), float64(start[16+l]), float64(start[32+l])
					for c := range plane {
						re += float64(q[c]) * float64(x[16*c+l])
						im += float64(turned[c]) * float64(x[16*c+l])
					}
					for c := plane; c < n; c++ {
						h += float64(q[c]) * float64(x[16*c+l])
					}
					rest := float64(q[n]) - float64(x[16*n+l])
					want := math.Sqrt(max(0, 2*(float64(q[n+1])+float64(x[16*(n+1)+l])-h-math.Hypot(re, im))) + rest*rest)
					if math.Abs(float64(got[l])-want) > 1e-3 {
						t.Fatalf("%d + %d values: distance %d is %v, want %v", plane, tall, l, got[l], want)
					}
					for i, w := range []float64{re, im, h} {
						if math.Abs(float64(sums[16*i+l])-w) > 1e-4 {
							t.Fatalf("%d + %d values: sum %d of %d is %v, want %v", plane, tall, i, l, sums[16*i+l], w)
						}
					}
				}
				if guard[0] != 1 || guard[17] != 2 {
					t.Fatalf("%d + %d values: wrote beyond the ends", plane, tall)
				}
			})
		}
	}
}

// Distances from boxes are those from their nearest points, in float64.
func TestBoxDistances16(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 1, 2, 3, 27, 40} {
		low, high, q := make([]float32, 16*n), make([]float32, 16*n), make([]float32, n)
		for i := range low {
			low[i] = float32(r.NormFloat64())
			high[i] = low[i] + float32(i%16)/8 // the first is a point
		}
		for i := range q {
			q[i] = float32(r.NormFloat64())
		}
		forKinds(t, func(t *testing.T) {
			guard := [18]float32{0: 1, 17: 2}
			got := (*[16]float32)(guard[1:17])
			BoxDistances16(got, low, high, q)
			for l, d := range got {
				var want float64
				for c, v := range q {
					near := max(min(float64(v), float64(high[16*c+l])), float64(low[16*c+l]))
					want += (float64(v) - near) * (float64(v) - near)
				}
				if math.Abs(float64(d)-want) > 1e-5*(1+want) {
					t.Fatalf("%d values: the distance from box %d is %v, want %v", n, l, d, want)
				}
			}
			if guard[0] != 1 || guard[17] != 2 {
				t.Fatalf("%d values: wrote beyond the ends", n)
			}
			if n > 0 {
				odd := append([]float32(nil), q...)
				odd[n/2] = nan
				BoxDistances16(got, low, high, odd)
				for l, d := range got {
					if d == d {
						t.Fatalf("%d values, one of them NaN: the distance from box %d is %v", n, l, d)
					}
				}
			}
		})
	}
}

func BenchmarkBoxDistances16(b *testing.B) {
	low, q := make([]float32, 16*27), make([]float32, 27)
	var d [16]float32
	for b.Loop() {
		BoxDistances16(&d, low, low, q)
	}
}

func BenchmarkDistances16(b *testing.B) {
	x, q, turned := make([]float32, 16*36), make([]float32, 36), make([]float32, 24)
	var d [16]float32
	for b.Loop() {
		var sums [48]float32
		Distances16(&d, &sums, x, q, turned, 24, 8)
	}
}
