package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

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

// What is no number stays visible.
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

func TestSumsOfFamiliesAgree(t *testing.T) {
	if Best() != AVX512 {
		t.Skip("one vector family only")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{5, 32, 100, 1001} {
		x, y := randoms(r, n), randoms(r, n)
		dot, abs := Dot(x, y), SumAbs(x)
		func() {
			defer Force(AVX2)()
			if Dot(x, y) != dot || SumAbs(x) != abs {
				t.Fatalf("sums of %d values differ between AVX2 and AVX-512", n)
			}
		}()
	}
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
			var families [][16]float32
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
				if Active() != Generic {
					families = append(families, *got)
				}
			})
			if len(families) == 2 && families[0] != families[1] {
				t.Fatalf("%d + %d values: families differ", plane, tall)
			}
		}
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
