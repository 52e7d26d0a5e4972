package crowd

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/mann"
	"mannequin/animsys/matching"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/internal/testing/testdog"
	"mannequin/internal/testing/testlatent"
	"mannequin/internal/testing/testmatching"
	"mannequin/internal/testing/teststrnn"
	"mannequin/models/dog"
	dogstride2 "mannequin/models/dog-stride2"
	dogstride4 "mannequin/models/dog-stride4"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/internal/overlay"
	"mannequin/scenes/internal/testscene"
	"mannequin/scenes/world"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// open builds a scene of dogs, strollers and wanderers.
func open(t testing.TB, o Options) *Scene {
	t.Helper()
	if o.Dog == nil {
		o.Dog, o.Far = testdog.Model(t), []*mann.Model{testdog.Far(t, 2), testdog.Far(t, 4)}
	}
	o.Latent, o.Next = testlatent.Shipped(t)
	o.STRNN = teststrnn.Model(t, teststrnn.Options{Guide: true})
	return testscene.Keep(New(o))(t)
}

// dogs returns the shipped ones.
func dogs(t testing.TB) (near *mann.Model, far []*mann.Model) {
	t.Helper()
	for _, open := range []func() (*netruntime.Net, error){dog.Open, dogstride2.Open, dogstride4.Open} {
		net, err := open()
		if err != nil {
			t.Fatal(err)
		}
		m, err := mann.NewModel(net)
		if err != nil {
			t.Fatal(err)
		}
		far = append(far, m)
	}
	return far[0], far[1:]
}

// Everybody goes about, the same with any number of workers, on the ground, off the rocks
// and hardly ever into each other, while some come and go.
func TestCrowd(t *testing.T) {
	const n = 32
	near, far := dogs(t)
	a, b := open(t, Options{Options: world.Options{Agents: n, Seed: 4, Workers: 1}, Churn: 5, Dog: near, Far: far}), open(t, Options{Options: world.Options{Agents: n, Seed: 4, Workers: 3}, Churn: 5, Dog: near, Far: far})
	if len(a.place.rocks) == 0 || len(a.place.spots) != spots {
		t.Fatalf("%d rocks, %d spots", len(a.place.rocks), len(a.place.spots))
	}
	var fa, fb scenes.Frame
	close, seconds := 0, 0
	for tick := range 600 {
		in := scenes.Input{Watched: true, Eye: m3.V(0, 2, -20), Ahead: m3.V(0, 0, 1)}
		testscene.Step(t, a, 1, in)
		testscene.Step(t, b, 1, in)
		if tick%60 != 0 {
			continue
		}
		seconds++
		a.Frame(&fa, 0.3)
		b.Frame(&fb, 0.3)
		var at []m3.Vec3
		testscene.Same(t, &fa, &fb)
		for i := range fa.Casts {
			if !slices.Equal(fa.Casts[i].Tint, fb.Casts[i].Tint) {
				t.Fatalf("tick %d: the colours of %s differ between workers", tick, a.populations[i].name)
			}
			for r := range fa.Casts[i].Len() {
				at = append(at, fa.Casts[i].Of(r)[0].Pos.Flat())
			}
		}
		if len(at) != n {
			t.Fatalf("tick %d: there are %d, want %d", tick, len(at), n)
		}
		for i, p := range at {
			if !a.place.free(p, -0.2) {
				t.Errorf("tick %d: someone is on a rock, at %v", tick, p)
			}
			if p.Len() > a.place.radius+edge {
				t.Errorf("tick %d: someone is off the ground, at %v", tick, p)
			}
			for _, q := range at[:i] {
				if p.Dist(q) < 0.45 {
					close++
				}
			}
		}
	}
	if share := float64(close) / float64(n*seconds); share > 0.06 {
		t.Errorf("%.1f %% of all stand in each other", 100*share)
	}
}

// As many come or go as the player asks for, in the shares of their kinds.
func TestPopulation(t *testing.T) {
	s := open(t, Options{Options: world.Options{Agents: 40, Workers: 1}, Room: 80})
	for _, want := range []int{80, 1, 30} {
		testscene.Step(t, s, 1, scenes.Input{Touch: hud.Touch{Set: true, Slider: 0, Value: float32(want)}})
		testscene.Step(t, s, 25, scenes.Input{})
		if s.Agents() != want {
			t.Errorf("there are %d, want %d", s.Agents(), want)
		}
	}
	if dogs := s.populations[0].Agents(); dogs < 15 || dogs > 19 {
		t.Errorf("%d of 30 are dogs", dogs)
	}
	for _, p := range s.populations {
		if p.Agents() == 0 {
			t.Errorf("nobody is %s", p.name)
		}
	}
}

// Packs stay together, and go on without their leader.
func TestPacks(t *testing.T) {
	near, far := dogs(t)
	s := open(t, Options{Options: world.Options{Agents: 20, Workers: 1, Seed: 2}, Dog: near, Far: far})
	dogs := s.populations[0]
	lead := dogs.Entity(0)
	followers := 0
	for row := range dogs.Agents() {
		if dogs.states[row].leader == lead {
			followers++
		}
	}
	if followers != packed-1 {
		t.Fatalf("%d dogs follow the first, want %d", followers, packed-1)
	}
	testscene.Step(t, s, 900, scenes.Input{})
	row, _ := dogs.Row(lead)
	for r := range dogs.Agents() {
		if d := dogs.Roots[r].Pos.Dist(dogs.Roots[row].Pos); dogs.states[r].leader == lead && d > 12 {
			t.Errorf("a dog is %g m from its leader", d)
		}
	}
	if err := dogs.Despawn(lead); err != nil {
		t.Fatal(err)
	}
	dogs.states[row] = dogs.states[dogs.Agents()]
	s.want--
	testscene.Step(t, s, 8, scenes.Input{})
	for r := range dogs.Agents() {
		if dogs.states[r].leader == lead {
			t.Error("a dog follows one that has gone")
		}
	}
}

// The player watches one after the other, who does not go meanwhile.
func TestWatch(t *testing.T) {
	s := open(t, Options{Options: world.Options{Agents: 12, Workers: 1}, Churn: 100})
	testscene.Step(t, s, 1, scenes.Input{Jump: true})
	who := s.watched
	var f scenes.Frame
	for range 60 {
		testscene.Step(t, s, 1, scenes.Input{})
		s.Frame(&f, 1)
		row, ok := s.populations[0].Row(who)
		if !ok || f.Focus != s.populations[0].BonesAt(row)[0].Pos {
			t.Fatal("the one who is watched has gone, or the focus is another's")
		}
	}
	seen := map[arche.Entity]bool{}
	s.churn = 0
	for range 2 * s.Agents() {
		testscene.Step(t, s, 1, scenes.Input{Jump: true})
		testscene.Step(t, s, 1, scenes.Input{})
		seen[s.watched] = true
	}
	if len(seen) != s.Agents() {
		t.Errorf("%d of %d can be watched", len(seen), s.Agents())
	}
	testscene.Step(t, s, 1, scenes.Input{Reset: true})
	if s.Frame(&f, 1); !s.watched.IsZero() || f.Focus.Len() > s.place.radius {
		t.Errorf("all are watched at %v", f.Focus)
	}
}

// Who is watched has the full rate however far away and whatever is saved, a ring around
// them, and a line that says so; nobody else has.
func TestWatchedIsMarked(t *testing.T) {
	s := open(t, Options{Options: world.Options{Agents: 12, Workers: 1}})
	far := scenes.Input{Watched: true, Eye: m3.V(0, 2, -60), Ahead: m3.V(0, 0, 1), Saving: 1}
	var f scenes.Frame
	testscene.Step(t, s, 8, far)
	if s.Frame(&f, 1); len(f.Lines) != 0 || len(f.HUD) != 2 {
		t.Errorf("nobody is watched, and there are %d lines and %q", len(f.Lines), f.HUD)
	}
	for _, want := range []string{"watching: dog ", "watching: person "} {
		for s.Frame(&f, 1); len(f.HUD) < 3 || !strings.HasPrefix(f.HUD[2], want); s.Frame(&f, 1) {
			testscene.Step(t, s, 1, far)
			in := far
			in.Jump = true
			testscene.Step(t, s, 1, in)
		}
		testscene.Step(t, s, 8, far)
		s.Frame(&f, 1)
		if !strings.HasSuffix(f.HUD[2], "a step every tick") || !strings.Contains(f.HUD[1], "every tick: 1,") {
			t.Errorf("the one who is watched goes at another rate: %q", f.HUD[1:])
		}
		testscene.Ring(t, &f)
	}
}

// Nor do those who come and go.
func TestTickDoesNotAllocate(t *testing.T) {
	s := open(t, Options{Options: world.Options{Agents: 40, Workers: 2}, Churn: 30})
	turn := float32(0)
	in := func() scenes.Input {
		turn += 0.01
		return scenes.Input{Watched: true, Eye: m3.V(0, 2, -9), Ahead: m3.V(m3.Sin(turn), 0, m3.Cos(turn)), Saving: 0.2}
	}
	testscene.Step(t, s, 60, in())
	if n := testing.AllocsPerRun(1, func() {
		for range 120 {
			testscene.Step(t, s, 1, in())
		}
	}); n != 0 {
		t.Errorf("%g allocations in two seconds", n)
	}
}

func TestErrors(t *testing.T) {
	nan := float32(math.NaN())
	for want, o := range map[string]Options{
		"1 to 4096": {Options: world.Options{Agents: -1}}, "room for 5": {Options: world.Options{Agents: 9}, Room: 5}, "Options.Churn": {Churn: nan}, "no network": {}, "terrain": {Options: world.Options{Terrain: &terrain.Field{}}},
		"want 2 or 4": {Dog: testdog.Model(t), Far: []*mann.Model{testdog.Far(t, 3)}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func TestOverlays(t *testing.T) {
	testscene.Check(t, open(t, Options{Options: world.Options{Agents: 10, Workers: 1}}), overlay.All)
}

// Whoever comes, goes and is watched, there are never more than there is room for.
func TestRoom(t *testing.T) {
	for _, room := range []int{2, 4} {
		s, err := New(Options{Options: world.Options{Agents: room, Workers: 1}, Room: room, Churn: 1000, Dog: testdog.Model(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		testscene.Step(t, s, 1, scenes.Input{Jump: true})
		who := s.watched
		for range 120 {
			testscene.Step(t, s, 1, scenes.Input{})
			if n := s.Agents(); n > room || n < room-1 {
				t.Fatalf("there are %d, with room for %d", n, room)
			}
		}
		if s.watched != who || !s.ECS.Alive(who) {
			t.Error("the one who is watched has gone")
		}
	}
}

// Characters of mannequin make go beside dogs and people in their own size, with the same bits for any number of workers.
func TestCharacter(t *testing.T) {
	tall := *testmatching.Learned(t)
	tall.Name, tall.Size = "giant", 1.5
	scene := func(workers int) *Scene {
		return open(t, Options{Options: world.Options{Agents: 30, Seed: 2, Workers: workers}, Character: &matching.File{Learned: &tall}})
	}
	a, b := scene(1), scene(3)
	at := slices.IndexFunc(a.populations, func(p *population) bool { return p.name == "giant" })
	if at < 0 || a.populations[at].Agents() < 4 {
		t.Fatal("there are no giants")
	}
	p := a.populations[at]
	from := make([]m3.Vec3, p.Agents())
	for row := range from {
		from[row] = p.Roots[row].Pos
	}
	var fastest float32
	for tick := range 360 {
		was := slices.Clone(p.Roots[:p.Agents()])
		testscene.Step(t, a, 1, scenes.Input{})
		testscene.Step(t, b, 1, scenes.Input{})
		if a.Hash() != b.Hash() {
			t.Fatalf("in tick %d three workers make other bits than one", tick)
		}
		for row, x := range was {
			fastest = max(fastest, p.Roots[row].Pos.Dist(x.Pos)*scenes.TickRate)
		}
	}
	if top := p.paces[len(p.paces)-1]; fastest < 0.8*top || fastest > 1.5*top {
		t.Errorf("the fastest goes %.2f m/s, asked for up to %.2f", fastest, top)
	}
	went := 0
	for row, was := range from {
		if p.Roots[row].Pos.Dist(was) > 2 {
			went++
		}
	}
	if went < len(from)/2 {
		t.Errorf("%d of %d go somewhere", went, len(from))
	}
	var f scenes.Frame
	a.Frame(&f, 1)
	c := f.Casts[at]
	head, top := c.Skel.Index("Head"), float32(0)
	for row := range c.Len() {
		top = max(top, c.Of(row)[head].Pos.Y-a.Terrain.Height(p.Roots[row].Pos.X, p.Roots[row].Pos.Z))
	}
	if head < 0 || top < 2 || top > 3 {
		t.Errorf("a head of somebody of 1.5 times the size is %.2f m high", top)
	}
	if _, err := New(Options{Options: world.Options{Agents: 3}, Character: new(matching.File)}); err == nil {
		t.Error("an empty character is taken")
	}
}
