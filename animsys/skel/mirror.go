package skel

import (
	"fmt"
	"strings"

	"mannequin/engine/m3"
)

// Mirror says how a skeleton maps onto its image in the plane x = 0 of world space. Both slices
// have one entry per joint; partners have equal axes.
//
// Reflecting a joint's frame leaves a left-handed one; turning one of its axes round, the lateral
// axis, makes it a rotation again. It is the axis in which the offsets of the joint's left and
// right children differ in sign. Where the children leave a choice (a bone along x may call y or z
// lateral) every choice gives the same joint positions; they differ in how the bone is twisted
// about itself.
type Mirror struct {
	Pair []int16 // the joint's partner, itself for joints in the middle
	Axis []uint8 // the lateral axis of the joint's own frame: 0, 1, 2 for x, y, z
}

// NewMirror pairs the joints of s by name and finds the lateral axes from the rest offsets, in case
// of doubt that of the parent. A name with Left has its partner with Right. So has one with a lone
// L, as in LHipJoint, lThigh or hand_l, if there is such a partner. It returns an error for a Left
// or Right alone, and for partners whose parents are not.
func NewMirror(s *Skeleton) (*Mirror, error) {
	n := s.Len()
	m := &Mirror{Pair: make([]int16, n), Axis: make([]uint8, n)}
	at := make(map[string]int16, n)
	for j, name := range s.Names {
		at[name] = int16(j)
	}
	for j, name := range s.Names {
		other, sure := otherSide(name)
		k, ok := at[other]
		if !ok && sure {
			return nil, fmt.Errorf("skel: joint %q has no partner %q", name, other)
		}
		if !ok {
			k = int16(j)
		}
		m.Pair[j] = k
	}
	for j, k := range m.Pair {
		p, q := s.Parents[j], s.Parents[k]
		if m.Pair[k] != int16(j) || s.EndSite[j] != s.EndSite[k] || (p < 0) != (q < 0) || p >= 0 && m.Pair[p] != q {
			return nil, fmt.Errorf("skel: joints %q and %q cannot mirror each other: their parents do not", s.Names[j], s.Names[k])
		}
	}
	// mismatch[j][a] is the squared distance between the children of j's partner and those of j
	// reflected along axis a; scale[j] makes it relative.
	mismatch := make([][3]float32, n)
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
	for j, k := range m.Pair {
		if int(k) < j {
			m.Axis[j] = m.Axis[k]
			continue
		}
		best := m.parentAxis(s, j)
		for a := range mismatch[j] {
			if mismatch[j][a] < mismatch[j][best]-1e-4*scale[j] {
				best = uint8(a)
			}
		}
		m.Axis[j] = best
	}
	return m, nil
}

// parentAxis returns the lateral axis of the space that joint j stands in: x for world space.
func (m *Mirror) parentAxis(s *Skeleton, j int) uint8 {
	if p := s.Parents[j]; p >= 0 {
		return m.Axis[p]
	}
	return 0
}

// otherSide returns name with its side exchanged, "" without one, and whether the side is certain.
func otherSide(name string) (other string, sure bool) {
	for _, w := range [][2]string{{"Left", "Right"}, {"left", "right"}, {"LEFT", "RIGHT"}} {
		for i := range w {
			if strings.Contains(name, w[i]) {
				return strings.Replace(name, w[i], w[1-i], 1), true
			}
		}
	}
	swap := map[byte]string{'L': "R", 'R': "L", 'l': "r", 'r': "l"}
	if n := len(name); n >= 2 {
		if to := swap[name[0]]; to != "" && (strings.IndexByte("_.- ", name[1]) >= 0 || name[1] >= 'A' && name[1] <= 'Z') {
			return to + name[1:], false
		}
		if to := swap[name[n-1]]; to != "" && strings.IndexByte("_.- ", name[n-2]) >= 0 {
			return name[:n-1] + to, false
		}
	}
	return "", false
}

// reflect returns v with the sign of one component changed.
func reflect(v m3.Vec3, axis uint8) m3.Vec3 {
	switch axis {
	case 0:
		v.X = -v.X
	case 1:
		v.Y = -v.Y
	default:
		v.Z = -v.Z
	}
	return v
}

// Mirrored returns the mirror image of c in the plane x = 0: every joint where the reflection of
// its partner is. Joints keep their names, so that what the left side did the right side does.
// Bones keep their partner's length, in Offsets too. m must be for c's skeleton. Mirroring twice
// gives c again.
func (c *Clip) Mirrored(m *Mirror) *Clip {
	s := *c.skel()
	n := s.Len()
	if len(m.Pair) != n || len(m.Axis) != n {
		panic("skel: Mirrored: the Mirror is for another skeleton")
	}
	unit := [3]m3.Quat{{X: 1}, {Y: 1}, {Z: 1}}
	s.Offsets = make([]m3.Vec3, n)
	out := &Clip{Skel: &s, FPS: c.FPS, Frames: c.Frames, Pos: make([]m3.Vec3, len(c.Pos)), Rot: make([]m3.Quat, len(c.Rot))}
	for j, k := range m.Pair {
		up := m.parentAxis(c.Skel, j)
		s.Offsets[j] = reflect(c.Skel.Offsets[k], up)
		// A reflection is minus a half turn, and the two signs cancel.
		a, b := unit[up], unit[m.Axis[j]].Conj()
		for f := 0; f < len(c.Pos); f += n {
			out.Pos[f+j] = reflect(c.Pos[f+int(k)], up)
			out.Rot[f+j] = a.Mul(c.Rot[f+int(k)]).Mul(b)
		}
	}
	return out
}
