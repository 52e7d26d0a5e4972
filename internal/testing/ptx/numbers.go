package ptx

import "math"

// fma is a·b + c, rounded once.
func fma(a, b, c float32) float32 {
	x, y := float64(a)*float64(b), float64(c) // the product is exact
	s := x + y
	if u := math.Float64bits(s); u&(1<<29-1) == 1<<28 { // between two numbers, if what the sum has left out is forgotten
		if rest := left(x, y, s); rest != 0 {
			if (rest > 0) == (s > 0) {
				u++
			} else {
				u--
			}
			s = math.Float64frombits(u)
		}
	}
	return float32(s)
}

// fmaDown is a·b + c, rounded down.
func fmaDown(a, b, c float32) float32 {
	x, y := float64(a)*float64(b), float64(c)
	s := x + y
	f := float32(s)
	if float64(f) > s || float64(f) == s && left(x, y, s) < 0 {
		return math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

// left returns x + y − s for their rounded sum s.
func left(x, y, s float64) float64 {
	t := s - x
	return (x - (s - t)) + (y - t)
}

// exp2 is 2 to the power of x, off by up to two units in the last place, as it may be on a GPU: by how much depends on x alone.
// Subnormal numbers count as zero.
func exp2(x float32) float32 {
	const least = 0x1p-126
	if x > -least && x < least {
		x = 0
	}
	y := float32(math.Exp2(float64(x)))
	if y < least {
		return 0
	}
	if x != 0 && y < math.MaxFloat32/2 {
		u := math.Float32bits(y) + math.Float32bits(x)*2654435761>>16%5 - 2
		return math.Float32frombits(u)
	}
	return y
}

// toTF32 rounds to 10 bits of mantissa, ties away from zero.
func toTF32(u uint32) uint32 {
	if math.Float32frombits(u) != math.Float32frombits(u) {
		return (u | 1<<22) &^ (1<<13 - 1)
	}
	return (u + 1<<12) &^ (1<<13 - 1)
}

// toBF16 rounds to 7 bits of mantissa, ties to even.
func toBF16(u uint32) uint32 {
	if math.Float32frombits(u) != math.Float32frombits(u) {
		return 0x7fff
	}
	return (u + 0x7fff + u>>16&1) >> 16
}
