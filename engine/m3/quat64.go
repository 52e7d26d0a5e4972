package m3

import "math"

// Quat64 is a unit quaternion in half the memory: its three smaller components in 20 bits each, and which is
// the largest. It is turned by up to 0.0002° less or more.
type Quat64 uint64

const (
	bits64  = 20
	scale64 = (1<<(bits64-1) - 1) * math.Sqrt2 // the second largest component is 1/√2 at most
)

// Pack returns a, a unit quaternion, packed. It rounds to even numbers.
func (a Quat) Pack() Quat64 {
	v := [4]float32{a.X, a.Y, a.Z, a.W}
	largest, most := 0, Abs(a.X)
	for i := 1; i < len(v); i++ {
		if x := Abs(v[i]); x > most {
			largest, most = i, x
		}
	}
	if v[largest] < 0 { // the same rotation
		a = a.Neg()
	}
	switch largest {
	case 0:
		return pack64(0, a.Y, a.Z, a.W)
	case 1:
		return pack64(1, a.X, a.Z, a.W)
	case 2:
		return pack64(2, a.X, a.Y, a.W)
	}
	return pack64(3, a.X, a.Y, a.Z)
}

func pack64(largest uint64, a, b, c float32) Quat64 {
	const most, whole, mask = 1<<(bits64-1) - 1, 3 << 22, 1<<bits64 - 1 // float32s near whole are whole numbers
	n := func(x float32) uint64 {
		return uint64(math.Float32bits(Clamp(x*scale64, -most, most)+whole)) & mask
	}
	return Quat64(largest<<(3*bits64) | n(c)<<(2*bits64) | n(b)<<bits64 | n(a))
}

// Quat returns the quaternion. Its largest component is positive.
func (p Quat64) Quat() Quat {
	const unit = 1 / scale64
	n := func(at int) float32 { return unit * float32(int32(uint32(p>>at)<<(32-bits64))>>(32-bits64)) }
	a, b, c := n(0), n(bits64), n(2*bits64)
	d := Sqrt(max(0, 1-(a*a+b*b+c*c)))
	switch p >> (3 * bits64) & 3 {
	case 0:
		return Quat{d, a, b, c}
	case 1:
		return Quat{a, d, b, c}
	case 2:
		return Quat{a, b, d, c}
	}
	return Quat{a, b, c, d}
}
