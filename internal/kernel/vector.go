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

// Dots16 sets dst[l] = Σ_i v[i]·x[i][l]: the products of v with sixteen vectors
// side by side, x of (len(v), 16).
func Dots16(dst *[16]float32, x, v []float32) {
	same("Dots16", 16*len(v), len(x))
	if len(v) == 0 {
		*dst = [16]float32{}
		return
	}
	if dots16Asm(dst, x, v) {
		return
	}
	var s [4][16]float32
	for i, a := range v {
		to := &s[0]
		if i < len(v)&^3 {
			to = &s[i&3]
		}
		for l, b := range x[16*i : 16*i+16] {
			to[l] += float32(a * b)
		}
	}
	for l := range dst {
		dst[l] = s[0][l] + s[1][l] + (s[2][l] + s[3][l])
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
