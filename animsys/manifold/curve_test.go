package manifold

import (
	"fmt"
	"math"
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"

	"pgregory.net/rapid"
)

func line(t testing.TB, from, to m3.Vec3) *control.Path {
	t.Helper()
	return must.Get(control.NewPath([]m3.Vec3{from, to}, false))(t)
}

// planned is a trajectory that a planner plans from standing.
type planned struct {
	p   planner
	way []waypoint
}

func newPlanned(x, z, yaw float64) *planned {
	w := waypoint{x: x, z: z, yaw: yaw}
	l := &planned{way: []waypoint{w, w}}
	l.p.follow(Curve{}, w, w)
	return l
}

func (l *planned) take(c Curve) { l.p.follow(c.clamped(), l.way[len(l.way)-2], l.way[len(l.way)-1]) }

func (l *planned) on(frames int) {
	for range frames {
		l.way = append(l.way, l.p.next())
	}
}

// push returns the maximum acceleration from frame from on, m/s², and the maximum turning rate,
// rad/s.
func (l *planned) push(from int) (push, turn float64) {
	for f := max(from, 2); f < len(l.way); f++ {
		a, b, c := l.way[f-2], l.way[f-1], l.way[f]
		push = math.Max(push, math.Hypot(c.x-2*b.x+a.x, c.z-2*b.z+a.z)*Rate*Rate)
		turn = math.Max(turn, math.Abs(c.yaw-b.yaw)*Rate)
	}
	return push, turn
}

func (l *planned) last() waypoint { return l.way[len(l.way)-1] }

// Without a path a person stands still.
func TestPlannerStands(t *testing.T) {
	l := newPlanned(5, -3, 1)
	l.on(100)
	if w := l.last(); w.x != 5 || w.z != -3 || w.yaw != 1 {
		t.Errorf("a standing person is at %+v", w)
	}
}

// A person far from the path walks to it, facing ahead, even if the wanted speed keeps changing.
func TestPlannerWalksToItsPath(t *testing.T) {
	path := line(t, m3.V(12, 0, -50), m3.V(12, 0, 50))
	for _, every := range []int{3, 32, 1000} {
		l := newPlanned(0, 0, 0)
		for i := range 300 / every {
			l.take(Curve{Path: path, Start: 50, Speed: 1 + 0.001*float32(i%7)})
			l.on(every)
		}
		if every == 1000 {
			l.take(Curve{Path: path, Start: 50, Speed: 1})
			l.on(300)
		}
		w := l.last()
		if d := math.Remainder(w.yaw-math.Pi/2, 2*math.Pi); math.Abs(d) > 0.15 || math.Abs(w.yaw) > 4 || w.x < 4 || w.x > 7 {
			t.Errorf("changed every %d frames: after 5 s it is at %+v, want half way to the right", every, w)
		}
		if push, turn := l.push(0); push > 8 || turn > 9 {
			t.Errorf("changed every %d frames: it is pushed by %g m/s², turns at %g rad/s", every, push, turn)
		}
		l.on(900)
		if w := l.last(); math.Abs(w.x-12) > 0.01 || math.Abs(math.Remainder(w.yaw, 2*math.Pi)) > 0.05 {
			t.Errorf("changed every %d frames: in the end it is at %+v, want on the path, facing along it", every, w)
		}
	}
}

// At the end of an open path people stop, softly if there is room; otherwise they come back.
func TestPlannerStopsAtEnds(t *testing.T) {
	for _, c := range []struct{ length, speed, push float32 }{{30, 1.4, 5}, {30, 8, 5}, {60, 8, 5}, {1, 6, 9}, {0.05, 3, 9}} {
		l := newPlanned(0, 0, 0)
		run := line(t, m3.V(0, 0, 0), m3.V(0, 0, 26))
		l.take(Curve{Path: run, Speed: c.speed})
		l.on(150)
		at := l.last()
		path := line(t, m3.V(0, 0, float32(at.z)), m3.V(0, 0, float32(at.z)+c.length))
		from := len(l.way)
		l.take(Curve{Path: path, Speed: c.speed})
		l.on(2400)
		end := at.z + float64(c.length)
		if w := l.last(); math.Abs(w.z-end) > 0.01 {
			t.Errorf("%+v: it stands at %g, the path ends at %g", c, w.z, end)
		}
		if push, _ := l.push(from); push > float64(c.push) {
			t.Errorf("%+v: it is pushed by %g m/s²", c, push)
		}
		l.take(Curve{Path: path, Speed: c.speed / 2})
		l.on(200)
		if w := l.last(); math.Abs(w.z-end) > 0.02 {
			t.Errorf("%+v: with another speed it moves to %g", c, w.z)
		}
	}
}

// On a closed path the speed is constant, even if it changes at the seam and on paths shorter than
// a step.
func TestPlannerGoesRound(t *testing.T) {
	for _, c := range []struct{ radius, speed float32 }{{0.6, 3}, {2, 1.4}, {0.02, 2}} {
		path := must.Get(control.Circle(c.radius))(t)
		at, _ := path.At(0)
		l := newPlanned(float64(at.X), float64(at.Z), math.Pi/2)
		l.take(Curve{Path: path, Speed: c.speed})
		l.on(240)
		for f := range 300 {
			l.take(Curve{Path: path, Speed: c.speed + 0.01*float32(f%2)})
			from := l.p.arc
			l.on(1)
			if d := math.Mod(l.p.arc-from+float64(path.Length()), float64(path.Length())); c.radius > 0.1 && math.Abs(d*Rate-float64(c.speed)) > 0.1 {
				t.Fatalf("%+v: frame %d goes %g m/s", c, f, d*Rate)
			}
		}
		w := l.last()
		if _, d := path.Nearest(m3.V(float32(w.x), 0, float32(w.z))); d > 0.06 && c.radius > 0.1 {
			t.Errorf("%+v: it is %g m off the path", c, d)
		}
	}
}

// Slow walking is exact far along a long path.
func TestPlannerGoesFar(t *testing.T) {
	path := line(t, m3.V(0, 0, -25000), m3.V(0, 0, 25000))
	at, _ := path.At(45000)
	l := newPlanned(float64(at.X), float64(at.Z), 0)
	l.take(Curve{Path: path, Start: 45000, Speed: 0.3})
	l.on(60)
	from := l.last().z
	l.on(600)
	if d := l.last().z - from; math.Abs(d-3) > 0.05 {
		t.Errorf("at 0.3 m/s it goes %g m in 10 s", d)
	}
}

// Trajectories are finite and smooth for any changes of the curve.
func TestPlannerIsSmooth(t *testing.T) {
	circle := must.Get(control.Circle(5))(t)
	paths := []*control.Path{nil, circle, line(t, m3.V(-10, 0, 3), m3.V(10, 0, 5)), line(t, m3.V(30, 0, 0), m3.V(31, 0, 0)), {}}
	odd := []float32{0, 1, -1, float32(math.NaN()), float32(math.Inf(1)), 100}
	rapid.Check(t, func(rt *rapid.T) {
		l := newPlanned(0, 0, 0)
		for i := range rapid.IntRange(1, 8).Draw(rt, "changes") {
			pick := func(name string, normal float32) float32 {
				return rapid.SampledFrom(append([]float32{normal, normal, normal}, odd...)).Draw(rt, fmt.Sprint(name, i))
			}
			c := Curve{Path: paths[rapid.IntRange(0, len(paths)-1).Draw(rt, fmt.Sprint("path", i))], Start: pick("start", 4),
				Speed: min(pick("speed", 1.4), 3), Facing: pick("facing", 0)}
			l.take(c)
			l.on(rapid.IntRange(1, 200).Draw(rt, fmt.Sprint("frames", i)))
		}
		for f, w := range l.way {
			if v := w.x + w.z + w.yaw + w.arc + w.speed; v-v != 0 {
				rt.Fatalf("frame %d is %+v", f, w)
			}
		}
		if push, turn := l.push(0); push > 16 || turn > 20 {
			rt.Fatalf("pushed by %g m/s², turned at %g rad/s", push, turn)
		}
	})
}
