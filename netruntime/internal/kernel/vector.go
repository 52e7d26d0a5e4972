package kernel

import "math"

//go:generate env GOFLAGS=-tags=noasm go run asm/vector.go asm/isa.go -out vector_amd64.s -stubs vector_amd64.go -pkg kernel

// Sub sets dst = x − y.
func Sub(dst, x, y []float32) {
	same("Sub", len(dst), len(x), len(y))
	if len(dst) == 0 || subAsm(dst, x, y) {
		return
	}
	for i, v := range x {
		dst[i] = v - y[i]
	}
}

// MulAdd sets dst = dst + x·y, element by element.
func MulAdd(dst, x, y []float32) {
	same("MulAdd", len(dst), len(x), len(y))
	if len(dst) == 0 || mulAddAsm(dst, x, y) {
		return
	}
	for i, v := range x {
		dst[i] += float32(v * y[i])
	}
}

// Sign sets dst = a where x > 0, −a where x < 0 and 0 where x = 0. Where x is
// NaN or infinite it gives NaN.
func Sign(dst []float32, a float32, x []float32) {
	same("Sign", len(dst), len(x))
	if len(dst) == 0 || signAsm(dst, a, x) {
		return
	}
	for i, v := range x {
		s := v * 0
		switch {
		case v > 0:
			s += a
		case v < 0:
			s -= a
		}
		dst[i] = s
	}
}

// lanes are the partial sums of a total: element i goes to number i mod 32.
type lanes [32]float32

// total adds the halves of the lanes until one is left.
func (s *lanes) total() float32 {
	eighth := func(i int) float32 { return (s[i] + s[i+16]) + (s[i+8] + s[i+24]) }
	return ((eighth(0) + eighth(4)) + (eighth(2) + eighth(6))) + ((eighth(1) + eighth(5)) + (eighth(3) + eighth(7)))
}

// Dot returns Σ x·y.
func Dot(x, y []float32) float32 {
	same("Dot", len(x), len(y))
	var s lanes
	if n := len(x) / len(s) * len(s); n > 0 && dotAsm(&s, x[:n], y[:n]) {
		x, y = x[n:], y[n:]
	}
	for i, v := range x {
		s[i%len(s)] += float32(v * y[i])
	}
	return s.total()
}

// Distances16 sets d to the distances of a vector from sixteen others, least over
// all turns of their planes. Each is plane/2 complex numbers, real parts and then
// imaginary ones, tall real numbers, a rest, and half the sum of squares of all but
// the rest: q is one of so many values, x holds sixteen side by side, (values, 16).
// turned has q's plane turned by a quarter.
//
//	z = Σ q·x + i Σ turned·x over the plane, h = Σ q·x over what is tall
//	d² = max(0, 2(half(q) + half(x) − h − |z|)) + (rest(q) − rest(x))²
//
// Sums go on from those in sums, real and imaginary parts of z and h, (3, 16), where
// they are left.
func Distances16(d *[16]float32, sums *[48]float32, x, q, turned []float32, plane, tall int) {
	n := plane + tall
	if plane < 0 || tall < 0 || len(x) < 16*(n+2) || len(q) < n+2 || len(turned) < plane {
		panic("kernel: Distances16: too few values")
	}
	if distances16Asm(d, sums, x, q, turned, plane, tall) {
		return
	}
	re, im, h := sums[:16], sums[16:32], sums[32:48]
	rests, halves := x[16*n:][:16], x[16*(n+1):][:16]
	for l := range d {
		r, i, t := [2]float32{re[l]}, [2]float32{im[l]}, [2]float32{h[l]}
		for c := range plane {
			odd := c & 1
			r[odd] += float32(q[c] * x[16*c+l])
			i[odd] += float32(turned[c] * x[16*c+l])
		}
		for c := range tall {
			odd := c & 1
			t[odd] += float32(q[plane+c] * x[16*(plane+c)+l])
		}
		re[l], im[l], h[l] = r[0]+r[1], i[0]+i[1], t[0]+t[1]
		z := float32(math.Sqrt(float64(float32(re[l]*re[l]) + float32(im[l]*im[l]))))
		rest := q[n] - rests[l]
		d[l] = float32(math.Sqrt(float64(max(0, 2*(q[n+1]+halves[l]-h[l]-z)) + float32(rest*rest))))
	}
}

// SumAbs returns Σ |x|.
func SumAbs(x []float32) float32 {
	var s lanes
	if n := len(x) / len(s) * len(s); n > 0 && sumAbsAsm(&s, x[:n]) {
		x = x[n:]
	}
	for i, v := range x {
		s[i%len(s)] += math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
	}
	return s.total()
}

// Deal gives every value of x, at most 64, to second where its bit is set and
// to first elsewhere; the other one of the two gets 0.
func Deal(first, second, x []float32, bits uint64) {
	same("Deal", len(x), len(first), len(second))
	if len(x) > 64 {
		panic("kernel: Deal: more values than bits")
	}
	if len(x) == 0 || dealAsm(first, second, x, bits) {
		return
	}
	for i, v := range x {
		if bits>>i&1 != 0 {
			first[i], second[i] = 0, v
		} else {
			first[i], second[i] = v, 0
		}
	}
}

// Pick sets dst, at most 64 values, to second where the value's bit is set and
// to first elsewhere.
func Pick(dst, first, second []float32, bits uint64) {
	same("Pick", len(dst), len(first), len(second))
	if len(dst) > 64 {
		panic("kernel: Pick: more values than bits")
	}
	if len(dst) == 0 || pickAsm(dst, first, second, bits) {
		return
	}
	for i := range dst {
		if bits>>i&1 != 0 {
			dst[i] = second[i]
		} else {
			dst[i] = first[i]
		}
	}
}
