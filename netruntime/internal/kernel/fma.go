package kernel

import "math"

// The functions of this file and the Go code that calls them do what the assembly does, operation by
// operation, so that all families give the same bits.

// fma returns a·b + c rounded once. The product of two float32 is exact in float64. Its sum is
// rounded to float64 and then to float32, which is wrong only if it is doubtful.
func fma(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	if doubtful(s) {
		s = sumToOdd(p, float64(c), s)
	}
	return float32(s)
}

// doubtful reports whether s lies in the middle of two float32, or is too small for a normal one.
func doubtful(s float64) bool {
	u := math.Float64bits(s)
	return u<<35 == 1<<63 || u<<1 < 0x381<<53
}

// dot4Go returns four sums of k products A(0, l)·B(l, j), for A(0, l) = a[l·as] and B(l, j) =
// b[l·bs + j]. It is a loop of fma.
func dot4Go(k int, a []float32, as int, b []float32, bs int) [4]float32 {
	var s0, s1, s2, s3 float32
	for l := range k {
		v, b := a[l*as], b[l*bs:][:4]
		x := float64(v)
		t0, t1 := x*float64(b[0])+float64(s0), x*float64(b[1])+float64(s1)
		t2, t3 := x*float64(b[2])+float64(s2), x*float64(b[3])+float64(s3)
		if doubtful(t0) || doubtful(t1) || doubtful(t2) || doubtful(t3) {
			s0, s1, s2, s3 = fma(v, b[0], s0), fma(v, b[1], s1), fma(v, b[2], s2), fma(v, b[3], s3)
		} else {
			s0, s1, s2, s3 = float32(t0), float32(t1), float32(t2), float32(t3)
		}
	}
	return [4]float32{s0, s1, s2, s3}
}

// sumToOdd returns a + b rounded to odd, given their rounded sum s: if s is not exact, its last bit
// becomes 1 towards the exact sum. Rounding that again to fewer bits gives what rounding once does
// (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
func sumToOdd(a, b, s float64) float64 {
	t := s - a
	err := (a - (s - t)) + (b - t) // of s: TwoSum
	u := math.Float64bits(s)
	if err == 0 || u&1 != 0 {
		return s
	}
	if (err > 0) == (s > 0) {
		return math.Float64frombits(u + 1)
	}
	return math.Float64frombits(u - 1)
}

// atMost and atLeast return x if it is NaN.
func atMost(x, high float32) float32 {
	if high < x {
		return high
	}
	return x
}

func atLeast(x, low float32) float32 {
	if low > x {
		return low
	}
	return x
}

const ln2 = 0x1.62ep-1 // 12 bits of ln 2, so that its product with a whole number is exact

// reduce returns n = round(x/ln 2) and r = x − n·ln 2, for |x| below 2²¹.
func reduce(x float32) (n int32, r float32) {
	const magic = 1.5 * (1 << 23) // added to a small number, rounds it to a whole one
	whole := float32(float32(x*math.Log2E)+magic) - magic
	r = fma(-ln2, whole, x)
	return int32(whole), fma(-(math.Ln2 - ln2), whole, r)
}

// polynomial7 returns Σ r^(i−1)/i! for i from 1 to 7.
func polynomial7(r float32) float32 {
	p := float32(1. / 5040)
	for _, c := range [...]float32{1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1} {
		p = fma(p, r, c)
	}
	return p
}

// power returns 2ⁿ for n from −126 to 128, where it is infinite.
func power(n int32) float32 { return math.Float32frombits(uint32(n+127) << 23) }

func exp(x float32) float32 {
	n, r := reduce(atLeast(atMost(x, 89), -104))
	half := n >> 1
	return float32(fma(polynomial7(r), r, 1)*power(half)) * power(n-half)
}

func elu(x float32) float32 { return atLeast(x, 0) + (exp(atMost(x, 0)) - 1) }

// sigmoid returns the denominator of 1/(1 + e^−x).
func sigmoid(x float32) float32 {
	n, r := reduce(atLeast(atMost(-x, 89), -87))
	return fma(fma(polynomial7(r), r, 1), power(n), 1)
}

// tanh returns the numerator and the denominator of m/(m + 2), m = e^2|x| − 1, with x's sign.
func tanh(x float32) (num, den float32) {
	n, r := reduce(atMost(abs(x+x), 20))
	m := float32(float32(polynomial7(r)*r)*power(n)) + (power(n) - 1)
	return float32(math.Copysign(float64(m), float64(x))), m + 2
}

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }
