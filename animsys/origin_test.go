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
	"mannequin/animsys/layer"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"

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
	race.Single(t)
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

// footage is what a game reads of two agents in a run, tick by tick.
type footage struct {
	own     []m3.Xform // poses in the agents' own spaces
	camera  []m3.Vec3  // joints in the space of a camera beside the agents, m
	world   []m3.Vec3  // joints in world space, without the camera's place, m
	lengths []float32  // of bones in world space, m
	feet    []m3.Vec3  // moves of locked feet in a tick, for the camera, m
	way     float32    // of the first agent's root, m
}

// film runs two agents d metres from the origin. It spawns them at most 20,480 m away, and shifts the
// origin after the first tick for the rest.
func film(t *testing.T, k kind, d float32, ticks int) (f footage) {
	a, home := k.scene(t, 2, 2, level), m3.V(d, 0, 0)
	a.home = m3.V(min(d, 20480), 0, 0)
	people, agents := a.people, numbers(2)
	n, legs := people.Skel.Len(), people.Ground.Rig.Roles.Legs
	_, now := people.Published()
	var bones []m3.Xform
	tips, held := make([]m3.Vec3, 2*len(legs)), make([]bool, 2*len(legs)) // before the tick
	for _, i := range agents {
		must.Get(a.start(i))(t)
	}
	must.Do(t, people.Play(people.Entity(0), quarterTurn(t, people.Skel), layer.PlayOptions{Loop: true, RootMotion: true, Start: 1}))
	start := people.Roots[0].Pos
	for tick := range ticks {
		if tick == 60 {
			must.Do(t, people.Stop(people.Entity(0), 0, 0))
		}
		if tick == 1 && a.home != home {
			must.Do(t, animsys.ShiftOrigin(&a.ecs, a.home.Sub(home)))
			start, a.home = start.Add(home.Sub(a.home)), home
		}
		for i := range agents {
			a.control(people.Entity(i), i, tick)
			a.shift(people.Entity(i), a.home)
		}
		a.step(1)
		f.own = append(f.own, now[:2*n]...)
		bones = people.InterpolateFrom(bones, 1, a.home)
		for row := range agents {
			world := people.BonesAt(row)
			for j, x := range bones[row*n : (row+1)*n] {
				f.camera, f.world = append(f.camera, x.Pos), append(f.world, world[j].Pos.Sub(a.home))
				if p := people.Skel.Parents[j]; p >= 0 {
					f.lengths = append(f.lengths, world[j].Pos.Dist(world[p].Pos))
				}
			}
			for l, leg := range legs {
				i, tip := row*len(legs)+l, bones[row*n+int(leg[len(leg)-1])].Pos
				locked := people.Ground.Feet[i].Locked()
				if locked && held[i] {
					f.feet = append(f.feet, tip.Sub(tips[i]))
				}
				tips[i], held[i] = tip, locked
			}
		}
	}
	f.way = people.Roots[0].Pos.Dist(start)
	return f
}

// longest returns the length of the longest vector.
func longest(all []m3.Vec3) (l float32) {
	for _, v := range all {
		l = max(l, v.Len())
	}
	return l
}

// apart returns the largest difference between the places of a and b, and between their moves in a
// tick. A tick has n places.
func apart(a, b []m3.Vec3, n int) (place, move float32) {
	for i := range a {
		place = max(place, a[i].Dist(b[i]))
		if i >= n {
			move = max(move, a[i].Sub(a[i-n]).Dist(b[i].Sub(b[i-n])))
		}
	}
	return place, move
}

// Far from the origin agents move as at it. Beyond the first kilometre, they have the same bits in
// their own spaces, also for 600 ticks after a shift, and a camera beside them sees no difference.
// In world space places are rounded to what float32 resolves there, and nothing more.
func TestFar(t *testing.T) {
	race.Single(t)
	forAll(t, func(t *testing.T, k kind) {
		origin := film(t, k, 0, 601)
		t.Logf("%20s  %9s  %9s  %9s  %9s  %9s  %9s  %7s", "from the origin", "own bits", "camera", "its feet", "world", "jitter", "bones", "way")
		for _, d := range []float32{0, 1000, 10240, 20480, 40960} {
			ticks := 150
			if d == 0 || d == 40960 {
				ticks = 601
			}
			far := film(t, k, d, ticks)
			n, bits, bone := len(far.own)/ticks, 0, float32(0)
			for i, x := range far.own {
				if x != origin.own[i] {
					bits++
				}
			}
			for i, l := range far.lengths {
				bone = max(bone, m3.Abs(l-origin.lengths[i]))
			}
			camera, _ := apart(far.camera, origin.camera, n)
			world, jitter := apart(far.world, far.camera, n)
			feet := longest(far.feet)
			t.Logf("%17.2f km  %9d  %6.3f mm  %6.3f mm  %6.3f mm  %6.3f mm  %6.3f mm  %5.2f m", d/1000, bits, 1e3*camera, 1e3*feet, 1e3*world, 1e3*jitter, 1e3*bone, far.way)

			step := math.Nextafter32(d+16, d+32) - (d + 16) // of float32
			if d != 1000 && (bits > 0 || camera > 1e-5) {
				t.Errorf("at %g m: %d joints have other bits, a camera sees %g m", d, bits, camera)
			}
			if world > step+1e-5 || jitter > 2*step+1e-5 || bone > 2*step+1e-5 {
				t.Errorf("at %g m: places in world space are off by %g m, moves by %g m, bones by %g m, with steps of %g m", d, world, jitter, bone, step)
			}
			limit := longest(origin.feet)
			if d == 1000 { // the motion is another one
				limit = max(limit, 0.005) // within which a foot counts as locked
			}
			if feet > limit+1e-4 {
				t.Errorf("at %g m: locked feet move by %g m in a tick, at the origin by %g m", d, feet, limit)
			}
			if ticks == 601 && m3.Abs(far.way-origin.way) > 0.01 {
				t.Errorf("at %g m: an agent goes %g m, at the origin %g m", d, far.way, origin.way)
			}
		}
	})
}
