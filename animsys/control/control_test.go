package control

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
)

func TestActionNames(t *testing.T) {
	for a := Idle; a < NumActions; a++ {
		if got, err := ParseAction(strings.ToUpper(a.String())); err != nil || got != a {
			t.Errorf("%v came back as %v, %v", a, got, err)
		}
	}
	if _, err := ParseAction("fly"); err == nil || !strings.Contains(err.Error(), "idle, move") {
		t.Errorf("unknown action: %v", err)
	}
	if _, err := ParseAction("mvoe"); err == nil || !strings.HasSuffix(err.Error(), "; did you mean move?") {
		t.Errorf("a mistyped action: %v", err)
	}
}

func TestSteer(t *testing.T) {
	for _, c := range []struct{ yaw, want, turn float32 }{
		{0, 0, 0}, {0, math.Pi / 6, 0.5}, {0, -math.Pi / 2, -1}, {3, -3, (2*math.Pi - 6) / MaxTurn},
	} {
		if got := Steer(c.yaw, c.want); m3.Abs(got-c.turn) > 1e-5 {
			t.Errorf("Steer(%g, %g) = %g, want %g", c.yaw, c.want, got, c.turn)
		}
	}
}

// The closed forms: a circle's and a square's length, points and tangents.
func TestCircle(t *testing.T) {
	p := must.Get(Circle(1.5))(t)
	if got := p.Length(); m3.Abs(got-3*math.Pi) > 5e-3 {
		t.Errorf("length %g, want %g", got, 3*math.Pi)
	}
	for s := float32(-2); s < 12; s += 0.1 {
		pos, dir := p.At(s)
		if m3.Abs(pos.Len()-1.5) > 1e-3 {
			t.Fatalf("at %g m: radius %g", s, pos.Len())
		}
		a := s / 1.5
		if want := m3.V(m3.Cos(a), 0, -m3.Sin(a)); dir.Dist(want) > 1e-2 {
			t.Fatalf("at %g m: tangent %v, want %v", s, dir, want)
		}
	}
}

func TestSquareAndStar(t *testing.T) {
	for _, c := range []m3.Vec3{{X: 2, Z: 2}, {X: -2, Z: 2}, {X: 2, Z: -2}, {X: -2, Z: -2}, {X: 2}, {Z: -2}} {
		if _, d := must.Get(Square(2))(t).Nearest(c); d > 1e-4 {
			t.Errorf("the square passes %g m from %v", d, c)
		}
	}
	p := must.Get(Star(2.5))(t)
	far := 0
	for i := range 1000 {
		pos, _ := p.At(p.Length() * float32(i) / 1000)
		if r := pos.Len(); r > 2.52 {
			t.Fatalf("the star reaches %g m", r)
		} else if r > 2.45 {
			far++
		}
	}
	for i := range 5 {
		a := 2 * math.Pi * float32(i) / 5
		if _, d := p.Nearest(m3.V(2.5*m3.Sin(a), 0, 2.5*m3.Cos(a))); d > 1e-4 {
			t.Errorf("tip %d is %g m off", i, d)
		}
	}
	if far == 0 {
		t.Error("no tips")
	}
}

// On random paths: the curve passes through its control points, arc length is the distance walked,
// tangents are its differences, and Nearest finds what a brute search finds.
func TestPathProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 8).Draw(t, "n")
		closed := rapid.Bool().Draw(t, "closed")
		var pts []m3.Vec3
		for i := range n { // a jittered ring: no two coincide
			a := 2 * math.Pi * float32(i) / float32(n)
			r := rapid.Float32Range(1, 3).Draw(t, "r")
			pts = append(pts, m3.V(r*m3.Sin(a), rapid.Float32Range(-1, 1).Draw(t, "y"), r*m3.Cos(a)))
		}
		p := must.Get(NewPath(pts, closed))(t)
		for _, q := range pts {
			if _, d := p.Nearest(q); d > 1e-3 {
				t.Fatalf("misses its control point %v by %g", q, d)
			}
		}
		const ds = 1e-2
		for s := float32(0.02); s < p.Length()-0.02; s += 0.17 {
			a, _ := p.At(s - ds)
			b, dir := p.At(s)
			c, _ := p.At(s + ds)
			if d := c.Dist(b); d > 1.001*ds {
				t.Fatalf("at %g: %g m of arc move the point by %g", s, ds, d)
			}
			if ch := c.Sub(a); ch.Len() > 1.99*ds && ch.Normalize(dir).Dot(dir) < 0.99 {
				t.Fatalf("at %g: tangent %v, chord %v", s, dir, ch)
			}
		}
		q := m3.V(rapid.Float32Range(-4, 4).Draw(t, "qx"), 0, rapid.Float32Range(-4, 4).Draw(t, "qz"))
		s, d := p.Nearest(q)
		at, _ := p.At(s)
		if m3.Abs(at.Dist(q)-d) > 1e-3 {
			t.Fatalf("Nearest says %g m, its point is %g m away", d, at.Dist(q))
		}
		for k := range 400 {
			if o, _ := p.At(p.Length() * float32(k) / 400); o.Dist(q) < d-1e-3 {
				t.Fatalf("Nearest missed a nearer point: %g < %g", o.Dist(q), d)
			}
		}
		// Around its own result the limited search agrees, also across the seam.
		if s2, d2 := p.NearestFrom(q, s+0.2, 0.5, 0.1); m3.Abs(d2-d) > 1e-4 {
			t.Fatalf("NearestFrom %g at %g, Nearest %g at %g", d2, s2, d, s)
		}
	})
}

// A figure of eight: the follower stays on its branch at the crossing.
func TestNearestFromKeepsItsBranch(t *testing.T) {
	p := must.Get(NewPath([]m3.Vec3{{X: 0, Z: 0}, {X: 2, Z: 2}, {X: 4, Z: 0}, {X: 2, Z: -2}, {X: 0, Z: 0.01}, {X: -2, Z: 2}, {X: -4, Z: 0}, {X: -2, Z: -2}}, true))(t)
	s := float32(0)
	for step := float32(0); step < p.Length(); step += 0.05 {
		q, _ := p.At(step)
		s, _ = p.NearestFrom(q, s, 0.3, 1)
		if d := m3.Abs(s - step); d > 0.02 && d < p.Length()-0.02 {
			t.Fatalf("at %g m the follower is at %g m", step, s)
		}
	}
}

func TestOpenPathEnds(t *testing.T) {
	p := must.Get(NewPath([]m3.Vec3{{}, {Z: 2}}, false))(t)
	if p.Length() != 2 || p.Closed() {
		t.Fatalf("length %g", p.Length())
	}
	if pos, dir := p.At(9); pos != m3.V(0, 0, 2) || dir != m3.V(0, 0, 1) {
		t.Errorf("beyond the end: %v %v", pos, dir)
	}
	if s, d := p.Nearest(m3.V(3, 5, -4)); s != 0 || d != 5 {
		t.Errorf("before the start: s %g, distance %g", s, d)
	}
}

func TestNewPathRefuses(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		pts    []m3.Vec3
		closed bool
	}{
		"want 2 to":    {[]m3.Vec3{{}}, false},
		"want 3 to":    {[]m3.Vec3{{}, {X: 1}}, true},
		"coincide":     {[]m3.Vec3{{}, {X: 1}, {X: 1, Y: 5}}, false},
		"finite":       {[]m3.Vec3{{}, {X: nan}}, false},
		"beyond":       {[]m3.Vec3{{}, {X: 1e6}}, false},
		"10001 points": {make([]m3.Vec3, MaxPathPoints+1), false},
	} {
		if _, err := NewPath(c.pts, c.closed); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewPath([]m3.Vec3{{}, {X: 1}, {X: 1, Z: 1}, {}}, true); err == nil {
		t.Error("a closed path whose ends coincide was accepted")
	}
	if p, err := Builtin("meander"); err != nil || !p.Closed() || m3.Abs(p.Length()-18.7) > 0.1 {
		t.Errorf("meander: %v", err)
	}
	if _, err := Builtin("spiral"); err == nil {
		t.Error("unknown built-in accepted")
	}
}

func TestWander(t *testing.T) {
	const n, dt = 20, float32(1) / 60
	a, b := NewWander(n, 7), NewWander(n, 7)
	roots := make([]m3.Xform, n)
	for i := range roots {
		roots[i] = m3.Xform{Pos: m3.V(float32(i), 0, 0), Rot: m3.Ident}
		a.Reset(i, uint64(i)+7, roots[i].Pos)
		b.Reset(i, uint64(i)+7, roots[i].Pos)
	}
	ga, gb := make([]Goal, n), make([]Goal, n)
	seen := map[Action]int{}
	for range 60 * 120 {
		a.Update(ga, roots, dt, 0, n)
		b.Update(gb, roots, dt, 11, n) // any split, any order
		b.Update(gb, roots, dt, 0, 11)
		for r := range n {
			if ga[r] != gb[r] {
				t.Fatalf("row %d: %+v and %+v from equal seeds", r, ga[r], gb[r])
			}
			seen[ga[r].Action]++
			if m3.Abs(ga[r].Turn) > 0.5 && ga[r].Speed > PaceSpeed {
				t.Fatalf("row %d runs round a hairpin: %+v", r, ga[r])
			}
			// An ideal walker: takes the heading and goes.
			yaw := roots[r].Rot.Yaw() + ga[r].Turn*MaxTurn*dt
			roots[r].Rot = m3.YawQuat(yaw)
			if ga[r].Action == Move {
				roots[r].Pos = roots[r].Pos.Add(roots[r].Rot.Rotate(m3.V(0, 0, ga[r].Speed*dt)))
			}
			if d := roots[r].Pos.Dist(m3.V(float32(r), 0, 0)); d > a.Radius+6 {
				t.Fatalf("row %d strayed %g m from home", r, d)
			}
		}
	}
	for _, act := range []Action{Idle, Move, Sit, Lie} {
		if seen[act] == 0 {
			t.Errorf("nobody chose to %v", act)
		}
	}
	if ga[0] == ga[1] && ga[1] == ga[2] && ga[2] == ga[3] && ga[3] == ga[4] {
		t.Error("all rows do the same")
	}
	if got := testing.AllocsPerRun(10, func() { a.Update(ga, roots, dt, 0, n) }); got != 0 {
		t.Errorf("%g allocations per update", got)
	}
}
