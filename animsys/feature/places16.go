package feature

import (
	"math"

	"mannequin/engine/m3"
)

// Places16 packs the places of joints, as [Motion] has them, into 16 bits a coordinate: for windows of
// motion that wait to be played, which are half as long as in float32. A joint is kept by where it lies
// from the joint above it, in steps that suit the length of the bone: 15 µm for half a metre, 4 µm for 10
// cm. So bones keep their directions, and errors do not add up along limbs. A joint that is farther from
// the one above than a bone stretches is held at the border.
type Places16 struct {
	above []int16   // (joints) joint above each, which comes before it; −1 for joint 0
	step  []float32 // (joints) m, powers of two
}

// Point16 is a packed place, in steps.
type Point16 [3]int16

// MaxPacked is the largest number of joints that are packed.
const MaxPacked = 64

const (
	middle  = 1.0  // height of joint 0 that is kept as 0, m
	reach   = 0.99 // of joint 0 from there, up, down and aside, m
	stretch = 1.1  // of bones, by networks
)

// Places16 returns how places of p's joints are packed.
func (p *Person) Places16() Places16 {
	if p == nil || p.Layout == nil {
		return Places16{}
	}
	n := len(p.Layout.Joints)
	v := Places16{make([]int16, n), make([]float32, n)}
	for i, name := range p.Layout.Joints {
		j, up, far := p.Skel.Index(name), -1, float32(0)
		for j >= 0 && !(up >= 0 && up < i) {
			far += p.Skel.Offsets[j].Len()
			if j = int(p.Skel.Parents[j]); j >= 0 {
				up = p.Layout.Joint(p.Skel.Names[j])
			}
		}
		v.above[i], far = int16(max(up, 0)), stretch*max(far, 0.1)
		if i == 0 {
			v.above[i], far = -1, reach
		}
		_, e := math.Frexp(float64(far) / math.MaxInt16)
		v.step[i] = float32(math.Ldexp(1, e))
	}
	return v
}

// Pack writes the places in frame, (joints, 3), which are finite.
func (p *Places16) Pack(dst []Point16, frame []float32) {
	var points [MaxPacked]m3.Vec3 // as they come back
	for j := range p.above {
		from := p.from(points[:], j)
		d := m3.V(frame[3*j], frame[3*j+1], frame[3*j+2]).Sub(from).Scale(1 / p.step[j])
		dst[j] = Point16{Round16(d.X), Round16(d.Y), Round16(d.Z)}
		points[j] = p.at(from, j, dst[j])
	}
}

// Round16 returns the nearest number in 16 bits, and the even one of two.
func Round16(x float32) int16 {
	const whole = 3 << 22 // float32s near it are whole numbers
	return int16(m3.Clamp(x, -math.MaxInt16, math.MaxInt16) + whole - whole)
}

// from returns the origin from which the place of joint j is packed: the joint above it. points has the places of all
// joints before j.
func (p *Places16) from(points []m3.Vec3, j int) m3.Vec3 {
	if up := p.above[j]; up >= 0 {
		return points[up]
	}
	return m3.V(0, middle, 0)
}

func (p *Places16) at(from m3.Vec3, j int, v Point16) m3.Vec3 {
	return from.Add(m3.V(float32(v[0]), float32(v[1]), float32(v[2])).Scale(p.step[j]))
}

// Unpack writes the places of a packed frame, (joints).
func (p *Places16) Unpack(points []m3.Vec3, frame []Point16) {
	for j := range p.above {
		points[j] = p.at(p.from(points, j), j, frame[j])
	}
}

// World writes the places of a packed frame in world space, with the body at a place.
func (p *Places16) World(points []m3.Vec3, body Place, frame []Point16) {
	p.Unpack(points, frame)
	turn := m3.YawQuat(body.Yaw)
	for j := range p.above {
		points[j] = turn.Rotate(points[j]).Add(body.Pos)
	}
}

// Mix16 writes the places of a packed frame that are a share, 0 to 1, of the way from was to is.
func Mix16(dst, was, is []Point16, share float32) {
	was, is = was[:len(dst)], is[:len(dst)]
	for j := range dst {
		a, b := &was[j], &is[j]
		dst[j] = Point16{mix16(a[0], b[0], share), mix16(a[1], b[1], share), mix16(a[2], b[2], share)}
	}
}

// mix16 needs no bounds.
func mix16(was, is int16, share float32) int16 {
	const whole = 3 << 22 // float32s near it are whole numbers, and have them in their low bits
	a := float32(was)
	return int16(math.Float32bits(a + share*(float32(is)-a) + whole))
}
