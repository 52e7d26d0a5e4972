package skel

import (
	"fmt"
	"slices"
	"strings"

	"mannequin/engine/m3"
)

// Mirror says how a skeleton maps onto its image in the plane x = 0 of world space. Both slices
// have one entry per joint; partners have equal axes.
//
// Reflecting a joint's frame leaves a left-handed one; turning one of its axes round, the lateral
// axis, makes it a rotation again. The lateral axis is the one in which the offsets of the joint's
// left and right children differ in sign. In rigs whose right bones are the left ones turned over,
// they differ in all three, and all three are turned round. Where the children leave a choice (a bone
// along x may call y or z lateral) every choice gives the same joint positions; they differ in how the
// bone is twisted about itself.
type Mirror struct {
	Pair []int16 // the joint's partner, itself for joints in the middle
	Axis []uint8 // the lateral axis of the joint's own frame: 0, 1, 2 for x, y, z, or AllAxes
}

// AllAxes is the Axis of a joint whose partner has the reflected frame with all three axes turned round.
const AllAxes = 3

// NewMirror pairs the joints of s by name and finds the lateral axes from the rest offsets. Where these
// leave a choice, motions of s tell: mirrored, the mean rotation of a joint's partner nearly equals the
// joint's own. A joint for which neither offsets nor motions decide takes its parent's lateral axis.
//
// A name with Left has its partner with Right. So has one with a lone L, as in LHipJoint, lThigh,
// hand_l, Bip01 L Thigh or thigh.L.001, or lfemur, if there is such a partner. NewMirror returns an error for a
// Left or Right alone, for partners whose parents are not, and for motions of another skeleton.
func NewMirror(s *Skeleton, motions ...*Clip) (*Mirror, error) {
	n := s.Len()
	for i, c := range motions {
		if c == nil || c.Skel.Len() != n || len(c.Rot) != c.Frames*n {
			return nil, fmt.Errorf("skel: motion %d is not of the skeleton's %d joints", i, n)
		}
	}
	m := &Mirror{Pair: make([]int16, n), Axis: make([]uint8, n)}
	at := make(map[string]int16, n)
	for j, name := range s.Names {
		at[name] = int16(j)
	}
	for j, name := range s.Names {
		m.Pair[j] = int16(j)
		others, sure := otherSides(name)
		found := slices.IndexFunc(others, func(o string) bool { _, ok := at[o]; return ok })
		switch {
		case found >= 0:
			m.Pair[j] = at[others[found]]
		case sure:
			return nil, fmt.Errorf("skel: joint %q has no partner %q", name, others[0])
		}
	}
	for j, k := range m.Pair {
		p, q := s.Parents[j], s.Parents[k]
		if m.Pair[k] != int16(j) || s.EndSite[j] != s.EndSite[k] || (p < 0) != (q < 0) || p >= 0 && m.Pair[p] != q {
			return nil, fmt.Errorf("skel: joints %q and %q cannot mirror each other: their parents do not", s.Names[j], s.Names[k])
		}
	}
	// mismatch[j][a] is the squared distance between the children of j's partner and those of j
	// reflected along axis a; scale[j] makes it relative.
	mismatch := make([][AllAxes + 1]float32, n)
	scale := make([]float32, n)
	for c, p := range s.Parents {
		if p < 0 {
			continue
		}
		o, image := s.Offsets[c], s.Offsets[m.Pair[c]]
		scale[p] += o.Dot(o) + image.Dot(image)
		for a := range mismatch[p] {
			d := reflect(o, uint8(a)).Sub(image)
			mismatch[p][a] += d.Dot(d)
		}
	}
	mean := meanRotations(n, motions)
	for j, k := range m.Pair {
		if int(k) < j {
			m.Axis[j] = m.Axis[k]
			continue
		}
		up := m.parentAxis(s, j)
		m.Axis[j] = up
		for a := range uint8(AllAxes) {
			if mismatch[j][a] < mismatch[j][m.Axis[j]]-1e-4*scale[j] {
				m.Axis[j] = a
			}
		}
		if mean == nil || s.Parents[j] < 0 { // a root turns anywhere
			continue
		}
		const alike, near = 0.05, 0.25 // of the squares of the offsets; 1 less the cosine of half an angle: 83°
		off := func(a uint8) float32 { return 1 - m3.Abs(mean[j].Dot(mirrored(mean[k], up, a))) }
		most, least := mismatch[j][m.Axis[j]]+alike*scale[j], min(near, off(m.Axis[j])/2)
		for a := range uint8(len(mismatch[j])) {
			if mismatch[j][a] > most || a == AllAxes && int(k) == j {
				continue
			}
			if o := off(a); o < least {
				m.Axis[j], least = a, o
			}
		}
	}
	return m, nil
}

// meanRotations returns the mean local rotation of each joint in motions, nil without any.
func meanRotations(joints int, motions []*Clip) []m3.Quat {
	const most = 4000 // frames
	frames := 0
	for _, c := range motions {
		frames += c.Frames
	}
	if frames == 0 {
		return nil
	}
	sums := make([]m3.Quat, joints)
	at, step := 0, (frames+most-1)/most
	for _, c := range motions {
		for ; at < c.Frames; at += step {
			for j, q := range c.Rot[at*joints:][:joints] {
				s := &sums[j]
				if s.Dot(q) < 0 {
					q = q.Neg()
				}
				s.X, s.Y, s.Z, s.W = s.X+q.X, s.Y+q.Y, s.Z+q.Z, s.W+q.W
			}
		}
		at -= c.Frames
	}
	for j, q := range sums {
		sums[j] = q.Normalize()
	}
	return sums
}

// parentAxis returns the lateral axis of the space that joint j stands in: x for world space.
func (m *Mirror) parentAxis(s *Skeleton, j int) uint8 {
	if p := s.Parents[j]; p >= 0 {
		return m.Axis[p]
	}
	return 0
}

// otherSides returns what name may be with its side exchanged, and whether it certainly has one.
func otherSides(name string) (others []string, sure bool) {
	for _, w := range [][2]string{{"Left", "Right"}, {"left", "right"}, {"LEFT", "RIGHT"}} {
		for i := range w {
			if strings.Contains(name, w[i]) {
				return []string{strings.Replace(name, w[i], w[1-i], 1)}, true
			}
		}
	}
	// Readers of BVH call the end of hand_l hand_lSite.
	bare, site := strings.CutSuffix(name, "Site")
	swap := map[byte]string{'L': "R", 'R': "L", 'l': "r", 'r': "l"}
	ends := func(i int) bool { return i < 0 || i == len(bare) || strings.IndexByte("_.-: ", bare[i]) >= 0 }
	for i := range len(bare) {
		to := swap[bare[i]]
		begins := i == 0 && len(bare) > 1 && bare[1] >= 'A' && bare[1] <= 'Z' // as in LHipJoint
		if to == "" || len(bare) == 1 || !ends(i-1) || !ends(i+1) && !begins {
			continue
		}
		other := bare[:i] + to + bare[i+1:]
		if site {
			other += "Site"
		}
		others = append(others, other)
	}
	if len(name) > 1 && (name[0] == 'l' || name[0] == 'r') && name[1] >= 'a' && name[1] <= 'z' { // as in lfemur
		others = append(others, swap[name[0]]+name[1:])
	}
	return others, false
}

// reflect returns v with the sign of one component changed, or of all.
func reflect(v m3.Vec3, axis uint8) m3.Vec3 {
	switch axis {
	case 0:
		v.X = -v.X
	case 1:
		v.Y = -v.Y
	case 2:
		v.Z = -v.Z
	default:
		v = v.Neg()
	}
	return v
}

// mirrored returns the local rotation of a joint whose partner has the local rotation q. up is the lateral axis of the
// parent, own is the lateral axis of the joint. A reflection is a half turn with all axes negated. Both sides negate them,
// so half turns suffice.
func mirrored(q m3.Quat, up, own uint8) m3.Quat {
	unit := [AllAxes + 1]m3.Quat{{X: 1}, {Y: 1}, {Z: 1}, {W: 1}}
	return unit[up].Mul(q).Mul(unit[own].Conj())
}

// Mirrored returns the mirror image of c in the plane x = 0: every joint where the reflection of
// its partner is. Joints keep their names, so that what the left side did the right side does.
// Bones keep their partner's length, in Offsets too. m must be for c's skeleton. Mirroring twice
// gives c again, up to the sign of quaternions where only one of two joints has AllAxes.
func (c *Clip) Mirrored(m *Mirror) *Clip {
	s := *c.skel()
	n := s.Len()
	if len(m.Pair) != n || len(m.Axis) != n {
		panic("skel: Mirrored: the Mirror is for another skeleton")
	}
	s.Offsets = make([]m3.Vec3, n)
	out := &Clip{Skel: &s, FPS: c.FPS, Frames: c.Frames, Pos: make([]m3.Vec3, len(c.Pos)), Rot: make([]m3.Quat, len(c.Rot))}
	for j, k := range m.Pair {
		up := m.parentAxis(c.Skel, j)
		s.Offsets[j] = reflect(c.Skel.Offsets[k], up)
		for f := 0; f < len(c.Pos); f += n {
			out.Pos[f+j] = reflect(c.Pos[f+int(k)], up)
			out.Rot[f+j] = mirrored(c.Rot[f+int(k)], up, m.Axis[j])
		}
	}
	return out
}
