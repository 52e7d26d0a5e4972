package dataset

import (
	"path/filepath"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/retarget"
)

// With Poses recordings keep their rotations, frame by frame beside their rows. Mirror images
// have the rotations of the other side.
func TestBuildMotionPoses(t *testing.T) {
	sk := retarget.Human()
	dir := t.TempDir()
	arm, other := sk.Index("LeftArm"), sk.Index("RightArm")
	for _, name := range []string{"a", "b"} {
		c := skel.NewClip(sk, 60, 90)
		for f := range c.Frames {
			pos, rot := c.Frame(f)
			pos[0] = m3.V(0, 0.95, float32(f)/60)
			rot[arm] = m3.AxisAngle(m3.V(0, 0, 1), -0.01*float32(f))
		}
		writeBVH(t, filepath.Join(dir, name+".bvh"), c)
	}
	train, heldOut := must.Get2(BuildMotion([]string{dir}, MotionOptions{HeldOut: []string{"b"}, Length: 60, Margin: 1, Poses: true, Workers: 1}))(t)
	for _, m := range []*MotionSet{train, heldOut} {
		if len(m.Clips) != 2 {
			t.Fatalf("%d clips", len(m.Clips))
		}
		for _, c := range m.Clips {
			if c.Poses == nil || c.Poses.Frames != c.Frames {
				t.Fatalf("%s: no poses, or not as many as frames", c.Name)
			}
			_, first := c.Poses.Frame(0)
			_, last := c.Poses.Frame(c.Frames - 1)
			moves, rests := arm, other
			if c.Mirror {
				moves, rests = other, arm
			}
			if a := first[moves].Angle(last[moves]); a < 0.5 {
				t.Errorf("%s, mirrored %t: the arm turns by %g rad", c.Name, c.Mirror, a)
			}
			if a := first[rests].Angle(last[rests]); a > 0.05 {
				t.Errorf("%s, mirrored %t: the other arm turns by %g rad", c.Name, c.Mirror, a)
			}
		}
	}
	if _, _, err := BuildMotion([]string{dir}, MotionOptions{Poses: true, Stand: 10}); err == nil {
		t.Error("poses of postures that are held are given")
	}
	train, _ = must.Get2(BuildMotion([]string{dir}, MotionOptions{HeldOut: []string{"b"}, Length: 60, Margin: 1, Workers: 1}))(t)
	if train.Clips[0].Poses != nil {
		t.Error("poses nobody asked for")
	}
}

// A recording whose floor is high or low is moved so that people stand on their soles. One
// that is too short stays, and so does one that stands already.
func TestOpenStanding(t *testing.T) {
	sk := retarget.Human()
	dir := t.TempDir()
	toe := sk.Index("LeftToeBase")
	open := func(frames int, height float32) (*skel.Clip, float32) {
		c := skel.NewClip(sk, 60, frames)
		for f := range frames {
			pos, _ := c.Frame(f)
			pos[0] = m3.V(0, height, float32(f)/60)
		}
		path := filepath.Join(dir, "a.bvh")
		writeBVH(t, path, c)
		got := must.Get(OpenStanding(path, feature.Human(), sk, retarget.Reading{}))(t)
		model := make([]m3.Xform, sk.Len())
		got.Model(model, frames-1)
		return got, model[toe].Pos.Y
	}
	for _, height := range []float32{0.8, 0.95, 1.3} {
		if _, y := open(90, height); m3.Abs(y-sole) > 2e-3 {
			t.Errorf("hips at %g m: toes end %g m over the ground, want %g", height, y, sole)
		}
	}
	low, y := open(20, 0.8)
	_, higher := open(20, 1.3)
	if low.Frames != 20 || m3.Abs(higher-y-0.5) > 2e-3 {
		t.Errorf("a third of a second: toes at %g and %g m, want 0.5 m apart", y, higher)
	}
	if _, err := OpenStanding(filepath.Join(dir, "none.bvh"), feature.Human(), sk, retarget.Reading{}); err == nil {
		t.Error("no file, no error")
	}
}
