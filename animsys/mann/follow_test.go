package mann

import (
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
)

// With τ = 1 the future is the path itself; with 0.5 it lies in the middle.
func TestFollowPath(t *testing.T) {
	circle := must(control.Circle(1.5))
	at, dir := circle.At(2)
	for _, c := range []struct{ tau, have float32 }{{1, 1.1}, {0.5, 1.1}, {1, 0}, {1, 2}} {
		tau := c.tau
		b := dogBatch()
		b.Reset(0, at, m3.YawOf(dir))
		w := b.act[now*b.actions:]
		w[0], w[1] = 0, 1
		b.agent[0].targetVel = flat(dir).scale(1.1)
		b.vel[now] = flat(dir).scale(c.have)
		b.pos[now-10] = b.pos[now].sub(b.vel[now].scale(1. / 6))
		tune := b.Tuning()
		tune.PathBlend, tune.SpeedP = tau, 0
		b.Tune(tune)
		b.Plan([]control.Goal{{Path: circle, Speed: 1.1}}, 0, 1)
		speed := b.agent[0].targetVel.length()
		if m3.Abs(speed-1.1) > 0.01 {
			t.Fatalf("asks for %g m/s", speed)
		}
		for _, k := range []int{1, 25, 50} {
			u := float32(k) / 50
			_, way := tune.change(c.have, speed, u)
			p, d := circle.At(2 + way)
			want := at.Lerp(p, tau)
			if got := b.pos[now+k].vec3(); got.Dist(want) > 2e-3 {
				t.Errorf("τ %g, from %g m/s, point %d at %v, want %v", tau, c.have, k, got, want)
			}
			if tau == 1 && b.dir[now+k].vec3().Dist(d) > 1e-3 {
				t.Errorf("point %d faces %v, want %v", k, b.dir[now+k], d)
			}
		}
	}
}

// Beside its path and facing elsewhere, the character is asked to be on the path, to go along it,
// and to turn to it by more than the angle that lacks, the less the farther ahead.
func TestComesBackToThePath(t *testing.T) {
	path, err := control.NewPath([]m3.Vec3{{Z: -50}, {Z: 50}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ side, yaw float32 }{{-0.6, 0}, {0.04, 0}, {0.6, 0}, {0, 0.1}, {0, -0.1}, {0.04, 1}} {
		b := dogBatch()
		b.Reset(0, m3.Vec3{}, c.yaw)
		moving(b, 1)
		for i := range points {
			b.pos[i].X = c.side
		}
		tune := b.Tuning()
		tune.PathBlend, tune.SpeedP = 1, 0
		b.Tune(tune)
		b.Plan([]control.Goal{{Path: path, Speed: 1}}, 0, 1)
		lacks := m3.Clamp(-tune.Facing*c.yaw, -0.8, 0.8)
		for _, k := range []int{1, 25, 50} {
			face := (1 - float32(k)/future) * lacks
			if got := b.dir[now+k]; got.sub(vec2{m3.Sin(face), m3.Cos(face)}).length() > 1e-3 {
				t.Errorf("%g m beside, %g rad off, point %d faces %v, want %g rad", c.side, c.yaw, k, got, face)
			}
			if got := b.vel[now+k].unit(vec2{}); got.sub(vec2{0, 1}).length() > 1e-3 {
				t.Errorf("%g m beside, %g rad off, point %d goes %v", c.side, c.yaw, k, got)
			}
			if got := b.pos[now+k].X; got != 0 {
				t.Errorf("%g m beside, point %d lies %g m beside", c.side, k, got)
			}
		}
	}
}

// Far from its path the character goes there straight.
func TestApproachesThePath(t *testing.T) {
	b := dogBatch()
	at := m3.V(900, 0, 0)
	b.Reset(0, at, 0)
	w := b.act[now*b.actions:]
	w[0], w[1] = 0, 1
	b.agent[0].targetVel, b.vel[now] = vec2{0, 1}, vec2{0, 1}
	b.pos[now-10].Z -= 1. / 6
	tune := b.Tuning()
	tune.PathBlend = 1
	b.Tune(tune)
	b.Plan([]control.Goal{{Path: must(control.Circle(1.5)), Speed: 1}}, 0, 1)
	for _, k := range []int{1, 50} {
		u := float32(k) / 50
		_, way := tune.change(1, b.agent[0].targetVel.length(), u)
		want := m3.V(900-way, 0, 0)
		if got := b.pos[now+k].vec3(); got.Dist(want) > 1e-3 {
			t.Errorf("point %d at %v, want %v", k, got, want)
		}
	}
}

// A path is taken as fast as a sideways acceleration of Grip and a turn of Spin let the character:
// a wide circle at the speed asked for, a narrow one at √(Grip·r) or Spin·r, the sharpest corner as
// fast as a turn on the spot.
func TestCurveSpeed(t *testing.T) {
	b := dogBatch()
	narrow, wide := must(control.Circle(0.5)), must(control.Circle(50))
	tune := b.Tuning()
	if got, want := b.curveSpeed(control.Route{Path: narrow}, 0, 1.1), tune.Spin*0.5; m3.Abs(got-want) > 0.02 {
		t.Errorf("narrow circle at %g m/s, want %g", got, want)
	}
	corner, err := control.NewPath([]m3.Vec3{{}, {Z: 1}, {Z: 0.5}, {Z: -1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.curveSpeed(control.Route{Path: corner}, 1, 1.1), tune.Pivot*control.MaxTurn; m3.Abs(got-want) > 1e-6 {
		t.Errorf("about-turn at %g m/s, want %g", got, want)
	}
	if got := b.curveSpeed(control.Route{Path: corner}, 1, 0.1); got != 0.1 {
		t.Errorf("about-turn at %g m/s when asked for 0.1", got)
	}
	tune.Spin = 100
	b.Tune(tune)
	if got, want := b.curveSpeed(control.Route{Path: narrow}, 0, 1.1), m3.Sqrt(tune.Grip*0.5); m3.Abs(got-want) > 0.02 {
		t.Errorf("narrow circle at %g m/s, want %g", got, want)
	}
	if got := b.curveSpeed(control.Route{Path: wide}, 0, 3); got < 3 {
		t.Errorf("wide circle at %g m/s", got)
	}
	if got := b.curveSpeed(control.Route{Path: wide}, 0, 0); got != 0 {
		t.Errorf("at rest %g m/s", got)
	}
	// Nor does it matter to a curve how much faster the character would go.
	if a, b := b.curveSpeed(control.Route{Path: narrow}, 0, 2), b.curveSpeed(control.Route{Path: narrow}, 0, 6); m3.Abs(a-b) > 0.1 {
		t.Errorf("narrow circle at %g m/s for who wants 2, %g for who wants 6", a, b)
	}
	star := must(control.Star(2.5))
	tip := star.Length() / 5
	if a, b := b.curveSpeed(control.Route{Path: star}, tip-0.2, 2), b.curveSpeed(control.Route{Path: star}, tip-0.2, 6); m3.Abs(a-b) > 0.1 {
		t.Errorf("before a tip of the star %g m/s for who wants 2, %g for who wants 6", a, b)
	}
}

// At the end of an open path the character is asked to stop.
func TestPathEnds(t *testing.T) {
	path, err := control.NewPath([]m3.Vec3{{}, {Z: 3}}, false)
	if err != nil {
		t.Fatal(err)
	}
	b := dogBatch()
	b.Reset(0, m3.V(0, 0, 2.95), 0)
	for range 300 {
		b.Plan([]control.Goal{{Path: path, Speed: 1}}, 0, 1)
	}
	if w := b.Weight(0, control.Idle); w < 0.99 {
		t.Errorf("idle weight %g at the end of the path", w)
	}
	if l := b.agent[0].targetVel.length(); l > 1e-3 {
		t.Errorf("still asks for %g m/s", l)
	}
}
