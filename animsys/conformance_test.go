package animsys_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/extreme"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/testlatent"
	"mannequin/internal/testing/testmatching"
	"mannequin/internal/testing/teststrnn"
	herofile "mannequin/models/hero"
	"mannequin/models/person"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// kind is a generator under test.
type kind struct {
	name  string
	scene func(t testing.TB, capacity, workers int, extra ...func(*animsys.Options)) *actors
	// refuses makes crowds that NewCrowd or the generator must refuse, by a part of the
	// error.
	crowd func(capacity int, opt animsys.Options) error
	into  func(w *arche.World, capacity int, opt animsys.Options) (*animsys.Crowd, error)
	rows  func(t testing.TB, capacity int) *rows
}

// actors is a scene of agents whose controls the test sets without knowing their type.
type actors struct {
	*scene
	control func(e arche.Entity, i, tick int) // sets what agent i does in a tick
	broken  func(e arche.Entity, x float64)   // sets all numbers of what an agent does to x
	other   func() error                      // spawns with a control of another type
	start   func(i int) (arche.Entity, error) // spawns agent i
	shift   func(e arche.Entity, by m3.Vec3)  // moves the places in an agent's control
	home    m3.Vec3                           // where start puts the origin of at
}

// kindOf makes the kind of a generator. control returns what agent i does in a tick.
func kindOf[C any](t testing.TB, name string, open func(capacity, workers int) (generator.Generator[C], error), control func(i, tick int) C) kind {
	scene := func(t testing.TB, capacity, workers int, extra ...func(*animsys.Options)) *actors {
		t.Helper()
		s := newScene(t, must.Get(open(capacity, workers))(t), workers, extra...)
		controls := generic.NewMap1[C](&s.ecs)
		a := &actors{scene: s,
			control: func(e arche.Entity, i, tick int) { *controls.Get(e) = control(i, tick) },
			broken:  func(e arche.Entity, x float64) { extreme.Made{}.Fill(reflect.ValueOf(controls.Get(e)).Elem(), x) },
			shift: func(e arche.Entity, by m3.Vec3) {
				if c, ok := any(controls.Get(e)).(interface{ Shift(by m3.Vec3) }); ok {
					c.Shift(by)
				}
			},
			other: func() error { _, err := animsys.SpawnWith(s.people, m3.Vec3{}, 0, struct{}{}); return err },
		}
		a.start = func(i int) (arche.Entity, error) {
			pos, yaw := at(i)
			pos = pos.Add(a.home)
			if name == "keypose" { // has no default
				return animsys.SpawnWith(s.people, pos, yaw, control(i, 0))
			}
			return s.people.Spawn(pos, yaw)
		}
		return a
	}
	crowd := func(capacity int, opt animsys.Options) error {
		g, err := open(capacity, 1)
		if err != nil {
			return err
		}
		defer g.Close()
		w := arche.NewWorld()
		_, err = animsys.NewCrowd(&w, g, opt)
		return err
	}
	into := func(w *arche.World, capacity int, opt animsys.Options) (*animsys.Crowd, error) {
		return animsys.NewCrowd(w, must.Get(open(capacity, 1))(t), opt)
	}
	return kind{name, scene, crowd, into, func(t testing.TB, capacity int) *rows { return newRows(t, must.Get(open(capacity, 2))(t), control) }}
}

// kinds are all generators. A new one is added here, and is tested like the others.
func kinds(t testing.TB) []kind {
	predictor := teststrnn.Model(t, teststrnn.Options{Guide: true})
	poses := keyposeModel(t)
	author := must.Get(routines.NewAuthor(poses.Layout, 1))(t)
	var written []*keypose.PoseLoop
	for _, name := range routines.Names() {
		written = append(written, must.Get(author.Write(name))(t))
	}
	clips, next := testlatent.Shipped(t)
	walkers := must.Get(person.Open())(t)
	circle := must.Get(control.Circle(5))(t)
	return []kind{
		kindOf(t, "mann", func(n, workers int) (generator.Generator[control.Goal], error) {
			return testdog.Model(t).NewController(mann.ControllerOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) control.Goal {
			if (tick/20+i)%7 == 0 {
				return control.Goal{Action: control.Sit}
			}
			return control.Goal{Move: m3.V(0, 0, 1), Turn: float32(i%5)/4 - 0.5, Speed: 1 + float32(i%3), Action: control.Move}
		}),
		kindOf(t, "manifold", func(n, workers int) (generator.Generator[manifold.Curve], error) {
			return walkers.NewStream(manifold.StreamOptions{Capacity: n, Batch: n, Workers: workers})
		}, func(i, tick int) manifold.Curve {
			return manifold.Curve{Path: circle, Start: float32(i), Speed: 1 + 0.4*float32(i%3)}
		}),
		kindOf(t, "latent", func(n, workers int) (generator.Generator[latent.Sliders], error) {
			return clips.NewStream(next, latent.StreamOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) (s latent.Sliders) {
			s.Set(0, float32((tick/40+i)%3)-1)
			return s
		}),
		kindOf(t, "latent in few ticks", func(n, workers int) (generator.Generator[latent.Sliders], error) {
			return clips.NewStream(next, latent.StreamOptions{Capacity: n, Workers: workers, Every: 6, From: 2})
		}, func(i, tick int) (s latent.Sliders) {
			s.Set(0, float32((tick/40+i)%3)-1)
			return s
		}),
		kindOf(t, "strnn", func(n, workers int) (generator.Generator[strnn.Steer], error) {
			return predictor.NewStream(strnn.StreamOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) strnn.Steer {
			return strnn.Steer{Speed: 1 + 0.1*float32(i%3), Turn: 0.2 * float32(tick/50%3-1)}
		}),
		kindOf(t, "matching", func(n, workers int) (generator.Generator[control.Goal], error) {
			return testmatching.People(t).NewStream(matching.StreamOptions{Capacity: n})
		}, func(i, tick int) control.Goal {
			return control.Goal{Move: m3.V(0, 0, 1), Turn: float32((tick/50+i)%3-1) / 2, Speed: 1 + float32(i%3)}
		}),
		kindOf(t, "learned matching", func(n, workers int) (generator.Generator[control.Goal], error) {
			return must.Get(herofile.Open())(t).NewStream(matching.StreamOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) control.Goal {
			g := control.Goal{Move: m3.V(0, 0, 1), Turn: float32((tick/50+i)%3-1) / 2, Speed: 1 + float32(i%3)}
			switch (tick/40 + i) % 5 {
			case 0:
				g.Action = control.Jump
			case 1, 2:
				if tick < 200 { // feet that are locked stay where they are while it rests
					g = control.Goal{}
				}
			}
			return g
		}),
		kindOf(t, "adaptive", func(n, workers int) (generator.Generator[control.Goal], error) {
			return testmatching.Adaptive(t).NewStream(matching.StreamOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) control.Goal {
			return control.Goal{Move: m3.V(0, 0, 1), Turn: float32((tick/50+i)%3-1) / 2, Speed: 1 + float32(i%2)}
		}),
		kindOf(t, "keypose", func(n, workers int) (generator.Generator[keypose.Performance], error) {
			return poses.NewStream(keypose.StreamOptions{Capacity: n, Workers: workers})
		}, func(i, tick int) keypose.Performance {
			return keypose.Performance{Loop: written[(i+tick/90)%len(written)], Speed: 1 + 0.2*float32(i%3), Start: float64(i) / 3}
		}),
	}
}

// forAll runs f for each generator.
func forAll(t *testing.T, f func(t *testing.T, k kind)) {
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) { f(t, k) })
	}
}

// run spawns agents of the given numbers and steps; each gets the control of its number.
func (a *actors) run(ticks int, agents ...int) []arche.Entity {
	a.t.Helper()
	var all []arche.Entity
	for _, i := range agents {
		all = append(all, must.Get(a.start(i))(a.t))
	}
	a.play(all, agents, 0, ticks, nil)
	return all
}

// play steps from one tick up to another, and calls see after each.
func (a *actors) play(all []arche.Entity, agents []int, from, to int, see func(tick int)) {
	a.t.Helper()
	for tick := from; tick < to; tick++ {
		for k, e := range all {
			a.control(e, agents[k], tick)
		}
		a.step(1)
		if see != nil {
			see(tick)
		}
	}
}

// deck is a game's own ground, which goes up and down.
type deck struct{ y float32 }

func (d *deck) Height(x, z float32) float32 { return d.y }
func (d *deck) Normal(x, z float32) m3.Vec3 { return m3.Up }

// Agents take any ground. On a lift that accelerates by less than 5 m/s² they move as on level
// ground, and are lifted by its height.
func TestConformanceGround(t *testing.T) {
	race.Single(t)
	forAll(t, func(t *testing.T, k kind) {
		lift := &deck{}
		on := func(g ik.Ground) *actors {
			return k.scene(t, 3, 2, func(o *animsys.Options) { o.Ground = g })
		}
		level, lifted := on(ik.Level(0)), on(lift)
		agents := numbers(3)
		there, here := level.run(1, agents...), lifted.run(1, agents...)
		for tick := 1; tick < 240; tick++ {
			lift.y = 1.5 - 1.5*m3.Cos(2*math.Pi*float32(tick)/240) // at most 5 m/s²
			level.play(there, agents, tick, tick+1, nil)
			lifted.play(here, agents, tick, tick+1, nil)
			for row := range agents {
				for j, a := range level.people.BonesAt(row) {
					b := lifted.people.BonesAt(row)[j]
					b.Pos.Y -= lift.y
					if d := a.Pos.Dist(b.Pos); !(d < 0.01) {
						t.Fatalf("tick %d: on the lift joint %d of agent %d is %.3f m from where it is on level ground", tick, j, row, d)
					}
				}
			}
		}
	})
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// The bits are the same for any number of workers, with agents that come, go and are
// moved.
func TestConformanceWorkers(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		track := func(workers int) (out []uint64) {
			s := k.scene(t, 12, workers)
			var all []arche.Entity
			var agents []int
			for tick := range 300 {
				switch {
				case tick%7 == 0 && len(all) < 12:
					all, agents = append(all, must.Get(s.start(tick))(t)), append(agents, tick)
				case tick%41 == 40:
					if err := s.people.Despawn(all[2]); err != nil {
						t.Fatal(err)
					}
					all, agents = slices.Delete(all, 2, 3), slices.Delete(agents, 2, 3)
				case tick == 99:
					if err := s.people.Place(all[0], m3.V(9, 0, 9), 2); err != nil {
						t.Fatal(err)
					}
				}
				s.play(all, agents, tick, tick+1, nil)
				out = append(out, s.people.Hash())
			}
			return out
		}
		one := track(1)
		if three := track(3); !slices.Equal(one, three) {
			t.Error("one worker and three give different bits")
		}
		if one[299] == one[298] {
			t.Error("no agent moves")
		}
	})
}

// The first agent has the same bits alone and in a crowd.
func TestConformanceAloneOrInACrowd(t *testing.T) {
	race.Single(t)
	forAll(t, func(t *testing.T, k kind) {
		track := func(n int) (out [][]m3.Xform) {
			s := k.scene(t, 9, 2)
			all := s.run(0, numbers(n)...)
			s.play(all, numbers(n), 0, 300, func(int) { out = append(out, slices.Clone(s.bones(all[0]))) })
			return out
		}
		same(t, "alone and among nine", track(1), track(9))
	})
}

// Frozen agents stay as they are, others do not notice, and thawed agents go on
// without a jump.
func TestConformanceFrozen(t *testing.T) {
	race.Single(t)
	forAll(t, func(t *testing.T, k kind) {
		calm, s := k.scene(t, 3, 2), k.scene(t, 3, 2)
		others, all := calm.run(90, 0, 1, 2), s.run(90, 0, 1, 2)
		if err := s.people.SetUpdateRate(all[2], animsys.Frozen); err != nil {
			t.Fatal(err)
		}
		calm.play(others, numbers(3), 90, 95, nil)
		s.play(all, numbers(3), 90, 95, nil)
		still := slices.Clone(s.bones(all[2]))
		for tick := 95; tick < 200; tick++ {
			calm.play(others, numbers(3), tick, tick+1, nil)
			s.play(all, numbers(3), tick, tick+1, nil)
			if !slices.Equal(s.bones(all[2]), still) {
				t.Fatalf("tick %d: the frozen agent moves", tick)
			}
			for i := range 2 {
				if !slices.Equal(s.bones(all[i]), calm.bones(others[i])) {
					t.Fatalf("tick %d: agent %d moves otherwise beside a frozen one", tick, i)
				}
			}
		}
		if err := s.people.SetUpdateRate(all[2], animsys.EveryTick); err != nil {
			t.Fatal(err)
		}
		last := slices.Clone(still)
		s.play(all, numbers(3), 200, 300, func(tick int) {
			for j, x := range s.bones(all[2]) {
				if d := x.Pos.Dist(last[j].Pos); !(d < 0.3) {
					t.Fatalf("tick %d: thawed, %s jumps by %g m", tick, s.people.Skel.Names[j], d)
				}
			}
			copy(last, s.bones(all[2]))
		})
		if slices.Equal(last, still) {
			t.Error("the thawed agent does not move")
		}
	})
}

// An agent that is placed elsewhere is not drawn on the way there; a component of an
// agent of another crowd changes nothing; a closed crowd is skipped.
func TestConformancePlaceAndClose(t *testing.T) {
	race.Single(t)
	forAll(t, func(t *testing.T, k kind) {
		s := k.scene(t, 2, 1)
		all := s.run(5, 0)
		if err := s.people.Place(all[0], m3.V(30, 0, 30), 0); err != nil {
			t.Fatal(err)
		}
		s.play(all, []int{0}, 5, 6, nil)
		if at := s.people.Interpolate(nil, 0.5)[0].Pos.Flat(); at.Dist(m3.V(30, 0, 30)) > 0.5 {
			t.Errorf("between ticks the agent that was placed at (30, 30) is at %v", at)
		}
		if err := s.people.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.people.Close(); err != nil {
			t.Error("closing twice:", err)
		}
		was := s.people.Hash()
		s.step(40)
		if s.people.Hash() != was {
			t.Error("a closed crowd moves")
		}
	})
}

// A tick allocates nothing, nor does interpolation.
func TestConformanceAllocations(t *testing.T) {
	race.Single(t)
	forAll(t, func(t *testing.T, k kind) {
		s := k.scene(t, 16, 2)
		all := s.run(120, numbers(16)...)
		frame := s.people.Interpolate(nil, 0.5)
		mustNotAllocate(t, func() {
			for tick := range 120 {
				for i, e := range all {
					s.control(e, i, tick)
				}
				s.step(1)
				frame = s.people.Interpolate(frame, 0.5)
			}
		})
	})
}

func TestConformanceErrors(t *testing.T) {
	race.Single(t)
	flat := must.Get(terrain.Flat(terrain.Grid{Size: 20, Cell: 1}))(t)
	forAll(t, func(t *testing.T, k kind) {
		for want, err := range map[string]error{
			"at least":       k.crowd(0, animsys.Options{Ground: flat}),
			"Options.Ground": k.crowd(1, animsys.Options{}),
			"terrain":        k.crowd(1, animsys.Options{Ground: &terrain.Field{}}),
			"Legs":           k.crowd(1, animsys.Options{Ground: flat, Roles: &ik.Roles{Spine: []int{0, 1}, Neck: 2, Legs: []ik.Leg{{0, 1, 2, 99}, {0, 1, 2, 98}}}}),
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want an error with %q", err, want)
			}
		}
		s := k.scene(t, 1, 1)
		nan := float32(math.NaN())
		for name, err := range map[string]error{
			"spawned nowhere":                second(s.people.Spawn(m3.V(nan, 0, 0), 0)),
			"spawned without heading":        second(s.people.Spawn(m3.Vec3{}, nan)),
			"spawned too far":                second(s.people.Spawn(m3.V(2e6, 0, 0), 0)),
			"spawned with another's control": s.other(),
			"a stranger despawned":           s.people.Despawn(s.ecs.NewEntity()),
			"a stranger at an update rate":   s.people.SetUpdateRate(s.ecs.NewEntity(), animsys.Every2),
			"a stranger placed":              s.people.Place(s.ecs.NewEntity(), m3.Vec3{}, 0),
			"a capacity of −1":               k.crowd(-1, animsys.Options{Ground: flat}),
		} {
			if err == nil {
				t.Error(name, "without an error")
			} else if strings.Count(err.Error(), "animsys: ") > 1 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if s.people.Agents() != 0 || s.people.Bones(s.ecs.NewEntity()) != nil {
			t.Errorf("%d agents after errors", s.people.Agents())
		}
		e := s.run(1, 0)[0]
		before := len(s.ecs.DumpEntities().Alive)
		if _, err := s.start(1); err == nil || len(s.ecs.DumpEntities().Alive) != before {
			t.Errorf("a second agent in a crowd of one: %v", err)
		}
		q := s.ecs.Query(arche.All())
		if _, err := s.start(1); err == nil {
			t.Error("spawned within a query")
		}
		if err := s.people.Despawn(e); err == nil {
			t.Error("despawned within a query")
		}
		q.Close()
		if err := s.people.Place(e, m3.V(0, 0, nan), 0); err == nil {
			t.Error("placed nowhere")
		}
		if err := s.people.Despawn(e); err != nil {
			t.Error(err)
		}
		if err := s.people.Despawn(e); err == nil {
			t.Error("despawned twice")
		}
		s.step(1)
	})
}

func second[A any](_ A, err error) error { return err }

// A schedule that does not step at the crowds' rate gets an error when it starts.
func TestScheduleOfAnotherStep(t *testing.T) {
	for _, dt := range []float32{0, -1, 1. / 30, 1. / 120, 10, float32(math.NaN()), float32(math.Inf(1))} {
		t.Run(fmt.Sprint(dt), func(t *testing.T) {
			w := arche.NewWorld()
			flat := must.Get(terrain.Flat(terrain.Grid{Size: 20, Cell: 1}))(t)
			dogs := must.Get(testdog.Model(t).NewController(mann.ControllerOptions{Capacity: 1}))(t)
			c := must.Get(animsys.NewCrowd(&w, dogs, animsys.Options{Ground: flat}))(t)
			defer c.Close()
			_, err := ecs.NewSchedule(&w, dt, animsys.Systems()...)
			if err == nil || !strings.Contains(err.Error(), "1/60") {
				t.Errorf("%v, want an error that names 1/60 s", err)
			}
			s := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
			must.Do(t, s.Close())
		})
	}
}

// Crowds of the same generator fit into one world, each with its own agents.
func TestTwoCrowdsOfAKind(t *testing.T) {
	w := arche.NewWorld()
	flat := must.Get(terrain.Flat(terrain.Grid{Size: 60, Cell: 1}))(t)
	m := testdog.Model(t)
	var crowds []*animsys.Crowd
	for range 2 {
		dogs := must.Get(m.NewController(mann.ControllerOptions{Capacity: 2}))(t)
		crowds = append(crowds, must.Get(animsys.NewCrowd(&w, dogs, animsys.Options{Ground: flat}))(t))
		defer crowds[len(crowds)-1].Close()
	}
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	defer schedule.Close()
	goals := generic.NewMap1[control.Goal](&w)
	a, b := must.Get(crowds[0].Spawn(m3.Vec3{}, 0))(t), must.Get(crowds[1].Spawn(m3.V(5, 0, 0), 0))(t)
	*goals.Get(b) = control.Goal{Move: m3.V(0, 0, 1), Speed: 1, Action: control.Move}
	for range 120 {
		if err := schedule.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if crowds[0].Bones(b) != nil || crowds[1].Bones(a) != nil {
		t.Error("a crowd has bones of the other's agent")
	}
	if r := crowds[1].Root(b); r.Pos.Dist(crowds[1].Bones(b)[0].Pos.Flat()) > 0.5 || crowds[0].Root(b) != (m3.Xform{}) {
		t.Errorf("an entity's root is at %v, and in the other crowd at %v", r, crowds[0].Root(b))
	}
	if z := crowds[1].Bones(b)[0].Pos.Z; z < 0.3 {
		t.Errorf("the dog that was asked to walk went %g m", z)
	}
	if z := crowds[0].Bones(a)[0].Pos.Z; m3.Abs(z) > 0.3 {
		t.Errorf("the dog that was asked for nothing went %g m", z)
	}
}
