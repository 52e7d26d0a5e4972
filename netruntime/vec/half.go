package vec

import "math"

// Half is a float16 of IEEE 754, for values that are stored: it has 11 significant bits.
type Half uint16

// ToHalf rounds to the nearest Half, ties to even. Numbers of 65,520 and more become infinite.
func ToHalf(f float32) Half {
	b := math.Float32bits(f)
	sign, abs := Half(b>>16&0x8000), b&0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00
	case abs >= 0x47800000: // 65536
		return sign | 0x7c00
	case abs < 0x38800000: // 2⁻¹⁴: a multiple of 2⁻²⁴
		return sign | Half(math.RoundToEven(float64(math.Float32frombits(abs))*(1<<24)))
	}
	abs += 0xfff + abs>>13&1 // rounds; may carry into the exponent
	return sign | Half((abs>>13)-(112<<10))
}

// Float32 returns the number, exactly.
func (h Half) Float32() float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0: // zero and subnormal numbers
		f := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
