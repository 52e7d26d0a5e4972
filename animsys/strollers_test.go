package animsys_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/latent"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/testlatent"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// promenade is a world with strollers on hills.
type promenade struct {
	t        testing.TB
	ecs      arche.World
	people   *animsys.Strollers
	schedule *ecs.Schedule
	sliders  generic.Map1[latent.Sliders]
}

func newPromenade(t testing.TB, capacity, workers int) *promenade {
	t.Helper()
	field, err := terrain.Hills(terrain.Grid{Size: 120, Cell: 0.5}, terrain.HillsOptions{Seed: 2, Wavelength: 14, MaxSlope: 0.35})
	if err != nil {
		t.Fatal(err)
	}
	p := &promenade{t: t, ecs: arche.NewWorld()}
	m, next := testlatent.Shipped(t)
	if p.people, err = animsys.NewStrollers(&p.ecs, m, next, animsys.StrollersOptions{Capacity: capacity, Terrain: field, Workers: workers}); err != nil {
		t.Fatal(err)
	}
	if p.schedule, err = ecs.NewSchedule(&p.ecs, 1.0/latent.Rate, animsys.Systems()...); err != nil {
		t.Fatal(err)
	}
	p.sliders = generic.NewMap1[latent.Sliders](&p.ecs)
	t.Cleanup(func() {
		p.schedule.Close()
		if err := p.people.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *promenade) spawn(i int) arche.Entity {
	p.t.Helper()
	e, err := p.people.Spawn(m3.V(float32(i%8)-4, 0, float32(i/8%40)), float32(i))
	if err != nil {
		p.t.Fatal(err)
	}
	return e
}

func (p *promenade) step(ticks int) {
	p.t.Helper()
	for range ticks {
		if err := p.schedule.Step(); err != nil {
			p.t.Fatal(err)
		}
	}
}

// Strollers turn and go as fast as a game asks, on standing feet, without an end.
func TestStrollersGoAsTheyAreAsked(t *testing.T) {
	m, next := testlatent.Shipped(t)
	steering, err := m.NewSteering(next, 2)
	if err != nil {
		t.Fatal(err)
	}
	asks := []struct{ turn, speed float32 }{{0, 0.8}, {0, 1.1}, {0, 1.4}, {0.4, 1.1}, {-0.4, 1.1}, {0.8, 1}, {-0.8, 1}}
	s := newPromenade(t, 2*len(asks), 2)
	for i := range 2 * len(asks) {
		a := asks[i/2]
		steering.Steer(s.sliders.Get(s.spawn(i)), a.turn, a.speed)
	}
	s.step(300)
	n := s.people.Agents()
	tips := []int{s.people.Skel.Index("LeftToeBase"), s.people.Skel.Index("RightToeBase")}
	turned, went := make([]float64, n), make([]float64, n)
	last := make([][2]m3.Vec3, n)
	var skate, stands float64
	const ticks = 1200
	for tick := range ticks {
		before := append([]m3.Xform(nil), s.people.Roots[:n]...)
		s.step(1)
		for r := range n {
			was, is := before[r], s.people.Roots[r]
			turned[r] += float64(m3.WrapAngle(m3.YawOf(is.Rot.Rotate(m3.V(0, 0, 1)))-m3.YawOf(was.Rot.Rotate(m3.V(0, 0, 1))))) * latent.Rate / ticks
			went[r] += float64(is.Pos.Dist(was.Pos)) * latent.Rate / ticks
			bones := s.people.Bones(r)
			for j, p := range s.people.Skel.Parents {
				if !bones[j].Pos.Finite() || !bones[j].Rot.Finite() {
					t.Fatalf("tick %d: stroller %d's %s is %v", tick, r, s.people.Skel.Names[j], bones[j])
				}
				if p >= 0 && m3.Abs(bones[j].Pos.Dist(bones[p].Pos)-s.people.Skel.Offsets[j].Len()) > 1e-3 {
					t.Fatalf("tick %d: the bone to %s is %g m long", tick, s.people.Skel.Names[j], bones[j].Pos.Dist(bones[p].Pos))
				}
			}
			for k, j := range tips {
				p := bones[j].Pos
				if h := p.Y - s.people.Terrain.Height(p.X, p.Z); h < 0.01 {
					t.Fatalf("tick %d: stroller %d's %s is %g m over the ground", tick, r, s.people.Skel.Names[j], h)
				}
				if s.people.Ground.Feet[2*r+k].Contact() && tick > 0 {
					stands++
					skate += float64(p.Sub(last[r][k]).Len())
				}
				last[r][k] = p
			}
		}
	}
	for r := range n {
		a := asks[r/2]
		if math.Abs(went[r]-float64(a.speed)) > 0.15 || math.Abs(turned[r]-float64(a.turn)) > 0.12 {
			t.Errorf("stroller %d goes %.2f m/s and turns %.2f rad/s, asked for %g and %g", r, went[r], turned[r], a.speed, a.turn)
		}
	}
	if share := stands / ticks / float64(2*n); share < 0.3 {
		t.Errorf("feet stand %.2f of the time", share)
	}
	if mean := 100 * skate / stands; mean > 0.2 {
		t.Errorf("standing feet slide by %.2f cm a frame", mean)
	}
	if s.people.Stream.Lost() != 0 {
		t.Errorf("%d clips were lost", s.people.Stream.Lost())
	}
	t.Logf("standing feet slide by %.3f cm a frame; speeds %.2f, turns %.2f", 100*skate/stands, went, turned)
}

// The same bits for any number of workers, with people who come, go and are placed.
func TestStrollersOnAnyWorkers(t *testing.T) {
	track := func(workers int) (out [][]m3.Xform) {
		s := newPromenade(t, 20, workers)
		var all []arche.Entity
		for tick := range 150 {
			switch {
			case tick%5 == 0 && len(all) < 20:
				all = append(all, s.spawn(tick))
				s.sliders.Get(all[len(all)-1]).Ask(0, float32(tick%3)-1)
			case tick%41 == 40:
				if err := s.people.Despawn(all[2]); err != nil {
					t.Fatal(err)
				}
				all = append(all[:2], all[3:]...)
			case tick == 99:
				if err := s.people.Place(all[0], m3.V(9, 0, 9), 2); err != nil {
					t.Fatal(err)
				}
				if at := s.people.Stream.Where(0).Pos; at.Dist(m3.V(9, 0, 9)) > 1e-3 {
					t.Errorf("who was placed at (9, 9) is at %v", at)
				}
			}
			s.step(1)
			out = append(out, append([]m3.Xform(nil), s.people.Bones(0)...))
		}
		return out
	}
	one := track(1)
	same(t, "3 workers", one, track(3))
}

// Who is placed is not drawn on the way there; sliders of who is no stroller steer
// nobody; the systems pass closed strollers by.
func TestStrollersPlaceAndClose(t *testing.T) {
	s := newPromenade(t, 1, 1)
	e := s.spawn(0)
	s.step(5)
	if err := s.people.Place(e, m3.V(30, 0, 30), 0); err != nil {
		t.Fatal(err)
	}
	s.step(1)
	if at := s.people.Interpolate(nil, 0.5)[0].Pos.Flat(); at.Dist(m3.V(30, 0, 30)) > 0.5 {
		t.Errorf("between ticks who was placed at (30, 30) is at %v", at)
	}
	stranger := generic.NewMap2[ecs.Slot, latent.Sliders](&s.ecs)
	stranger.NewWith(&ecs.Slot{}, &latent.Sliders{Asked: 1 << 7})
	s.step(1)
	if got, want := s.people.Stream.Sliders[0], *s.sliders.Get(e); got != want {
		t.Errorf("sliders are %v, want %v", got, want)
	}
	if err := s.people.Close(); err != nil {
		t.Fatal(err)
	}
	was := s.people.Roots[0]
	s.step(40)
	if s.people.Roots[0] != was {
		t.Error("closed strollers walk")
	}
}

func TestStrollersTickDoesNotAllocate(t *testing.T) {
	s := newPromenade(t, 64, 2)
	for i := range 64 {
		s.spawn(i)
	}
	s.step(60)
	frame := s.people.Interpolate(nil, 0.5)
	mustNotAllocate(t, func() {
		for range 120 {
			s.step(1)
			frame = s.people.Interpolate(frame, 0.5)
		}
	})
}

func TestStrollersErrors(t *testing.T) {
	m, next := testlatent.Shipped(t)
	field, err := terrain.Flat(terrain.Grid{Size: 20, Cell: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	opt := animsys.StrollersOptions{Capacity: 1, Terrain: field}
	w := arche.NewWorld()
	for _, c := range []struct {
		want string
		make func() error
	}{
		{"without a model", func() error { _, err := animsys.NewStrollers(&w, nil, next, opt); return err }},
		{"missing", func() error { _, err := animsys.NewStrollers(&w, m, nil, opt); return err }},
		{"mannequin train next", func() error { _, err := animsys.NewStrollers(&w, m, m.Net, opt); return err }},
		{"at least 1", func() error {
			_, err := animsys.NewStrollers(&w, m, next, animsys.StrollersOptions{Terrain: field})
			return err
		}},
		{"Legs[1]", func() error {
			roles, err := ik.HumanRoles(m.Skel.Names)
			if err != nil {
				return err
			}
			roles.Legs = []ik.Leg{roles.Legs[0], {}}
			_, err = animsys.NewStrollers(&w, m, next, animsys.StrollersOptions{Capacity: 1, Terrain: field, Roles: &roles})
			return err
		}},
		{"no contact", func() error {
			roles, err := ik.HumanRoles(m.Skel.Names)
			if err != nil {
				return err
			}
			leg := roles.Legs[1]
			for i := range leg { // an arm in its place
				leg[i] = m.Skel.Index("LeftHand") - len(leg) + 1 + i
			}
			_, err = animsys.NewStrollers(&w, m, next, animsys.StrollersOptions{Capacity: 1, Terrain: field, Roles: &roles})
			return err
		}},
		{"Terrain", func() error {
			_, err := animsys.NewStrollers(&w, m, next, animsys.StrollersOptions{Capacity: 1})
			return err
		}},
	} {
		if err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		}
	}
	s := newPromenade(t, 1, 1)
	if _, err := animsys.NewStrollers(&s.ecs, m, next, opt); err == nil {
		t.Error("strollers after the schedule: no error")
	}
	if _, err := s.people.Spawn(m3.V(float32(math.NaN()), 0, 0), 0); err == nil {
		t.Error("spawned nowhere")
	}
	e := s.spawn(0)
	if _, err := s.people.Spawn(m3.V(0, 0, 0), 0); err == nil {
		t.Error("two strollers where there is room for one")
	}
	s.sliders.Get(e).Ask(0, float32(math.NaN()))
	s.step(90)
	if at := s.people.Bones(0)[0].Pos; !at.Finite() {
		t.Errorf("who is asked for NaN is at %v", at)
	}
	if err := s.people.Despawn(e); err != nil || s.people.Agents() != 0 {
		t.Errorf("despawned: %v, %d are left", err, s.people.Agents())
	}
	if err := s.people.Place(e, m3.V(0, 0, 0), 0); err == nil {
		t.Error("placed who is gone")
	}
	s.step(1)
}

// BenchmarkStrollers is a tick of so many on hills, on all cores: the networks of those
// whose turn it is, poses, feet.
func BenchmarkStrollers(b *testing.B) {
	for _, n := range []int{1, 200, 2000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := newPromenade(b, n, 0)
			for i := range n {
				s.spawn(i)
			}
			s.step(60)
			b.ReportAllocs()
			for b.Loop() {
				s.step(1)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/agent")
		})
	}
}
