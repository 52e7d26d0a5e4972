package body

import "mannequin/engine/m3"

// newCapsules plans a body for any rig: a tapered capsule per bone of the rest pose.
func newCapsules(rig *Rig) *plan {
	bind := restPose(rig)
	var pos []m3.Vec3
	for _, x := range bind {
		pos = append(pos, x.Pos)
	}
	lo, hi := bounds(pos)
	size := max(hi.Sub(lo).X, hi.Sub(lo).Y, hi.Sub(lo).Z, 1e-3)
	radius := 0.035 * size
	// The rest pose stands on the ground.
	q := piece{cell: size / 90, triangles: capsuleLevels}
	q.coat = func(v, n m3.Vec3, _ int) [4]float32 { return [4]float32{0.35 * m3.Clamp(-n.Y, 0, 1)} }
	for i, parent := range rig.Parents {
		k := blob{joint: i, a: pos[i], b: pos[i], ra: radius, rb: radius, squash: 1, blend: radius / 2}
		if parent >= 0 {
			l := pos[i].Dist(pos[parent])
			r := m3.Clamp(0.18*l, 0.35*radius, 1.4*radius)
			k.joint, k.a, k.b, k.ra, k.rb = int(parent), pos[parent], pos[i], r, 0.75*r
		}
		q.shape = append(q.shape, k)
	}
	return &plan{bind: bind, pieces: []piece{q}}
}

// restPose returns the rig's joints without rotations, shifted so that the lowest is on the ground.
func restPose(rig *Rig) []m3.Xform {
	x := make([]m3.Xform, len(rig.Names))
	for i, p := range rig.Parents {
		x[i] = m3.Xform{Rot: m3.Ident}
		if p >= 0 {
			x[i].Pos = x[p].Pos.Add(rig.Offsets[i])
		}
	}
	toGround(x, 0)
	return x
}

// toGround moves joints so that the lowest, or the old ground below all of them, is at height.
func toGround(x []m3.Xform, height float32) {
	low := float32(0)
	for i := range x {
		low = min(low, x[i].Pos.Y)
	}
	for i := range x {
		x[i].Pos.Y -= low - height
	}
}
