package show

import (
	"testing"

	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/scenes/person"
	"mannequin/scenes/world"
)

// Keys and a gamepad steer the person of the scene person: it goes where the stick points on the screen, half as fast for half the stick, jumps, and
// keeps its facing when that is locked.
func TestPerson(t *testing.T) {
	const second = 60
	type state struct {
		s *person.Scene
		w *Show
	}
	open := func(t *testing.T) state {
		s := must.Get(person.New(person.Options{Options: world.Options{Seed: 1, Agents: 1, Workers: 1}, Character: must.Get(models.OpenCharacter("hero"))(t)}))(t)
		t.Cleanup(func() { s.Close() })
		x := state{s, must.Get(New(&stage.Stage{Camera: &stage.Camera{Distance: 3, Pitch: 0.2, Follow: true}}, s, 60))(t)}
		play(t, x.w, second, polled{})
		return x
	}
	root := func(x state) m3.Xform { return x.s.Crowd.Roots[0] }
	lowest := func(x state) float32 {
		y := float32(1e6)
		for _, l := range x.s.Crowd.Ground.Rig.Roles.Legs {
			y = min(y, x.s.Crowd.Bones(x.s.Crowd.Entity(0))[l[len(l)-1]].Pos.Y)
		}
		return y
	}
	for name, in := range map[string]struct{ ahead, half, aside, jump, lock polled }{
		"keys": {
			ahead: polled{held: letter('W')}, aside: polled{held: letter('D')},
			jump: polled{held: []stage.Key{stage.KeySpace}, hit: []stage.Key{stage.KeySpace}}, lock: polled{hit: letter('Q')},
		},
		"gamepad": {
			ahead: polled{left: stage.Stick{Y: 1}}, half: polled{left: stage.Stick{Y: 0.5}}, aside: polled{left: stage.Stick{X: 1}},
			jump: polled{buttons: []stage.Button{stage.ButtonA}, hitButtons: []stage.Button{stage.ButtonA}}, lock: polled{hitButtons: []stage.Button{stage.ButtonUp}},
		},
	} {
		way := func(p polled) m3.Vec3 {
			x := open(t)
			from := root(x).Pos
			play(t, x.w, 2*second, p)
			return root(x).Pos.Sub(from)
		}
		ahead, aside := way(in.ahead), way(in.aside)
		if ahead.Z < 1 || m3.Abs(ahead.X) > 0.2*ahead.Z || aside.X > -1 {
			t.Errorf("%s: in two seconds it goes by %v ahead, and by %v to the right", name, ahead, aside)
		}
		if in.half.left.Y > 0 {
			if share := way(in.half).Z / ahead.Z; share < 0.35 || share > 0.65 {
				t.Errorf("%s: half the stick goes %.2f times as far", name, share)
			}
		}
		x := open(t)
		rest, high := lowest(x), float32(0)
		for i := range second {
			p := polled{}
			if i == 0 {
				p = in.jump
			}
			play(t, x.w, 1, p)
			high = max(high, lowest(x)-rest)
		}
		if high < 0.05 {
			t.Errorf("%s: it jumps by %.2f m", name, high)
		}
		x = open(t)
		play(t, x.w, 1, in.lock)
		play(t, x.w, second, in.aside)
		if yaw := root(x).Rot.Yaw(); m3.Abs(yaw) > 0.3 {
			t.Errorf("%s: locked, it turns by %.2f rad", name, yaw)
		}
	}
}
