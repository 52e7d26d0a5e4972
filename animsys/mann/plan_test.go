package mann

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// moving puts row 0 into straight motion along +Z at speed m/s.
func moving(b *Batch, speed float32) {
	for i := range points {
		rate := float32(Rate)
		if i > now {
			rate = future
		}
		b.pos[i] = vec2{0, speed * float32(i-now) / rate}
		b.vel[i] = vec2{0, speed}
		w := b.act[i*b.actions : (i+1)*b.actions]
		clear(w)
		w[b.Model.action[control.Move]] = 1
	}
	b.agent[0].targetVel = vec2{0, speed}
}

func dogBatch() *Batch {
	return NewBatch(newModel(feature.Dog(), dogLike(), make([]float32, 27*12)), 1)
}

// One step from rest, against the formulas written out in float64.
func TestPlanFirstStep(t *testing.T) {
	b := dogBatch()
	g := control.Goal{Move: m3.V(0, 0, 1), Speed: 1.1, Turn: 0.5}
	tune := b.Tuning()
	tune.SpeedI = 0
	b.Tune(tune)
	b.Plan([]control.Goal{g}, 0, 1)

	// The move action has no weight yet, so nothing is asked of the speed.
	if b.agent[0].targetVel != (vec2{}) {
		t.Errorf("target velocity %v before the action has weight", b.agent[0].targetVel)
	}
	// A quarter of the way, along the chord, from 0° to where half the turn rate leads in a second
	// from what this tick has turned by.
	s, c := math.Sincos(math.Pi / 6 * (1 + 1./60))
	dx, dz := 0.25*s, 0.75+0.25*c
	l := math.Hypot(dx, dz)
	if d := b.agent[0].targetDir; math.Abs(float64(d.X)-dx/l) > 1e-6 || math.Abs(float64(d.Z)-dz/l) > 1e-6 {
		t.Errorf("target direction %v, want %g %g", d, dx/l, dz/l)
	}
	for _, k := range []int{0, 10, 50} {
		w := float64(k) / 50
		// All weight goes over within half a second, evenly, from this tick on.
		move := min((1./60+w)/0.5, 1)
		got := b.act[(now+k)*b.actions:]
		if math.Abs(float64(got[0])-(1-move)) > 1e-6 || math.Abs(float64(got[1])-move) > 1e-6 {
			t.Errorf("point %d: idle %g, move %g; want %g, %g", k, got[0], got[1], 1-move, move)
		}
		// The arc to the target turns evenly.
		sd := 1 - math.Pow(1-w, 1.25)
		as, ac := math.Sincos(w * math.Atan2(dx, dz))
		x, z := sd*as, 1-sd+sd*ac
		n := math.Hypot(x, z)
		if d := b.dir[now+k]; math.Abs(float64(d.X)-x/n) > 1e-5 || math.Abs(float64(d.Z)-z/n) > 1e-5 {
			t.Errorf("point %d: direction %v, want %g %g", k, d, x/n, z/n)
		}
	}

	// Second step: the present's move weight asks for speed.
	present := float64(b.act[now*b.actions+1])
	b.Plan([]control.Goal{g}, 0, 1)
	want := 1.1 * present
	want += float64(tune.SpeedP) * want * (1 - math.Pow(0.5, 1/float64(60*tune.SpeedUp))) // that much lacks by now
	if got := b.agent[0].targetVel.length(); math.Abs(float64(got)-0.25*want) > 1e-5 {
		t.Errorf("target speed %g, want %g", got, 0.25*want)
	}
	// Positions and velocities go along the arc, from the heading on.
	x, z := 0.0, 0.0
	yaw := func(v vec2) float64 { return math.Atan2(float64(v.X), float64(v.Z)) }
	speed, last, first := float64(b.agent[0].targetVel.length()), yaw(b.agent[0].targetDir), yaw(b.agent[0].heading)
	for k := 1; k <= 50; k++ {
		w := float64(k) / 50
		s, c := math.Sincos(first + w*(last-first))
		step := (1 - math.Pow(1-w, 0.75)) * speed / 50
		x, z = x+step*s, z+step*c
		if got := b.pos[now+k]; math.Hypot(float64(got.X)-x, float64(got.Z)-z) > 1e-5 {
			t.Fatalf("point %d at %g, want %g %g", k, got, x, z)
		}
		if got := b.vel[now+k]; math.Hypot(float64(got.X)-w*speed*s, float64(got.Z)-w*speed*c) > 1e-5 {
			t.Fatalf("point %d at %g m/s, want %g %g", k, got, w*speed*s, w*speed*c)
		}
	}
	if got := b.speed[now]; math.Abs(float64(got)-0.25*0.25*want) > 1e-5 {
		t.Errorf("desired speed %g, want %g", got, 0.0625*want)
	}
}

func TestActionRules(t *testing.T) {
	forward, still := vec2{0, 1}, vec2{}
	for _, c := range []struct {
		name  string
		speed float32
		bend  float32 // how far the past turns, radians
		want  control.Action
		move  vec2
		turn  float32
		get   control.Action
		moves bool
	}{
		{"nothing", 0, 0, control.Idle, still, 0, control.Idle, false},
		{"go", 0, 0, control.Idle, forward, 0, control.Move, true},
		{"an action of another character's own", 0, 0, control.Own + 3, forward, 0, control.Move, true},
		{"turn on the spot", 0, 0, control.Idle, still, 1, control.Move, true},
		{"move nowhere", 0, 0, control.Move, still, 0, control.Idle, false},
		{"let go at a run", 2, 0, control.Idle, still, 0, control.Move, false},
		{"jump", 1, 0, control.Jump, forward, 0, control.Jump, true},
		{"jump from standing", 0, 0, control.Jump, still, 0, control.Jump, true},
		{"jump in a curve", 1, 1, control.Jump, forward, 0, control.Move, true},
		{"jump in a slight curve", 1, 0.6, control.Jump, forward, 0, control.Jump, true},
		{"jump without a direction", 1, 0, control.Jump, still, 0, control.Jump, true},
		{"sit", 0, 0, control.Sit, forward, 1, control.Sit, false},
		{"sit at a walk", 0.6, 0, control.Sit, forward, 0.5, control.Move, false},
		{"sit, braking", 0.6, 0, control.Lie, still, 0, control.Move, false},
	} {
		b := dogBatch()
		moving(b, c.speed)
		for i := range now { // bend the past by turning it about the present
			a := -c.bend * float32(now-i) / now / 2
			b.pos[i] = vec2{m3.Sin(a), m3.Cos(a)}.scale(b.pos[i].Z)
		}
		move, turn := c.move, c.turn
		if got := b.choose(0, c.want, &move, &turn); got != c.get {
			t.Errorf("%s: %v, want %v", c.name, got, c.get)
		}
		if got := move != still || turn != 0; got != c.moves {
			t.Errorf("%s: moves %v, want %v", c.name, got, c.moves)
		}
	}
}

// A trajectory along a circle of known turn, and an S that turns by nothing.
func TestCurvature(t *testing.T) {
	b := dogBatch()
	for i := range points {
		a := float32(i) / 110 * math.Pi / 2
		b.pos[i] = vec2{m3.Sin(a), m3.Cos(a)}
	}
	// Eleven chords of a quarter circle have ten corners: 10/11 of 90°.
	if got, want := b.curvature(0), float32(10./11/2); m3.Abs(got-want) > 1e-3 {
		t.Errorf("a quarter circle has curvature %g, want %g", got, want)
	}
	for i := range points {
		b.pos[i] = vec2{m3.Cos(float32(i) / 110 * math.Pi), float32(i) / 50}
	}
	if got := b.curvature(0); got > 1e-3 {
		t.Errorf("an S has curvature %g", got)
	}
}

// A character that is held back gets up to half as much again, one that overshoots is slowed, and
// one that gathers or loses speed at least as fast as a plausible change and no further than asked
// is left alone by the integral.
func TestRegulator(t *testing.T) {
	b := dogBatch()
	moving(b, 0)
	var got float32
	for range 600 {
		got = b.regulate(0, 1, control.Move)
	}
	if want := float32(1.5); m3.Abs(got-want) > 1e-4 {
		t.Errorf("held back: %g, want %g", got, want)
	}
	// Then it is too fast: what has added up goes back three times as fast.
	built := b.agent[0].lack
	moving(b, 1.2)
	b.regulate(0, 1, control.Move)
	if got, want := built-b.agent[0].lack, float32(3*0.15/60); m3.Abs(got-want) > 1e-6 {
		t.Errorf("the integral turns by %g in a tick, want %g", got, want)
	}
	for range 600 {
		got = b.regulate(0, 1, control.Move)
	}
	if want := 1 - b.tuning.SpeedP*0.2 - 0.5; m3.Abs(got-want) > 1e-4 {
		t.Errorf("too fast: %g, want %g", got, want)
	}
	if got = b.regulate(0, 0, control.Idle); got != 0 || b.agent[0].lack != 0 {
		t.Errorf("at rest: %g, integral %g", got, b.agent[0].lack)
	}
	b = dogBatch()
	for k := range 600 {
		speed := 1 - m3.Pow(0.5, float32(k+1)/Rate/b.tuning.SpeedUp)
		moving(b, speed)
		if got, want := b.regulate(0, 1, control.Move), float32(1); m3.Abs(got-want) > 1e-4 {
			t.Fatalf("tick %d: %g, want %g", k, got, want)
		}
	}
	for k := range 600 { // Then it loses half of it, a little faster than it may: the brake is on at once, the integral is not needed.
		speed := 0.5 + 0.5*m3.Pow(0.5, float32(k+1)/Rate/(b.tuning.SpeedDown-0.1))
		moving(b, speed)
		if got, want := b.regulate(0, 0.5, control.Move), 0.5+b.tuning.SpeedP*(0.5-speed); m3.Abs(got-want) > 1e-4 {
			t.Fatalf("tick %d: %g, want %g", k, got, want)
		}
	}
	if b.agent[0].lack != 0 {
		t.Errorf("a good change of speed left an integral of %g", b.agent[0].lack)
	}
}

// A change of speed halves what is before it in its half-life, either way, and its way is the
// integral of its speed.
func TestChange(t *testing.T) {
	tune := DefaultTuning()
	for _, c := range []struct{ from, to, half float32 }{{0, 2, tune.SpeedUp}, {2, 0.5, tune.SpeedDown}, {1, 1, 1}} {
		if v, way := tune.change(c.from, c.to, 0); v != c.from || way != 0 {
			t.Errorf("%+v begins at %g m/s and %g m", c, v, way)
		}
		if v, _ := tune.change(c.from, c.to, c.half); m3.Abs(v-(c.from+c.to)/2) > 1e-6 {
			t.Errorf("%+v: %g m/s after its half-life", c, v)
		}
		var sum float64
		const steps = 1000
		for k := range steps {
			v, _ := tune.change(c.from, c.to, (float32(k)+0.5)/steps)
			sum += float64(v) / steps
		}
		if _, way := tune.change(c.from, c.to, 1); math.Abs(float64(way)-sum) > 1e-4 {
			t.Errorf("%+v: a way of %g m in a second, want %g", c, way, sum)
		}
	}
}

// Sideways and backward no more is asked than dogs do, forward as much as is wished; a turn on the
// spot is a small curve.
func TestReach(t *testing.T) {
	tune := DefaultTuning()
	walks := func(g control.Goal) vec2 {
		b := dogBatch()
		tune.SpeedI, tune.SpeedP = 0, 0
		b.Tune(tune)
		moving(b, 0)
		b.agent[0].targetVel = vec2{}
		b.agent[0].heading = vec2{0, 1}
		for range 120 {
			b.Plan([]control.Goal{g}, 0, 1)
		}
		return frame{fwd: b.agent[0].targetDir}.in(b.agent[0].targetVel)
	}
	for _, c := range []struct {
		goal control.Goal
		want vec2
	}{
		{control.Goal{Move: m3.V(0, 0, 1), Speed: 3}, vec2{0, 3}},
		{control.Goal{Move: m3.V(0, 0, 0.5), Speed: 3}, vec2{0, 1.5}},
		{control.Goal{Move: m3.V(0, 0, -1), Speed: 3}, vec2{0, -tune.Backward}},
		{control.Goal{Move: m3.V(1, 0, 0), Speed: 3}, vec2{tune.Sideways, 0}},
		{control.Goal{Move: m3.V(-0.6, 0, 0.8), Speed: 2}, vec2{-tune.Sideways, 1.6}},
		{control.Goal{Move: m3.V(-0.6, 0, -0.8), Speed: 0.2}, vec2{-0.12, -0.16}},
		{control.Goal{Move: m3.V(0, 0, -1)}, vec2{}},
		{control.Goal{Turn: 0.5, Speed: 3}, vec2{0, tune.Pivot * control.MaxTurn / 2}},
	} {
		if got := walks(c.goal); got.sub(c.want).length() > 5e-3 {
			t.Errorf("%+v asks for %v, want %v", c.goal, got, c.want)
		}
	}
}

// Whoever is down and asked for nothing gets up by a step forward; standing, or told to sit, it
// stays.
func TestRises(t *testing.T) {
	b := dogBatch()
	b.Model.rest[feature.BonePos+1] = 0.47
	for _, c := range []struct {
		hips  float32
		want  control.Action
		moves bool
	}{{0.08, control.Idle, true}, {0.45, control.Idle, false}, {0.08, control.Sit, false}} {
		b.Reset(0, m3.Vec3{}, 0)
		b.bonePos[0].Y = c.hips
		for range 120 {
			b.Plan([]control.Goal{{Action: c.want}}, 0, 1)
		}
		if moves := b.Weight(0, control.Move) > 0.9 && b.agent[0].targetVel.Z > 0.3; moves != c.moves {
			t.Errorf("hips at %g m, asked to %v: rises %v", c.hips, c.want, moves)
		}
	}
}

// Who lies gets up before it jumps; in the crouch of a jump it jumps on.
func TestRisesToJump(t *testing.T) {
	b := dogBatch()
	b.Model.rest[feature.BonePos+1] = 0.47
	b.Reset(0, m3.Vec3{}, 0)
	plan := func(hips float32, ticks int) float32 {
		b.bonePos[0].Y = hips
		for range ticks {
			b.Plan([]control.Goal{{Action: control.Jump}}, 0, 1)
		}
		return b.Weight(0, control.Jump)
	}
	if w := plan(0.08, 60); w != 0 || b.agent[0].targetVel.Z < 0.3 {
		t.Errorf("lying, it jumps by %g and steps forward at %g m/s", w, b.agent[0].targetVel.Z)
	}
	if w := plan(0.45, 10); w < 0.45 {
		t.Errorf("up, it jumps by %g", w)
	}
	if w := plan(0.35, 10); w < 0.95 {
		t.Errorf("in the crouch it jumps by %g", w)
	}
}

// The heading turns at the rate asked for, holds where none is asked for, and neither runs away
// from the character nor survives letting go.
func TestHeading(t *testing.T) {
	b := dogBatch()
	const turn = 0.25
	for range 60 {
		b.face(0, turn, true)
	}
	yaw := func(v vec2) float32 { return m3.Atan2(v.X, v.Z) }
	if got, want := yaw(b.agent[0].heading), turn*control.MaxTurn; m3.Abs(got-want) > 1e-4 {
		t.Errorf("after a second the heading is %g rad, want %g", got, want)
	}
	// The character has not turned at all: it is still asked to.
	if got, want := yaw(b.face(0, 0, true)), turn*control.MaxTurn; m3.Abs(got-want) > 1e-4 {
		t.Errorf("without a turn it is asked to face %g, want %g", got, want)
	}
	for range 600 {
		b.face(0, 1, true)
	}
	if got := yaw(b.agent[0].heading); m3.Abs(got-b.tuning.Leash) > 1e-4 {
		t.Errorf("the heading leads by %g rad, the leash is %g", got, b.tuning.Leash)
	}
	if got := yaw(b.face(0, 0, false)); got != 0 {
		t.Errorf("let go it faces %g", got)
	}
}

// Weights stay a distribution whatever is asked, and go to what is asked evenly.
func TestRamps(t *testing.T) {
	b := dogBatch()
	for _, a := range []control.Action{control.Sit, control.Move, control.Lie, control.Stand, control.Idle} {
		g := control.Goal{Action: a}
		if a == control.Move {
			g.Move = m3.V(0, 0, 1)
		}
		for k := range 60 {
			before := b.Weight(0, a)
			b.Plan([]control.Goal{g}, 0, 1)
			if w := b.Weight(0, a); k < 15 && m3.Abs(w-before-1./30) > 1e-5 {
				t.Fatalf("%v: from %g to %g in a tick, want a thirtieth more", a, before, w)
			}
			for i := now; i < points; i++ {
				var sum float32
				for _, w := range b.act[i*b.actions:][:b.actions] {
					if w < 0 || w > 1 {
						t.Fatalf("%v: weight %g", a, w)
					}
					sum += w
				}
				if m3.Abs(sum-1) > 1e-5 {
					t.Fatalf("%v: weights sum to %g", a, sum)
				}
			}
		}
		if w := b.Weight(0, a); w < 0.999 {
			t.Errorf("%v has weight %g after a second", a, w)
		}
	}
}

// However long a jump is asked for, its weight rises, holds and falls as in the recordings' labels,
// and only then may rise again.
func TestLeaps(t *testing.T) {
	b := dogBatch()
	tune := b.tuning
	moving(b, 1)
	rise, hold := int(tune.Ramp[control.Jump]*Rate+0.5), int(tune.Leap*Rate+0.5)
	period := 2*rise + hold - 1
	for k := range 3 * period {
		b.Plan([]control.Goal{{Move: m3.V(0, 0, 1), Speed: 1, Action: control.Jump}}, 0, 1)
		at := k % period
		want := min(float32(at+1), float32(rise), float32(period-at-1)) / float32(rise)
		if got := b.Weight(0, control.Jump); m3.Abs(got-want) > 1e-4 {
			t.Fatalf("tick %d: weight %g, want %g", k, got, want)
		}
	}
	for range rise { // let go in the midst of one, it falls as fast
		b.Plan([]control.Goal{{Move: m3.V(0, 0, 1), Speed: 1, Action: control.Jump}}, 0, 1)
	}
	for range rise {
		b.Plan([]control.Goal{{}}, 0, 1)
	}
	if w := b.Weight(0, control.Jump); w != 0 {
		t.Errorf("let go, a jump keeps weight %g", w)
	}
}

// Constants that are not in range are refused, and change nothing.
func TestTuneRange(t *testing.T) {
	b := NewBatch(beetleModel(), 1)
	for _, x := range []float32{-1, 1001, float32(math.NaN()), float32(math.Inf(1))} {
		for i := range reflect.TypeFor[Tuning]().NumField() {
			tune := DefaultTuning()
			switch f := reflect.ValueOf(&tune).Elem().Field(i).Addr().Interface().(type) {
			case *float32:
				*f = x
			case *[6]float32:
				f[3] = x
			}
			if err := b.Tune(tune); err == nil || !strings.Contains(err.Error(), reflect.TypeFor[Tuning]().Field(i).Name) || b.Tuning() != DefaultTuning() {
				t.Errorf("%+v: %v", tune, err)
			}
		}
	}
}
