package retarget

import "mannequin/engine/m3"

// bodyAlign returns the alignment of joint j if that is the whole body's and not that of bones: those that leave
// the pelvis and the chest lean by rig, and would tilt these.
func (b *binding) bodyAlign(s stance, j int) (m3.Quat, bool) {
	if !s.known {
		return m3.Ident, false
	}
	switch b.target.Names[j] {
	case "Hips":
		if s.rests {
			return s.upright, true
		}
		return s.leaning, b.otherTrunk()
	case "Spine1":
		if s.stands {
			return s.upright, b.otherTrunk()
		}
		return s.leaning, b.otherTrunk()
	case "Head": // it looks ahead, however the neck leans
		if s.rests {
			return s.upright, true
		}
		return s.leaning, b.otherTrunk()
	}
	return m3.Ident, false
}

// otherTrunk reports whether the source's trunk begins in another place of the body than the target's.
func (b *binding) otherTrunk() bool { return !b.place[b.target.Index("Hips")] }

// stance is how the source's body is turned in its pose against the target's at rest. Left is the line across the
// hips, and up either the vertical axis or the line from the legs to the neck.
type stance struct {
	upright, leaning m3.Quat
	rests            bool // the pose is a rest pose with the trunk up: the pelvis of a person in it is upright
	stands           bool // legs, trunk and head are upright, too
	known            bool
}

const (
	// mostLean is the largest sine of the angle between the vertical axis and the trunk at rest, mostLeanThere that
	// of a body that stands.
	mostLean, mostLeanThere = 0.5, 0.25
	// mostStride is the largest sine of the angle by which legs point ahead or back in a body that stands.
	mostStride = 0.2
)

// findStance compares the bodies. Where the mean of a motion takes the place of the rest pose, nothing shows how
// far people lean in it, and up is along the trunk.
func (b *binding) findStance() (s stance) {
	mine := &binding{target: b.target, from: make([]int, b.target.Len())} // the same joints of the target
	for k := range mine.from {
		if mine.from[k] = k; b.from[k] < 0 {
			mine.from[k] = -1
		}
	}
	to, ok := mine.posture(b.to)
	at, ok2 := b.posture(b.at)
	s.known = ok && ok2
	s.upright, s.leaning = at.upright.Mul(to.upright.Conj()), at.leaning.Mul(to.upright.Conj())
	rest := b.hinges == nil
	s.rests, s.stands = rest && to.rests && at.rests, rest && to.stands && at.stands
	return s
}

// posture returns the rotations of a body whose joints are at the given places. It returns false if left or up is
// not to be seen.
func (b *binding) posture(places []m3.Vec3) (s stance, ok bool) {
	at := func(j int) m3.Vec3 { return places[j] }
	left, up, ok := b.body(at)
	if !ok {
		return s, false
	}
	if hips := b.way("RightUpLeg", "LeftUpLeg", at); hips.Dot(left) > 0.7 {
		left = hips
	}
	axis := nearestAxis(up)
	var ok2 bool
	s.upright, ok = facing(left, axis)
	if s.leaning, ok2 = facing(left, up); !ok || !ok2 {
		return s, false
	}
	ahead := s.upright.Rotate(m3.V(0, 0, 1))
	lean := up.Cross(axis).Len()
	s.rests, s.stands = lean < mostLean, lean < mostLeanThere
	for _, side := range []string{"Left", "Right"} {
		for _, end := range []string{"Leg", "Foot"} {
			leg := b.way(side+"UpLeg", side+end, at)
			s.stands = s.stands && leg.Dot(axis) < 0 && m3.Abs(leg.Dot(ahead)) < mostStride
		}
	}
	return s, true
}

// facing returns the rotation whose y is up and whose x is as near to left as that allows. It returns false if they
// are almost on one line.
func facing(left, up m3.Vec3) (m3.Quat, bool) {
	left = left.Sub(up.Scale(left.Dot(up)))
	if !(left.Len() > 0.1) {
		return m3.Ident, false
	}
	left = left.Normalize(m3.Vec3{})
	return m3.FromAxes(left, up, left.Cross(up)), true
}

// nearestAxis returns the axis of space, or its opposite, that is nearest to v.
func nearestAxis(v m3.Vec3) m3.Vec3 {
	x, y, z := m3.Abs(v.X), m3.Abs(v.Y), m3.Abs(v.Z)
	switch {
	case y >= x && y >= z:
		return m3.V(0, sign(v.Y), 0)
	case x >= z:
		return m3.V(sign(v.X), 0, 0)
	}
	return m3.V(0, 0, sign(v.Z))
}

func sign(x float32) float32 {
	if x < 0 {
		return -1
	}
	return 1
}
