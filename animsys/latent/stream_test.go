package latent_test

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/testlatent"
	"mannequin/netruntime"
)

// played is a stream that is played without a crowd.
type played struct {
	*latent.Stream
	*testgen.Player[latent.Sliders]
}

func play(s *latent.Stream, err error) (*played, error) {
	if err != nil {
		return nil, err
	}
	return &played{s, testgen.Play(s, s.Model().Skel.Len())}, nil
}

// walk is a stream of people, and a pose.
type walk struct {
	t testing.TB
	m *latent.Model
	*played
	pos []m3.Vec3
	rot []m3.Quat
}

func newWalk(t testing.TB, people, workers int) *walk {
	t.Helper()
	m := testlatent.Model(t)
	s := must.Get(play(m.NewStream(testlatent.Next(t, m), latent.StreamOptions{Capacity: people, Workers: workers})))(t)
	t.Cleanup(func() { s.Close() })
	return &walk{t, m, s, make([]m3.Vec3, m.Skel.Len()), make([]m3.Quat, m.Skel.Len())}
}

func (w *walk) add(i int) int {
	w.t.Helper()
	row := must.Get(w.Add(feature.Place{Pos: m3.V(float32(i), 0, 0), Yaw: 0.1 * float32(i)}, nil))(w.t)
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

// Agents follow their sliders without jumps while others join and leave.
func TestStreamIsSmooth(t *testing.T) {
	w := newWalk(t, 37, 2)
	model := make([]m3.Xform, w.m.Skel.Len())
	type was struct {
		at    feature.Place
		hands [2]m3.Vec3
	}
	hands := [2]int{w.m.Skel.Index("LeftHand"), w.m.Skel.Index("RightHand")}
	seen := map[int]was{}
	for tick := range 400 {
		switch {
		case tick%3 == 0 && w.Agents() < 37:
			row := w.add(tick)
			delete(seen, row)
		case tick%50 == 49:
			last := w.Agents() - 1
			w.Remove(tick % 7)
			seen[tick%7] = seen[last]
			delete(seen, last)
		}
		for r := range w.Agents() {
			w.Controls()[r].Set(0, float32(3*math.Sin(float64(tick/30+r))))
		}
		w.tick()
		for r := range w.Agents() {
			w.Show(r, w.pos, w.rot)
			w.m.Skel.LocalToModel(model, w.pos, w.rot)
			now := was{at: w.Root(r)}
			for i, j := range hands {
				now.hands[i] = m3.YawQuat(-now.at.Yaw).Rotate(model[j].Pos.Sub(now.at.Pos))
			}
			if b, ok := seen[r]; ok {
				if by := now.at.Pos.Dist(b.at.Pos); by < 0.2*testlatent.Speed/latent.Rate || by > 3*testlatent.Speed/latent.Rate {
					t.Fatalf("tick %d: person %d moves %g m in a frame", tick, r, by)
				}
				for i := range hands {
					if by := now.hands[i].Dist(b.hands[i]); by > 0.013 {
						t.Fatalf("tick %d: a hand of person %d moves %g m around the body in a frame", tick, r, by)
					}
				}
			}
			seen[r] = now
		}
	}
	if w.Discarded() > 0 {
		t.Errorf("%d clips were discarded", w.Discarded())
	}
}

// Agents that come and go never exceed the batch of one tick.
func TestStreamSpreadsTurns(t *testing.T) {
	w := newWalk(t, 60, 1)
	for i := range 60 {
		w.add(i)
	}
	for row := 58; row >= 0; row -= 2 { // every second turn
		w.Remove(row)
	}
	for i := range 30 {
		w.add(i)
	}
	for range 90 {
		w.tick()
	}
}

// An agent's motion is bit-identical alone or in a crowd and for any number of workers.
func TestStreamBatchInvariance(t *testing.T) {
	track := func(people, workers int) (out []string) {
		w := newWalk(t, people, workers)
		for i := range people {
			w.add(i)
			w.Controls()[i].Set(1, float32(i%3))
		}
		for range 130 {
			w.tick()
			out = append(out, w.pose(0))
		}
		return out
	}
	alone := track(1, 1)
	for _, workers := range []int{1, 3} {
		if !slices.Equal(track(64, workers), alone) {
			t.Errorf("among 64 on %d workers an agent walks differently than alone", workers)
		}
	}
}

// An agent whose clip is not finite walks on, and others are not affected. NaN in sliders counts as 0.
func TestStreamKeepsFaultsApart(t *testing.T) {
	track := func(ask float32) (w *walk, out []string) {
		w = newWalk(t, 3, 1)
		for i := range 3 {
			w.add(i)
		}
		w.Controls()[1].Set(testlatent.Burst, ask)
		for range 200 {
			w.tick()
			out = append(out, w.pose(0), w.pose(2))
		}
		for r := range 3 {
			if at := w.Root(r); !at.Finite() {
				t.Fatalf("slider at %g: person %d is at %v", ask, r, at)
			}
			w.pose(r)
			for j := range w.pos {
				if !w.pos[j].Finite() || !(math.Abs(float64(w.rot[j].Dot(w.rot[j])-1)) < 1e-3) {
					t.Fatalf("slider at %g: joint %d of person %d is at %v %v", ask, j, r, w.pos[j], w.rot[j])
				}
			}
		}
		return w, out
	}
	w, want := track(0)
	if w.Discarded() != 0 {
		t.Fatalf("%d good clips were discarded", w.Discarded())
	}
	for _, ask := range []float32{2.5, float32(math.Inf(1)), float32(math.NaN())} {
		w, got := track(ask)
		if lost := w.Discarded() > 0; lost != (ask == ask) {
			t.Errorf("wanted for %g: %d clips were discarded", ask, w.Discarded())
		}
		if !slices.Equal(got, want) {
			t.Errorf("slider at %g: others walk differently", ask)
		}
	}
}

// An agent that moves to the row of a removed one walks on unchanged.
func TestStreamRemoves(t *testing.T) {
	track := func(leaves bool) (out []string) {
		w := newWalk(t, 3, 1)
		for i := range 3 {
			w.add(i)
			w.Controls()[i].Set(0, float32(i))
		}
		row := 2
		for tick := range 200 {
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

// Places are on flat ground, and headings are within half a turn.
func TestStreamPlaces(t *testing.T) {
	w := newWalk(t, 2, 1)
	for range 2 {
		must.Get(w.Add(feature.Place{Pos: m3.V(1, 5, 2), Yaw: 3.1}, nil))(t)
	}
	w.Place(1, feature.Place{Pos: m3.V(3, -5, 4), Yaw: 3.1})
	for row, want := range []m3.Vec3{m3.V(1, 0, 2), m3.V(3, 0, 4)} {
		if at := w.Root(row).Pos; at != want {
			t.Errorf("person %d is at %v, want %v", row, at, want)
		}
	}
	least, most := float32(0), float32(0)
	for tick := range 600 {
		for r := range 2 {
			w.Controls()[r].Set(0, float32(3-6*(tick/300)))
			least, most = min(least, w.Root(r).Yaw), max(most, w.Root(r).Yaw)
		}
		w.tick()
	}
	if least < -math.Pi || most > math.Pi {
		t.Errorf("headings from %g to %g", least, most)
	}
}

// A discarded clip does not affect agents added later, even if the feet scale the root motion.
func TestStreamKeepsDiscardedClipsApart(t *testing.T) {
	meta, tensors := testlatent.Model(t).Net.Meta(), testlatent.Model(t).Net.Tensors()
	for i, of := range tensors {
		if of.Name == "mean" {
			l := testlatent.Model(t).Layout
			tensors[i].Data = slices.Clone(of.Data)
			for c := range l.Contacts { // standing feet under a moving body
				tensors[i].Data[l.Contact(c)] = 1
			}
		}
	}
	net := must.Get(netruntime.New(meta, tensors))(t)
	m := must.Get(latent.NewModel(net))(t)
	track := func(ask float32) (lost int, out []feature.Place) {
		s := must.Get(play(m.NewStream(testlatent.Next(t, m), latent.StreamOptions{Capacity: 3, Workers: 1})))(t)
		defer s.Close()
		for row := range 3 {
			must.Get(s.Add(feature.Place{}, nil))(t)
			s.Controls()[0].Set(testlatent.Burst, ask)
			for range 120 {
				must.Do(t, s.Continue())
				was := s.Root(0)
				s.Advance(0, s.Agents())
				if by := s.Root(0).Pos.Dist(was.Pos); by < 0.5*testlatent.Speed/latent.Rate || by > 0.7*testlatent.Speed/latent.Rate {
					t.Fatalf("a body on standing feet moves %g m in a frame", by)
				}
				if stands := s.Contacts(0); stands != 1<<len(m.Layout.Contacts)-1 {
					t.Fatalf("of all contacts %b stand", stands)
				}
				if row > 0 {
					out = append(out, s.Root(row))
				}
			}
		}
		return s.Discarded(), out
	}
	none, want := track(0)
	some, got := track(2.5)
	if none != 0 || some == 0 || !slices.Equal(got, want) {
		t.Errorf("after %d discarded clips of another agent one walks differently than after %d", some, none)
	}
}

// An agent that joins within a tick walks on, and so does one whose clip the network failed to make.
func TestStreamSurvivesFailures(t *testing.T) {
	m := testlatent.Model(t)
	var fails atomic.Bool
	s := must.Get(play(m.NewStream(testlatent.Next(t, m), latent.StreamOptions{Capacity: 60, Workers: 1, Open: testgen.Flaky(&fails)})))(t)
	defer s.Close()
	failed := 0
	for tick := range 200 {
		if fails.Store(tick >= 70 && tick < 110); tick < 30 {
			must.Get(s.Add(feature.Place{}, nil))(t)
		}
		// A run between two ticks may still fail, or fail already.
		if err := s.Continue(); (err != nil) != fails.Load() && tick != 70 && tick != 110 {
			t.Fatalf("tick %d: %v", tick, err)
		} else if err != nil {
			failed++
		}
		if tick < 30 {
			must.Get(s.Add(feature.Place{}, nil))(t)
		}
		before := make([]feature.Place, s.Agents())
		for r := range before {
			before[r] = s.Root(r)
		}
		s.Advance(0, s.Agents())
		for r, was := range before {
			if by := s.Root(r).Pos.Dist(was.Pos); !(by > 0.2*testlatent.Speed/latent.Rate && by < 3*testlatent.Speed/latent.Rate) {
				t.Fatalf("tick %d: person %d moves %g m in a frame", tick, r, by)
			}
		}
	}
	if failed < 39 || failed > 41 {
		t.Errorf("the network failed %d times", failed)
	}
}

func TestStreamDoesNotAllocate(t *testing.T) {
	w := newWalk(t, 64, 1)
	for i := range 64 {
		w.add(i)
	}
	if n := testing.AllocsPerRun(60, func() {
		w.tick()
		w.Show(3, w.pos, w.rot)
	}); n != 0 {
		t.Errorf("a tick allocates %g times", n)
	}
}

// Set components come out as set; free ones follow from the clip before.
func TestNextClip(t *testing.T) {
	m := testlatent.Model(t)
	n := must.Get(m.NewNextClip(testlatent.Next(t, m), latent.CoderOptions{Batch: 3, Workers: 1}))(t)
	defer n.Close()
	v := m.Values
	before, after := make([]float32, 3*v), make([]float32, 3*v)
	for i := range before {
		before[i] = float32(i%5) - 2
	}
	wanted := make([]latent.Sliders, 3)
	wanted[1].Set(0, 0.25)
	wanted[1].Set(2, 99)
	wanted[1].Set(1, float32(math.NaN()))
	wanted[2] = wanted[1]
	wanted[2].Release(0)
	for _, none := range []int{-1, latent.MaxSliders, 1 << 40} {
		s := latent.Sliders{Controlled: 5}
		s.Set(none, 1)
		s.Release(none)
		if s != (latent.Sliders{Controlled: 5}) {
			t.Errorf("component %d, set and released, makes %v", none, s)
		}
	}
	must.Do(t, n.Run(after, before, wanted))
	if after[v] != 0.25 || after[v+1] != 0 || after[v+2] != 3 || after[2*v] == 0.25 {
		t.Errorf("set to 0.25, NaN and 99 it makes %v; released, %v", after[v:2*v], after[2*v:])
	}
	for _, c := range []struct{ after, before, wanted int }{{4 * v, 4 * v, 4}, {v, 2 * v, 2}, {2 * v, v, 2}} {
		if err := n.Run(make([]float32, c.after), make([]float32, c.before), make([]latent.Sliders, c.wanted)); err == nil {
			t.Errorf("%d values after %d of %d clips: no error", c.after, c.before, c.wanted)
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	m := testlatent.Model(t)
	next := testlatent.Next(t, m)
	spoil := func(change func(meta *netruntime.Meta)) *netruntime.Net {
		meta := next.Meta()
		meta.Extra = map[string]string{latent.KeyNext: meta.Extra[latent.KeyNext], latent.KeySpace: meta.Extra[latent.KeySpace]}
		change(&meta)
		net := must.Get(netruntime.New(meta, next.Tensors()))(t)
		return net
	}
	for _, c := range []struct {
		name, want string
		net        *netruntime.Net
		opt        latent.StreamOptions
	}{
		{"no agents", "Capacity of 0", next, latent.StreamOptions{Workers: 1}},
		{"no workers", "workers", next, latent.StreamOptions{Capacity: 1, Workers: -1}},
		{"no network", "missing", nil, latent.StreamOptions{Capacity: 1, Workers: 1}},
		{"the latent space itself", "mannequin train next", m.Net, latent.StreamOptions{Capacity: 1, Workers: 1}},
		{"of another space", "another latent space", spoil(func(m *netruntime.Meta) { m.Extra[latent.KeySpace] = "0" }), latent.StreamOptions{Capacity: 1, Workers: 1}},
	} {
		must.Fail(m.NewStream(c.net, c.opt))(t, c.want)
	}
	w := newWalk(t, 1, 1)
	if _, err := w.Add(feature.Place{Yaw: float32(math.NaN())}, nil); err == nil {
		t.Error("a place of NaN accepted")
	}
	w.add(0)
	if _, err := w.Add(feature.Place{}, nil); err == nil {
		t.Error("two agents accepted in a stream of one")
	}
	if _, err := m.NewSteering(nil, 1); err == nil {
		t.Error("steering without a network accepted")
	}
}

// A body moves as far as its standing feet carry it, also on a bend. Without standing feet nothing
// changes.
func TestMatchRootToFeet(t *testing.T) {
	m := testlatent.Model(t)
	l := m.Layout
	cols := l.Columns()
	clip := func(speed, turn, share float32) []float32 {
		rows := make([]float32, latent.Frames*cols)
		var p feature.Place
		aside := 0.5 * speed
		for f := range latent.Frames {
			row := rows[f*cols:][:cols]
			copy(row[l.Body():], []float32{aside, speed, turn})
			for c, contact := range l.Contacts {
				at := m3.YawQuat(-p.Yaw).Rotate(m3.V(0.6, 0, 0.9).Sub(p.Pos))
				copy(row[l.Pos(l.Joint(contact.Joint)):], []float32{at.X, 0, at.Z})
				row[l.Contact(c)] = 1
			}
			p = p.Advance([]float32{aside * share, speed * share, turn}, 1.0/latent.Rate)
		}
		return rows
	}
	for _, c := range []struct{ speed, turn, share float32 }{{1.5, 0, 1}, {1.5, 0, 0.7}, {1.2, 2, 1}, {1.2, -2, 0.6}, {1, 0.5, 1.2}} {
		rows := clip(c.speed, c.turn, c.share)
		by := m.MatchRootToFeet(rows)
		if want := c.share / m3.Clamp(c.share, 0.8, 1.02); m3.Abs(by-want) > 0.02 || m3.Abs(rows[l.Body()+feature.MotionZ]-by*c.speed) > 1e-6 {
			t.Errorf("feet move %g of the distance at %g m/s, %g rad/s: the body is scaled by %g, want %g", c.share, c.speed, c.turn, by, want)
		}
	}
	rows := clip(1.5, 0, 0.1)
	if by := m.MatchRootToFeet(rows); by < 0.59 || by > 0.61 {
		t.Errorf("feet move a tenth: the body is scaled by %g, want no less than 0.6", by)
	}
	rows = clip(1.5, 0, 0.5)
	for f := range latent.Frames {
		clear(rows[f*cols+l.Contact(0):][:len(l.Contacts)])
	}
	if by := m.MatchRootToFeet(rows); by != 1 {
		t.Errorf("no foot stands: the body is scaled by %g", by)
	}
	rows = clip(1.5, 0, 0.5)
	rows[5] = float32(math.NaN())
	rows[l.Pos(l.Joint(l.Contacts[0].Joint))] = float32(math.NaN())
	if by := m.MatchRootToFeet(rows); by != 1 {
		t.Errorf("a foot at NaN: the body is scaled by %g", by)
	}
}

// Preview returns the future places exactly, to the end of the current clip.
func TestStreamPreview(t *testing.T) {
	w := newWalk(t, 2, 1)
	for i := range 2 {
		w.add(i)
	}
	longest := 0
	for tick := range 80 {
		row := tick % 2
		ahead := w.Preview(nil, row, 1)
		every := w.Preview(nil, row, 3)
		longest = max(longest, len(ahead), len(w.Preview(nil, 1-row, 1)))
		if len(ahead) < latent.Overlap-1 || len(every) != len(ahead)/3 {
			t.Fatalf("%d places ahead, and %d of every third", len(ahead), len(every))
		}
		for i, p := range every {
			if p != ahead[3*i+2] {
				t.Fatalf("every third place is %v, and %v of all", p, ahead[3*i+2])
			}
		}
		w.tick()
		got, want := w.Root(row), ahead[0]
		if d := got.Pos.Dist(want.Pos); d > 1e-5 || m3.Abs(m3.WrapAngle(got.Yaw-want.Yaw)) > 1e-5 {
			t.Fatalf("tick %d: at %v, want %v", tick, got, want)
		}
	}
	if longest != latent.Frames-2 {
		t.Errorf("at most %d places ahead, want the rest of a clip", longest)
	}
}

// Clips start only in the ticks that the options allow. An agent that was frozen when its clip should
// have been requested replays the last one and reports a restart.
func TestStreamEvery(t *testing.T) {
	m := testlatent.Model(t)
	s := must.Get(play(m.NewStream(testlatent.Next(t, m), latent.StreamOptions{Capacity: 9, Workers: 1, Every: 5, From: 3})))(t)
	defer s.Close()
	for range 9 {
		must.Get(s.Add(feature.Place{}, nil))(t)
	}
	pos, rot := make([]m3.Vec3, m.Skel.Len()), make([]m3.Quat, m.Skel.Len())
	restarts := map[int]int{}
	for tick := range 90 {
		s.Still[4] = tick >= 30 && tick < 56 // their clips are requested at 23, 53, 83
		must.Do(t, s.Continue())
		s.Advance(0, 9)
		for r := range 9 {
			if s.Restarted(r) {
				restarts[r]++
				if tick%5 != 3 {
					t.Errorf("tick %d: person %d restarts", tick, r)
				}
			}
			s.Show(r, pos, rot)
		}
	}
	// Nine agents in six slots: one had the first slot, before which nothing was made.
	if restarts[4] != 1 || len(restarts) > 3 {
		t.Errorf("the frozen agent restarts its clip %d times; all: %v", restarts[4], restarts)
	}
	for _, o := range []latent.StreamOptions{{Every: 4}, {Every: -1}, {Every: 2, From: 2}, {From: 1}} {
		o.Capacity, o.Workers = 1, 1
		must.Fail(m.NewStream(testlatent.Next(t, m), o))(t, "want a divisor of 30")
	}
}
