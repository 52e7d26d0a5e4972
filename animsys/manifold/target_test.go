package manifold_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	humanfootstep "mannequin/models/human-footstep"
	humanlocomotion "mannequin/models/human-locomotion"
)

var place = feature.Place{Pos: m3.V(1, 0, -2), Yaw: 0.6}

// walkCircle returns frames of a person walking round a circle of 3 m.
func walkCircle(t testing.TB, frames int) []float32 {
	t.Helper()
	m := people(t)
	steps := must.Get(humanfootstep.Open())(t)
	motion := must.Get(humanlocomotion.Open())(t)
	circle := must.Get(control.Circle(3))(t)
	trajectory := must.Get(manifold.AlongPath(circle, frames, func(int) float32 { return 1.2 }, func(int) float32 { return 0 }))(t)
	l := must.Get(m.With(steps, motion).NewLocomotion(manifold.LocomotionOptions{Batch: 1, Frames: frames, Workers: 1}))(t)
	defer l.Close()
	made, _, err := l.Make([]manifold.Trajectory{trajectory}, nil, 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made[0].Rows
}

// Hands and a foot reach their targets, in the world and in the body's frame, and do not move long
// before and after. The other foot's contacts stay.
func TestTargetsReach(t *testing.T) {
	race.Single(t)
	m := people(t)
	const frames = 180
	cols, n := m.Layout.Columns(), len(m.Layout.Contacts)
	rows := walkCircle(t, frames)
	trajectory := m.Trajectory(rows, place)
	joint := func(r []float32, f int, name string) m3.Vec3 {
		p := m.Layout.Pos(m.Layout.Joint(name))
		return m3.V(r[f*cols+p], r[f*cols+p+1], r[f*cols+p+2])
	}
	world := func(r []float32, f int, name string) m3.Vec3 {
		return m3.YawQuat(trajectory[f].Yaw).Rotate(joint(r, f, name)).Add(trajectory[f].Pos)
	}
	mid := world(rows, 80, "RightHand")
	for name, targets := range map[string][]manifold.Target{
		"hand in the world": {{Joint: "RightHand", At: mid.Add(m3.V(0, 0.4, 0)), From: 1.3, To: 1.4, Ease: 0.5}},
		"hands of the body": {{Joint: "RightHand", Body: true, At: m3.V(-0.2, 1.2, 0.45), From: 1, To: 1.8, Ease: 0.4},
			{Joint: "LeftHand", Body: true, At: m3.V(0.2, 1.2, 0.45), From: 1, To: 1.8, Ease: 0.4}},
		"a foot": {{Joint: "LeftFoot", At: world(rows, 90, "LeftFoot").Add(m3.V(0, 0.2, 0)), From: 1.5, To: 1.5, Ease: 0.3}},
		"one after the other": {{Joint: "RightHand", Body: true, At: m3.V(-0.2, 1.1, 0.4), From: 0.8, To: 1, Ease: 0.4},
			{Joint: "RightHand", Body: true, At: m3.V(-0.3, 1.4, 0.3), From: 1.4, To: 1.6, Ease: 0.4}},
	} {
		job := &manifold.Edit{Batch: 1, Length: frames, Rows: slices.Clone(rows), Stand: make([]float32, frames*n),
			Iterations: manifold.DefaultIterations}
		for f := range frames {
			for i, v := range rows[f*cols+m.Layout.Contact(0):][:n] {
				if v > 0.5 {
					job.Stand[f*n+i] = 1
				}
			}
		}
		stood := slices.Clone(job.Stand)
		must.Do(t, m.AddTargets(job, 0, place, targets))
		for f := range frames {
			for i := range n {
				free := name == "a foot" && i < 2 && math.Abs(float64(f)/60-1.5) < 0.3
				if (job.Stand[f*n+i] != stood[f*n+i]) != (free && stood[f*n+i] != 0) {
					t.Fatalf("%s: contact %d of frame %d stands %g, before %g", name, i, f, job.Stand[f*n+i], stood[f*n+i])
				}
			}
		}
		e := must.Get(m.NewEditor(manifold.EditorOptions{Batch: 1, Length: frames, Workers: 1}))(t)
		must.Get(e.Run(job))(t)
		e.Close()
		for _, g := range targets {
			miss, was, held := 0.0, 0.0, 0.0
			for f := range frames {
				if g.Influence(f) == 1 {
					miss += 100 * float64(joint(job.Rows, f, g.Joint).Dist(g.In(trajectory[f])))
					was += 100 * float64(joint(rows, f, g.Joint).Dist(g.In(trajectory[f])))
					held++
				}
			}
			t.Logf("%s: %s off by %.2f cm, before %.1f", name, g.Joint, miss/held, was/held)
			if !(miss/held <= 1) || was/held < 10 {
				t.Errorf("%s: %s is off by %.2f cm, before %.1f: want at most 1", name, g.Joint, miss/held, was/held)
			}
			for _, f := range []int{0, 10, frames - 1} {
				if d := joint(job.Rows, f, g.Joint).Dist(joint(rows, f, g.Joint)); d > 0.03 {
					t.Errorf("%s: %s is %.3f m off at frame %d, far from the target", name, g.Joint, d, f)
				}
			}
		}
	}
}

// A target's influence rises and falls smoothly and is 1 from From to To.
func TestTargetInfluence(t *testing.T) {
	g := manifold.Target{From: 1, To: 1.5, Ease: 0.5}
	last := float32(0)
	for f := range 61 {
		if s := g.Influence(f); s < last || s > 1 {
			t.Fatalf("influence %g at frame %d after %g", s, f, last)
		} else {
			last = s
		}
	}
	for f, want := range map[int]float32{0: 0, 30: 0, 45: 0.5, 60: 1, 90: 1, 105: 0.5, 120: 0, 500: 0} {
		if got := g.Influence(f); math.Abs(float64(got-want)) > 1e-5 {
			t.Errorf("influence at frame %d is %g, want %g", f, got, want)
		}
	}
	at := manifold.Target{From: 0.305, To: 0.305}
	for f := range 40 {
		if got := at.Influence(f); (got == 1) != (f == 18) || got != 0 && got != 1 {
			t.Errorf("a moment without ease: influence %g at frame %d", got, f)
		}
	}
}

func TestTargetsRefuse(t *testing.T) {
	m := people(t)
	const frames = 60
	inf := math.Inf(1)
	for name, second := range map[string]manifold.Target{
		"joint":   {Joint: "Tail", To: 0.5},
		"place":   {Joint: "Head", At: m3.V(0, float32(math.NaN()), 0), To: 0.5},
		"late":    {Joint: "Head", From: 0.5, To: 1.1},
		"early":   {Joint: "Head", From: -0.1, To: 0.5},
		"turned":  {Joint: "Head", From: 0.5, To: 0.4},
		"ease":    {Joint: "Head", To: 0.5, Ease: inf},
		"weight":  {Joint: "Head", To: 0.5, Weight: -1},
		"another": {Joint: "LeftHand", From: 0.4, To: 0.6},
		"its end": {Joint: "LeftHand", From: 0.505, To: 0.505},
	} {
		job := &manifold.Edit{Batch: 1, Length: frames, Rows: make([]float32, frames*m.Layout.Columns())}
		var bad *manifold.TargetError
		err := m.AddTargets(job, 0, place, []manifold.Target{{Joint: "LeftHand", From: 0.2, To: 0.5}, second})
		if !errors.As(err, &bad) || bad.Index != 1 || job.Want != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Targets of a joint must not overlap; they may follow each other.
func TestTargetsOverlap(t *testing.T) {
	m := people(t)
	const frames = 60
	for name, c := range map[string]struct {
		a, b [2]float64
		want bool
	}{
		"the same":          {[2]float64{0.5, 0.5}, [2]float64{0.5, 0.5}, false},
		"a millisecond":     {[2]float64{0.5, 0.5}, [2]float64{0.501, 0.501}, false},
		"within":            {[2]float64{0.2, 0.6}, [2]float64{0.5, 0.5}, false},
		"at its beginning":  {[2]float64{0.5, 0.5}, [2]float64{0.5, 0.6}, false},
		"the next frame":    {[2]float64{0.5, 0.5}, [2]float64{31. / 60, 31. / 60}, true},
		"one after another": {[2]float64{0.2, 0.5}, [2]float64{0.5, 0.8}, true},
		"in reverse order":  {[2]float64{0.5, 0.8}, [2]float64{0.2, 0.5}, true},
	} {
		job := &manifold.Edit{Batch: 1, Length: frames, Rows: make([]float32, frames*m.Layout.Columns())}
		at := m3.V(0, 1, 0)
		err := m.AddTargets(job, 0, place, []manifold.Target{{Joint: "Head", Body: true, At: at, From: c.a[0], To: c.a[1]},
			{Joint: "Head", Body: true, At: at.Scale(2), From: c.b[0], To: c.b[1]}})
		var bad *manifold.TargetError
		if (err == nil) != c.want || err != nil && (!errors.As(err, &bad) || bad.Index != 1 || job.Want != nil) {
			t.Errorf("%s: %v", name, err)
		}
		y := m.Layout.Pos(m.Layout.Joint("Head")) + 1
		if name == "one after another" && job.Want[30*m.Layout.Columns()+y] != 1.5 {
			t.Errorf("%s: between them at %g m, want 1.5", name, job.Want[30*m.Layout.Columns()+y])
		}
	}
}

// AddTargets refuses the jobs that Editor.Run refuses.
func TestTargetsRefuseEdits(t *testing.T) {
	m := people(t)
	const frames = 60
	n := 2 * frames * m.Layout.Columns()
	for name, c := range map[string]struct {
		b   int
		job manifold.Edit
	}{
		"beyond the batch": {2, manifold.Edit{Batch: 2, Length: frames, Rows: make([]float32, n)}},
		"before it":        {-1, manifold.Edit{Batch: 2, Length: frames, Rows: make([]float32, n)}},
		"no frames":        {0, manifold.Edit{Batch: 2}},
		"short rows":       {1, manifold.Edit{Batch: 2, Length: frames, Rows: make([]float32, n-1)}},
		"short body":       {1, manifold.Edit{Batch: 2, Length: frames, Rows: make([]float32, n), Body: make([]float32, 1)}},
		"short stand":      {1, manifold.Edit{Batch: 2, Length: frames, Rows: make([]float32, n), Stand: make([]float32, 1)}},
		"no weight":        {1, manifold.Edit{Batch: 2, Length: frames, Rows: make([]float32, n), Want: make([]float32, n)}},
	} {
		if err := m.AddTargets(&c.job, c.b, place, []manifold.Target{{Joint: "LeftFoot"}}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Follow keeps the speed and the facing relative to the path.
func TestFollow(t *testing.T) {
	m := people(t)
	const frames = 240
	own := m.Trajectory(walkCircle(t, frames), place)
	line := must.Get(control.NewPath([]m3.Vec3{{}, {X: 5}, {X: 10}}, false))(t)
	aside := slices.Clone(own)
	for f := range aside {
		aside[f].Yaw += 0.5
	}
	for angle, c := range map[float64]manifold.Trajectory{0: own, 0.5: aside} {
		to := must.Get(c.Follow(line))(t)
		for f, p := range to {
			if math.Abs(float64(p.Pos.Z)) > 1e-3 || math.Abs(float64(m3.WrapAngle(p.Yaw-math.Pi/2))-angle) > 0.15 {
				t.Fatalf("frame %d is at %+v, want on the line, facing along it", f, p)
			}
		}
		if went := to[frames-1].Pos.X; math.Abs(float64(went)-1.2*4) > 0.15 {
			t.Errorf("it went %.2f m along the line, want 4.8", went)
		}
	}
	short := must.Get(control.NewPath([]m3.Vec3{{}, {X: 1}, {X: 2}}, false))(t)
	if _, err := own.Follow(short); err == nil {
		t.Error("a path that is too short was accepted")
	}
	if _, err := make(manifold.Trajectory, 50).Follow(line); err == nil {
		t.Error("a standing motion cannot follow a path, but was accepted")
	}
}

// Rebase keeps joints in place in the world, and Trajectory returns the new trajectory.
func TestRebase(t *testing.T) {
	m := people(t)
	const frames = 100
	rows := walkCircle(t, frames)
	n := len(m.Layout.Joints)
	was, is := make([]m3.Vec3, frames*n), make([]m3.Vec3, frames*n)
	m.Layout.ToWorld(was, rows, manifold.Rate, place)
	from := m.Trajectory(rows, place)
	to := from.Smoothed(12)
	m.Rebase(rows, from, to)
	m.Layout.ToWorld(is, rows, manifold.Rate, to[0])
	for i := range was {
		if d := was[i].Dist(is[i]); d > 1e-4 {
			t.Fatalf("joint %d of frame %d moved by %g m", i%n, i/n, d)
		}
	}
	for f, p := range m.Trajectory(rows, to[0]) {
		if p.Pos.Dist(to[f].Pos) > 1e-4 {
			t.Fatalf("frame %d: the body is at %v, want %v", f, p, to[f])
		}
	}
}
