package animsys_test

import (
	"slices"
	"sync"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/generator"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// scene is a world with one crowd on hills, and its schedule.
type scene struct {
	t        testing.TB
	ecs      arche.World
	people   *animsys.Crowd
	field    *terrain.Field
	schedule *ecs.Schedule
	peek     func() // called before poses are blended, if any
}

// hills are the ground of all scenes. No test changes them.
var hills = sync.OnceValues(func() (*terrain.Field, error) {
	return terrain.Hills(terrain.Grid{Size: 120, Cell: 0.5}, terrain.HillsOptions{Seed: 2, Wavelength: 14, MaxSlope: 0.3})
})

func newScene[C any](t testing.TB, g generator.Generator[C], workers int, extra ...func(*animsys.Options)) *scene {
	t.Helper()
	field, err := hills()
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, ecs: arche.NewWorld(), field: field}
	opt := animsys.Options{Ground: field, Workers: workers}
	for _, e := range extra {
		e(&opt)
	}
	if s.people, err = animsys.NewCrowd(&s.ecs, g, opt); err != nil {
		t.Fatal(err)
	}
	if s.schedule, err = ecs.NewSchedule(&s.ecs, 1.0/generator.TickRate, s.systems()...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.schedule.Close()
		if err := s.people.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// systems returns the tick, with a system that calls peek after Style.
func (s *scene) systems() []ecs.System {
	all := animsys.Systems()
	i := slices.IndexFunc(all, func(x ecs.System) bool { _, ok := x.(*animsys.Style); return ok })
	return slices.Insert(all, i+1, ecs.System(peeks{s}))
}

type peeks struct{ *scene }

func (p peeks) Initialize(*arche.World) {}
func (p peeks) Finalize(*arche.World)   {}
func (p peeks) Update(*arche.World) {
	if p.peek != nil {
		p.peek()
	}
}

// bones returns those of e, which must be there.
func (s *scene) bones(e arche.Entity) []m3.Xform {
	s.t.Helper()
	b := s.people.Bones(e)
	if b == nil {
		s.t.Fatalf("%v is not there", e)
	}
	return b
}

func setRate(t testing.TB, c *animsys.Crowd, row int, r animsys.UpdateRate) {
	t.Helper()
	if err := c.SetUpdateRate(c.Entity(row), r); err != nil {
		t.Fatal(err)
	}
}

// at returns the place and heading of the i-th agent of the tests.
func at(i int) (m3.Vec3, float32) { return m3.V(float32(i%8)*2-8, 0, float32(i/8%40)*2), float32(i) }

func (s *scene) spawn(i int) arche.Entity {
	s.t.Helper()
	pos, yaw := at(i)
	return must.Get(s.people.Spawn(pos, yaw))(s.t)
}

func (s *scene) step(ticks int) {
	s.t.Helper()
	for range ticks {
		if err := s.schedule.Step(); err != nil {
			s.t.Fatal(err)
		}
	}
}
