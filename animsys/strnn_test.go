package animsys_test

import (
	"strconv"
	"testing"

	"mannequin/animsys/generator"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/internal/testing/teststrnn"
	"mannequin/models"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// plaza is a scene of people on predicted motion.
type plaza struct {
	*scene
	stream  *strnn.Stream
	wanders generic.Map1[strnn.Steer]
}

func newPlaza(t testing.TB, m *strnn.Model, capacity, workers int) *plaza {
	t.Helper()
	stream, err := m.NewStream(strnn.StreamOptions{Capacity: capacity, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	p := &plaza{scene: newScene(t, stream, workers), stream: stream}
	p.wanders = generic.NewMap1[strnn.Steer](&p.ecs)
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

// People turn and go as fast as a game asks, on the ground, and stand where it asks for
// nothing.
func TestSTRNNGoAsTheyAreAsked(t *testing.T) {
	asks := []strnn.Steer{{}, {Speed: 0.8}, {Speed: 1.4}, {Speed: 1.2, Turn: 0.5}, {Speed: 1.2, Turn: -0.5}}
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
			turned[r] += m3.WrapAngle(is.Rot.Yaw()-was.Rot.Yaw()) * generator.TickRate / ticks
			went[r] += is.Pos.Sub(was.Pos).Dot(was.Rot.Forward()) * generator.TickRate / ticks
			bones, low := s.people.BonesAt(r), float32(1)
			for j, p := range s.people.Skel.Parents {
				if !bones[j].Pos.Finite() || !bones[j].Rot.Finite() {
					t.Fatalf("tick %d: person %d's %s is %v", tick, r, s.people.Skel.Names[j], bones[j])
				}
				if p >= 0 && m3.Abs(bones[j].Pos.Dist(bones[p].Pos)-s.people.Skel.Offsets[j].Len()) > 1e-3 {
					t.Fatalf("tick %d: the bone to %s is %g m long", tick, s.people.Skel.Names[j], bones[j].Pos.Dist(bones[p].Pos))
				}
				low = min(low, bones[j].Pos.Y-s.field.Height(bones[j].Pos.X, bones[j].Pos.Z))
			}
			if low < -0.03 || low > 0.15 {
				t.Fatalf("tick %d: the lowest joint of person %d is %g m over the ground", tick, r, low)
			}
		}
	}
	for r, a := range asks {
		if m3.Abs(went[r]-a.Speed) > 0.06 || m3.Abs(turned[r]-a.Turn) > 0.05 {
			t.Errorf("person %d goes %.2f m/s and turns %.2f rad/s, asked for %g and %g", r, went[r], turned[r], a.Speed, a.Turn)
		}
	}
	if s.stream.Discarded() != 0 {
		t.Errorf("%d windows were lost", s.stream.Discarded())
	}
}

// Whose window is lost does not leap, and nobody else's bits change.
func TestSTRNNFailuresDoNotShow(t *testing.T) {
	run := func(turn float32) (bones [3][]m3.Xform, leap float32, lost int) {
		s := newPlaza(t, teststrnn.Model(t, teststrnn.Options{Guide: true}), 3, 1)
		for i := range 3 {
			e := s.spawn(i)
			if i == 1 {
				s.wanders.Get(e).Turn = turn
			}
		}
		for tick := range 120 {
			last := append([]m3.Xform(nil), s.people.BonesAt(1)...)
			s.step(1)
			for i := range bones {
				bones[i] = append(bones[i], s.people.BonesAt(i)...)
			}
			for j, b := range s.people.BonesAt(1) {
				if tick > 0 {
					leap = max(leap, b.Pos.Dist(last[j].Pos))
				}
			}
		}
		return bones, leap, s.stream.Discarded()
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
				t.Fatalf("person %d: a neighbour's failure changed it", i)
			}
		}
	}
}

// BenchmarkSTRNN is a tick of so many on hills, on all cores: the network of those
// whose turn it is, poses, feet.
func BenchmarkSTRNN(b *testing.B) {
	net, err := models.Open("human-strnn")
	if err != nil {
		b.Skip(err)
	}
	m, err := strnn.NewModel(net)
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
