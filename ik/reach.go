package ik

import "mannequin/engine/m3"

// Reach takes the paw of a leg of pose m to a place: its limb bends, the paw keeps its
// rotation, the rest of the body stays where it is. Where the leg is too short the paw
// turns, so that its tip comes nearer to where it would be. foot remembers in which
// plane the limb bends; it belongs to the leg, whose poses come in the order of time.
func (r *Rig) Reach(m []m3.Xform, leg int, to m3.Vec3, foot *Foot) {
	l, t := r.Roles.Legs[leg], r.Tree
	upper, lower, paw := m[l.upper()], m[l.lower()].Pos, m[l.paw()]
	length := upper.Pos.Dist(lower) + lower.Dist(paw.Pos)
	room := upper.Pos.Dist(paw.Pos) / max(length, tiny)
	normal := upper.Pos.Sub(lower).Cross(paw.Pos.Sub(lower))
	bend := foot.turn(upper.Rot.Conj().Rotate(normal.Scale(4 / max(length*length, tiny))))
	if to == paw.Pos {
		return
	}
	tip := m[l.tip()].Pos.Add(to.Sub(paw.Pos))
	t.twoBone(m, l.upper(), l.lower(), l.paw(), to, upper.Rot.Rotate(bend), min(fold, room), max(stretch, room))
	t.turn(m, l.paw(), paw.Rot.Mul(m[l.paw()].Rot.Conj()))
	t.aim(m, l.paw(), m[l.tip()].Pos, tip, 1)
}
