package kernel

import "math"

// The functions below work element by element. A result does not depend on its position in the
// slice, so that any division into parts gives the same bits. dst may be one of the inputs, but
// must not overlap them otherwise. Calls are not interrupted: divide slices of more than about 10⁵
// elements.

func same(what string, n int, lens ...int) {
	for _, l := range lens {
		if l != n {
			panic("kernel: " + what + ": slices of different lengths")
		}
	}
}

// Exp sets dst = e^x. The relative error is at most 3e-7 for results of normal size, the absolute
// error at most 2e-38 below. It gives 0 below −104 and +Inf above 88.73. NaN stays NaN.
func Exp(dst, x []float32) {
	same("Exp", len(dst), len(x))
	if len(dst) == 0 || expAsm(dst, x) {
		return
	}
	for i, v := range x {
		dst[i] = exp(v)
	}
}

// Axpy sets dst = dst + a·x.
func Axpy(dst []float32, a float32, x []float32) {
	same("Axpy", len(dst), len(x))
	if len(dst) == 0 || axpyAsm(dst, a, x) {
		return
	}
	for i, v := range x {
		dst[i] = fma(a, v, dst[i])
	}
}

// Scale sets dst = a·x.
func Scale(dst []float32, a float32, x []float32) {
	same("Scale", len(dst), len(x))
	if len(dst) == 0 || scaleAsm(dst, a, x) {
		return
	}
	for i, v := range x {
		dst[i] = a * v
	}
}

// Add sets dst = x + y, element by element.
func Add(dst, x, y []float32) {
	same("Add", len(dst), len(x), len(y))
	if len(dst) == 0 || addAsm(dst, x, y) {
		return
	}
	for i, v := range x {
		dst[i] = v + y[i]
	}
}

// Mul sets dst = x·y, element by element.
func Mul(dst, x, y []float32) {
	same("Mul", len(dst), len(x), len(y))
	if len(dst) == 0 || mulAsm(dst, x, y) {
		return
	}
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

// Max sets dst = the larger of x and y, element by element. NaN in either gives NaN.
func Max(dst, x, y []float32) {
	same("Max", len(dst), len(x), len(y))
	if len(dst) == 0 || maxAsm(dst, x, y) {
		return
	}
	for i, v := range x {
		if w := y[i]; !(v > w) && v == v {
			v = w
		}
		dst[i] = v
	}
}

// Normalize sets dst = (x − mean)·inv, element by element.
func Normalize(dst, x, mean, inv []float32) {
	same("Normalize", len(dst), len(x), len(mean), len(inv))
	if len(dst) == 0 || normalizeAsm(dst, x, mean, inv) {
		return
	}
	for i, v := range x {
		dst[i] = (v - mean[i]) * inv[i]
	}
}

// Affine sets dst = x·scale + shift, element by element.
func Affine(dst, x, scale, shift []float32) {
	same("Affine", len(dst), len(x), len(scale), len(shift))
	if len(dst) == 0 || affineAsm(dst, x, scale, shift) {
		return
	}
	for i, v := range x {
		dst[i] = fma(v, scale[i], shift[i])
	}
}

// AdamW makes one optimiser step on weights w with gradient g and the moments m and v (Loshchilov
// and Hutter 2019, algorithm 2, with the schedule's factor included in lr):
//
//	m = beta1·m + (1 − beta1)·g
//	v = beta2·v + (1 − beta2)·g²
//	w = (1 − lr·wd)·w − lr·(m/bc1) / (√(v/bc2) + eps)
//
// bc1 and bc2 are 1 − beta1ᵗ and 1 − beta2ᵗ at step t = 1, 2, ….
func AdamW(w, g, m, v []float32, lr, wd, beta1, beta2, eps, bc1, bc2 float32) {
	same("AdamW", len(w), len(g), len(m), len(v))
	keep, rest1, rest2, c1, c2 := 1-float32(lr*wd), 1-beta1, 1-beta2, 1/bc1, 1/bc2
	if len(w) == 0 || adamWAsm(w, g, m, v, lr, keep, beta1, beta2, rest1, rest2, eps, c1, c2) {
		return
	}
	for i, gi := range g {
		mi := fma(rest1, gi, float32(beta1*m[i]))
		vi := fma(rest2, float32(gi*gi), float32(beta2*v[i]))
		m[i], v[i] = mi, vi
		u := float32(mi*c1) / (sqrt(vi*c2) + eps)
		w[i] = fma(-lr, u, float32(keep*w[i]))
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

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
		dst[i] = fma(v, y[i], dst[i])
	}
}

// Sign sets dst = a if x > 0, −a if x < 0 and 0 if x = 0. It gives NaN if x is NaN or infinite.
func Sign(dst []float32, a float32, x []float32) {
	same("Sign", len(dst), len(x))
	if len(dst) == 0 || signAsm(dst, a, x) {
		return
	}
	for i, v := range x {
		s := float32(0)
		switch {
		case v > 0:
			s = a
		case v < 0:
			s = -a
		}
		dst[i] = s + float32(v*0)
	}
}

// lanes are the partial sums of a total: element i is added to number i mod 32.
type lanes [32]float32

// total adds the two halves of the lanes until one is left.
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
		s[i%len(s)] = fma(v, y[i], s[i%len(s)])
	}
	return s.total()
}

// Distances16 sets d to the distances of a vector from sixteen others, each the least over all
// rotations of their planes. A vector has plane/2 complex numbers (real parts, then imaginary
// parts), tall real numbers, a rest, and half the sum of squares of all but the rest. q is one
// vector, x holds sixteen side by side, (values, 16). turned is q's plane rotated by 90°.
//
//	z = Σ q·x + i Σ turned·x over the plane, h = Σ q·x over the tall numbers
//	d² = max(0, 2(half(q) + half(x) − h − |z|)) + (rest(q) − rest(x))²
//
// sums holds the sums so far, real and imaginary parts of z and h, (3, 16). Distances16 adds to
// them.
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
			r[odd] = fma(x[16*c+l], q[c], r[odd])
			i[odd] = fma(x[16*c+l], turned[c], i[odd])
		}
		for c := range tall {
			odd := c & 1
			t[odd] = fma(x[16*(plane+c)+l], q[plane+c], t[odd])
		}
		re[l], im[l], h[l] = r[0]+r[1], i[0]+i[1], t[0]+t[1]
		z := sqrt(fma(re[l], re[l], float32(im[l]*im[l])))
		rest := q[n] - rests[l]
		d[l] = sqrt(fma(rest, rest, atLeast(2*(q[n+1]+halves[l]-h[l]-z), 0)))
	}
}

// BoxDistances16 sets d to the squares of the distances of a point q from sixteen boxes, 0 inside. low and high,
// (values, 16), are the boxes' least and greatest values side by side. Boxes without extent are points: low and high
// may be the same slice.
func BoxDistances16(d *[16]float32, low, high, q []float32) {
	if len(low) < 16*len(q) || len(high) < 16*len(q) {
		panic("kernel: BoxDistances16: too few values")
	}
	if len(q) > 0 && boxes16Asm(d, low, high, q) {
		return
	}
	var odd [16]float32
	*d = odd
	for c, v := range q {
		sum, l, h := d, (*[16]float32)(low[16*c:]), (*[16]float32)(high[16*c:])
		if c&1 != 0 {
			sum = &odd
		}
		for k := range sum {
			out := v - h[k]
			if below := l[k] - v; below > out {
				out = below
			}
			if 0 > out { // NaN stays NaN
				out = 0
			}
			sum[k] = fma(out, out, sum[k])
		}
	}
	for k, v := range odd {
		d[k] += v
	}
}

// SumAbs returns Σ |x|.
func SumAbs(x []float32) float32 {
	var s lanes
	if n := len(x) / len(s) * len(s); n > 0 && sumAbsAsm(&s, x[:n]) {
		x = x[n:]
	}
	for i, v := range x {
		s[i%len(s)] += abs(v)
	}
	return s.total()
}

// Deal writes every value of x, at most 64, to second if its bit is set and to first otherwise. The
// other of the two gets 0.
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

// Pick sets dst, at most 64 values, to second if the value's bit is set and to first otherwise.
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
