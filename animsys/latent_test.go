package animsys_test

import (
	"math"
	"strconv"
	"testing"

	"mannequin/animsys/latent"
	"mannequin/engine/m3"
	"mannequin/internal/testing/race"
	"mannequin/internal/testing/testlatent"

	"github.com/mlange-42/arche/generic"
)

// promenade is a scene of people on sliders.
type promenade struct {
	*scene
	stream  *latent.Stream
	sliders generic.Map1[latent.Sliders]
}

func newPromenade(t testing.TB, capacity, workers int) *promenade {
	t.Helper()
	m, next := testlatent.Shipped(t)
	stream, err := m.NewStream(next, latent.StreamOptions{Capacity: capacity, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	p := &promenade{scene: newScene(t, stream, workers), stream: stream}
	p.sliders = generic.NewMap1[latent.Sliders](&p.ecs)
	return p
}

// People on sliders turn and go as fast as a game asks, on standing feet, without an end.
func TestLatentGoesAsItIsAsked(t *testing.T) {
	race.Single(t)
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
			turned[r] += float64(m3.WrapAngle(is.Rot.Yaw()-was.Rot.Yaw())) * latent.Rate / ticks
			went[r] += float64(is.Pos.Dist(was.Pos)) * latent.Rate / ticks
			bones := s.people.BonesAt(r)
			for j, p := range s.people.Skel.Parents {
				if !bones[j].Pos.Finite() || !bones[j].Rot.Finite() {
					t.Fatalf("tick %d: person %d's %s is %v", tick, r, s.people.Skel.Names[j], bones[j])
				}
				if p >= 0 && m3.Abs(bones[j].Pos.Dist(bones[p].Pos)-s.people.Skel.Offsets[j].Len()) > 1e-3 {
					t.Fatalf("tick %d: the bone to %s is %g m long", tick, s.people.Skel.Names[j], bones[j].Pos.Dist(bones[p].Pos))
				}
			}
			for k, j := range tips {
				p := bones[j].Pos
				if h := p.Y - s.field.Height(p.X, p.Z); h < 0.01 {
					t.Fatalf("tick %d: person %d's %s is %g m over the ground", tick, r, s.people.Skel.Names[j], h)
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
			t.Errorf("person %d goes %.2f m/s and turns %.2f rad/s, asked for %g and %g", r, went[r], turned[r], a.speed, a.turn)
		}
	}
	if share := stands / ticks / float64(2*n); share < 0.3 {
		t.Errorf("feet stand %.2f of the time", share)
	}
	if mean := 100 * skate / stands; mean > 0.2 {
		t.Errorf("standing feet slide by %.2f cm a frame", mean)
	}
	if s.stream.Discarded() != 0 {
		t.Errorf("%d clips were lost", s.stream.Discarded())
	}
	t.Logf("standing feet slide by %.3f cm a frame; speeds %.2f, turns %.2f", 100*skate/stands, went, turned)
}

// BenchmarkLatent is a tick of so many on hills, on all cores: the networks of those
// whose turn it is, poses, feet.
func BenchmarkLatent(b *testing.B) {
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
