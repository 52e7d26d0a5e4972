package mocap

import (
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Every fault that is put into a walk is found, in its frame; a walk without one has none.
func TestFaults(t *testing.T) {
	limbs := &skel.Skeleton{
		Names:   []string{"Root", "Hips", "Leg", "Arm", "Thumb"},
		Parents: []int16{-1, 0, 1, 1, 3},
		Offsets: []m3.Vec3{{}, {Y: 0.9}, {Y: -0.9}, {Y: 0.5, Z: 0.3}, {Z: 0.3}},
		EndSite: []bool{false, false, false, false, true},
	}
	const hips, leg, arm, thumb, n = 1, 2, 3, 4, 5
	at := func(c *skel.Clip, f, j int) *m3.Vec3 { return &c.Pos[f*n+j] }
	for _, k := range []struct {
		name  string
		spoil func(c *skel.Clip)
		want  []Fault // beginnings of What
	}{
		{"nothing", func(c *skel.Clip) {}, nil},
		{"an outlier", func(c *skel.Clip) { at(c, 30, hips).X = 9e8 }, []Fault{{30, "Hips moves at "}, {31, "Hips moves at "}}},
		{"somewhere else from here on", func(c *skel.Clip) {
			for f := 30; f < c.Frames; f++ {
				at(c, f, hips).X += 1
			}
		}, []Fault{{30, "Hips moves at 50 m/s"}}},
		{"half a turn from here on", func(c *skel.Clip) {
			for f := 30; f < c.Frames; f++ {
				c.Rot[f*n+hips] = m3.AxisAngle(m3.V(0, 1, 0), 3)
			}
		}, []Fault{{30, "Hips turns at 150 rad/s"}}},
		{"a hand that is too fast", func(c *skel.Clip) { at(c, 30, thumb).Z += 1.5 }, []Fault{{30, "Thumb moves at "}, {31, "Thumb moves at "}}},
		{"a far leap", func(c *skel.Clip) {
			for f := 30; f < c.Frames; f++ {
				c.Rot[f*n+arm] = m3.AxisAngle(m3.V(1, 0, 0), 2)
			}
		}, []Fault{{30, "Thumb leaps by "}}},
		{"a frame away from its neighbours", func(c *skel.Clip) { at(c, 30, leg).Z += 0.1 }, []Fault{{30, "Leg leaps by "}}},
		{"a thumb away from its neighbours", func(c *skel.Clip) { at(c, 30, thumb).Z += 0.1 }, nil},
		{"a limb that begins to move", func(c *skel.Clip) {
			for f := 30; f < 34; f++ {
				at(c, f, leg).Z += float32(f-29) * 0.12
			}
			for f := 34; f < c.Frames; f++ {
				at(c, f, leg).Z += 0.48
			}
		}, nil},
		{"a bone that grows", func(c *skel.Clip) {
			for f := 40; f < 90; f++ {
				at(c, f, thumb).Z += 0.01 * float32(f-39)
			}
			for f := 90; f < c.Frames; f++ {
				at(c, f, thumb).Z += 0.01 * float32(129-f)
			}
		}, []Fault{{89, "Thumb is 1.86 times as far"}}},
		{"hips that travel under their root", func(c *skel.Clip) {
			for f := range c.Frames {
				at(c, f, hips).X = 0.05 * float32(f)
			}
		}, nil},
	} {
		c := skel.NewClip(limbs, 50, 129)
		for f := range c.Frames {
			at(c, f, hips).Z = float32(f) * 0.005
		}
		k.spoil(c)
		got := Faults(c, 1, Person)
		ok := len(got) == len(k.want)
		for i := 0; ok && i < len(got); i++ {
			ok = got[i].Frame == k.want[i].Frame && strings.HasPrefix(got[i].What, k.want[i].What)
		}
		if !ok {
			t.Errorf("%s: got %v, want %v", k.name, got, k.want)
		}
	}
}

// The same motion in centimetres has the same speeds, and import counts those of no animal.
func TestFaultsKnowTheUnit(t *testing.T) {
	c := walker(101)
	c.Pos[3*40].X += 2
	if n := len(Faults(c.Scaled(100), 0.01, Animal)); n != 2 {
		t.Errorf("%d faults, want 2: there and back", n)
	}
	for _, scale := range []float32{1, 100} {
		if s := Summarize(c.Scaled(scale)); s.Fast != 2 || s.FastFrames[0] != 40 || s.FastFrames[1] != 41 {
			t.Errorf("%s: %d fast frames at %v", s.Unit.Name, s.Fast, s.FastFrames)
		}
	}
	if n := len(Faults(c.Scaled(100), 1e-9, Animal)); n != 2 {
		t.Errorf("%d faults in a tiny unit, want 2: a leap has no unit", n)
	}
}
