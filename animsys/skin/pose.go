package skin

import (
	"cmp"
	"slices"
	"strings"

	"mannequin/engine/m3"
)

// pose puts the skeleton into the mesh's pose, as far as possible.
func (f *fit) pose() {
	n := f.sk.Len()
	f.align, f.bind = make([]m3.Quat, n), make([]m3.Xform, n)
	for j, p := range f.sk.Parents {
		stands := f.stands[j]
		if p < 0 {
			f.align[j], f.bind[j] = m3.Ident, stands
			continue
		}
		f.align[j] = f.aligned(j, f.align[p])
		f.bind[j] = m3.Xform{Pos: f.bind[p].Apply(f.sk.Offsets[j]), Rot: f.align[j].Mul(stands.Rot).Normalize()}
	}
}

// aligned returns joint j's rotation from our standing pose to the mesh's. up is its parent's.
func (f *fit) aligned(j int, up m3.Quat) m3.Quat {
	limb := strings.TrimPrefix(strings.TrimPrefix(f.sk.Names[j], "Left"), "Right")
	var to, at m3.Vec3
	if len(f.bones[j]) == 1 {
		k := f.bones[j][0]
		to, at = f.stands[k].Pos.Sub(f.stands[j].Pos), f.place[k].Sub(f.place[j])
	}
	turns := false
	switch limb {
	case "Head":
		return m3.Ident // level in both
	case "UpLeg", "Leg", "Arm", "ForeArm":
		turns = true
	case "Foot":
		if turns = !f.upright; !turns {
			// Flat in both: only the direction of the toes counts.
			up = m3.Ident
			to, at = to.Flat(), at.Flat()
			turns = to.Len() > 0.02 && at.Len() > 0.02
		}
	case "Shoulder", "Hand", "Neck", "Tail", "Tail1":
		turns = !f.upright && !f.pivots(j)
	}
	if !turns || to == (m3.Vec3{}) || at == (m3.Vec3{}) {
		return up
	}
	return m3.Between(up.Rotate(to.Normalize(m3.Up)), at.Normalize(m3.Up)).Mul(up).Normalize()
}

func lowest(pos []m3.Vec3) float32 {
	return slices.MinFunc(pos, func(a, b m3.Vec3) int { return cmp.Compare(a.Y, b.Y) }).Y
}
