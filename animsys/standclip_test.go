package animsys_test

import (
	"slices"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
)

// Feet of a recording that stand 1.5 cm too high stand on the ground, and keep still there.
func TestGroundClip(t *testing.T) {
	d := testmatching.Dogs(t)
	s := must.Get(d.NewStream(matching.StreamOptions{Capacity: 1}))(t)
	rig := must.Get(s.Rig(nil))(t)
	var walk int
	for i := range d.Clips() {
		if c, _ := d.Motion(i); c.Pos[(c.Frames-1)*c.Skel.Len()].Dist(c.Pos[0]) > 3 {
			walk = i
		}
	}
	c, _ := d.Motion(walk)
	n := c.Skel.Len()
	for f := range c.Frames {
		c.Pos[f*n].Y += 0.015
	}
	low := func(get func(model []m3.Xform, f int)) (height, slide float32) {
		model, last := make([]m3.Xform, n), make([]m3.Xform, n)
		var heights, slides []float32
		for f := range c.Frames {
			get(model, f)
			for _, l := range d.Roles.Legs {
				tip := l[len(l)-1]
				heights = append(heights, model[tip].Pos.Y)
				if f > 0 && model[tip].Pos.Y < 0.025 {
					slides = append(slides, model[tip].Pos.Sub(last[tip].Pos).Flat().Len())
				}
			}
			copy(last, model)
		}
		slices.Sort(heights)
		slices.Sort(slides)
		return heights[len(heights)/5], slides[len(slides)/2]
	}
	height, _ := low(c.Model)
	out := must.Get(animsys.GroundClip(c, rig, nil))(t)
	stands, slide := low(out.Model)
	if height < 0.012 || stands > 0.006 || slide > 1e-3 {
		t.Errorf("feet that stood %.3f m high stand %.3f m high, and slide by %.4f m a frame", height, stands, slide)
	}
	for j := 1; j < n; j++ {
		if out.Pos[j] != c.Pos[j] {
			t.Fatalf("joint %d has moved against its parent", j)
		}
	}
	rig.Ground.Rig = new(ik.Rig)
	if _, err := animsys.GroundClip(c, rig, nil); err == nil {
		t.Error("a rig without joints is taken")
	}
}
