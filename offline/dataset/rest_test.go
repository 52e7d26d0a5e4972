package dataset

import (
	"slices"
	"testing"

	"mannequin/animsys/feature"
)

// Of five rows, one is idle throughout, still and symmetric.
func TestRestPose(t *testing.T) {
	m := feature.Dog()
	set := &MANN{Layout: m, Rows: 10, X: make([]float32, 10*m.Inputs()), XStd: slices.Repeat([]float32{1}, m.Inputs())}
	for r := range 5 {
		for s := range feature.TrajSamples {
			set.Input(r)[m.InActions(s)] = 1
		}
		// Marks the row in a column that is its own mirror image.
		set.Input(r)[m.InBone(0)+feature.BonePos+1] = float32(r)
	}
	hips, paw := m.InBone(0), m.InBone(slices.Index(m.Joints, "LeftHandSite"))
	set.Input(0)[hips+feature.BoneVel+1] = 0.3 // falls
	set.Input(1)[paw+feature.BonePos+2] = 0.3  // a paw ahead of the other
	set.Input(2)[m.InActions(3)] = 0.99        // not quite idle half a second before
	set.Input(3)[hips+feature.BoneVel+1] = 0.1
	set.Input(4)[hips+feature.BoneVel+1] = 0.2
	if p := set.RestPose(); len(p) != 27*feature.BoneChannels || p[feature.BonePos+1] != 3 {
		t.Errorf("the rest pose is not row 3's: %v", p)
	}
	for r := range 5 {
		set.Input(r)[m.InActions(11)] = 0
	}
	if p := set.RestPose(); p != nil {
		t.Errorf("a rest pose without idle rows: %v", p)
	}
}
