package skin

import (
	"errors"
	"fmt"
	"slices"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

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
