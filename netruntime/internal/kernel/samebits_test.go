package kernel

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFMA compares fma with exact sums, also where rounding twice goes wrong.
func TestFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	twice := 0 // sums that rounding twice gets wrong
	for i := range 200000 {
		a, b, c := anyFloat(r), anyFloat(r), anyFloat(r)
		switch i % 4 {
		case 1: // near each other
			c = -a * b * float32(1+r.NormFloat64()*1e-6)
		case 2: // near the middle of two neighbours
			e := float32(r.IntN(8)) / (1 << 23)
			a, b, c = 1+e, (1-e)/(1<<24), (1+float32(r.IntN(1<<20))/(1<<23))*float32(1-2*r.IntN(2))
		case 3: // subnormal
			a, b, c = a*1e-30, float32(r.NormFloat64())*1e-12, float32(r.NormFloat64())*1e-41
		}
		if math.IsInf(float64(a), 0) || math.IsInf(float64(b), 0) || math.IsInf(float64(c), 0) {
			continue
		}
		exact := new(big.Float).SetPrec(2000).SetFloat64(float64(a) * float64(b))
		want, _ := exact.Add(exact, big.NewFloat(float64(c))).Float32()
		got := fma(a, b, c)
		if got != want {
			t.Fatalf("%v·%v + %v = %v, want %v", a, b, c, got, want)
		}
		if float32(float64(a)*float64(b)+float64(c)) != want {
			twice++
		}
	}
	if twice == 0 {
		t.Fatal("no case where rounding twice goes wrong")
	}
	if v := fma(inf, 1, -inf); v == v {
		t.Fatalf("∞ − ∞ = %v", v)
	}
}

// The processor's own sums are those of dot4Go.
func TestDot4(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	for k := range 70 {
		as, bs := 1+k%3, 4+k%5
		a, b := make([]float32, k*as+1), make([]float32, k*bs+4)
		for i := range a {
			a[i] = float32(r.NormFloat64())
		}
		for i := range b {
			b[i] = float32(r.NormFloat64())
		}
		if got, want := dot4(k, a, as, b, bs), dot4Go(k, a, as, b, bs); got != want {
			t.Fatalf("%d products: %v, want %v", k, got, want)
		}
	}
}

// anyFloat returns a float32 of any size, seldom a special one.
func anyFloat(r *rand.Rand) float32 {
	if r.IntN(20) == 0 {
		return [...]float32{0, float32(math.Copysign(0, -1)), 1, -1, math.SmallestNonzeroFloat32, math.MaxFloat32}[r.IntN(6)]
	}
	return float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-30))
}

// TestFamiliesAgree runs every function in every family that the machine has and compares the bits.
func TestFamiliesAgree(t *testing.T) {
	if len(Kinds()) == 1 || unfused {
		t.Skip("there is one family, or another that rounds in its own way")
	}
	r := rand.New(rand.NewPCG(7, 8))
	agree := func(name string, n int, f func(dst []float32)) {
		t.Helper()
		had := randoms(r, n)
		var want []float32
		for _, k := range Kinds() {
			got := append([]float32(nil), had...)
			func() {
				defer Force(k)()
				f(got)
			}()
			if want == nil {
				want = got
			}
			for i, v := range got {
				if math.Float32bits(v) != math.Float32bits(want[i]) && (v == v || want[i] == want[i]) {
					t.Fatalf("%s: element %d of %d is %v in %v, %v in %v", name, i, n, v, k, want[i], Kinds()[0])
				}
			}
		}
	}
	const n, k, parts = 45, 600, 3
	b, bias, biases := randoms(r, parts*n*k), randoms(r, n), randoms(r, parts*n)
	for m := 1; m < 15; m++ {
		a, w := randoms(r, m*k), randoms(r, m*parts)
		for act := ActIdentity; act <= ActTanh; act++ {
			agree(fmt.Sprintf("Packed.Mul of %d rows", m), m*n, func(c []float32) {
				var s Scratch
				p, q := Pack(true, parts, k, n, b, k), Pack(false, 1, parts, n, biases, n)
				p.Mul(&s, Matrix{c, n}, Matrix{w, parts}, Operand{F32: a, Stride: k}, m, act%2 == 0, Epilogue{bias, q, act}, 0, p.Panels())
			})
		}
		agree(fmt.Sprintf("Gemm of %d rows", m), m*n, func(c []float32) {
			p := NewPool(1)
			defer p.Close()
			p.Gemm(m%3 == 0, m%2 == 0, m, n, k, a, map[bool]int{true: m, false: k}[m%3 == 0], b, map[bool]int{true: k, false: n}[m%2 == 0], true, c, n)
		})
	}
	taps := Taps{Width: 7, Before: 3, Channels: 4}
	const frames = 23
	x, weights := randoms(r, frames*taps.Channels), randoms(r, taps.Width*taps.Channels*n)
	agree("Filter.Mul", frames*n, func(c []float32) {
		var s Scratch
		planes := make([]float32, taps.PlaneSize(frames))
		taps.Planes(planes, x, frames, -taps.Lead(), frames+taps.Trail())
		f := PackFilter(taps, n, weights)
		blocks := (frames + taps.Block() - 1) / taps.Block()
		f.Mul(&s, Windows{c, 1, frames, n, frames * n}, planes, 0, blocks, Epilogue{Bias: bias, Act: ActELU}, 0, f.Panels())
	})
	all := append(sweep(), nan, inf, -inf, math.MaxFloat32, -math.MaxFloat32)
	for _, f := range []func(dst, x []float32){Exp, ELU, ReLU, Sigmoid, Tanh} {
		agree("an activation", len(all), func(dst []float32) { f(dst, all) })
	}
	for _, n := range []int{0, 1, 5, 31, 32, 47, 48, 95, 100, 1001} {
		x, y, z := randoms(r, n), randoms(r, n), randoms(r, n)
		for i := range n { // also zeros of both signs, infinities and NaN
			if i%7 == 0 {
				x[i], y[i] = all[r.IntN(len(all))], all[r.IntN(len(all))]
			}
		}
		for name, f := range map[string]func(dst []float32){
			"Axpy": func(d []float32) { Axpy(d, 1.7, x) }, "Scale": func(d []float32) { Scale(d, 1.3, x) },
			"Add": func(d []float32) { Add(d, x, y) }, "Sub": func(d []float32) { Sub(d, x, y) }, "Mul": func(d []float32) { Mul(d, x, y) },
			"Max": func(d []float32) { Max(d, x, y) }, "Sign": func(d []float32) { Sign(d, -0.3, x) },
			"MulAdd": func(d []float32) { MulAdd(d, x, y) }, "Normalize": func(d []float32) { Normalize(d, x, y, z) },
			"Affine": func(d []float32) { Affine(d, x, y, z) }, "Clamp": func(d []float32) { Clamp(d, 0.5) },
			"Penalize": func(d []float32) { Penalize(d, x, 0.1, 0.3) }, "ELUGrad": func(d []float32) { ELUGrad(d, x, y) },
			"ReLUGrad": func(d []float32) { ReLUGrad(d, x, y) }, "SigmoidGrad": func(d []float32) { SigmoidGrad(d, x, y) },
			"TanhGrad": func(d []float32) { TanhGrad(d, x, y) },
		} {
			agree(name, n, f)
		}
		agree("sums", 2, func(d []float32) { d[0], d[1] = Dot(z, x), SumAbs(z) })
		agree("AdamW", n, func(w []float32) {
			m, s := append([]float32(nil), z...), append([]float32(nil), z...)
			Mul(s, s, s)
			AdamW(w, z, m, s, 1e-3, 1e-2, 0.9, 0.999, 1e-8, 0.3, 0.2)
		})
		agree("AdaDelta", n, func(w []float32) {
			m, s := append([]float32(nil), z...), append([]float32(nil), z...)
			Mul(m, m, m)
			AdaDelta(w, z, s, m, 1, 0.95, 1e-6)
		})
	}
	agree("BlendGrad", 5*64+64, func(d []float32) {
		g := rand.New(rand.NewPCG(1, 9))
		BlendGrad(d[:5*64], d[5*64:], randoms(g, 5*64), randoms(g, 5*64), randoms(g, 64), 5)
	})
	const cells, rows = 40, 5
	gates := randoms(r, rows*4*cells)
	for i := range gates {
		gates[i] *= 4
	}
	bias = randoms(r, 4*cells)
	agree("LSTMCells", 2*rows*cells, func(d []float32) {
		cols := Active().PanelCols()
		for from := 0; from < cells; from += cols {
			n := min(cols, cells-from)
			packed, b := make([]float32, (4*n+cols-1)/cols*cols*rows), make([]float32, 4*n)
			for q := range 4 {
				copy(b[q*n:], bias[q*cells+from:][:n])
				for i := range rows {
					for j := range n {
						at := q*n + j
						packed[at/cols*rows*cols+i*cols+at%cols] = gates[i*4*cells+q*cells+from+j]
					}
				}
			}
			LSTMCells(Matrix{d[from:], cells}, Matrix{d[rows*cells+from:], cells}, Panels{packed, rows * cols, cols}, b, rows, n)
		}
	})
	for n := range 9 {
		low, high, q := randoms(r, 16*n), randoms(r, 16*n), randoms(r, n)
		for i := range low {
			low[i], high[i] = min(low[i], high[i]), max(low[i], high[i])
		}
		if n > 3 {
			low[3], q[3] = nan, high[50]
		}
		agree(fmt.Sprintf("BoxDistances16 of %d values", n), 32, func(d []float32) {
			BoxDistances16((*[16]float32)(d), low, high, q)
			BoxDistances16((*[16]float32)(d[16:]), high, high, q)
		})
	}
	for plane := range 9 {
		const tall = 5
		x, q, turned := randoms(r, 16*(plane+tall+2)), randoms(r, plane+tall+2), randoms(r, plane)
		x[3] = nan
		agree(fmt.Sprintf("Distances16 of %d values", plane), 64, func(d []float32) {
			Distances16((*[16]float32)(d), (*[48]float32)(d[16:]), x, q, turned, plane, tall)
		})
	}
}
