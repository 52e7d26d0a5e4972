package keypose_test

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"

	"pgregory.net/rapid"
)

// An agent's motion is bit-identical alone or in a crowd and for any number of workers.
func TestStreamBatchInvariance(t *testing.T) {
	m := made(t)
	a, b := poseLoop(t, m, 4, 4, 0.4, 2), poseLoop(t, m, 5, 3, 0.6, 2)
	track := func(people, workers int) (out []string) {
		p := newGroup(t, m, keypose.StreamOptions{Capacity: people, Workers: workers})
		for i := range people {
			p.add(feature.Place{Pos: m3.V(float32(i), 0, 0)}, keypose.Performance{Loop: a, Speed: 1 + 0.1*float32(i)}, float64(i))
		}
		for tick := range 200 {
			if tick == 40 {
				p.Controls()[0].Loop = b
			}
			p.tick()
			out = append(out, p.pose(0))
		}
		return out
	}
	alone := track(1, 1)
	for _, workers := range []int{1, 3} {
		if !slices.Equal(track(70, workers), alone) {
			t.Errorf("among 70 on %d workers an agent moves differently than alone", workers)
		}
	}
}

// spoiler is a session that damages the second sequence of a run, or fails.
type spoiler struct {
	netruntime.Session
	spoils *atomic.Uint32 // the bits of a float32 to write there; 0: none
	fails  *atomic.Bool
}

func (s spoiler) RunSequences(out, in [][]float32, batch, length int) error {
	if s.fails.Load() {
		return errors.New("the session fails")
	}
	err := s.Session.RunSequences(out, in, batch, length)
	if bits := s.spoils.Load(); bits != 0 && batch > 1 {
		out[0][len(out[0])/batch+5] = math.Float32frombits(bits)
	}
	return err
}

// An agent whose window fails plays the interpolation, and others are not affected. A speed of NaN is
// ignored.
func TestStreamKeepsFaultsApart(t *testing.T) {
	m := made(t)
	r := poseLoop(t, m, 6, 4, 0.5, 2)
	var spoils atomic.Uint32
	var fails atomic.Bool
	open := func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		s, err := n.NewSession(o)
		return spoiler{s, &spoils, &fails}, err
	}
	// Two of 65 agents share a batch.
	track := func(speed float32) (p *group, out []string) {
		p = newGroup(t, m, keypose.StreamOptions{Capacity: 65, Workers: 1, Open: open})
		for i := range 65 {
			p.add(feature.Place{}, keypose.Performance{Loop: r}, float64(i))
		}
		p.Controls()[64].Speed = speed
		for range 140 {
			p.tick()
			out = append(out, p.pose(0))
			if p.pose(64); !p.pos[0].Finite() {
				t.Fatalf("at speed %g an agent is at %v", speed, p.pos[0])
			}
			for j, q := range p.rot {
				if !(math.Abs(float64(q.Dot(q)-1)) < 1e-3) {
					t.Fatalf("at speed %g an agent's joint %d is turned by %v", speed, j, q)
				}
			}
		}
		return p, out
	}
	p, want := track(0)
	if p.Discarded() != 0 {
		t.Fatalf("%d good windows were discarded", p.Discarded())
	}
	var got []string
	for _, v := range []float32{float32(math.NaN()), float32(math.Inf(-1)), 1e30} {
		spoils.Store(math.Float32bits(v))
		if p, got = track(0); p.Discarded() == 0 {
			t.Errorf("damaged with %g no window was discarded", v)
		}
		if !slices.Equal(got, want) {
			t.Errorf("beside an agent with windows damaged with %g others move differently", v)
		}
	}
	spoils.Store(0)
	if p, got = track(float32(math.NaN())); p.Discarded() != 0 || !slices.Equal(got, want) {
		t.Error("beside a speed of NaN others move differently")
	}
	fails.Store(true)
	p.Continue() // windows requested before
	before := make([]m3.Xform, len(p.pos))
	after := make([]m3.Xform, len(p.pos))
	p.model(before, 0)
	errs := 0
	for range 64 {
		if p.Continue() != nil {
			errs++
		}
		p.model(after, 0)
		if _, most := span(before, after); most > 0.06 {
			t.Fatalf("when the network fails an agent jumps by %g m", most)
		}
		copy(before, after)
	}
	if errs != 64 {
		t.Errorf("of 64 failing runs %d returned an error", errs)
	}
}

// Rows stay correct however agents come, go and are placed, and a batch never overflows.
func TestStreamComesAndGoes(t *testing.T) {
	m := made(t)
	r := poseLoop(t, m, 7, 3, 0.5, 1.5)
	rapid.Check(t, func(t *rapid.T) {
		s := must.Get(play(m.NewStream(keypose.StreamOptions{Capacity: 6, Workers: 1, Every: rapid.SampledFrom([]int{1, 16, 64}).Draw(t, "every")})))(t)
		defer s.Close()
		var spots []float32 // of the rows
		next := float32(0)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				next += 5
				row, err := s.Add(feature.Place{Pos: m3.V(next, 0, 0)}, &keypose.Performance{Loop: r, Start: rapid.Float64Range(0, 9).Draw(t, "from")})
				if (err != nil) != (len(spots) == 6) {
					t.Fatalf("%d people, adding one: %v", len(spots), err)
				}
				if err == nil {
					if spots = append(spots, next); row != len(spots)-1 {
						t.Fatalf("the row of agent %d is %d", len(spots), row)
					}
				}
			case 1:
				if len(spots) > 0 {
					row := rapid.IntRange(0, len(spots)-1).Draw(t, "row")
					s.Remove(row)
					spots[row] = spots[len(spots)-1]
					spots = spots[:len(spots)-1]
				}
			case 2:
				if len(spots) > 0 {
					row := rapid.IntRange(0, len(spots)-1).Draw(t, "row")
					next += 5
					s.Place(row, feature.Place{Pos: m3.V(next, 3, 0)})
					spots[row] = next
				}
			}
			for range rapid.IntRange(0, 20).Draw(t, "ticks") {
				must.Do(t, s.Continue())
			}
			if s.Agents() != len(spots) {
				t.Fatalf("%d people, want %d", s.Agents(), len(spots))
			}
			for row, x := range spots {
				if at := s.Root(row).Pos; at.Dist(m3.V(x, 0, 0)) > 1 {
					t.Fatalf("row %d is at %v, its spot at %g", row, at, x)
				}
			}
		}
	})
}

// An agent that moves to the row of a removed one continues unchanged.
func TestStreamRemoves(t *testing.T) {
	m := made(t)
	a, b := poseLoop(t, m, 13, 4, 0.5, 2), poseLoop(t, m, 14, 4, 0.5, 2)
	track := func(leaves bool) (out []string) {
		p := newGroup(t, m, keypose.StreamOptions{Capacity: 3, Workers: 1})
		row := 2
		for i, r := range []*keypose.PoseLoop{a, a, b} {
			p.add(feature.Place{Pos: m3.V(float32(i), 0, 0)}, keypose.Performance{Loop: r, Speed: 1 + float32(i)/4}, float64(i))
		}
		for tick := range 200 {
			if leaves && tick == 70 {
				p.Remove(0)
				row = 0
			}
			p.tick()
			out = append(out, p.pose(row))
		}
		return out
	}
	if !slices.Equal(track(true), track(false)) {
		t.Error("an agent in a new row moves differently")
	}
}
