package mocap

import (
	"math"
	"strconv"
)

// pow10 holds the powers of ten that float64 represents exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// scanNumber reads a decimal number at the start of b: sign, digits with an
// optional point, exponent. It returns the nearest float64 and the number of
// bytes that it took, 0 if b does not start with a number. Overflow gives ±Inf.
func scanNumber(b []byte) (v float64, n int) {
	i := 0
	neg := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	start := i
	var mant uint64
	for i < len(b) && b[i]-'0' <= 9 {
		mant = mant*10 + uint64(b[i]-'0')
		i++
	}
	digits := i - start
	exp := 0
	if i < len(b) && b[i] == '.' {
		i++
		frac := i
		for i < len(b) && b[i]-'0' <= 9 {
			mant = mant*10 + uint64(b[i]-'0')
			i++
		}
		exp = frac - i
		digits += i - frac
	}
	if digits == 0 {
		return 0, 0
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		j := i + 1
		eneg := false
		if j < len(b) && (b[j] == '-' || b[j] == '+') {
			eneg = b[j] == '-'
			j++
		}
		if j < len(b) && b[j]-'0' <= 9 {
			e := 0
			for j < len(b) && b[j]-'0' <= 9 {
				e = min(e*10+int(b[j]-'0'), 1<<20)
				j++
			}
			if eneg {
				e = -e
			}
			exp += e
			i = j
		}
	}
	// A whole number below 2^53 times or over an exact power of ten rounds
	// once, hence correctly. Digits past 19 may have overflowed mant.
	if digits <= 19 && mant < 1<<53 && exp >= -22 && exp <= 22 {
		v = float64(mant)
		if exp < 0 {
			v /= pow10[-exp]
		} else {
			v *= pow10[exp]
		}
		if neg {
			v = -v
		}
		return v, i
	}
	v, _ = strconv.ParseFloat(string(b[:i]), 64) // the error can only be overflow: ±Inf
	return v, i
}

// toFloat32 returns the float32 nearest to the number that the text tok spells
// and whose float64 value is v. Rounding twice errs only if v lies half-way between two
// float32 values. Subnormal ones are farther apart than the bit test assumes.
func toFloat32(v float64, tok []byte) float32 {
	if math.Float64bits(v)&(1<<29-1) == 1<<28 || math.Abs(v) < 0x1p-126 && v != 0 {
		if f, err := strconv.ParseFloat(string(tok), 32); err == nil {
			return float32(f)
		}
	}
	return float32(v)
}
