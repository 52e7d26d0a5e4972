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

func TestDots16(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 200} {
		x, v := randoms(r, 16*n), randoms(r, n)
		var families [][16]float32
		forKinds(t, func(t *testing.T) {
			guard := [18]float32{0: 1, 17: 2}
			got := (*[16]float32)(guard[1:17])
			Dots16(got, x, v)
			for l := range got {
				var want, size float64
				for i := range v {
					p := float64(v[i]) * float64(x[16*i+l])
					want += p
					size += math.Abs(p)
				}
				if math.Abs(float64(got[l])-want) > 1e-6*size {
					t.Fatalf("%d values: product %d is %v, want %v", n, l, got[l], want)
				}
			}
			if guard[0] != 1 || guard[17] != 2 {
				t.Fatalf("%d values: wrote beyond the ends", n)
			}
			if Active() != Generic {
				families = append(families, *got)
			}
		})
		if len(families) == 2 && families[0] != families[1] {
			t.Fatalf("%d values: families differ", n)
		}
	}
}

func BenchmarkDots16(b *testing.B) {
	x, v := make([]float32, 16*100), make([]float32, 100)
	var dst [16]float32
	for b.Loop() {
		Dots16(&dst, x, v)
	}
}
