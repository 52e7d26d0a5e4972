package mann

import (
	"math"
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// asks returns row 0 after some ticks of the same goal, without regulator: a batch of one that
// stood or moved at speed before.
func asks(speed float32, ticks int, g control.Goal) *Batch {
	b := dogBatch()
	tune := b.Tuning()
	tune.SpeedP, tune.SpeedI = 0, 0
	b.Tune(tune)
	moving(b, speed)
	for range ticks {
		b.Plan([]control.Goal{g}, 0, 1)
	}
	return b
}

// The network's share in the future is the length of the wish, and all of it on a path; it comes
// and goes as targets do.
func TestCorrection(t *testing.T) {
	for _, c := range []struct {
		goal control.Goal
		want float32
	}{
		{control.Goal{Move: m3.V(0, 0, 1), Speed: 1}, 1},
		{control.Goal{Move: m3.V(0, 0, 0.5), Speed: 1}, 0.5},
		{control.Goal{Move: m3.V(0, 0, 0.5), Turn: -0.8, Speed: 1}, 0.8},
		{control.Goal{}, 0},
	} {
		if got := asks(1, 200, c.goal).agent[0].correct; m3.Abs(got-c.want) > 1e-3 {
			t.Errorf("%+v: %g, want %g", c.goal, got, c.want)
		}
	}
	if got := asks(1, 1, control.Goal{Path: must(control.Circle(5)), Speed: 1}).agent[0].correct; got != 1 {
		t.Errorf("on a path: %g, want 1", got)
	}
	b := asks(1, 0, control.Goal{})
	b.agent[0].targetVel = vec2{0, 1}
	b.Plan([]control.Goal{{}}, 0, 1)
	if got, want := b.agent[0].targetVel.Z, 1-b.tuning.Decay; m3.Abs(got-want) > 1e-6 {
		t.Errorf("let go, the target falls to %g m/s in a tick, want %g", got, want)
	}
}

// Nobody is asked for more than recordings reach, and who jumps goes at the speed of jumps whatever
// else is asked.
func TestSpeedsAskedFor(t *testing.T) {
	if got, most := asks(1, 100, control.Goal{Move: m3.V(0, 0, 1), Speed: math.MaxFloat32}).agent[0].targetVel.length(), dogBatch().Model.fastest; m3.Abs(got-most) > 1e-3 {
		t.Errorf("asked for everything: %g m/s, want %g", got, most)
	}
	b := dogBatch()
	b.act[now*b.actions+b.Model.action[control.Jump]] = 0.5
	b.act[now*b.actions+b.Model.action[control.Move]] = 0.5
	b.act[now*b.actions+b.Model.action[control.Idle]] = 0
	tune := b.Tuning()
	tune.SpeedP = 0
	b.Tune(tune)
	if got, want := b.regulate(0, 1, control.Jump), 0.5+0.5*tune.JumpSpeed; m3.Abs(got-want) > 1e-3 {
		t.Errorf("half a jump at 1 m/s: %g m/s, want %g", got, want)
	}
	narrow := must(control.Circle(0.5))
	at, dir := narrow.At(0)
	b = asks(1, 0, control.Goal{})
	b.Reset(0, at, m3.YawOf(dir))
	clear(b.act)
	for i := range points {
		b.act[i*b.actions+b.Model.action[control.Move]] = 1
	}
	for range 100 {
		b.Plan([]control.Goal{{Path: narrow, Speed: 3}}, 0, 1)
	}
	if got, want := b.agent[0].targetVel.length(), b.curveSpeed(control.Route{Path: narrow}, 0, 3); m3.Abs(got-want) > 1e-3 {
		t.Errorf("narrow circle at %g m/s, want %g", got, want)
	}
}

// A character that shifts its weight does not turn.
func TestShiftingIsNotTurning(t *testing.T) {
	b := dogBatch()
	for i := range points {
		b.pos[i] = vec2{0.015 * float32(i/10%2), 0.015 * float32(i/20%2)}
	}
	if got := b.curvature(0); got != 0 {
		t.Errorf("on the spot the curvature is %g", got)
	}
}

// Who is let off a path, or carried away from its stretch, does not follow it on; where it crosses
// itself a follower, and its copy, stay on their branch.
func TestWhereOnAPath(t *testing.T) {
	b := asks(1, 1, control.Goal{Path: must(control.Circle(2)), Speed: 1})
	b.Plan([]control.Goal{{Move: m3.V(0, 0, 1), Speed: 1}}, 0, 1)
	if b.path[0] != nil {
		t.Error("let off its path it follows it on")
	}
	hairpin, err := control.NewPath([]m3.Vec3{{}, {Z: 20}, {X: 6, Z: 20}, {X: 6}}, false)
	if err != nil {
		t.Fatal(err)
	}
	b = dogBatch()
	b.locate(0, control.Route{Path: hairpin}, vec2{})
	b.pos[now] = vec2{6, 10}
	if off := b.locate(0, control.Route{Path: hairpin}, vec2{}); off > 0.5 || b.agent[0].along < 30 {
		t.Errorf("carried to the way back it is found %g m from the path, at %g m of it", off, b.agent[0].along)
	}
	cross, err := control.NewPath([]m3.Vec3{{Z: -4}, {}, {Z: 4}, {X: 4, Z: 4}, {X: 4}, {X: 0.01}, {X: -4}}, false)
	if err != nil {
		t.Fatal(err)
	}
	two := NewBatch(b.Model, 2)
	for z := float32(-1); z <= 0.3; z += 0.02 {
		two.pos[now] = vec2{0, z}
		two.locate(0, control.Route{Path: cross}, vec2{})
	}
	two.Copy(1, 0)
	for row := range 2 {
		two.pos[row*points+now] = vec2{-0.3, 0.02} // nearer to the later branch
		if two.locate(row, control.Route{Path: cross}, vec2{}); two.agent[row].along > 5 {
			t.Errorf("row %d has changed to the branch at %g m", row, two.agent[row].along)
		}
	}
}

// Beyond the end of an open path nothing goes on.
func TestNothingBeyondThePath(t *testing.T) {
	path, err := control.NewPath([]m3.Vec3{{}, {Z: 3}}, false)
	if err != nil {
		t.Fatal(err)
	}
	b := dogBatch()
	tune := b.Tuning()
	tune.PathBlend, tune.SpeedP = 1, 0
	b.Tune(tune)
	moving(b, 1)
	for i := range points {
		b.pos[i].Z += 2.5
	}
	b.Plan([]control.Goal{{Path: path, Speed: 1}}, 0, 1)
	if mid, end := b.vel[now+10].Z, b.vel[points-1].Z; mid < 0.9 || end != 0 || m3.Abs(b.pos[points-1].Z-3) > 1e-4 {
		t.Errorf("half a metre before the end: %g m/s, beyond it %g m/s at %g m", mid, end, b.pos[points-1].Z)
	}
}
