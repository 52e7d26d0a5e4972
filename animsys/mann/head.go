package mann

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// Where recorded dogs look while they stand and move: into a turn, to where they will face soon, and
// a little down. They look about by much more than the free angles, but a network that once looks
// far off does so for ever: at the ground when it backs up, out of the turn when it turns.
const (
	headLead     = future * 3 / 4     // point of the future at which the body faces where the head looks now
	headDown     = 10 * math.Pi / 180 // mean angle below the horizon, rad
	headFreeYaw  = 20 * math.Pi / 180 // angle from there, to either side, within which the head is free, rad
	headFreeUp   = 15 * math.Pi / 180 // the same up and down, rad
	headHalflife = 0.1                // of what is beyond, s
)

// turnHead turns neck and head of row back toward where dogs look. The network goes on from there, so
// that the body follows its head.
func (b *Batch) turnHead(r int) {
	m := b.Model
	active := b.Weight(r, control.Move) + b.Weight(r, control.Idle)
	if m.nose < 0 || active == 0 {
		return
	}
	bones := b.bonePos[r*b.joints:][:b.joints]
	look := bones[m.nose].Sub(bones[m.head])
	soon := b.root(r).angleTo(b.dir[r*points+now+headLead])
	body := m3.YawOf(bones[m.neck].Sub(bones[0]))
	// Half of it in the neck, and with it the head's half.
	share := active * b.shares[b.agent[r].stride].head / 2
	yaw := -share * excess(m3.WrapAngle(m3.YawOf(look)-body-soon), headFreeYaw)
	up := -share * excess(m3.Atan2(look.Y, look.Flat().Len())+headDown, headFreeUp)
	if yaw == 0 && up == 0 {
		return
	}
	q := m3.YawQuat(yaw).Mul(m3.AxisAngle(look.Cross(m3.Up).Normalize(m3.V(1, 0, 0)), up))
	b.turnBones(r, m.neck, q)
	b.turnBones(r, m.head, q)
}

// turnBones turns joint j of row and those below it by q about the joint.
func (b *Batch) turnBones(r, j int, q m3.Quat) {
	o := r * b.joints
	pivot := b.bonePos[o+j]
	for k := o + j; k < o+b.Model.ends[j]; k++ {
		b.bonePos[k] = pivot.Add(q.Rotate(b.bonePos[k].Sub(pivot)))
		b.boneFwd[k], b.boneUp[k] = q.Rotate(b.boneFwd[k]), q.Rotate(b.boneUp[k])
	}
}
