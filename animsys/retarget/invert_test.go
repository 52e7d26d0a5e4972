package retarget_test

import (
	"slices"
	"strings"
	"testing"

	. "mannequin/animsys/retarget"
	"mannequin/engine/m3"
)

// A pose of the character that is inverted and made again is the same: the hips, the trunk, and all rotations outside
// the legs, also of joints that the source lacks. Toes are where they were, where the source's leg gets there, and so are knees.
func TestInvert(t *testing.T) {
	each(t, func(t *testing.T, w recording, o Options, c *Character) {
		want, got := make([]m3.Xform, c.Len()), make([]m3.Xform, c.Len())
		src, turns := make([]m3.Xform, w.sk.Len()), make([]m3.Quat, len(c.Further()))
		var place, turn, knee, toe float32
		frames, exact := 0, 0 // exact: all feet are where they were
		for f := 0; f < len(w.poses); f += 7 {
			for i, j := range c.Further() { // rotations that no source makes
				turns[i] = m3.Ident
				if name := c.Skel.Names[j]; !strings.HasSuffix(name, "Leg") {
					turns[i] = m3.AxisAngle(m3.V(0.6, 0, 0.8), 0.2*m3.Sin(float32(f+3*j)))
				}
			}
			c.Pose(want, w.poses[f], [2]float32{}, nil, turns)
			c.Invert(src, turns, want)
			c.Pose(got, src, [2]float32{}, nil, turns)
			reached := true
			for leg := range c.Legs() {
				joint, at := c.Toe(leg)
				d := want[joint].Apply(at).Dist(got[joint].Apply(at)) / c.Scale
				toe, reached = max(toe, d), reached && d < 2e-4
			}
			if frames++; reached {
				exact++
			}
			for j, name := range c.Skel.Names {
				d := want[j].Pos.Dist(got[j].Pos) / c.Scale
				switch {
				case name == "root": // it is on the ground
				case strings.HasSuffix(name, "Leg"):
					if reached {
						knee = max(knee, d)
					}
				case strings.Contains(name, "Foot") || strings.Contains(name, "Toe"):
				default:
					place, turn = max(place, d), max(turn, want[j].Rot.Angle(got[j].Rot))
				}
			}
		}
		t.Logf("off by up to %.2g mm and %.2g rad, knees by %.2g mm, toes by %.2g mm, of a character of our size", 1e3*place, turn, 1e3*knee, 1e3*toe)
		mostToe := float32(2e-4)
		if slices.Contains([]string{"dwarf", "toy", "long feet", "short feet"}, strings.ReplaceAll(t.Name()[len("TestInvert/"):], "_", " ")) {
			mostToe = 0.015 // the source's leg is too short now and then
		}
		if place > 3e-4 || turn > 1e-5 || knee > 2.5e-3 || toe > mostToe || 2*exact < frames {
			t.Errorf("off by %g m and %g rad, knees by %g m, toes by %g m; %d of %d frames have all feet where they were", place, turn, knee, toe, exact, frames)
		}
	})
}
