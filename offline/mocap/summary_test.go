package mocap

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
)

// walker is a two-bone body that slides along +Z at one metre per second.
func walker(frames int) *skel.Clip {
	s := &skel.Skeleton{
		Names:   []string{"Hips", "Leg", "Toe"},
		Parents: []int16{-1, 0, 1},
		Offsets: []m3.Vec3{{}, {Y: -0.5}, {Y: -0.5, Z: 0.1}},
		EndSite: []bool{false, false, true},
	}
	c := skel.NewClip(s, 50, frames)
	for f := range frames {
		c.Pos[3*f] = m3.V(2, 1.1, float32(f)*0.02)
	}
	return c
}

func TestSummarize(t *testing.T) {
	s := Summarize(walker(101))
	want := Summary{Frames: 101, Joints: 2, EndSites: 1, Roots: []string{"Hips"}, FPS: 50, Seconds: 2.02, Finite: true,
		BoundsMin: [3]float32{2, 0.1, 0}, BoundsMax: [3]float32{2, 1.1, 2.1}, Ground: 0.1,
		Reach: 0.5 + m3.Sqrt(0.26), Unit: Unit{"metre", 1}}
	for k := range 3 {
		if !(m3.Abs(s.BoundsMin[k]-want.BoundsMin[k]) <= 1e-5) || !(m3.Abs(s.BoundsMax[k]-want.BoundsMax[k]) <= 1e-5) {
			t.Errorf("bounds %v to %v", s.BoundsMin, s.BoundsMax)
		}
	}
	if !(m3.Abs(s.Ground-want.Ground) <= 1e-5) || !(m3.Abs(s.Reach-want.Reach) <= 1e-5) {
		t.Errorf("ground %g, reach %g", s.Ground, s.Reach)
	}
	s.BoundsMin, s.BoundsMax, s.Ground, s.Reach = want.BoundsMin, want.BoundsMax, want.Ground, want.Reach
	want.JumpFrames = []int{}
	if fmt.Sprint(*s) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", *s, want)
	}
}

func TestSummarizeFindsFaults(t *testing.T) {
	c := walker(101)
	for f := 40; f < 101; f++ {
		c.Pos[3*f].X += 1 // from here on elsewhere
	}
	c.Pos[3*70].Y += 0.5 // there and back: two leaps
	c.Pos[3*10+1].Y = -0.503
	s := Summarize(c)
	if s.Jumps != 3 || fmt.Sprint(s.JumpFrames) != "[40 70 71]" {
		t.Errorf("jumps %d at %v", s.Jumps, s.JumpFrames)
	}
	if s.BoneWorst != "Leg" || !(math.Abs(float64(s.BoneChange)-0.003/0.503) <= 1e-5) {
		t.Errorf("%s changed by %g", s.BoneWorst, s.BoneChange)
	}
	if !s.Finite || !(m3.Abs(s.Ground-0.1) <= 1e-5) {
		t.Errorf("finite %v, ground %g", s.Finite, s.Ground)
	}
	c.Rot[3*5].X = float32(math.NaN())
	if s = Summarize(c); s.Finite || !m3.Finite(s.BoundsMax[0]) {
		t.Errorf("finite %v, bounds %v", s.Finite, s.BoundsMax)
	}
	if s = Summarize(walker(0)); s.Frames != 0 || s.Ground != 0 || s.Unit.Name != "metre" {
		t.Errorf("%+v", s)
	}
}

// A body that travels under a root that stays is not longer for it.
func TestTravelIsNoBone(t *testing.T) {
	c := walker(101)
	for f := range c.Frames {
		c.Pos[3*f], c.Pos[3*f+1] = m3.V(0, 0, 0), m3.V(0, -0.5, float32(f))
	}
	if s := Summarize(c); !(m3.Abs(s.Reach-m3.Sqrt(0.26)) <= 1e-5) {
		t.Errorf("reach %g, want the one bone's %g", s.Reach, m3.Sqrt(0.26))
	}
}

// The data sets' documentation states their units.
func TestUnitGuess(t *testing.T) {
	dir := mocapdata.Dir(t)
	for file, unit := range map[string]string{
		"dog/D1_001_KAN01_001.bvh": "centimetre", "cmu-locomotion/07_12.bvh": "CMU unit", "bandai1/dataset-1_bow_active_001.bvh": "centimetre",
		"xia/angry_01_000.bvh": "CMU unit", "odd-bvh/facebookresearch__pfnn_hierarchy.bvh": "metre",
	} {
		b, err := OpenBVH(filepath.Join(dir, file))
		if os.IsNotExist(err) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if s := Summarize(b.Clip); s.Unit.Name != unit {
			t.Errorf("%s: guessed %v from a reach of %g, want %s", file, s.Unit, s.Reach, unit)
		}
	}
}
