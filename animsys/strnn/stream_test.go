package strnn_test

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/teststrnn"
)

// played is a stream that is played without a crowd.
type played struct {
	*strnn.Stream
	*testgen.Player[strnn.Steer]
}

func play(s *strnn.Stream, err error) (*played, error) {
	if err != nil {
		return nil, err
	}
	return &played{s, testgen.Play(s, s.Model().Skel.Len())}, nil
}

// walk is a stream of people, and a pose.
type walk struct {
	t testing.TB
	m *strnn.Model
	*played
	pos []m3.Vec3
	rot []m3.Quat
}

func newWalk(t testing.TB, o strnn.StreamOptions) *walk {
	t.Helper()
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	s := must.Get(play(m.NewStream(o)))(t)
	t.Cleanup(func() { s.Close() })
	return &walk{t, m, s, make([]m3.Vec3, m.Skel.Len()), make([]m3.Quat, m.Skel.Len())}
}

func (w *walk) add(i int) int {
	w.t.Helper()
	row := must.Get(w.Add(feature.Place{Pos: m3.V(float32(i), 0, 0), Yaw: 0.1 * float32(i)}, nil))(w.t)
	w.Controls()[row].Speed = 1
	return row
}

func (w *walk) tick() {
	w.t.Helper()
	must.Do(w.t, w.Continue())
	w.Advance(0, w.Agents())
}

// pose returns the local pose of row, and the root in the world.
func (w *walk) pose(row int) string {
	w.Show(row, w.pos, w.rot)
	return fmt.Sprint(w.pos, w.rot, w.Root(row), w.Contacts(row))
}

// Agents move and turn as steered, without jumps and with a foot on the ground, while others join and
// leave.
func TestStreamFollowsSteering(t *testing.T) {
	const people = 37
	w := newWalk(t, strnn.StreamOptions{Capacity: people, Workers: 2})
	asks := []strnn.Steer{{}, {Speed: 1}, {Speed: 1.4, Turn: 0.5}, {Speed: 0.8, Turn: -0.5}, {Speed: 99}, {Speed: -1}, {Speed: float32(math.NaN()), Turn: float32(math.NaN())}}
	does := []strnn.Steer{{}, {Speed: 1}, {Speed: 1.4, Turn: 0.5}, {Speed: 0.8, Turn: -0.5}, {Speed: strnn.MaxSpeed}, {}, {}}
	model := make([]m3.Xform, w.m.Skel.Len())
	joints := []int{w.m.Skel.Index("LeftHand"), w.m.Skel.Index("RightHand"), w.m.Skel.Index("LeftToeBase")}
	type was struct {
		since      int
		ask        int
		at         feature.Place
		seen       [3]m3.Vec3
		went, turn float32
	}
	var all []was
	for tick := range 600 {
		switch {
		case tick%3 == 0 && w.Agents() < people:
			row := w.add(tick)
			w.Controls()[row] = asks[tick/3%len(asks)]
			all = append(all, was{since: tick, ask: tick / 3 % len(asks), at: w.Root(row)})
		case tick%50 == 49:
			w.Remove(tick % 7)
			all[tick%7] = all[len(all)-1]
			all = all[:len(all)-1]
		}
		w.tick()
		for r := range w.Agents() {
			w.Show(r, w.pos, w.rot)
			w.m.Skel.LocalToModel(model, w.pos, w.rot)
			b, at, low := &all[r], w.Root(r), float32(1)
			by := at.Pos.Dist(b.at.Pos)
			if by > 1.5*strnn.MaxSpeed/generator.TickRate {
				t.Fatalf("tick %d: person %d moves %g m in a tick", tick, r, by)
			}
			for i, j := range joints {
				now := m3.YawQuat(-at.Yaw).Rotate(model[j].Pos.Sub(at.Pos))
				if by := now.Dist(b.seen[i]); tick > b.since && by > 0.015 {
					t.Fatalf("tick %d: %s of person %d moves %g m around the body in a tick", tick, w.m.Skel.Names[j], r, by)
				}
				b.seen[i] = now
			}
			for _, c := range w.m.Layout.Contacts {
				low = min(low, model[w.m.Skel.Index(c.Joint)].Pos.Y)
			}
			if low < -0.05 || low > 0.1 {
				t.Fatalf("tick %d: the lower foot of person %d is at %g m", tick, r, low)
			}
			if tick-b.since > 200 {
				b.went += at.Pos.Sub(b.at.Pos).Dot(m3.YawQuat(b.at.Yaw).Forward())
				b.turn += m3.WrapAngle(at.Yaw - b.at.Yaw)
			}
			b.at = at
		}
	}
	for r, b := range all {
		if seconds := float32(599-b.since-200) / generator.TickRate; seconds > 3 {
			if v, w := b.went/seconds, b.turn/seconds; m3.Abs(v-does[b.ask].Speed) > 0.05 || m3.Abs(w-does[b.ask].Turn) > 0.05 {
				t.Errorf("person %d, steered by %+v, moves at %.3f m/s and turns at %.3f rad/s", r, asks[b.ask], v, w)
			}
		}
	}
	if w.Discarded() > 0 {
		t.Errorf("%d windows were discarded", w.Discarded())
	}
}

// Free agents move on their own, and can be steered again from there.
func TestStreamFree(t *testing.T) {
	w := newWalk(t, strnn.StreamOptions{Capacity: 6, Workers: 1, Spread: 1})
	for i := range 6 {
		w.add(0)
		w.Controls()[i] = strnn.Steer{Speed: 1, Free: true}
	}
	for range 100 {
		w.tick()
	}
	if a, b := w.pose(0), w.pose(4); a == b { // both began with the same frames
		t.Error("two free agents move identically")
	}
	for i := range 6 {
		w.Controls()[i].Free = i%2 == 0
	}
	for range 200 {
		w.tick()
	}
	before := w.Root(1).Pos
	for range 180 {
		w.tick()
	}
	if by := w.Root(1).Pos.Dist(before); by < 2.8 || by > 3.1 {
		t.Errorf("in 3 s at 1 m/s an agent moved %g m", by)
	}
}

// Agents that come and go never exceed the batch of one tick.
func TestStreamSpreadsTurns(t *testing.T) {
	w := newWalk(t, strnn.StreamOptions{Capacity: 60, Workers: 1})
	for i := range 60 {
		w.add(i)
	}
	for row := 58; row >= 0; row -= 2 { // every second turn
		w.Remove(row)
	}
	for i := range 30 {
		w.add(i)
	}
	for range 40 {
		w.tick()
	}
}

// An agent's motion is bit-identical alone or in a crowd and for any number of workers.
func TestStreamBatchInvariance(t *testing.T) {
	for _, o := range []strnn.StreamOptions{{}, {Samples: 3, Steps: 1, Seed: 5}} {
		for _, free := range []bool{false, true} {
			track := func(people, workers int) (out []string) {
				o.Capacity, o.Workers = people, workers
				w := newWalk(t, o)
				for i := range people {
					w.add(i)
					w.Controls()[i] = strnn.Steer{Speed: float32(i%3) / 2, Free: free == (i%2 == 0)}
				}
				for tick := range 200 {
					if tick%70 == 69 { // the stride continues across the change
						w.Controls()[0].Free = !w.Controls()[0].Free
					}
					w.tick()
					out = append(out, w.pose(0))
				}
				return out
			}
			alone := track(1, 1)
			for _, workers := range []int{1, 3} {
				if !slices.Equal(track(40, workers), alone) {
					t.Errorf("%+v: among 40 on %d workers an agent walks differently than alone", o, workers)
				}
			}
		}
	}
}

// An agent whose window is unusable walks on, and others are not affected.
func TestStreamKeepsFaultsApart(t *testing.T) {
	for _, o := range []strnn.StreamOptions{{}, {Samples: 2}} {
		track := func(turn float32) (w *walk, out []string) {
			o.Capacity, o.Workers = 3, 1
			w = newWalk(t, o)
			for i := range 3 {
				w.add(i)
			}
			w.Controls()[1].Turn = turn
			for range 200 {
				w.tick()
				out = append(out, w.pose(0), w.pose(2))
			}
			for r := range 3 {
				if at := w.Root(r); !at.Finite() {
					t.Fatalf("turn %g: person %d is at %v", turn, r, at)
				}
				w.pose(r)
				for j := range w.pos {
					if !w.pos[j].Finite() || !(math.Abs(float64(w.rot[j].Dot(w.rot[j])-1)) < 1e-3) {
						t.Fatalf("turn %g: joint %d of person %d is at %v %v", turn, j, r, w.pos[j], w.rot[j])
					}
				}
			}
			return w, out
		}
		w, want := track(0)
		if w.Discarded() != 0 {
			t.Fatalf("%d good windows were discarded", w.Discarded())
		}
		w, got := track(teststrnn.Burst)
		if o.Samples == 0 && w.Discarded() == 0 {
			t.Error("no window was discarded")
		}
		if !slices.Equal(got, want) {
			t.Error("because of one agent others walk differently")
		}
	}
}

// An agent that moves to the row of a removed one walks on unchanged.
func TestStreamRemoves(t *testing.T) {
	track := func(leaves bool) (out []string) {
		w := newWalk(t, strnn.StreamOptions{Capacity: 3, Workers: 1, Samples: 2})
		for i := range 3 {
			w.add(i)
			w.Controls()[i].Turn = 0.2 * float32(i)
		}
		row := 2
		for tick := range 150 {
			if leaves && tick == 50 {
				w.Remove(0)
				row = 0
			}
			w.tick()
			out = append(out, w.pose(row))
		}
		return out
	}
	if !slices.Equal(track(true), track(false)) {
		t.Error("an agent walks differently because another left")
	}
}

// Places are on flat ground in every tick, and headings are within half a turn.
func TestStreamPlaces(t *testing.T) {
	w := newWalk(t, strnn.StreamOptions{Capacity: 5, Workers: 1})
	least, most := float32(0), float32(0)
	for tick := range 700 {
		if tick < 5 {
			row := must.Get(w.Add(feature.Place{Pos: m3.V(1, 5, 2), Yaw: 3.1}, nil))(t)
			if at := w.Root(row).Pos; at != m3.V(1, 0, 2) {
				t.Errorf("person %d is at %v", row, at)
			}
			w.Place(row, feature.Place{Pos: m3.V(3, -5, 4), Yaw: 3.1})
			w.Controls()[row] = strnn.Steer{Speed: 1, Turn: 0.5}
			before := w.Root(row)
			w.tick()
			if by := w.Root(row).Pos.Dist(before.Pos); before.Pos != m3.V(3, 0, 4) || by > 0.03 {
				t.Errorf("person %d, placed at %v, moves %g m", row, before, by)
			}
			continue
		}
		for r := range 5 {
			least, most = min(least, w.Root(r).Yaw), max(most, w.Root(r).Yaw)
		}
		w.tick()
	}
	if least < -math.Pi || most > math.Pi {
		t.Errorf("headings from %g to %g", least, most)
	}
}

// An agent that joins within a tick walks on, and so does one whose window the network failed to make.
func TestStreamSurvivesFailures(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	var fails atomic.Bool
	s := must.Get(play(m.NewStream(strnn.StreamOptions{Capacity: 40, Workers: 1, Open: testgen.Flaky(&fails)})))(t)
	defer s.Close()
	join := func() {
		row := must.Get(s.Add(feature.Place{}, nil))(t)
		s.Controls()[row] = strnn.Steer{Speed: 1, Free: row%5 == 0}
	}
	failed := 0
	for tick := range 200 {
		if fails.Store(tick >= 70 && tick < 110); tick < 20 {
			join()
		}
		// A run between two ticks may still fail, or fail already.
		if err := s.Continue(); (err != nil) != fails.Load() && tick != 70 && tick != 110 {
			t.Fatalf("tick %d: %v", tick, err)
		} else if err != nil {
			failed++
		}
		if tick < 20 {
			join()
		}
		s.Advance(0, s.Agents())
		for r := range s.Agents() {
			if at := s.Root(r).Pos; !(at.Len() < 40) {
				t.Fatalf("tick %d: person %d is at %v", tick, r, at)
			}
		}
	}
	if failed < 39 || failed > 41 {
		t.Errorf("the network failed %d times", failed)
	}
}

func TestStreamDoesNotAllocate(t *testing.T) {
	w := newWalk(t, strnn.StreamOptions{Capacity: 64, Workers: 1, Samples: 2})
	for i := range 64 {
		w.add(i)
		w.Controls()[i].Free = i%4 == 0
	}
	if n := testing.AllocsPerRun(60, func() {
		w.tick()
		w.Show(3, w.pos, w.rot)
	}); n != 0 {
		t.Errorf("a tick allocates %g times", n)
	}
}

func TestStreamRefuses(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{Guide: true})
	for _, c := range []struct {
		name, want string
		model      *strnn.Model
		opt        strnn.StreamOptions
	}{
		{"no agents", "Capacity is 0", m, strnn.StreamOptions{Workers: 1}},
		{"no workers", "workers", m, strnn.StreamOptions{Capacity: 1, Workers: -1}},
		{"fewer than no steps", "steps", m, strnn.StreamOptions{Capacity: 1, Workers: 1, Steps: -1}},
		{"a spread that is none", "spread", m, strnn.StreamOptions{Capacity: 1, Workers: 1, Spread: -1}},
		{"no guide", "mannequin train guide", teststrnn.Model(t, teststrnn.Options{}), strnn.StreamOptions{Capacity: 1, Workers: 1}},
	} {
		must.Fail(c.model.NewStream(c.opt))(t, c.want)
	}
	w := newWalk(t, strnn.StreamOptions{Capacity: 1, Workers: 1})
	if len(w.Controls()) != 1 || w.Agents() != 0 {
		t.Errorf("a stream of one has %d controls and %d people", len(w.Controls()), w.Agents())
	}
	if _, err := w.Add(feature.Place{Yaw: float32(math.NaN())}, nil); err == nil {
		t.Error("a place of NaN accepted")
	}
	w.add(0)
	if _, err := w.Add(feature.Place{}, nil); err == nil {
		t.Error("two agents accepted in a stream of one")
	}
	s, err := teststrnn.Model(t, teststrnn.Options{}).NewStream(strnn.StreamOptions{Capacity: 1, Workers: 1, Samples: 2})
	if err != nil {
		t.Fatalf("without a guide, by a search: %v", err)
	}
	s.Close()
}

// Preview returns the future places, to the end of the current window.
func TestStreamPreview(t *testing.T) {
	w := newWalk(t, strnn.StreamOptions{Capacity: 2, Workers: 1, Seed: 3})
	for i := range 2 {
		w.add(i)
	}
	type guess struct {
		tick, row int
		at        feature.Place
	}
	var due []guess
	checked := 0
	for tick := range 130 {
		for _, g := range due {
			if got := w.Root(g.row); g.tick == tick {
				checked++
				if d := got.Pos.Dist(g.at.Pos); d > 1e-4 || m3.Abs(m3.WrapAngle(got.Yaw-g.at.Yaw)) > 1e-4 {
					t.Fatalf("tick %d: row %d is at %v, want %v", tick, g.row, got, g.at)
				}
			}
		}
		for row := range 2 {
			if !w.WindowStarted(row) {
				continue
			}
			for i, p := range w.Preview(nil, row, 2) {
				due = append(due, guess{tick + 4*i + 3, row, p}) // half a frame of the first has been played
			}
		}
		w.tick()
	}
	if checked < w.m.Predict {
		t.Errorf("only %d places were compared", checked)
	}
}
