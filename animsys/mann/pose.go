package mann

import "mannequin/engine/m3"

// display derives the displayed pose of row from the recurrent one. Walking
// from the root, each joint takes the predicted orientation and is then swung
// so that its bone, of fixed length, points from where the joint really is at
// the predicted place of its child; the twist about the bone stays. Errors
// therefore do not add up along a limb. A joint with several bones takes the
// mean of their swings.
func (b *Batch) display(r int) {
	sk, o := b.Model.Skel, r*b.joints
	world := b.scratch[o : o+b.joints]
	for j, parent := range sk.Parents {
		k := o + j
		if parent < 0 {
			world[j].Pos = b.bonePos[k]
			b.localPos[k] = b.bonePos[k]
		} else {
			world[j].Pos = world[parent].Apply(sk.Offsets[j])
			b.localPos[k] = sk.Offsets[j]
		}
		if sk.EndSite[j] {
			world[j].Rot, b.localRot[k] = world[parent].Rot, m3.Ident
			continue
		}
		rot := m3.LookRotation(b.boneFwd[k], b.boneUp[k])
		if children := b.Model.aims[j]; len(children) > 0 {
			var swing m3.Vec3
			for _, c := range children {
				have := rot.Rotate(sk.Offsets[c]).Normalize(m3.Up)
				want := b.bonePos[o+c].Sub(world[j].Pos).Normalize(have)
				swing = swing.Add(m3.Between(have, want).RotationVector())
			}
			rot = m3.FromRotationVector(swing.Scale(1 / float32(len(children)))).Mul(rot).Normalize()
		}
		world[j].Rot = rot
		if parent >= 0 {
			rot = world[parent].Rot.Conj().Mul(rot).Normalize()
		}
		b.localRot[k] = rot
	}
}
