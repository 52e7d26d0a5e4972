package mann

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// lowest is the least height of the displayed joint 0 above the flat ground, as a share of its
// height in the rest pose. Recorded dogs that sit or lie come down to it (5 cm of 47). A network
// that predicts less would put the body into the ground.
const lowest = 0.11

// display derives the displayed pose of row from the recurrent one. From the root on, each joint
// takes the predicted rotation. Then it swings so that its bone, of fixed length, points from the
// joint's displayed place to the predicted place of its child; the twist about the bone stays. So
// errors do not add up along a limb. A joint with several bones takes the mean of their swings.
func (b *Batch) display(r int) {
	sk, o := b.Model.Skel, r*b.joints
	world := b.scratch[o : o+b.joints]
	for j, parent := range sk.Parents {
		k := o + j
		if parent < 0 {
			world[j].Pos = b.bonePos[k]
			world[j].Pos.Y = max(world[j].Pos.Y, lowest*b.Model.rest[feature.BonePos+1])
			b.localPos[k] = world[j].Pos
		} else {
			world[j].Pos = world[parent].Apply(sk.Offsets[j])
			b.localPos[k] = sk.Offsets[j]
		}
		if sk.EndSite[j] {
			world[j].Rot, b.localRot[k] = world[parent].Rot, m3.Ident
			continue
		}
		rot := m3.LookRotation(b.boneFwd[k], b.boneUp[k])
		switch children := b.Model.aims[j]; len(children) {
		case 0:
		case 1:
			rot = b.swing(world[j].Pos, rot, o, j, children[0]).Mul(rot).Normalize()
		default:
			var mean m3.Vec3
			for _, c := range children {
				mean = mean.Add(b.swing(world[j].Pos, rot, o, j, c).RotationVector())
			}
			rot = m3.FromRotationVector(mean.Scale(1 / float32(len(children)))).Mul(rot).Normalize()
		}
		world[j].Rot = rot
		if parent >= 0 {
			rot = world[parent].Rot.Conj().Mul(rot).Normalize()
		}
		b.localRot[k] = rot
	}
	b.localPos[o].Y = b.tuning.pressed(b.localPos[o].Y, b.Model.rest[feature.BonePos+1])
}

// pressed returns the displayed height of joint 0 for the predicted height h, if its height in the
// rest pose is rest.
func (t *Tuning) pressed(h, rest float32) float32 {
	bend, room := t.Bend*rest, (t.Ceiling-t.Bend)*rest
	if t.Ceiling <= 0 || room <= 0 || !(h > bend) {
		return h
	}
	return bend + room*(1-m3.Exp((bend-h)/room))
}

// swing returns the rotation that points the bone from joint j to its child c at c's prediction.
// The row's joints begin at o; j is displayed at the place at with rotation rot. If earlier bones
// were predicted too short, j is on or beyond that place and the direction means nothing: the bone
// then points as it was predicted.
func (b *Batch) swing(at m3.Vec3, rot m3.Quat, o, j, c int) m3.Quat {
	const whole, none = 0.5, 0.25 // at these distances, in shares of the bone's length, c's place counts in full and not at all
	have := rot.Rotate(b.Model.bone[c])
	there := b.bonePos[o+c].Sub(at)
	trust := m3.Clamp((there.Len()/b.Model.Skel.Offsets[c].Len()-none)/(whole-none), 0, 1)
	own := b.bonePos[o+c].Sub(b.bonePos[o+j])
	return m3.Between(have, own.Normalize(have).Lerp(there.Normalize(have), trust).Normalize(have))
}
