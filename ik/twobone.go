package ik

import "mannequin/engine/m3"

// maxReach is the largest share of its length to which a limb stretches, unless it may be
// straighter.
const maxReach = 0.985

// stretch returns by which share of its length a limb stretches at most that is exact up to the share soft: to maxReach, or a little.
func stretch(soft float32) float32 { return max(maxReach-soft, 0.002) }

// twoBone turns a and b so that end is at target, exactly up to the share soft of the limb's
// length. Beyond soft the limb stretches ever less, and never by more than the share more: a limb that
// followed exactly would snap straight, because its middle joint turns ever faster. It does not fold beyond
// the share least. The limb bends in the plane perpendicular
// to axis, to its positive side (toA × toEnd along axis, seen from the middle joint), whichever way
// it was bent before: the axis is the normal of the plane of the pole vector.
func (t *Tree) twoBone(m []m3.Xform, a, b, end int, target, axis m3.Vec3, least, soft, more float32) {
	root := m[a].Pos
	la, lb := root.Dist(m[b].Pos), m[b].Pos.Dist(m[end].Pos)
	if !target.Finite() || la < tiny || lb < tiny {
		t.aim(m, a, m[end].Pos, target, 1)
		return
	}
	d := target.Dist(root)
	to := target.Sub(root).Normalize(m[end].Pos.Sub(root).Normalize(m3.Up))
	exact, rest := soft*(la+lb), more*(la+lb)
	if d > exact {
		d = exact + rest*(1-m3.Exp((exact-d)/rest))
	}
	if short := least * (la + lb); short > 0 && d < 1.2*short {
		d = short + 0.2*short*m3.Exp((d-1.2*short)/(0.2*short))
	}
	d = max(d, m3.Abs(la-lb)+tiny)
	// The middle joint stands x along the way and h beside it.
	x := (d*d + (la-lb)*(la+lb)) / (2 * d)
	h := m3.Sqrt(max((la-x)*(la+x), 0))
	side := axis.Cross(to)
	if side.Len() < 1e-6*axis.Len() || !(axis.Len() > 0) {
		side = m[b].Pos.Sub(root)
		side = side.Sub(to.Scale(side.Dot(to)))
	}
	mid := root.Add(to.Scale(x)).Add(side.Normalize(m3.Vec3{}).Scale(h))
	t.aim(m, a, m[b].Pos, mid, 1)
	t.aim(m, b, m[end].Pos, root.Add(to.Scale(d)), 1)
}
