package animsys_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

func level(o *animsys.Options) { o.Ground = ik.Level(0.25) }

// twins are the same agents in two worlds, the second of which has its origin elsewhere.
type twins struct {
	a, b   *actors
	origin m3.Vec3 // of b, in a
	as, bs []arche.Entity
}

// newTwins spawns agents who look, reach, update less often, and follow paths.
func newTwins(t *testing.T, k kind, origin m3.Vec3, extra ...func(*animsys.Options)) *twins {
	t.Helper()
	w := &twins{a: k.scene(t, 4, 2, extra...), b: k.scene(t, 4, 1, extra...), origin: origin}
	w.b.home = origin.Neg()
	look, reach := ecs.LookAt{Target: m3.V(3, 1.5, 40.25), Weight: 1}, ecs.Reach{Left: ecs.Hand{Target: m3.V(-7.5, 1.25, 0.5), Weight: 1}}
	for _, s := range []*actors{w.a, w.b} {
		looks, reaches := generic.NewMap1[ecs.LookAt](&s.ecs), generic.NewMap1[ecs.Reach](&s.ecs)
		for i := range 4 {
			e := must.Get(s.start(i))(t)
			l, r := look, reach
			l.Target, r.Left.Target = l.Target.Add(s.home), r.Left.Target.Add(s.home)
			looks.Assign(e, &l)
			reaches.Assign(e, &r)
			if s == w.a {
				w.as = append(w.as, e)
			} else {
				w.bs = append(w.bs, e)
			}
		}
		setRate(t, s.people, 2, animsys.Every2)
		setRate(t, s.people, 3, animsys.Every4)
	}
	return w
}

// step sets what the agents do, now and then, and steps both worlds.
func (w *twins) step(tick int) {
	for i := range w.as {
		if tick%10 == 0 {
			for _, s := range []*actors{w.a, w.b} {
				e := w.as[i]
				if s == w.b {
					e = w.bs[i]
				}
				s.control(e, i, tick)
				if goals := generic.NewMap1[control.Goal](&s.ecs); i == 1 && goals.Get(e) != nil {
					*goals.Get(e) = control.Goal{Path: control.Meander(), Speed: 1.5, Action: control.Move, PathOrigin: m3.V(-2.5, 0, 1)}
				}
			}
			w.b.shift(w.bs[i], w.origin.Neg())
		}
	}
	w.a.step(1)
	w.b.step(1)
}

// apart returns the largest distance of a bone of agents from its twin, m.
func (w *twins) apart(agents ...int) (d float32) {
	for _, i := range agents {
		for j, x := range w.a.bones(w.as[i]) {
			d = max(d, x.Pos.Dist(w.b.bones(w.bs[i])[j].Pos.Add(w.origin)))
		}
	}
	return d
}

// Agents 20 km away, in a world whose origin moves again and again, have the bits of their twins
// near the origin, in spaces of their own; in world space they are within the rounding.
func TestShiftOrigin(t *testing.T) {
	const rounding = 2.5e-3 // m, of a place in space, 20 km away
	forAll(t, func(t *testing.T, k kind) {
		w, rnd := newTwins(t, k, m3.V(-20480, 0, 19456), level), rand.New(rand.NewPCG(3, 4))
		_, mine := w.a.people.Published()
		last, now := w.b.people.Published()
		for tick := range 150 {
			if rnd.IntN(6) == 0 {
				to := m3.V(float32(rnd.IntN(40000)-20000), 0, float32(rnd.IntN(40000)-20000))
				was, shown := slices.Clone(now), slices.Clone(last)
				must.Do(t, animsys.ShiftOrigin(&w.b.ecs, to.Sub(w.origin)))
				if w.origin = to; !slices.Equal(was, now) || !slices.Equal(shown, last) {
					t.Fatalf("tick %d: the shift changes poses", tick)
				}
				if d := w.apart(0, 1, 2, 3); d > rounding {
					t.Fatalf("tick %d: after the shift bones are off by %g m", tick, d)
				}
			}
			switch tick {
			case 70:
				setRate(t, w.a.people, 3, animsys.Frozen)
				setRate(t, w.b.people, 3, animsys.Frozen)
			case 110:
				setRate(t, w.a.people, 3, animsys.EveryTick)
				setRate(t, w.b.people, 3, animsys.EveryTick)
			}
			w.step(tick)
			if !slices.Equal(mine, now) {
				t.Fatalf("tick %d: other bits than near the origin", tick)
			}
			if d := w.apart(0, 1, 2, 3); d > rounding {
				t.Fatalf("tick %d: bones are off by %g m", tick, d)
			}
			for i := range w.as {
				a, b := w.a.people.Root(w.as[i]), w.b.people.Root(w.bs[i])
				if d := a.Pos.Dist(b.Pos.Add(w.origin)); d > rounding || a.Rot != b.Rot {
					t.Fatalf("tick %d: root %d is off by %g m", tick, i, d)
				}
			}
		}
		must.Do(t, w.a.people.Place(w.as[0], m3.V(30, 0, 30), 1))
		must.Do(t, w.b.people.Place(w.bs[0], m3.V(30, 0, 30).Sub(w.origin), 1))
		w.step(151)
		if d := w.apart(0, 1, 2, 3); d > 2*rounding {
			t.Errorf("after they were placed elsewhere bones are off by %g m", d)
		}
		must.Do(t, w.b.people.Despawn(w.bs[1]))
		must.Do(t, w.a.people.Despawn(w.as[1]))
		w.as, w.bs = slices.Delete(w.as, 1, 2), slices.Delete(w.bs, 1, 2)
		if d := w.apart(0, 1, 2); d > 2*rounding {
			t.Errorf("after one has left bones are off by %g m", d)
		}
	})
}

// An agent that gets another anchor moves on as if it had kept the old one, at any time: nothing
// that is remembered of it stays behind.
func TestReanchor(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		var extra []func(*animsys.Options)
		if k.name == "manifold" {
			extra = append(extra, withStyles(t))
		}
		w, rnd := newTwins(t, k, m3.Vec3{}, extra...), rand.New(rand.NewPCG(5, 6))
		if extra != nil {
			for _, s := range []*actors{w.a, w.b} {
				style := ecs.MARStyle{}
				style.Weights[indexOf(t, "old")] = 1
				styles := generic.NewMap1[ecs.MARStyle](&s.ecs)
				styles.Assign(s.people.Entity(0), &style)
			}
		}
		// Rounding may still let a foot lock a tick earlier.
		moved, jumps := 0, 0
		for tick := range 150 {
			row := rnd.IntN(4)
			by := w.b.people.Anchor(row).Neg()
			if by == (m3.Vec3{}) {
				by = m3.V(float32(64*(rnd.IntN(3)-1)), 0, 64)
			}
			was := w.apart(row)
			frames := func() []m3.Xform {
				return append(w.b.people.Interpolate(nil, 0), w.b.people.Interpolate(nil, 1)...)
			}
			drawn := frames()
			w.b.people.Reanchor(row, by)
			for i, x := range frames() {
				if d := x.Pos.Dist(drawn[i].Pos); d > 1e-4 {
					t.Fatalf("tick %d: bones jump by %g m", tick, d)
				}
			}
			w.step(tick)
			if was < 1e-3 {
				if moved++; w.apart(row) > was+2e-3 {
					jumps++
				}
			}
			for i := range w.as {
				if d := w.a.people.Root(w.as[i]).Pos.Dist(w.b.people.Root(w.bs[i]).Pos); d > 0.1 {
					t.Fatalf("tick %d: root %d is off by %g m", tick, i, d)
				}
			}
		}
		t.Logf("%d of %d agents jump in the next tick", jumps, moved)
		if jumps > moved/10 || moved < 25 {
			t.Errorf("%d of %d agents jump in the next tick", jumps, moved)
		}
	})
}

func TestShiftOriginErrors(t *testing.T) {
	w := newWorld(t, 3, 1)
	w.spawn(0)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	was := w.crowd.Hash()
	for _, by := range []m3.Vec3{{X: nan}, {Z: nan}, {X: inf}, {Y: 1}, {Y: nan}, {X: 0.5}, {Z: 1e6}, {X: -1e30}} {
		if err := animsys.ShiftOrigin(&w.ecs, by); err == nil || !strings.Contains(err.Error(), "whole metres") {
			t.Errorf("the origin moves by %v: %v", by, err)
		}
	}
	q := w.ecs.Query(arche.All())
	if err := animsys.ShiftOrigin(&w.ecs, m3.V(1, 0, 0)); err == nil || !strings.Contains(err.Error(), "query") {
		t.Errorf("the origin moves within a query: %v", err)
	}
	q.Close()
	if w.crowd.Hash() != was {
		t.Error("a failed shift changes something")
	}
	other := arche.NewWorld()
	must.Do(t, animsys.ShiftOrigin(&other, m3.V(1, 0, 0)))
	// Farther and farther: in time whole metres have no room.
	for range 200 {
		if err := animsys.ShiftOrigin(&w.ecs, m3.V(0, 0, 2*generator.Farthest)); err != nil {
			w.scene.step(3)
			return
		}
	}
	t.Error("the origin moves without end")
}

// Spawn and Place refuse places out of range. An agent that has gone there is counted, moves on,
// and is brought back by a shift.
func TestOutOfRange(t *testing.T) {
	w := newWorld(t, 3, 1)
	e := w.spawn(0)
	for _, pos := range []m3.Vec3{{X: generator.Farthest}, {Z: -1e6}} {
		if _, err := w.crowd.Spawn(pos, 0); err == nil || !strings.Contains(err.Error(), "32768 m") {
			t.Errorf("spawned at %v: %v", pos, err)
		}
		if err := w.crowd.Place(e, pos, 0); err == nil || !strings.Contains(err.Error(), "ShiftOrigin") {
			t.Errorf("placed at %v: %v", pos, err)
		}
	}
	edge := m3.V(0, 0, generator.Farthest-1)
	must.Do(t, w.crowd.Place(e, edge, 0))
	for tick := range 150 {
		*w.goals.Get(e) = control.Goal{Move: m3.V(0, 0, 1), Speed: 2, Action: control.Move}
		w.step()
		if out := w.crowd.Root(e).Pos.Z > generator.Farthest; out != (w.crowd.OutOfRange() == 1) {
			t.Fatalf("tick %d: the dog is at %v, and %d are out of range", tick, w.crowd.Root(e).Pos, w.crowd.OutOfRange())
		}
	}
	if way := w.crowd.Root(e).Pos.Sub(edge).Z; way < 1.5 || w.dogs.TotalRestored() > 0 {
		t.Errorf("beyond the range the dog goes %g m in 2.5 s, put back %d times", way, w.dogs.TotalRestored())
	}
	must.Do(t, animsys.ShiftOrigin(&w.ecs, m3.V(0, 0, 30000)))
	if n := w.crowd.OutOfRange(); n != 0 {
		t.Errorf("after the shift %d are out of range", n)
	}
}
