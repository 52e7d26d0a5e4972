package feature

import (
	"math"

	"mannequin/engine/m3"
)

// Places16 packs the places of joints, as [Motion] has them, into 16 bits a coordinate: for windows of
// motion that wait to be played, which are half as long as in float32. Each place is rounded to Unit. What
// is kept of a joint is where it lies from the joint above it, so that short bones keep their directions,
// too. A joint that is farther from that one than any bone is long is held at the border.
type Places16 struct {
	Unit float32 // m, a power of two, so that unpacking is exact; 2⁻¹⁶, 15 µm, if no bone has more than 45 cm

	above []int16 // (joints) joint above each, which comes before it; −1 for joint 0
}

// Point16 is a packed place: of joint 0 in two units, its height less middle; of another joint in units
// from the joint above it.
type Point16 [3]int16

const middle = math.MaxInt16

// Places16 returns how places of p's joints are packed.
func (p *Person) Places16() Places16 {
	v := Places16{above: make([]int16, len(p.Layout.Joints))}
	longest := float32(0)
	for i, name := range p.Layout.Joints {
		j := p.Skel.Index(name)
		up, far := -1, float32(0)
		for j >= 0 && !(up >= 0 && up < i) {
			far += p.Skel.Offsets[j].Len()
			if j = int(p.Skel.Parents[j]); j >= 0 {
				up = p.Layout.Joint(p.Skel.Names[j])
			}
		}
		if v.above[i] = int16(max(up, 0)); i == 0 {
			v.above[i] = -1
			continue
		}
		longest = max(longest, far)
	}
	_, e := math.Frexp(1.1 * float64(longest) / math.MaxInt16) // networks stretch bones a little
	v.Unit = float32(math.Ldexp(1, e))
	return v
}

// Pack writes the places in frame, (joints, 3), which are finite.
func (p *Places16) Pack(dst []Point16, frame []float32) {
	first, per := p.first(frame), 1/p.Unit
	dst[0] = Point16{Round16(first.X / 2), Round16(first.Y/2 - middle), Round16(first.Z / 2)}
	for j := 1; j < len(dst); j++ {
		above, f := first, frame[3*j:][:3]
		if up := p.above[j]; up > 0 {
			f := frame[3*up:][:3]
			above = m3.V(whole(f[0]*per), whole(f[1]*per), whole(f[2]*per))
		}
		dst[j] = Point16{Round16(whole(f[0]*per) - above.X), Round16(whole(f[1]*per) - above.Y), Round16(whole(f[2]*per) - above.Z)}
	}
}

// first returns the place of joint 0 in units, rounded to two.
func (p *Places16) first(frame []float32) m3.Vec3 {
	per := 0.5 / p.Unit
	return m3.V(2*whole(frame[0]*per), 2*whole(frame[1]*per), 2*whole(frame[2]*per))
}

// whole returns the nearest whole number, and the even one of two; at most about two million.
func whole(x float32) float32 {
	const most, step1 = 1 << 21, 3 << 22 // float32s near step1 are whole numbers
	return m3.Clamp(x, -most, most) + step1 - step1
}

// Round16 returns the nearest number in 16 bits, and the even one of two.
func Round16(x float32) int16 { return int16(whole(m3.Clamp(x, -math.MaxInt16, math.MaxInt16))) }

// World writes the places of a packed frame in world space, with the body at a place.
func (p *Places16) World(points []m3.Vec3, body Place, frame []Point16) {
	p.units(points, frame)
	turn := m3.YawQuat(body.Yaw)
	for j, v := range points {
		points[j] = turn.Rotate(v.Scale(p.Unit)).Add(body.Pos)
	}
}

// Unpack writes the places of a packed frame into dst, (joints, 3). points is scratch, (joints).
func (p *Places16) Unpack(dst []float32, points []m3.Vec3, frame []Point16) {
	p.units(points, frame)
	for j, v := range points {
		dst[3*j], dst[3*j+1], dst[3*j+2] = v.X*p.Unit, v.Y*p.Unit, v.Z*p.Unit
	}
}

// units writes the places of a packed frame in units. The sums are whole numbers and exact.
func (p *Places16) units(points []m3.Vec3, frame []Point16) {
	for j := range points {
		f := frame[j]
		v := m3.V(float32(f[0]), float32(f[1]), float32(f[2]))
		if up := p.above[j]; up >= 0 {
			points[j] = points[up].Add(v)
		} else {
			points[j] = m3.V(2*v.X, 2*(v.Y+middle), 2*v.Z)
		}
	}
}

// Mix16 moves the places of a packed frame by a share of the way to those of another.
func Mix16(frame, to []Point16, share float32) {
	for j := range frame {
		for i, v := range to[j] {
			was := float32(frame[j][i])
			frame[j][i] = Round16(was + share*(float32(v)-was))
		}
	}
}
