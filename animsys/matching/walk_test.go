package matching_test

import (
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/offline/procgen/human"
)

// paced returns a clip that moves straight ahead at a speed, m/s, and plays the steps of another clip at a tempo.
func paced(of *skel.Clip, speed float32, tempo float64) *skel.Clip {
	out := skel.NewClip(of.Skel, of.FPS, int(float64(of.Frames-1)/tempo))
	for f := range out.Frames {
		from, joints := of.Frame(int(tempo * float64(f)))
		pos, rot := out.Frame(f)
		copy(pos, from)
		copy(rot, joints)
		pos[0] = m3.V(0, from[0].Y, speed*float32(f)/float32(of.FPS))
		rot[0] = m3.YawQuat(-joints[0].Yaw()).Mul(joints[0])
	}
	return out
}

// Of two clips of the same speed, an agent is shown the one with WalkTag, after a start and after a turn. An agent that is asked to run is shown
// the run.
func TestWalks(t *testing.T) {
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Walk, human.Run}, Styles: []string{"neutral"}})
	must.Do(t, err)
	of := map[string]*skel.Clip{}
	for _, k := range takes {
		if c := of[k.Action]; c == nil || c.Frames < k.Clip.Frames {
			of[k.Action] = k.Clip
		}
	}
	clips := []matching.Clip{{Name: "run", Motion: of[human.Run]}, {Name: "long steps", Motion: paced(of[human.Walk], 1.3, 1)}, {Name: "short steps", Motion: paced(of[human.Walk], 1.3, 1.5)}}
	for walks := 1; walks < len(clips); walks++ {
		for i := range clips {
			clips[i].Tags = []matching.Tags{0}
		}
		clips[walks].Tags[0] = 1
		built := must.Get(matching.Build(takes[0].Clip.Skel, clips, matching.Options{Tags: []string{matching.WalkTag}}))(t)
		if _, ok := built.Action(matching.WalkTag); ok {
			t.Errorf("%q is an action", matching.WalkTag)
		}
		for _, d := range []*matching.Database{built, must.Get(matching.Decode(encoded(t, built)))(t)} {
			for _, c := range []struct {
				speed float32
				way   m3.Vec3
				name  string
			}{{1.25, m3.V(0, 0, 1), clips[walks].Name}, {1.25, m3.V(1, 0, 0), clips[walks].Name}, {1.25, m3.V(0, 0, -1), clips[walks].Name}, {3, m3.V(0, 0, 1), "run"}} {
				s, _ := play(t, d, 1, 420, func(_, tick int, at feature.Place) control.Goal {
					if tick < 240 {
						return toward(at, m3.V(0, 0, c.speed), m3.V(0, 0, 1))
					}
					return toward(at, c.way.Scale(c.speed), c.way)
				})
				if name, _ := s.Clip(0); name != c.name {
					t.Errorf("at %g m/s to %v it shows %q, want %q", c.speed, c.way, name, c.name)
				}
			}
		}
	}
}
