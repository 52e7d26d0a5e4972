package mann

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// A follower on four legs has its legs and its head corrected. A follower on two legs has neither corrected. A head that is held
// upright is not corrected.
func TestFollowerCorrects(t *testing.T) {
	sk := &skel.Skeleton{Names: []string{"Hips", "Neck", "Head", "HeadSite", "a", "b", "c", "d"}, Parents: []int16{-1, 0, 1, 2, 0, 0, 0, 0},
		Offsets: make([]m3.Vec3, 8), EndSite: make([]bool, 8)}
	layout := &feature.MANN{Joints: sk.Names, Tips: sk.Names[4:], Actions: []string{"idle", "move"}, Phases: true}
	m := newModel(layout, sk, make([]float32, layout.PoseLen()))
	b := NewFollower(m, 1, 0)
	if b.plainLegs || b.plainHead {
		t.Errorf("a dog's legs and head: plain %t, %t", b.plainLegs, b.plainHead)
	}
	two := *m
	legs := *layout
	legs.Tips = legs.Tips[:2]
	two.Layout = &legs
	if b := NewFollower(&two, 1, 0); !b.plainLegs || !b.plainHead {
		t.Errorf("on two legs: plain %t, %t", b.plainLegs, b.plainHead)
	}
	for _, up := range []float64{-90, -60, -20, 0, 20, 60} {
		held := *m
		held.rest = append([]float32(nil), m.rest...)
		from := held.rest[m.head*feature.BoneChannels:]
		to := held.rest[m.nose*feature.BoneChannels:]
		d := m3.V(0, float32(math.Sin(up*math.Pi/180)), float32(math.Cos(up*math.Pi/180))).Scale(0.2)
		to[0], to[1], to[2] = from[0]+d.X, from[1]+d.Y, from[2]+d.Z
		if b := NewFollower(&held, 1, 0); b.plainHead != (up < -45 || up > 45) {
			t.Errorf("a head that looks up by %g°: as predicted %t", up, b.plainHead)
		}
	}
}
