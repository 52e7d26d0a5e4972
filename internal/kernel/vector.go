package kernel

import "math"

// Sub sets dst = x − y.
func Sub(dst, x, y []float32) {
	same("Sub", len(dst), len(x), len(y))
	for i, v := range x {
		dst[i] = v - y[i]
	}
}

// MulAdd sets dst = dst + x·y, element by element.
func MulAdd(dst, x, y []float32) {
	same("MulAdd", len(dst), len(x), len(y))
	for i, v := range x {
		dst[i] += float32(v * y[i])
	}
}

// Dot returns Σ x·y.
func Dot(x, y []float32) float32 {
	same("Dot", len(x), len(y))
	var s [32]float32
	for len(x) >= 32 {
		for i, v := range x[:32] {
			s[i] += float32(v * y[i])
		}
		x, y = x[32:], y[32:]
	}
	for i, v := range x {
		s[i] += float32(v * y[i])
	}
	return fold(&s)
}

// SumAbs returns Σ |x|.
func SumAbs(x []float32) float32 {
	var s [32]float32
	for len(x) >= 32 {
		for i, v := range x[:32] {
			s[i] += abs(v)
		}
		x = x[32:]
	}
	for i, v := range x {
		s[i] += abs(v)
	}
	return fold(&s)
}

// fold adds the lanes of a sum: the halves to each other, until one is left.
func fold(s *[32]float32) float32 {
	for n := len(s) / 2; n > 0; n /= 2 {
		for i := range n {
			s[i] += s[i+n]
		}
	}
	return s[0]
}

// Sign sets dst = a where x > 0, −a where x < 0 and 0 where x is 0.
func Sign(dst []float32, a float32, x []float32) {
	same("Sign", len(dst), len(x))
	for i, v := range x {
		switch {
		case v > 0:
			dst[i] = a
		case v < 0:
			dst[i] = -a
		default:
			dst[i] = v * a // 0 or NaN
		}
	}
}

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }
