package m3

import "math"

// Quat48 is a unit quaternion in six bytes: its three smaller components in 15 bits each, and which is the largest, in
// the high bits of the first two. It is turned by up to 0.009° less or more.
type Quat48 [3]uint16

const (
	bits48  = 15
	scale48 = (1<<(bits48-1) - 1) * math.Sqrt2 // the second largest component is 1/√2 at most
)

// Pack returns a, a unit quaternion, packed. It rounds to even numbers.
func (a Quat) Pack() Quat48 {
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
		return pack48(0, a.Y, a.Z, a.W)
	case 1:
		return pack48(1, a.X, a.Z, a.W)
	case 2:
		return pack48(2, a.X, a.Y, a.W)
	}
	return pack48(3, a.X, a.Y, a.Z)
}

func pack48(largest uint16, a, b, c float32) Quat48 {
	const most, whole, mask = 1<<(bits48-1) - 1, 3 << 22, 1<<bits48 - 1 // float32s near whole are whole numbers
	n := func(x float32) uint16 {
		return uint16(math.Float32bits(Clamp(x*scale48, -most, most)+whole)) & mask
	}
	return Quat48{n(a) | largest>>1<<bits48, n(b) | largest<<bits48, n(c)}
}

// Quat returns the quaternion. Its largest component is positive.
func (p Quat48) Quat() Quat {
	const unit = 1 / scale48
	n := func(x uint16) float32 { return unit * float32(int16(x<<1)>>1) }
	a, b, c := n(p[0]), n(p[1]), n(p[2])
	d := Sqrt(max(0, 1-(a*a+b*b+c*c)))
	switch p[0]>>bits48<<1 | p[1]>>bits48 {
	case 0:
		return Quat{d, a, b, c}
	case 1:
		return Quat{a, d, b, c}
	case 2:
		return Quat{a, b, d, c}
	}
	return Quat{a, b, c, d}
}
