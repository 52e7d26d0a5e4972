package animsys_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/models/human"
	humanfootstep "mannequin/models/human-footstep"
	humanlocomotion "mannequin/models/human-locomotion"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/netruntime"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// base is the shipped manifold, one for all: transfers are of a Model itself.
var base = sync.OnceValues(func() (*manifold.Model, error) {
	net, err := human.Open()
	if err != nil {
		return nil, err
	}
	return manifold.NewModel(net)
})

// humans returns the shipped networks.
func humans(t testing.TB) (m *manifold.Model, steps, locomotion *netruntime.Net) {
	t.Helper()
	var nets []*netruntime.Net
	for _, open := range []func() (*netruntime.Net, error){humanfootstep.Open, humanlocomotion.Open} {
		n, err := open()
		if err != nil {
			t.Fatal(err)
		}
		nets = append(nets, n)
	}
	m, err := base()
	if err != nil {
		t.Fatal(err)
	}
	return m, nets[0], nets[1]
}

// jogging returns a transfer from walks to a run, both of the shipped networks.
func jogging(t testing.TB, m *manifold.Model, steps, locomotion *netruntime.Net) *manifold.StyleTransfer {
	t.Helper()
	const frames = 240
	l, err := m.With(steps, locomotion).NewLocomotion(manifold.LocomotionOptions{Batch: 2, Frames: frames, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path, err := control.Circle(6)
	if err != nil {
		t.Fatal(err)
	}
	var courses []manifold.Trajectory
	for _, speed := range []float32{1.4, 3} {
		c, err := manifold.AlongPath(path, frames, func(int) float32 { return speed }, func(int) float32 { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		courses = append(courses, c)
	}
	made, _, err := l.Make(courses, nil, manifold.CrowdIterations, nil)
	if err != nil {
		t.Fatal(err)
	}
	style, err := m.NewStyle(made[1].Rows, 2)
	if err != nil {
		t.Fatal(err)
	}
	tr, _, err := m.NewStyleTransfer(style, made[0].Rows, manifold.StyleTransferOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// street is a world with people on hills.
type street struct {
	*scene
	stream *manifold.Stream
	curves generic.Map1[manifold.Curve]
}

func newStreet(t testing.TB, capacity, workers int, o manifold.StreamOptions, extra ...func(*animsys.Options)) *street {
	t.Helper()
	s := &street{}
	m, steps, locomotion := humans(t)
	o.Capacity = capacity
	if o.Workers == 0 {
		o.Workers = max(1, workers-1)
	}
	var err error
	if s.stream, err = m.With(steps, locomotion).NewStream(o); err != nil {
		t.Fatal(err)
	}
	s.scene = newScene(t, s.stream, workers, extra...)
	s.curves = generic.NewMap1[manifold.Curve](&s.ecs)
	return s
}

// person adds the i-th person of the tests, on a lane of their own.
func (s *street) person(i int) arche.Entity {
	s.t.Helper()
	path, err := control.Circle(4 + 0.7*float32(i%20))
	if err != nil {
		s.t.Fatal(err)
	}
	c := manifold.Curve{Path: path, Start: 5 * float32(i), Speed: [...]float32{1.4, 3, 1, 2}[i%4]}
	at, ahead := path.At(c.Start)
	e, err := s.people.Spawn(at, m3.YawOf(ahead))
	if err != nil {
		s.t.Fatal(err)
	}
	*s.curves.Get(e) = c
	return e
}

// People set out, go along their curves as fast as they are told, on the hills,
// with feet that stand where they stand and bones as long as ever.
func TestPeopleGoAlongCurves(t *testing.T) {
	s := newStreet(t, 4, 2, manifold.StreamOptions{})
	var all []arche.Entity
	for i := range 4 {
		all = append(all, s.person(i))
	}
	s.goAlong(all, 600)
}

// The feet of people who go aside do not pass through each other.
func TestPeopleGoAside(t *testing.T) {
	s := newStreet(t, 2, 2, manifold.StreamOptions{})
	var all []arche.Entity
	for i, facing := range []float32{math.Pi / 2, -math.Pi / 2} {
		e := s.person(i)
		c := s.curves.Get(e)
		c.Path, c.Speed, c.Facing = must.Get(control.Circle(20+2*float32(i)))(t), 0.8+0.4*float32(i), facing
		all = append(all, e)
		at, _ := c.Path.At(c.Start)
		must.Do(t, s.people.Place(e, at, 0))
	}
	s.step(240)
	near := 0
	for range 600 {
		s.step(1)
		for _, e := range all {
			bones := s.bones(e)
			at := func(name string) m3.Vec3 { return bones[s.people.Skel.Index(name)].Pos }
			apart := float32(1)
			for u := float32(0); u <= 1; u += 0.125 {
				p := at("LeftFoot").Lerp(at("LeftToeBase"), u)
				apart = min(apart, p.Dist(p.OnSegment(at("RightFoot"), at("RightToeBase"))))
			}
			if apart < 0.06 {
				near++
			}
		}
	}
	if near > 0 {
		t.Errorf("feet are within 6 cm in %d of 1200 frames", near)
	}
}

// They do so in the shipped styles, too.
func TestPeopleGoInStyles(t *testing.T) {
	race.Single(t)
	ts, err := stylesgram.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, _, _ := humans(t)
	transfers, err := ts.For(m)
	if err != nil {
		t.Fatal(err)
	}
	for i := range transfers {
		t.Run(transfers[i].Name, func(t *testing.T) {
			s := newStreet(t, 4, 2, manifold.StreamOptions{Styles: transfers})
			var all []arche.Entity
			for k := range 4 {
				all = append(all, s.person(k))
				s.style(all[k], "gram", i, 1)
			}
			s.goAlong(all, 300)
		})
	}
}

// goAlong lets all go for so many ticks, and sees that they do as they should.
func (s *street) goAlong(all []arche.Entity, ticks int) {
	t := s.t
	t.Helper()
	s.step(240)
	var skate, stands float64
	tips := []int{s.people.Skel.Index("LeftToeBase"), s.people.Skel.Index("RightToeBase")}
	last := make([][2]m3.Vec3, len(all))
	way := make([]float32, len(all))
	for tick := range ticks {
		s.step(1)
		for i, e := range all {
			row, _ := s.people.Row(e)
			root, c := s.people.Roots[row], s.curves.Get(e)
			if _, d := c.Path.Nearest(root.Pos); d > 0.05 {
				t.Fatalf("tick %d: person %d is %g m from the path", tick, i, d)
			}
			way[i] += s.stream.Root(row).Pos.Dist(root.Pos)
			bones := s.people.BonesAt(row)
			for j, p := range s.people.Skel.Parents {
				if !bones[j].Pos.Finite() || !bones[j].Rot.Finite() {
					t.Fatalf("tick %d: person %d's %s is %v", tick, i, s.people.Skel.Names[j], bones[j])
				}
				if p >= 0 && m3.Abs(bones[j].Pos.Dist(bones[p].Pos)-s.people.Skel.Offsets[j].Len()) > 1e-3 {
					t.Fatalf("tick %d: the bone to %s is %g m long", tick, s.people.Skel.Names[j], bones[j].Pos.Dist(bones[p].Pos))
				}
			}
			for k, j := range tips {
				p := bones[j].Pos
				if h := p.Y - s.field.Height(p.X, p.Z); h < 0.01 {
					t.Fatalf("tick %d: person %d's %s is %g m over the ground", tick, i, s.people.Skel.Names[j], h)
				}
				if f := &s.people.Ground.Feet[2*row+k]; f.Contact() && tick > 0 {
					stands++
					skate += float64(p.Sub(last[i][k]).Len())
				}
				last[i][k] = p
			}
		}
	}
	if stands < float64(ticks) {
		t.Errorf("feet stand for %g of %d frames", stands, 8*ticks)
	}
	mean := 100 * skate / stands
	if t.Logf("standing feet slide by %.2f cm a frame", mean); mean > 0.3 {
		t.Errorf("standing feet slide by %.2f cm a frame", mean)
	}
	if s.stream.Discarded() != 0 {
		t.Errorf("%d windows were lost", s.stream.Discarded())
	}
}

// Who has no curve stands where they are, and after being placed elsewhere stands
// there.
func TestPeopleStand(t *testing.T) {
	s := newStreet(t, 1, 1, manifold.StreamOptions{})
	e, err := s.people.Spawn(m3.V(5, 0, 5), 1)
	if err != nil {
		t.Fatal(err)
	}
	stands := func(at m3.Vec3) {
		t.Helper()
		s.step(300)
		if d := s.people.Roots[0].Pos.Dist(at); d > 0.01 { // it shifts its weight
			t.Errorf("who stands went %g m", d)
		}
		hips := s.bones(e)[0].Pos.Flat()
		s.step(60)
		if d := s.bones(e)[0].Pos.Flat().Dist(hips); d > 0.02 {
			t.Errorf("who stands moves by %g m", d)
		}
		hand, shoulder := s.people.Skel.Index("LeftHand"), s.people.Skel.Index("LeftArm")
		var jerk float32 // m/s³, mean over frames 1/30 s apart
		var arm []m3.Vec3
		const frames = 240
		for range frames + 6 {
			s.step(1)
			arm = append(arm, s.bones(e)[hand].Pos.Sub(s.bones(e)[shoulder].Pos))
		}
		for f := range frames {
			jerk += arm[f+6].Sub(arm[f]).Sub(arm[f+4].Sub(arm[f+2]).Scale(3)).Len() * 30 * 30 * 30 / frames
		}
		if t.Logf("a hand jerks by %.2g m/s³", jerk); jerk < 3 || jerk > 40 {
			t.Errorf("the hand of who stands jerks by %g m/s³, recorded ones by 2.7 to 41", jerk)
		}
	}
	stands(m3.V(5, 0, 5))
	if err := s.people.Place(e, m3.V(-3, 0, 8), 2); err != nil {
		t.Fatal(err)
	}
	stands(m3.V(-3, 0, 8))
}

// Closing twice is harmless, and a schedule goes on without those who are closed;
// who comes after the schedule is told so.
func TestPeopleClose(t *testing.T) {
	s := newStreet(t, 2, 1, manifold.StreamOptions{})
	s.person(0)
	s.step(20) // an order is under way
	for range 2 {
		if err := s.people.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s.step(60)
}

// A curve's change shows about a second later, without a jump: other speeds,
// backward, another path, and standing.
func TestPeopleChangeTheirWays(t *testing.T) {
	s := newStreet(t, 1, 1, manifold.StreamOptions{})
	e := s.person(0)
	other, err := control.NewPath([]m3.Vec3{m3.V(-20, 0, 0), m3.V(0, 0, 2), m3.V(20, 0, 0)}, false)
	if err != nil {
		t.Fatal(err)
	}
	c := s.curves.Get(e)
	var last [3]m3.Vec3
	jerk, twist := float32(0), float32(0)
	var yaw, rate float32
	run := func(n int) (moved float32) {
		from := s.people.Roots[0].Pos
		for range n {
			s.step(1)
			p := s.bones(e)[0].Pos
			now := s.people.Roots[0].Rot.Yaw()
			turn := m3.WrapAngle(now-yaw) * manifold.Rate
			if last[1] != (m3.Vec3{}) {
				twist = max(twist, m3.Abs(turn-rate))
			}
			yaw, rate = now, turn
			if last[1] != (m3.Vec3{}) {
				jerk = max(jerk, p.Sub(last[0].Scale(2)).Add(last[1]).Len()*manifold.Rate*manifold.Rate)
			}
			last[1], last[0] = last[0], p
		}
		return s.people.Roots[0].Pos.Dist(from)
	}
	facing := func() float32 { // from the way that it goes
		before := s.people.Roots[0]
		run(1)
		return m3.WrapAngle(before.Rot.Yaw() - m3.YawOf(s.people.Roots[0].Pos.Sub(before.Pos)))
	}
	run(180)
	if a := facing(); m3.Abs(a) > 0.2 {
		t.Errorf("it faces %g rad from its way", a)
	}
	c.Facing = math.Pi
	run(180)
	if a := facing(); m3.Abs(m3.Abs(a)-math.Pi) > 0.2 {
		t.Errorf("backward it faces %g rad from its way", a)
	}
	c.Facing, c.Speed = 0, 3
	run(150)
	if v := run(60); v < 2.5 || v > 3.3 { // some strides, within which the speed varies
		t.Errorf("it runs %g m/s, want 3", v)
	}
	*c = manifold.Curve{Path: other, Start: 20, Speed: 1.3}
	run(480)
	if _, d := other.Nearest(s.people.Roots[0].Pos); d > 0.05 {
		t.Errorf("it is %g m from its new path", d)
	}
	*c = manifold.Curve{}
	run(210)
	if d := run(60); d > 0.02 {
		t.Errorf("it stands, and moves %g m in a second", d)
	}
	*c = manifold.Curve{Path: other, Start: float32(math.NaN()), Speed: float32(math.Inf(1)), Facing: float32(math.NaN()), Acceleration: float32(math.NaN()), Gait: manifold.Gait{Cadence: float32(math.NaN())}}
	run(600) // to the path's beginning, and, as fast as can be, along it
	*c = manifold.Curve{Path: other, Start: other.Length() - 3, Speed: 1.4}
	run(2700)
	if d := s.people.Roots[0].Pos.Flat().Dist(m3.V(20, 0, 0)); d > 0.05 {
		t.Errorf("at the end of its path it stands %g m from there", d)
	}
	if twist > 1.5 {
		t.Errorf("its turning jumps by %g rad/s in a frame", twist)
	}
	if jerk > 60 {
		t.Errorf("its hips are pushed by %g m/s²", jerk)
	}
}

// A person has the same bits alone or among others, whoever comes and goes, and
// for any number of workers.
func TestPeopleAloneOrAmongOthers(t *testing.T) {
	const ticks = 200
	m, steps, locomotion := humans(t)
	tr := jogging(t, m, steps, locomotion)
	track := func(workers, making int, among bool) [][]m3.Xform {
		s := newStreet(t, 6, workers, manifold.StreamOptions{Batch: 6, Workers: making, Styles: []*manifold.StyleTransfer{tr}})
		var e arche.Entity
		var before []arche.Entity
		for i := range 3 { // so that it is the third either way
			before = append(before, s.person(i))
		}
		e = before[2]
		if !among {
			for _, o := range before[:2] {
				if err := s.people.Despawn(o); err != nil {
					t.Fatal(err)
				}
			}
		}
		var out [][]m3.Xform
		for tick := range ticks {
			if tick == 60 {
				s.style(e, "gram", 0, 0.8)
			}
			if among && tick%50 == 20 {
				before = append(before, s.person(tick))
			}
			if among && tick == 130 { // its window may be under way
				if err := s.people.Despawn(before[0]); err != nil {
					t.Fatal(err)
				}
			}
			if among && tick == 140 {
				if err := s.people.Place(before[1], m3.V(1, 0, 1), 1); err != nil {
					t.Fatal(err)
				}
				s.curves.Get(before[1]).Speed = float32(math.NaN())
			}
			s.step(1)
			out = append(out, append([]m3.Xform(nil), s.bones(e)...))
		}
		return out
	}
	alone := track(1, 1, false)
	for _, c := range []struct{ workers, making int }{{1, 1}, {3, 2}} {
		same(t, fmt.Sprintf("%d and %d workers, among others", c.workers, c.making), alone, track(c.workers, c.making, true))
	}
}

func TestPeopleTickDoesNotAllocate(t *testing.T) {
	race.Single(t)
	m, steps, locomotion := humans(t)
	s := newStreet(t, 6, 2, manifold.StreamOptions{Iterations: 2, Styles: []*manifold.StyleTransfer{jogging(t, m, steps, locomotion)}}, withStyles(t))
	for i := range 6 {
		e := s.person(i)
		s.style(e, [...]string{"gram", "", "mar"}[i%3], i%3/2, 1)
	}
	s.step(120)
	frame := s.people.Interpolate(nil, 0.5)
	const ticks = 600
	mustNotAllocate(t, func() {
		for range ticks { // with the windows that are made meanwhile
			s.step(1)
			frame = s.people.Interpolate(frame, 0.5)
		}
	})
}

// A style changes the poses and leaves the ways; without weight it is none.
func TestPeopleHaveStyle(t *testing.T) {
	m, steps, locomotion := humans(t)
	tr := jogging(t, m, steps, locomotion)
	bones := func(weight float32) ([]m3.Xform, m3.Vec3) {
		s := newStreet(t, 1, 1, manifold.StreamOptions{Styles: []*manifold.StyleTransfer{tr}})
		e := s.person(0)
		s.style(e, "gram", 0, weight)
		s.step(400)
		return s.bones(e), s.people.Roots[0].Pos
	}
	elbow := func(b []m3.Xform) float32 { // how far it is bent
		a, f, h := b[m.Skel.Index("LeftArm")].Pos, b[m.Skel.Index("LeftForeArm")].Pos, b[m.Skel.Index("LeftHand")].Pos
		return m3.Acos(f.Sub(a).Normalize(m3.Up).Dot(h.Sub(f).Normalize(m3.Up)))
	}
	plain, at := bones(0)
	same(t, "no weight", [][]m3.Xform{plain}, [][]m3.Xform{first(bones(float32(math.NaN())))})
	run, there := bones(1)
	if at != there {
		t.Errorf("with a style it is at %v, without at %v", there, at)
	}
	if elbow(run) < elbow(plain)+0.3 {
		t.Errorf("walking like a runner it bends an elbow by %g, walking by %g", elbow(run), elbow(plain))
	}
}

func first[A, B any](a A, _ B) A { return a }

// style gives e a weight of a style of a method.
func (s *street) style(e arche.Entity, method string, i int, weight float32) {
	gram, mar := generic.NewMap1[ecs.GramStyle](&s.ecs), generic.NewMap1[ecs.MARStyle](&s.ecs)
	if s.ecs.Has(e, arche.ComponentID[ecs.GramStyle](&s.ecs)) {
		gram.Remove(e)
	}
	if s.ecs.Has(e, arche.ComponentID[ecs.MARStyle](&s.ecs)) {
		mar.Remove(e)
	}
	switch method {
	case "gram":
		gram.Assign(e, &ecs.GramStyle{Style: i, Weight: weight})
	case "mar":
		style := ecs.MARStyle{}
		style.Weights[i] = weight
		mar.Assign(e, &style)
	}
}

// A tick of a steady crowd, its windows included.
func BenchmarkPeople(b *testing.B) {
	for _, n := range []int{50, 200} {
		b.Run(fmt.Sprintf("agents=%d", n), func(b *testing.B) {
			s := newStreet(b, n, 0, manifold.StreamOptions{})
			for i := range n {
				s.person(i)
			}
			s.step(480)
			for b.Loop() {
				s.step(1)
			}
		})
	}
}

// The stream tells where people will be, some time ahead, and they come there.
func TestPeopleGoWhereTheyWill(t *testing.T) {
	m, steps, locomotion := humans(t)
	field, err := terrain.Flat(terrain.Grid{Size: 60, Cell: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	w := arche.NewWorld()
	stream, err := m.With(steps, locomotion).NewStream(manifold.StreamOptions{Capacity: 1})
	if err != nil {
		t.Fatal(err)
	}
	people, err := animsys.NewCrowd(&w, stream, animsys.Options{Ground: field})
	if err != nil {
		t.Fatal(err)
	}
	defer people.Close()
	schedule, err := ecs.NewSchedule(&w, 1.0/60, animsys.Systems()...)
	if err != nil {
		t.Fatal(err)
	}
	defer schedule.Close()
	path, err := control.Circle(6)
	if err != nil {
		t.Fatal(err)
	}
	at, along := path.At(0)
	e, err := people.Spawn(at, m3.YawOf(along))
	if err != nil {
		t.Fatal(err)
	}
	curves := generic.NewMap1[manifold.Curve](&w)
	*curves.Get(e) = manifold.Curve{Path: path, Speed: 1.4}
	const soon = 30
	for tick := range 300 {
		ahead := stream.Preview(nil, 0, 1)
		if len(ahead) < soon {
			t.Fatalf("tick %d: %d places ahead", tick, len(ahead))
		}
		if tick%60 != 59 {
			if err := schedule.Step(); err != nil {
				t.Fatal(err)
			}
			if got := stream.Root(0).Pos; got.Dist(ahead[0].Pos) > 0.005 {
				t.Errorf("tick %d: at %v, want %v", tick, got, ahead[0].Pos)
			}
			continue
		}
		for range soon {
			if err := schedule.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if got := stream.Root(0).Pos; got.Dist(ahead[soon-1].Pos) > 0.03 {
			t.Errorf("tick %d: at %v, want %v", tick, got, ahead[soon-1].Pos)
		}
	}
}
