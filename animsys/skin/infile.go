package skin

import (
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Motion returns a motion of the character's file, as OpenMotions reads it, on the character's own joints in a
// crowd: in metres, facing +Z and with the ground at height 0. layer.NewOwn takes it. The motion may be of
// another file with the same armature. It returns an error if a joint is missing that others hang on.
func (c *Character) Motion(m *Motion) (*skel.Clip, error) {
	if c.Bones == nil || m == nil || m.Clip == nil {
		return nil, errors.New("skin: the character or the motion is missing")
	}
	sk, of := c.Bones.Skel, m.Clip.Skel
	rest, out := make([]m3.Quat, sk.Len()), skel.NewClip(sk, m.Clip.FPS, m.Clip.Frames)
	sk.ModelToLocal(make([]m3.Vec3, sk.Len()), rest, c.Bones.Rest)
	index, inner := make([]int, sk.Len()), make([]bool, sk.Len())
	for j, name := range sk.Names {
		index[j] = of.Index(name)
		if p := sk.Parents[j]; p >= 0 {
			inner[p] = true
		}
	}
	for j, k := range index {
		if k < 0 && (inner[j] || sk.Parents[j] < 0) {
			return nil, fmt.Errorf("%s: the motion %q has no joint %q, it has %s: is it of the character's armature?", c.Report.File, m.Name, sk.Names[j], some(of.Names))
		}
	}
	from, model := make([]m3.Xform, of.Len()), make([]m3.Xform, sk.Len())
	for f := range out.Frames {
		m.Clip.Model(from, f)
		for j, k := range index {
			if k < 0 {
				model[j] = model[sk.Parents[j]].Mul(m3.Xform{Pos: sk.Offsets[j], Rot: rest[j]})
				continue
			}
			model[j] = m3.Xform{Pos: c.turn.Rotate(from[k].Pos).Scale(c.size), Rot: c.turn.Mul(from[k].Rot).Normalize()}
			model[j].Pos.Y -= c.low
		}
		pos, rot := out.Frame(f)
		sk.ModelToLocal(pos, rot, model)
	}
	return out, nil
}

// InFile returns a motion of the skeleton that the character plays, in metres, on the joints of the file and
// in its space, for AddMotions: with the file's own unit, axes and ground. It returns an error if the motion's
// skeleton is another.
func (c *Character) InFile(motion *skel.Clip) (*skel.Clip, error) {
	if c.Bones == nil {
		return nil, errors.New("skin: the zero Character plays no motion")
	}
	clip, err := c.Bones.Clip(motion)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Report.File, err)
	}
	sk := *clip.Skel
	sk.Offsets = slices.Clone(sk.Offsets)
	back := c.turn.Conj()
	root := func(p m3.Vec3) m3.Vec3 { return back.Rotate(p.Add(m3.V(0, c.low, 0))).Scale(1 / c.size) }
	clip.Skel = &sk
	for j, p := range sk.Parents {
		if p < 0 {
			sk.Offsets[j] = root(sk.Offsets[j])
		} else {
			sk.Offsets[j] = sk.Offsets[j].Scale(1 / c.size)
		}
	}
	for f := range clip.Frames {
		pos, rot := clip.Frame(f)
		for j, p := range sk.Parents {
			if p < 0 {
				pos[j], rot[j] = root(pos[j]), back.Mul(rot[j]).Normalize()
			} else {
				pos[j] = pos[j].Scale(1 / c.size)
			}
		}
	}
	return clip, nil
}
