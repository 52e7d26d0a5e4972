package manifold

import (
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/models/human"
	humanfootstep "mannequin/models/human-footstep"
	humanlocomotion "mannequin/models/human-locomotion"
)

// People who stand keep their feet in place, at the height of walkers' feet, and their body sways over
// them with knees that are not locked.
func TestStandingSways(t *testing.T) {
	race.Single(t)
	m := must.Get(NewModel(must.Get(human.Open())(t)))(t)
	const frames = 480
	l := must.Get(m.With(must.Get(humanfootstep.Open())(t), must.Get(humanlocomotion.Open())(t)).NewLocomotion(LocomotionOptions{Batch: 1, Frames: frames, Workers: 1}))(t)
	defer l.Close()
	course := must.Get(AlongPath(must.Get(control.Circle(3))(t), frames, func(int) float32 { return 0 }, func(int) float32 { return 0 }))(t)
	made, _, err := l.Make([]Trajectory{course}, []Gait{{Person: 1}}, DefaultIterations, nil)
	if err != nil {
		t.Fatal(err)
	}
	clip := must.Get(m.Clip(made[0].Rows, Rate, made[0].Start))(t)
	at := func(name string, f int) m3.Vec3 {
		model := make([]m3.Xform, clip.Skel.Len())
		clip.Model(model, f)
		return model[clip.Skel.Index(name)].Pos
	}
	var slides []float32
	locked := 0
	low, high := float32(1), float32(-1)
	for f := range frames - 1 {
		toe := at("LeftToeBase", f)
		slides = append(slides, at("LeftToeBase", f+1).Sub(toe).Flat().Len()*Rate)
		if toe.Y < 0.02 || toe.Y > 0.05 {
			t.Fatalf("frame %d: the toes are %g m high", f, toe.Y)
		}
		x := at("Hips", f).X
		low, high = min(low, x), max(high, x)
		straight := true
		for _, side := range []string{"Left", "Right"} {
			hip, knee, heel := at(side+"UpLeg", f), at(side+"Leg", f), at(side+"Foot", f)
			straight = straight && hip.Dist(knee)+knee.Dist(heel)-hip.Dist(heel) < 1e-4 // 1.7°
		}
		if straight {
			locked++
		}
	}
	if locked > frames/50 {
		t.Errorf("both knees are locked in %d frames", locked)
	}
	slices.Sort(slides)
	if v := slides[len(slides)/2]; v > 0.005 {
		t.Errorf("toes slide by %g m/s", v)
	}
	if high-low < 0.01 {
		t.Errorf("the hips sway by %g m", high-low)
	}
}
