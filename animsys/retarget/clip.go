package retarget

import (
	"errors"
	"fmt"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Clip returns a motion of the source on the character's own joints, in metres, at the same rate. It returns an
// error if the motion's skeleton is not the source's.
func (c *Character) Clip(source *skel.Clip) (*skel.Clip, error) {
	if c.source == nil {
		return nil, errors.New("retarget: the zero Character plays no motion")
	}
	if source == nil || source.Skel == nil || source.Skel.Fingerprint() != c.source.Fingerprint() {
		return nil, fmt.Errorf("retarget: the motion is not on the source's skeleton of %d joints", c.source.Len())
	}
	out := skel.NewClip(c.Skel, source.FPS, source.Frames)
	src, dst := make([]m3.Xform, c.source.Len()), make([]m3.Xform, c.Len())
	feet := make([]Foot, c.legs)
	for f := range source.Frames {
		source.Model(src, f)
		c.Pose(dst, src, [2]float32{}, feet, nil)
		pos, rot := out.Frame(f)
		c.Skel.ModelToLocal(pos, rot, dst)
	}
	return out, nil
}
