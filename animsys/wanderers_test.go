package animsys_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/teststrnn"
	"mannequin/models"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// plaza is a world with wanderers on hills.
type plaza struct {
	t        testing.TB
	ecs      arche.World
	people   *animsys.Wanderers
	schedule *ecs.Schedule
	wanders  generic.Map1[strnn.Wander]
}

func newPlaza(t testing.TB, m *strnn.Model, capacity, workers int) *plaza {
	t.Helper()
	field, err := terrain.Hills(terrain.Grid{Size: 120, Cell: 0.5}, terrain.HillsOptions{Seed: 2, Wavelength: 14, MaxSlope: 0.35})
	if err != nil {
		t.Fatal(err)
	}
	p := &plaza{t: t, ecs: arche.NewWorld()}
	if p.people, err = animsys.NewWanderers(&p.ecs, m, animsys.WanderersOptions{Capacity: capacity, Terrain: field, Workers: workers}); err != nil {
		t.Fatal(err)
	}
	if p.schedule, err = ecs.NewSchedule(&p.ecs, 1.0/strnn.TickRate, animsys.Systems()...); err != nil {
		t.Fatal(err)
	}
	p.wanders = generic.NewMap1[strnn.Wander](&p.ecs)
	t.Cleanup(func() {
		p.schedule.Close()
		if err := p.people.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *plaza) spawn(i int) arche.Entity {
	p.t.Helper()
	e, err := p.people.Spawn(m3.V(float32(i%8)-4, 0, float32(i/8%40)), float32(i))
	if err != nil {
		p.t.Fatal(err)
	}
	p.wanders.Get(e).Speed = 1
	return e
}

func (p *plaza) step(ticks int) {
	p.t.Helper()
	for range ticks {
		if err := p.schedule.Step(); err != nil {
			p.t.Fatal(err)
		}
	}
}

// Wanderers turn and go as fast as a game asks, on the ground, and stand where it asks for
// nothing.
func TestWanderersGoAsTheyAreAsked(t *testing.T) {
	asks := []strnn.Wander{{}, {Speed: 0.8}, {Speed: 1.4}, {Speed: 1.2, Turn: 0.5}, {Speed: 1.2, Turn: -0.5}}
	s := newPlaza(t, teststrnn.Model(t, teststrnn.Options{Guide: true}), len(asks), 2)
	for i, a := range asks {
		*s.wanders.Get(s.spawn(i)) = a
	}
	s.step(200)
	n := len(asks)
	turned, went := make([]float32, n), make([]float32, n)
	const ticks = 300
	for tick := range ticks {
		before := append([]m3.Xform(nil), s.people.Roots[:n]...)
		s.step(1)
		for r := range n {
			was, is := before[r], s.people.Roots[r]
			turned[r] += m3.WrapAngle(m3.YawOf(is.Rot.Rotate(m3.V(0, 0, 1)))-m3.YawOf(was.Rot.Rotate(m3.V(0, 0, 1)))) * strnn.TickRate / ticks
			went[r] += is.Pos.Sub(was.Pos).Dot(was.Rot.Rotate(m3.V(0, 0, 1))) * strnn.TickRate / ticks
			bones, low := s.people.Bones(r), float32(1)
			for j, p := range s.people.Skel.Parents {
				if !bones[j].Pos.Finite() || !bones[j].Rot.Finite() {
					t.Fatalf("tick %d: wanderer %d's %s is %v", tick, r, s.people.Skel.Names[j], bones[j])
				}
				if p >= 0 && m3.Abs(bones[j].Pos.Dist(bones[p].Pos)-s.people.Skel.Offsets[j].Len()) > 1e-3 {
					t.Fatalf("tick %d: the bone to %s is %g m long", tick, s.people.Skel.Names[j], bones[j].Pos.Dist(bones[p].Pos))
				}
				low = min(low, bones[j].Pos.Y-s.people.Terrain.Height(bones[j].Pos.X, bones[j].Pos.Z))
			}
			if low < -0.03 || low > 0.15 {
				t.Fatalf("tick %d: the lowest joint of wanderer %d is %g m over the ground", tick, r, low)
			}
		}
	}
	for r, a := range asks {
		if m3.Abs(went[r]-a.Speed) > 0.06 || m3.Abs(turned[r]-a.Turn) > 0.05 {
			t.Errorf("wanderer %d goes %.2f m/s and turns %.2f rad/s, asked for %g and %g", r, went[r], turned[r], a.Speed, a.Turn)
		}
	}
	if s.people.Stream.Lost() != 0 {
		t.Errorf("%d windows were lost", s.people.Stream.Lost())
	}
}

// The same bits for any number of workers, with people who come, go, are placed, and are
// lost.
func TestWanderersOnAnyWorkers(t *testing.T) {
	track := func(workers int) (out [][]m3.Xform) {
		s := newPlaza(t, teststrnn.Model(t, teststrnn.Options{Guide: true}), 20, workers)
		var all []arche.Entity
		for tick := range 150 {
			switch {
			case tick%5 == 0 && len(all) < 20:
				all = append(all, s.spawn(tick))
				*s.wanders.Get(all[len(all)-1]) = strnn.Wander{Speed: 1, Turn: teststrnn.Burst / 2 * float32(tick%3), Free: tick%15 == 10}
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
			for r := range s.people.Agents() {
				out = append(out, append([]m3.Xform(nil), s.people.Bones(r)...))
			}
		}
		if s.people.Stream.Lost() == 0 {
			t.Error("nobody was lost")
		}
		return out
	}
	one := track(1)
	same(t, "3 workers", one, track(3))
}

// Whose window is lost does not leap, and nobody else's bits change.
func TestWanderersFailuresDoNotShow(t *testing.T) {
	run := func(turn float32) (bones [3][]m3.Xform, leap float32, lost int) {
		s := newPlaza(t, teststrnn.Model(t, teststrnn.Options{Guide: true}), 3, 1)
		for i := range 3 {
			e := s.spawn(i)
			if i == 1 {
				s.wanders.Get(e).Turn = turn
			}
		}
		for tick := range 120 {
			last := append([]m3.Xform(nil), s.people.Bones(1)...)
			s.step(1)
			for i := range bones {
				bones[i] = append(bones[i], s.people.Bones(i)...)
			}
			for j, b := range s.people.Bones(1) {
				if tick > 0 {
					leap = max(leap, b.Pos.Dist(last[j].Pos))
				}
			}
		}
		return bones, leap, s.people.Stream.Lost()
	}
	calm, usual, none := run(0)
	spoilt, leap, times := run(teststrnn.Burst)
	if none != 0 || times == 0 {
		t.Errorf("%d windows were lost of calm people, %d of others", none, times)
	}
	if leap > 2*usual+0.02 {
		t.Errorf("a joint is displaced by %g m in a tick, else by %g", leap, usual)
	}
	for _, i := range []int{0, 2} {
		for k := range calm[i] {
			if calm[i][k] != spoilt[i][k] {
				t.Fatalf("wanderer %d: a neighbour's failure changed it", i)
			}
		}
	}
}

// Who is placed is not drawn on the way there; the component of who is no wanderer leads
// nobody; the systems pass closed wanderers by.
func TestWanderersPlaceAndClose(t *testing.T) {
	s := newPlaza(t, teststrnn.Model(t, teststrnn.Options{Guide: true}), 1, 1)
	e := s.spawn(0)
	s.step(5)
	if err := s.people.Place(e, m3.V(30, 0, 30), 0); err != nil {
		t.Fatal(err)
	}
	s.step(1)
	if at := s.people.Interpolate(nil, 0.5)[0].Pos.Flat(); at.Dist(m3.V(30, 0, 30)) > 0.5 {
		t.Errorf("between ticks who was placed at (30, 30) is at %v", at)
	}
	stranger := generic.NewMap2[ecs.Slot, strnn.Wander](&s.ecs)
	stranger.NewWith(&ecs.Slot{}, &strnn.Wander{Speed: 2})
	s.step(1)
	if got, want := s.people.Stream.Wanders[0], *s.wanders.Get(e); got != want {
		t.Errorf("asked for %v, want %v", got, want)
	}
	if err := s.people.Close(); err != nil {
		t.Fatal(err)
	}
	was := s.people.Roots[0]
	s.step(40)
	if s.people.Roots[0] != was {
		t.Error("closed wanderers walk")
	}
}

func TestWanderersTickDoesNotAllocate(t *testing.T) {
	s := newPlaza(t, teststrnn.Model(t, teststrnn.Options{Guide: true}), 64, 2)
	for i := range 64 {
		s.wanders.Get(s.spawn(i)).Free = i%4 == 0
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

func TestWanderersErrors(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	field, err := terrain.Flat(terrain.Grid{Size: 20, Cell: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	opt := animsys.WanderersOptions{Capacity: 1, Terrain: field}
	w := arche.NewWorld()
	for _, c := range []struct {
		want string
		make func() error
	}{
		{"without a model", func() error { _, err := animsys.NewWanderers(&w, nil, opt); return err }},
		{"mannequin train guide", func() error {
			_, err := animsys.NewWanderers(&w, teststrnn.Model(t, teststrnn.Options{}), opt)
			return err
		}},
		{"at least 1", func() error {
			_, err := animsys.NewWanderers(&w, m, animsys.WanderersOptions{Terrain: field})
			return err
		}},
		{"Legs[1]", func() error {
			roles, err := ik.HumanRoles(m.Skel.Names)
			if err != nil {
				return err
			}
			roles.Legs = []ik.Leg{roles.Legs[0], {}}
			_, err = animsys.NewWanderers(&w, m, animsys.WanderersOptions{Capacity: 1, Terrain: field, Roles: &roles})
			return err
		}},
		{"Terrain", func() error {
			_, err := animsys.NewWanderers(&w, m, animsys.WanderersOptions{Capacity: 1})
			return err
		}},
	} {
		if err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		}
	}
	s := newPlaza(t, m, 1, 1)
	if _, err := animsys.NewWanderers(&s.ecs, m, opt); err == nil {
		t.Error("wanderers after the schedule: no error")
	}
	if _, err := s.people.Spawn(m3.V(float32(math.NaN()), 0, 0), 0); err == nil {
		t.Error("spawned nowhere")
	}
	e := s.spawn(0)
	if _, err := s.people.Spawn(m3.V(0, 0, 0), 0); err == nil {
		t.Error("two wanderers where there is room for one")
	}
	*s.wanders.Get(e) = strnn.Wander{Speed: float32(math.NaN()), Turn: float32(math.Inf(1))}
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

// BenchmarkWanderers is a tick of so many on hills, on all cores: the network of those
// whose turn it is, poses, feet.
func BenchmarkWanderers(b *testing.B) {
	net, err := models.Open("human-strnn")
	if err != nil {
		b.Skip(err)
	}
	m, err := strnn.New(net)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1, 100, 500} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := newPlaza(b, m, n, 0)
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
