package ik

import (
	"fmt"
	"math"
	"slices"

	"mannequin/engine/m3"
)

// Posture computes the joint rotations of a skeleton from the places of its joints: networks that
// predict positions only need it to move bones. It is immutable and safe to share.
//
// The root is put at its place. Every other joint is at the end of its bone and turned so that its
// bones point at their places. With one bone it makes the least turn from its parent's rotation,
// with several it takes the nearest rotation. Places do not show how a bone is twisted about
// itself, unless the next bone bends about a known axis. Bones never change length: places that fit
// the skeleton are met exactly. Places that are much too near to each other, as the mean of several
// poses has them, hardly show where a bone points: it goes on as the bone before.
type Posture struct {
	tree    *Tree
	offsets []m3.Vec3
	points  []int16 // per joint: the index of its place, −1 without
	aims    [][]aim // per joint: the bones that it points
	hinges  []hinge // per joint: the bend that shows its twist
}

// aim is a bone that a joint points at a place.
type aim struct {
	point int     // index of the place
	bone  m3.Vec3 // direction of the bone at rest, unit
	len   float32 // its length, m
}

// hinge is a bone that bends: its end and the end of the next, as places.
type hinge struct {
	axis     m3.Vec3 // about which it bends, unit, across the bone at rest; zero without one
	mid, end int
	len      float32 // of the next bone, m
}

// NewPosture returns the posture of a skeleton. The bones are offsets from the parent's place at
// rest, one per joint, m. The places of joints, the root among them, are given to Fit in this
// order. A joint that has no place and no distance from its parent is a pivot: a shoulder, or the
// small of the back. axes are the axes about which joints bend, one per joint or none at all, in
// the joint's frame at rest, by the right-hand rule: a knee's or an elbow's. A zero axis means any.
func NewPosture(tree *Tree, offsets []m3.Vec3, joints []int, axes []m3.Vec3) (*Posture, error) {
	n := tree.Len()
	switch {
	case len(offsets) != n:
		return nil, fmt.Errorf("ik: posture of %d joints has %d offsets", n, len(offsets))
	case len(axes) != 0 && len(axes) != n:
		return nil, fmt.Errorf("ik: posture of %d joints has %d axes of bending", n, len(axes))
	}
	p := &Posture{tree: tree, offsets: append([]m3.Vec3(nil), offsets...),
		points: slices.Repeat([]int16{-1}, n), aims: make([][]aim, n), hinges: make([]hinge, n)}
	for j := range offsets {
		if !offsets[j].Finite() {
			return nil, fmt.Errorf("ik: the offset of joint %d is not finite", j)
		}
	}
	for i, j := range joints {
		switch {
		case j < 0 || j >= n:
			return nil, fmt.Errorf("ik: joint %d with a known place is outside a skeleton of %d joints", j, n)
		case p.points[j] >= 0:
			return nil, fmt.Errorf("ik: the place of joint %d is given twice", j)
		}
		p.points[j] = int16(i)
	}
	for j, parent := range tree.parents {
		switch {
		case parent < 0 && p.points[j] < 0:
			return nil, fmt.Errorf("ik: the place of the root, joint %d, is not given", j)
		case parent < 0 && j > 0:
			return nil, fmt.Errorf("ik: joint %d is a second root: a posture has one", j)
		}
	}
	for j := range n {
		p.aims[j] = p.find(j)
	}
	for j := range axes {
		p.hinges[j] = p.hinge(j, axes)
	}
	return p, nil
}

// find returns the bones that joint j points: to its children with places or, if those are fewer
// than two, to all joints that hang on it with only pivots between.
func (p *Posture) find(j int) []aim {
	var near, all []aim
	var walk func(k int, at m3.Vec3, pivot bool)
	walk = func(k int, at m3.Vec3, pivot bool) {
		for c := k + 1; c < int(p.tree.ends[k]); c++ {
			if int(p.tree.parents[c]) != k {
				continue
			}
			bone := at.Add(p.offsets[c])
			switch {
			case p.points[c] < 0 && p.offsets[c].Len() < tiny:
				walk(c, bone, true)
			case p.points[c] >= 0 && bone.Len() >= tiny:
				a := aim{int(p.points[c]), bone.Normalize(m3.Vec3{}), bone.Len()}
				if all = append(all, a); !pivot {
					near = append(near, a)
				}
			}
		}
	}
	walk(j, m3.Vec3{}, false)
	if len(near) > 1 {
		return near
	}
	return all
}

// hinge returns the bend that shows the twist of the bone from joint j to its only child with a
// place: the child bends about its axis.
func (p *Posture) hinge(j int, axes []m3.Vec3) hinge {
	if len(p.aims[j]) != 1 {
		return hinge{}
	}
	for c := range p.points {
		if int(p.points[c]) == p.aims[j][0].point && len(p.aims[c]) == 1 {
			bone := p.aims[j][0].bone
			axis := axes[c].Sub(bone.Scale(axes[c].Dot(bone)))
			if axis.Len() > 0.1*axes[c].Len() {
				return hinge{axis.Normalize(m3.Vec3{}), p.aims[j][0].point, p.aims[c][0].point, p.aims[c][0].len}
			}
		}
	}
	return hinge{}
}

const (
	// A bend with a sine up to twistNone shows nothing of a bone's twist, one from twistFull on all
	// of it: a straight leg has no plane.
	twistNone, twistFull = 0.05, 0.35
	// shortFull is the share of its length from which on a bone's places show its direction.
	shortFull = 0.5
	// newtonSteps bounds the search for the nearest rotation. Each step squares the error.
	newtonSteps = 3
	// newtonTolerance ends the search, rad: another step would change nothing.
	newtonTolerance = 3e-4
	// regularizer keeps bones in one line from turning about it, and stops the search if no nearest
	// rotation is defined.
	regularizer = 1e-4
)

// Fit writes the pose with the joints at points, in the order given to NewPosture: model, (joints)
// in the space of points, and the local translations and rotations pos and rot, (joints). It
// allocates nothing. If a point is not finite, it returns false and writes nothing.
func (p *Posture) Fit(model []m3.Xform, pos []m3.Vec3, rot []m3.Quat, points []m3.Vec3) bool {
	if p == nil || p.tree == nil || slices.ContainsFunc(points, func(v m3.Vec3) bool { return !v.Finite() }) {
		return false
	}
	for j, parent := range p.tree.parents {
		if parent < 0 {
			model[j] = m3.Xform{Pos: points[p.points[j]], Rot: m3.Ident}
			p.turn(model, j, points)
			pos[j], rot[j] = model[j].Pos, model[j].Rot
			continue
		}
		up := model[parent]
		model[j] = m3.Xform{Pos: up.Apply(p.offsets[j]), Rot: up.Rot}
		pos[j], rot[j] = p.offsets[j], m3.Ident
		if len(p.aims[j]) > 0 {
			p.turn(model, j, points)
			rot[j] = up.Rot.Conj().Mul(model[j].Rot)
		}
	}
	return true
}

// turn sets the rotation of joint j, which is its parent's so far.
func (p *Posture) turn(model []m3.Xform, j int, points []m3.Vec3) {
	m, aims := &model[j], p.aims[j]
	switch {
	case len(aims) == 1:
		bone := m.Rot.Rotate(aims[0].bone)
		to := p.way(m, j, points).Normalize(bone)
		m.Rot = m3.Between(bone, to).Mul(m.Rot)
		if h := p.hinges[j]; h.axis != (m3.Vec3{}) {
			next := points[h.end].Sub(points[h.mid])
			shown := 1 - unknown(next, h.len)
			m.Rot = m3.AxisAngle(to, shown*twist(to, next.Normalize(to), m.Rot.Rotate(h.axis))).Mul(m.Rot)
		}
	case len(aims) > 1:
		p.nearest(m, aims, points)
	}
	m.Rot = m.Rot.Normalize()
}

// way returns where the only bone of joint j points: to its end's place or, the farther j is off its
// own place in lengths of the bone, as the bone does between both places. Otherwise a hand would
// turn about for the arm's error of a few centimetres. If these places are too near to each other, it
// points as its parent's rotation has it.
func (p *Posture) way(m *m3.Xform, j int, points []m3.Vec3) m3.Vec3 {
	a := &p.aims[j][0]
	way := points[a.point].Sub(m.Pos)
	if p.points[j] < 0 {
		return way
	}
	off := points[p.points[j]].Sub(m.Pos)
	d, half := off.Dot(off), a.len*a.len/4 // half of off is taken away at half of the bone's length
	way = way.Sub(off.Scale(d * d / (d*d + half*half)))
	return way.Add(m.Rot.Rotate(a.bone).Scale(a.len * unknown(points[a.point].Sub(points[p.points[j]]), a.len)))
}

// unknown returns how little the places of a bone's ends show of its direction, 0 to 1. They show all
// of it from shortFull of its length on.
func unknown(way m3.Vec3, length float32) float32 {
	u := max(0, 1-way.Len()/(shortFull*length))
	return u * u
}

// twist returns the angle about the unit vector bone that turns the axis, across the bone, into the
// normal of the bend from bone to next. A bend the wrong way round the axis means that the joint is
// over-stretched.
func twist(bone, next, axis m3.Vec3) float32 {
	normal := bone.Cross(next)
	sine := normal.Len()
	if sine <= twistNone {
		return 0
	}
	angle := m3.Atan2(axis.Cross(normal).Dot(bone), axis.Dot(normal))
	switch {
	case angle > math.Pi/2:
		angle -= math.Pi
	case angle < -math.Pi/2:
		angle += math.Pi
	}
	w := min(1, (sine-twistNone)/(twistFull-twistNone))
	return angle * w * w * (3 - 2*w)
}

// nearest turns m so that its bones point at their places with the least squared error (Wahba
// 1965). It starts from the rotation of the first two bones and takes Newton steps for all.
func (p *Posture) nearest(m *m3.Xform, aims []aim, points []m3.Vec3) {
	way := func(i int) m3.Vec3 {
		return points[aims[i].point].Sub(m.Pos).Normalize(m.Rot.Rotate(aims[i].bone))
	}
	from, ok := frame(aims[0].bone, aims[1].bone)
	to, seen := frame(way(0), way(1))
	if ok && seen {
		m.Rot = to.Mul(from.Conj()).Normalize()
	}
	for range newtonSteps {
		// The gradient and minus the Hessian of Σ bone·way for a turn v of the bones: Σ bone × way,
		// and Σ (bone·way) 1 − (bone·wayᵀ + way·boneᵀ)/2.
		x, y, z := m3.V(regularizer, 0, 0), m3.V(0, regularizer, 0), m3.V(0, 0, regularizer)
		var sum m3.Vec3
		for i, a := range aims {
			b, w := m.Rot.Rotate(a.bone), way(i)
			sum = sum.Add(b.Cross(w))
			d := b.Dot(w)
			x = x.Add(m3.V(d, 0, 0)).Sub(b.Scale(w.X / 2)).Sub(w.Scale(b.X / 2))
			y = y.Add(m3.V(0, d, 0)).Sub(b.Scale(w.Y / 2)).Sub(w.Scale(b.Y / 2))
			z = z.Add(m3.V(0, 0, d)).Sub(b.Scale(w.Z / 2)).Sub(w.Scale(b.Z / 2))
		}
		yz := y.Cross(z)
		det := x.Dot(yz)
		if det < regularizer {
			return
		}
		v := m3.V(sum.Dot(yz), sum.Dot(z.Cross(x)), sum.Dot(x.Cross(y))).Scale(1 / det)
		m.Rot = m3.FromRotationVector(v).Mul(m.Rot).Normalize()
		if v.Dot(v) < newtonTolerance*newtonTolerance {
			return
		}
	}
}

// frame returns the rotation to axes along the sum and the difference of two directions, and
// whether the directions differ enough.
func frame(a, b m3.Vec3) (m3.Quat, bool) {
	s, d := a.Add(b), a.Sub(b)
	if s.Len() < 0.1 || d.Len() < 0.1 {
		return m3.Ident, false
	}
	x, y := s.Normalize(m3.Vec3{}), d.Normalize(m3.Vec3{})
	return m3.FromAxes(x, y, x.Cross(y)), true
}
