package m3

import "math"

// Exp64 returns e to the power x, to about the last place. math.Exp is assembly on some processors
// and rounds differently there. This gives the same bits on all of them.
func Exp64(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	const high = 0x1.62e42fee00000p-1 // 33 bits of ln 2: its product with n is exact
	n := math.RoundToEven(x * math.Log2E)
	r := (x - n*high) - n*(math.Ln2-high)
	p := 0.0
	for _, c := range inverseFactorials {
		p = p*r + c
	}
	return math.Ldexp(p, int(n))
}

// inverseFactorials are 1/13!, …, 1/1!, 1/0!: the coefficients of e^r, |r| ≤ 0.347.
var inverseFactorials = [...]float64{
	1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040,
	1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1,
}

// Pow64 returns x to the power y for x ≥ 0, with the same bits on all processors: see Exp64. x less
// than 0 gives NaN.
func Pow64(x, y float64) float64 {
	if y == 0 || x == 1 {
		return 1
	}
	return Exp64(y * math.Log(x))
}
