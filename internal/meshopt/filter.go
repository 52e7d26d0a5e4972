package meshopt

import (
	"encoding/binary"
	"math"
)

// filters turn decoded elements into those of the view, in place.
var filters = map[string]func(data []byte, stride int){
	"": none, "NONE": none, "OCTAHEDRAL": octahedral, "QUATERNION": quaternion, "EXPONENTIAL": exponential,
}

func none([]byte, int) {}

// octahedral restores unit vectors from two coordinates on an octahedron. The third one encodes 1, the
// fourth stays.
func octahedral(data []byte, stride int) {
	size := stride / 4
	get := func(i int) float64 {
		if size == 1 {
			return float64(int8(data[i]))
		}
		return float64(int16(binary.LittleEndian.Uint16(data[i:])))
	}
	most := float64(int(1)<<(8*size-1) - 1)
	for at := 0; at < len(data); at += stride {
		one := get(at + 2*size)
		x, y := get(at)/one, get(at+size)/one
		z := 1 - math.Abs(x) - math.Abs(y)
		t := min(z, 0)
		x, y = x-math.Copysign(t, x), y-math.Copysign(t, y)
		l := math.Sqrt(x*x + y*y + z*z)
		for k, v := range [3]float64{x, y, z} {
			put(data[at+k*size:], size, v/l*most)
		}
	}
}

// put rounds a number to a signed integer of one or two bytes. What is not a number becomes 0.
func put(dst []byte, size int, v float64) {
	if math.IsNaN(v) {
		v = 0
	}
	n := int(math.Round(min(max(v, math.MinInt16), math.MaxInt16)))
	if size == 1 {
		dst[0] = byte(int8(min(max(n, math.MinInt8), math.MaxInt8)))
	} else {
		binary.LittleEndian.PutUint16(dst, uint16(int16(n)))
	}
}

// quaternion restores the largest of four components. The fourth integer has the scale, and in its lowest
// bits which component is left out.
func quaternion(data []byte, stride int) {
	for at := 0; at < len(data); at += stride {
		var in [4]int16
		for k := range in {
			in[k] = int16(binary.LittleEndian.Uint16(data[at+2*k:]))
		}
		scale := math.Sqrt2 / 2 / float64(in[3]|3)
		x, y, z := float64(in[0])*scale, float64(in[1])*scale, float64(in[2])*scale
		w := math.Sqrt(max(0, 1-x*x-y*y-z*z))
		largest := int(in[3] & 3)
		for k, v := range [4]float64{w, x, y, z} {
			put(data[at+2*((largest+k)&3):], 2, v*math.MaxInt16)
		}
	}
}

// exponential restores floats from an exponent of 8 bits and a mantissa of 24.
func exponential(data []byte, _ int) {
	for at := 0; at < len(data); at += 4 {
		n := binary.LittleEndian.Uint32(data[at:])
		v := math.Ldexp(float64(int32(n<<8)>>8), int(int8(n>>24)))
		binary.LittleEndian.PutUint32(data[at:], math.Float32bits(float32(v)))
	}
}
