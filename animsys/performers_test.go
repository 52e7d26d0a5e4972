package animsys_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	humankeypose "mannequin/models/human-keypose"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
	"pgregory.net/rapid"
)

// fair is a world with performers on hills.
type fair struct {
	t        testing.TB
	ecs      arche.World
	people   *animsys.Performers
	schedule *ecs.Schedule
	parts    generic.Map1[keypose.Part]
	routines []*keypose.Routine
}

func keyposeModel(t testing.TB) *keypose.Model {
	t.Helper()
	net, err := humankeypose.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := keypose.New(net)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newFair(t testing.TB, capacity, workers int) *fair {
	t.Helper()
	field, err := terrain.Hills(terrain.Grid{Size: 120, Cell: 0.5}, terrain.HillsOptions{Seed: 2, Wavelength: 14, MaxSlope: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	f := &fair{t: t, ecs: arche.NewWorld()}
	m := keyposeModel(t)
	if f.people, err = animsys.NewPerformers(&f.ecs, m, animsys.PerformersOptions{Capacity: capacity, Terrain: field, Workers: workers}); err != nil {
		t.Fatal(err)
	}
	if f.schedule, err = ecs.NewSchedule(&f.ecs, 1.0/60, animsys.Systems()...); err != nil {
		t.Fatal(err)
	}
	f.parts = generic.NewMap1[keypose.Part](&f.ecs)
	t.Cleanup(func() {
		f.schedule.Close()
		if err := f.people.Close(); err != nil {
			t.Error(err)
		}
	})
	a, err := routines.NewAuthor(m.Layout, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range routines.Names() {
		r, err := a.Write(name)
		if err != nil {
			t.Fatal(err)
		}
		f.routines = append(f.routines, r)
	}
	return f
}

func (f *fair) part(i int) keypose.Part { return keypose.Part{Routine: f.routines[i%len(f.routines)]} }

func (f *fair) spawn(i int) arche.Entity {
	f.t.Helper()
	e, err := f.people.Spawn(m3.V(float32(i%8)-4, 0, float32(i/8%40)), float32(i), f.part(i), float64(i)/3)
	if err != nil {
		f.t.Fatal(err)
	}
	return e
}

func (f *fair) step(ticks int) {
	f.t.Helper()
	for range ticks {
		if err := f.schedule.Step(); err != nil {
			f.t.Fatal(err)
		}
	}
}

// Whatever they perform and change to, people stay on their spots, on standing feet, and
// nobody jerks.
func TestPerformersPerform(t *testing.T) {
	f := newFair(t, 9, 2)
	var all []arche.Entity
	for i := range 9 {
		all = append(all, f.spawn(i))
	}
	sk := f.people.Skel
	tips := []int{sk.Index("LeftToeBase"), sk.Index("RightToeBase")}
	last := make([][2]m3.Vec3, 9)
	bones := make([][3][]m3.Xform, 9) // of three ticks
	var skate, stands, jerk float64
	const ticks = 700
	for tick := range ticks {
		if tick%100 == 99 {
			for i, e := range all {
				*f.parts.Get(e) = f.part(i + tick/100)
			}
		}
		f.step(1)
		for r := range all {
			b := f.people.Bones(r)
			for j, p := range sk.Parents {
				if !b[j].Pos.Finite() || !b[j].Rot.Finite() {
					t.Fatalf("tick %d: performer %d's %s is %v", tick, r, sk.Names[j], b[j])
				}
				if p >= 0 && m3.Abs(b[j].Pos.Dist(b[p].Pos)-sk.Offsets[j].Len()) > 1e-3 {
					t.Fatalf("tick %d: the bone to %s is %g m long", tick, sk.Names[j], b[j].Pos.Dist(b[p].Pos))
				}
			}
			if at := f.people.Roots[r].Pos; at.Dist(m3.V(float32(r%8)-4, 0, float32(r/8))) > 0.2 {
				t.Fatalf("tick %d: performer %d is at %v", tick, r, at)
			}
			for k, j := range tips {
				p := b[j].Pos
				if h := p.Y - f.people.Terrain.Height(p.X, p.Z); h < 0.01 || h > 0.08 {
					t.Fatalf("tick %d: performer %d's %s is %g m over the ground", tick, r, sk.Names[j], h)
				}
				if f.people.Ground.Feet[2*r+k].Contact() && tick > 0 {
					stands++
					skate += float64(p.Dist(last[r][k]))
				}
				last[r][k] = p
			}
			three := &bones[r]
			three[0], three[1], three[2] = three[1], three[2], append(three[0][:0], b...)
			if tick > 2 {
				for j := range b {
					a := three[0][j].Pos.Add(three[2][j].Pos).Sub(three[1][j].Pos.Scale(2)).Len() * 3600
					jerk = max(jerk, float64(a))
				}
			}
		}
	}
	if share := stands / ticks / 18; share < 0.95 {
		t.Errorf("feet stand %.2f of the time", share)
	}
	if mean := 100 * skate / stands; mean > 0.05 {
		t.Errorf("standing feet slide by %.3f cm a tick", mean)
	}
	if jerk > 150 {
		t.Errorf("a joint is pushed by %.0f m/s²", jerk)
	}
	if f.people.Stream.Lost() != 0 {
		t.Errorf("%d windows were lost", f.people.Stream.Lost())
	}
	t.Logf("feet stand %.2f of the time, slide by %.4f cm a tick; joints are pushed by at most %.0f m/s²", stands/ticks/18, 100*skate/stands, jerk)
}

// The same bits for any number of workers, with people who come, go, change and are placed.
func TestPerformersOnAnyWorkers(t *testing.T) {
	track := func(workers int) (out [][]m3.Xform) {
		f := newFair(t, 20, workers)
		var all []arche.Entity
		for tick := range 150 {
			switch {
			case tick%5 == 0 && len(all) < 20:
				all = append(all, f.spawn(tick))
			case tick%41 == 40:
				if err := f.people.Despawn(all[2]); err != nil {
					t.Fatal(err)
				}
				all = append(all[:2], all[3:]...)
			case tick == 60:
				*f.parts.Get(all[0]) = f.part(4)
			case tick == 99:
				if err := f.people.Place(all[0], m3.V(9, 0, 9), 2); err != nil {
					t.Fatal(err)
				}
			}
			f.step(1)
			out = append(out, append([]m3.Xform(nil), f.people.Bones(0)...))
		}
		return out
	}
	one := track(1)
	same(t, "3 workers", one, track(3))
}

// However people come and go, everyone's bones are on their own spot.
func TestPerformersComeAndGo(t *testing.T) {
	f := newFair(t, 8, 2)
	rapid.Check(t, func(rt *rapid.T) {
		type one struct {
			e  arche.Entity
			at m3.Vec3
		}
		var all []one
		spot := func() m3.Vec3 {
			return m3.V(float32(rapid.IntRange(-5, 5).Draw(rt, "x"))*5, 0, float32(rapid.IntRange(-5, 5).Draw(rt, "z"))*5)
		}
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			what, k := rapid.IntRange(0, 2).Draw(rt, "what"), 0
			if len(all) > 0 {
				k = rapid.IntRange(0, len(all)-1).Draw(rt, "who")
			}
			switch {
			case what == 0:
				at := spot()
				e, err := f.people.Spawn(at, 1, f.part(k), 1)
				if (err != nil) != (len(all) == 8) {
					rt.Fatalf("%d performers, one more: %v", len(all), err)
				}
				if err == nil {
					all = append(all, one{e, at})
				}
			case len(all) == 0:
			case what == 1:
				if err := f.people.Despawn(all[k].e); err != nil {
					rt.Fatal(err)
				}
				all = append(all[:k], all[k+1:]...)
			default:
				all[k].at = spot()
				if err := f.people.Place(all[k].e, all[k].at, 2); err != nil {
					rt.Fatal(err)
				}
			}
			f.step(rapid.IntRange(1, 6).Draw(rt, "ticks"))
			for _, o := range all {
				row, ok := f.people.Rows.Row(o.e)
				if at := f.people.Bones(row)[0].Pos.Flat(); !ok || at.Dist(o.at) > 0.3 {
					rt.Fatalf("whose spot is %v is at %v, in row %d", o.at, at, row)
				}
			}
		}
		for _, o := range all {
			if err := f.people.Despawn(o.e); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// Who is placed is not drawn on the way there; parts of who is no performer are nobody's;
// the systems pass closed performers by.
func TestPerformersPlaceAndClose(t *testing.T) {
	f := newFair(t, 1, 1)
	e := f.spawn(0)
	f.step(5)
	if err := f.people.Place(e, m3.V(30, 0, 30), 0); err != nil {
		t.Fatal(err)
	}
	f.step(1)
	if at := f.people.Interpolate(nil, 0.5)[0].Pos.Flat(); at.Dist(m3.V(30, 0, 30)) > 0.2 {
		t.Errorf("between ticks who was placed at (30, 30) is at %v", at)
	}
	stranger := generic.NewMap2[ecs.Slot, keypose.Part](&f.ecs)
	part := f.part(3)
	stranger.NewWith(&ecs.Slot{}, &part)
	f.step(1)
	if got, want := f.people.Stream.Parts[0], *f.parts.Get(e); got != want {
		t.Errorf("the part is %v, want %v", got, want)
	}
	if err := f.people.Close(); err != nil {
		t.Fatal(err)
	}
	was := f.people.Pos[0]
	f.step(40)
	if f.people.Pos[0] != was {
		t.Error("closed performers perform")
	}
}

func TestPerformersTickDoesNotAllocate(t *testing.T) {
	f := newFair(t, 64, 2)
	for i := range 64 {
		f.spawn(i)
	}
	f.step(64)
	frame := f.people.Interpolate(nil, 0.5)
	mustNotAllocate(t, func() {
		for range 120 {
			f.step(1)
			frame = f.people.Interpolate(frame, 0.5)
		}
	})
}

func TestPerformersErrors(t *testing.T) {
	m := keyposeModel(t)
	field, err := terrain.Flat(terrain.Grid{Size: 20, Cell: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	w := arche.NewWorld()
	roles, err := ik.HumanRoles(m.Layout.Skel.Names)
	if err != nil {
		t.Fatal(err)
	}
	lame, none := roles, roles
	lame.Legs, none.Legs = roles.Legs[:1], []ik.Leg{roles.Legs[0], {}}
	for _, c := range []struct {
		want  string
		model *keypose.Model
		opt   animsys.PerformersOptions
	}{
		{"without a model", nil, animsys.PerformersOptions{Capacity: 1, Terrain: field}},
		{"at least 1", m, animsys.PerformersOptions{Terrain: field}},
		{"Terrain", m, animsys.PerformersOptions{Capacity: 1}},
		{"1 legs", m, animsys.PerformersOptions{Capacity: 1, Terrain: field, Roles: &lame}},
		{"Legs[1]", m, animsys.PerformersOptions{Capacity: 1, Terrain: field, Roles: &none}},
	} {
		if _, err := animsys.NewPerformers(&w, c.model, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		}
	}
	f := newFair(t, 1, 1)
	if _, err := animsys.NewPerformers(&f.ecs, m, animsys.PerformersOptions{Capacity: 1, Terrain: field}); err == nil {
		t.Error("performers after the schedule: no error")
	}
	if _, err := f.people.Spawn(m3.V(float32(math.NaN()), 0, 0), 0, f.part(0), 0); err == nil {
		t.Error("spawned nowhere")
	}
	if _, err := f.people.Spawn(m3.V(0, 0, 0), 0, keypose.Part{}, 0); err == nil {
		t.Error("spawned without a routine")
	}
	e := f.spawn(0)
	if _, err := f.people.Spawn(m3.V(0, 0, 0), 0, f.part(0), 0); err == nil {
		t.Error("two performers where there is room for one")
	}
	f.parts.Get(e).Speed = float32(math.NaN())
	f.step(90)
	if at := f.people.Bones(0)[0].Pos; !at.Finite() {
		t.Errorf("who is asked for NaN is at %v", at)
	}
	if err := f.people.Despawn(e); err != nil || f.people.Agents() != 0 || f.people.Stream.People() != 0 {
		t.Errorf("despawned: %v, %d are left", err, f.people.Agents())
	}
	if err := f.people.Place(e, m3.V(0, 0, 0), 0); err == nil {
		t.Error("placed who is gone")
	}
	f.step(1)
}

// BenchmarkPerformers is a tick of so many on hills, on all cores: the network of those
// whose turn it is, poses, feet.
func BenchmarkPerformers(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			f := newFair(b, n, 0)
			for i := range n {
				f.spawn(i)
			}
			f.step(64)
			b.ReportAllocs()
			for b.Loop() {
				f.step(1)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/agent")
		})
	}
}
