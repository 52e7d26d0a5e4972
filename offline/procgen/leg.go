package procgen

import (
	"math"

	"mannequin/engine/m3"
)

// limb is a leg of three bones in one plane, from root to tip. Two bones keep a fixed angle and
// count as one, which leaves a triangle.
type limb struct {
	root, tip m3.Vec3
	left      m3.Vec3 // the animal's left, unit: roughly the plane's normal
}

// plane is the limb's frame: down from root to tip, ahead across it.
type plane struct {
	down, ahead, left m3.Vec3
	d                 float64 // from root to tip, m
}

func (l limb) plane() plane {
	v := l.tip.Sub(l.root)
	p := plane{d: float64(v.Len())}
	p.down = v.Normalize(m3.V(0, -1, 0))
	p.left = l.left.Sub(p.down.Scale(l.left.Dot(p.down))).Normalize(m3.V(1, 0, 0))
	p.ahead = p.down.Cross(p.left)
	return p
}

// dir returns the direction at an angle ahead of down.
func (p *plane) dir(angle float64) m3.Vec3 {
	s, c := math.Sincos(angle)
	return p.down.Scale(float32(c)).Add(p.ahead.Scale(float32(s)))
}

// straightDown returns the angle of straight down.
func (p *plane) straightDown() float64 {
	return math.Atan2(-float64(p.ahead.Y), -float64(p.down.Y))
}

// corner returns the angle between sides a and c of a triangle with sides a, b, c. Impossible
// triangles are stretched or folded flat.
func corner(a, b, c float64) float64 {
	return math.Acos(min(max((a*a+c*c-b*b)/(2*a*c), -1), 1))
}

// pair returns the length of two bones at a fixed angle, and the angle of the first ahead of the
// whole. bend is the angle of the first ahead of the second.
func pair(first, second, bend float64) (length, ahead float64) {
	s, c := math.Sincos(bend)
	return math.Sqrt(first*first + second*second + 2*first*second*c), math.Atan2(second*s, first+second*c)
}

// hind returns the directions of thigh, shank and metatarsus. Thigh and metatarsus swing together,
// the latter bend behind. heel blends to a metatarsus heelAngle ahead of straight down.
func (p *plane) hind(bend, heel, heelAngle float64) (thigh, shank, meta m3.Vec3) {
	l, off := pair(femurLen, metatarsusLen, bend)
	a := corner(p.d, tibiaLen, l) + off
	m := a - bend
	if heel == 0 {
		thigh, meta = p.dir(a), p.dir(m)
		shank = p.down.Scale(float32(p.d)).Sub(thigh.Scale(femurLen)).Sub(meta.Scale(metatarsusLen)).Scale(1.0 / tibiaLen)
		return thigh, shank, meta
	}
	m += heel * (heelAngle + p.straightDown() - m)
	meta = p.dir(m)
	hock := p.down.Scale(float32(p.d)).Sub(meta.Scale(metatarsusLen))
	q := *p
	q.d = float64(hock.Len())
	q.down = hock.Scale(1 / hock.Len())
	q.ahead = q.down.Cross(q.left)
	a = corner(q.d, tibiaLen, femurLen)
	thigh = q.dir(a)
	shank = hock.Sub(thigh.Scale(femurLen)).Scale(1.0 / tibiaLen)
	return thigh, shank, meta
}

// fore returns the directions of upper arm, forearm and metacarpus, which is bend ahead.
func (p *plane) fore(bend float64) (arm, forearm, meta m3.Vec3) {
	l, off := pair(metacarpusLen, radiusLen, bend) // off: angle of the metacarpus ahead of the whole
	arm = p.dir(-corner(p.d, l, humerusLen))
	rest := p.down.Scale(float32(p.d)).Sub(arm.Scale(humerusLen)) // elbow to tip
	q := *p
	q.down = rest.Normalize(m3.V(0, -1, 0))
	q.ahead = q.down.Cross(q.left)
	meta = q.dir(off)
	forearm = rest.Sub(meta.Scale(metacarpusLen)).Scale(1.0 / radiusLen)
	return arm, forearm, meta
}

// foreReach and hindReach are the lengths of straight legs with a fixed bend of the other joint.
func foreReach(bend float64) float64 {
	l, _ := pair(metacarpusLen, radiusLen, bend)
	return humerusLen + l
}

func hindReach(bend float64) float64 {
	l, _ := pair(femurLen, metatarsusLen, bend)
	return tibiaLen + l
}
