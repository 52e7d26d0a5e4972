package ik

import "mannequin/engine/m3"

// Reach moves the ankle of leg number leg of the pose m to the place to: the limb bends, the foot
// keeps its rotation, and the rest of the body stays. Pose and place are in one space, m. If the
// leg is too short, the foot turns so that its tip comes nearer. The limb bends in the pose's own
// plane, which the Foot remembers. Use one for each leg, with poses in the order of time.
func (r *Rig) Reach(m []m3.Xform, leg int, to m3.Vec3, foot *Foot) {
	l, t := r.Roles.Legs[leg], r.Tree
	hip, knee, ankle := m[l.hip()], m[l.knee()].Pos, m[l.ankle()]
	length := l.length(m)
	extent := hip.Pos.Dist(ankle.Pos) / max(length, tiny)
	bend := bendNormal(hip.Pos, knee, ankle.Pos, length)
	bend = foot.bendPlane(hip.Rot.Conj().Rotate(bend), min(bend.Len()/bendFullSine, 1))
	if to == ankle.Pos {
		return
	}
	tip := m[l.tip()].Pos.Add(to.Sub(ankle.Pos))
	t.twoBone(m, l.hip(), l.knee(), l.ankle(), to, hip.Rot.Rotate(bend), min(minReach, extent), max(softReach, extent), stretch(max(softReach, extent)))
	t.turn(m, l.ankle(), ankle.Rot.Mul(m[l.ankle()].Rot.Conj()))
	t.aim(m, l.ankle(), m[l.tip()].Pos, tip, 1)
}
