package keypose_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	humankeypose "mannequin/models/human-keypose"
	"mannequin/netruntime"

	"pgregory.net/rapid"
)

func shipped(t testing.TB) *keypose.Model {
	t.Helper()
	net := must.Get(humankeypose.Open())(t)
	m := must.Get(keypose.NewModel(net))(t)
	return m
}

// made returns a network of one convolution with weights from a seed, which is quick.
func made(t testing.TB) *keypose.Model {
	t.Helper()
	l := shipped(t).Layout
	in, out := l.Inputs(), l.Columns()+keypose.Feet
	r := rand.New(rand.NewPCG(5, 5))
	w := make([]float32, out*in*3)
	for i := range w {
		w[i] = 0.003 * float32(r.NormFloat64())
	}
	meta := netruntime.Meta{Name: "made", Arch: "graph", Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: in}},
		Nodes:   []netruntime.Node{{Name: "y", Op: netruntime.OpConv, In: []string{"x"}}},
		Outputs: []string{"y"}}}
	must.Do(t, keypose.Describe(&meta, l.Skel))
	net, err := netruntime.New(meta, []netruntime.Tensor{
		{Name: "y.weight", Shape: []int{out, in, 3}, Data: w}, {Name: "y.bias", Shape: []int{out}, Data: make([]float32, out)}})
	if err != nil {
		t.Fatal(err)
	}
	m := must.Get(keypose.NewModel(net))(t)
	return m
}

// keys are n poses of somebody on the spot, so far apart, s, whose joints are turned at
// random.
func keys(m *keypose.Model, seed uint64, n int, apart float64) (keys []keypose.Key) {
	sk := m.Layout.Skel
	r := rand.New(rand.NewPCG(seed, 7))
	for i := range n {
		k := keypose.Key{Time: apart * float64(i), Pos: slices.Clone(sk.Offsets), Rot: make([]m3.Quat, sk.Len())}
		k.Pos[0] = m3.V(0.05*float32(r.NormFloat64()), 0.98, 0.05*float32(r.NormFloat64()))
		for j := range k.Rot {
			k.Rot[j] = m3.FromRotationVector(m3.V(float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64())).Scale(0.15))
		}
		keys = append(keys, k)
	}
	return keys
}

func routine(t testing.TB, m *keypose.Model, seed uint64, n int, apart, every float64) *keypose.PoseLoop {
	t.Helper()
	r := must.Get(m.Layout.NewPoseLoop(keys(m, seed, n, apart), every))(t)
	return r
}

// played is a stream that is played without a crowd.
type played struct {
	*keypose.Stream
	*testgen.Player[keypose.Performance]
}

func play(s *keypose.Stream, err error) (*played, error) {
	if err != nil {
		return nil, err
	}
	return &played{s, testgen.Play(s, s.Model().Layout.Skel.Len())}, nil
}

// troupe is people of a stream, and their poses.
type troupe struct {
	t testing.TB
	m *keypose.Model
	*played
	pos []m3.Vec3
	rot []m3.Quat
}

func newTroupe(t testing.TB, m *keypose.Model, o keypose.StreamOptions) *troupe {
	t.Helper()
	s := must.Get(play(m.NewStream(o)))(t)
	t.Cleanup(func() { s.Close() })
	n := m.Layout.Skel.Len()
	return &troupe{t, m, s, make([]m3.Vec3, n), make([]m3.Quat, n)}
}

func (p *troupe) add(at feature.Place, part keypose.Performance, from float64) int {
	p.t.Helper()
	part.Start = from
	row, err := p.Add(at, &part)
	if err != nil {
		p.t.Fatal(err)
	}
	return row
}

func (p *troupe) tick() {
	p.t.Helper()
	if err := p.Continue(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *troupe) pose(row int) string {
	p.Show(row, p.pos, p.rot)
	return fmt.Sprint(p.pos, p.rot, p.Root(row), p.Contacts(row))
}

// model writes where row's joints are in the world.
func (p *troupe) model(dst []m3.Xform, row int) {
	p.Show(row, p.pos, p.rot)
	p.m.Layout.Skel.LocalToModel(dst, p.pos, p.rot)
}

// span returns the mean and the largest distance of the joints of two poses.
func span(a, b []m3.Xform) (mean, most float32) {
	for j := range a {
		d := a[j].Pos.Dist(b[j].Pos)
		mean += d / float32(len(a))
		most = max(most, d)
	}
	return mean, most
}

// Window by window comes what a Maker makes of the whole, but for corners that are
// rounded, though keys are farther apart than the frames after a window, parts are keyed
// at times of their own, and rounds go on.
func TestStreamMakesWhatAMakerMakes(t *testing.T) {
	m := shipped(t)
	const n, apart, rounds = 5, 0.9, 3
	of := keys(m, 1, n, apart)
	arms := make([]float32, m.Layout.Groups())
	for _, joint := range []string{"LeftArm", "LeftForeArm", "RightArm"} {
		arms[m.Layout.GroupOf(joint)] = 1
	}
	of[2].Weight = arms
	of[4].Weight = arms
	r := must.Get(m.Layout.NewPoseLoop(of, n*apart))(t)
	var all keypose.Keys
	for k := range rounds {
		for _, key := range of {
			key.Time += float64(k) * n * apart
			all.Keys = append(all.Keys, key)
		}
	}
	track := must.Get(m.Layout.Track(all, 60))(t)
	maker := must.Get(m.NewInbetweener(keypose.InbetweenerOptions{}))(t)
	defer maker.Close()
	stand := make([]float32, keypose.Feet*track.Frames)
	track.Interpolate()
	linear := track.Clip()
	must.Do(t, maker.Fill(track, stand))
	holder := must.Get(m.Layout.NewFootLock())(t)
	must.Do(t, holder.Apply(track, stand))
	want := track.Clip()
	p := newTroupe(t, m, keypose.StreamOptions{People: 1, Workers: 1})
	p.add(feature.Place{}, keypose.Performance{Loop: r}, 0)
	is, whole, straight := make([]m3.Xform, len(p.pos)), make([]m3.Xform, len(p.pos)), make([]m3.Xform, len(p.pos))
	var off, does float32
	frames := 0
	for f := 1; f < want.Frames-100; f++ {
		p.tick()
		if f < 100 {
			continue
		}
		p.model(is, 0)
		want.Model(whole, f)
		linear.Model(straight, f)
		mean, most := span(is, whole)
		if most > 0.12 {
			t.Errorf("frame %d: a joint is %.3f m from where it is as a whole", f, most)
		}
		off += mean
		mean, _ = span(straight, whole)
		does += mean
		frames++
	}
	if off /= float32(frames); off > 0.25*does/float32(frames) {
		t.Errorf("joints are %.4f m off on average, %.4f m is what the network does", off, does/float32(frames))
	}
	t.Logf("%.4f m off, the network does %.4f m", off, does/float32(frames))
	if got := p.Loops(0); got < rounds-2 {
		t.Errorf("after %d frames %d rounds are through", want.Frames-100, got)
	}
}

// A part is taken up within Latency, and from the next key on it goes on with the other
// routine, as fast as asked, to whose keys people come; nobody jumps.
func TestStreamChangesParts(t *testing.T) {
	m := shipped(t)
	const apart, long = 0.5, 2.5 // s, of the way to another routine at most
	a, b := routine(t, m, 2, 4, apart, 4*apart), routine(t, m, 3, 2, apart, 0)
	last := keys(m, 3, 2, apart)[1]
	p := newTroupe(t, m, keypose.StreamOptions{People: 3, Workers: 1})
	for i := range 3 {
		p.add(feature.Place{}, keypose.Performance{Loop: a}, float64(i))
	}
	n := len(p.pos)
	goal, is, was := make([]m3.Xform, n), make([]m3.Xform, n), make([]m3.Xform, 3*n)
	p.m.Layout.Skel.LocalToModel(goal, last.Pos, last.Rot)
	for tick := range 480 {
		if tick == 130 {
			p.Controls()[1] = keypose.Performance{Loop: b}
			p.Controls()[2].Speed = 2
		}
		p.tick()
		for r := range 3 {
			p.model(is, r)
			if _, most := span(is, was[r*n:][:n]); tick > 0 && most > 0.06 {
				t.Fatalf("tick %d: a joint of person %d goes %.3f m", tick, r, most)
			}
			copy(was[r*n:], is)
		}
		if float64(tick-130)/60 > keypose.Latency+apart+long+apart+0.2 {
			p.model(is, 1)
			if mean, _ := span(is, goal); mean > 0.02 {
				t.Fatalf("tick %d: who is to stay in the last key of a routine is %.3f m from it", tick, mean)
			}
		}
	}
	if got := p.Loops(1); got != 1 {
		t.Errorf("a routine that is gone along once has been through %d times", got)
	}
	if slow, quick := p.Loops(0), p.Loops(2); quick < slow+2 {
		t.Errorf("who goes twice as fast has been through %d times, others %d", quick, slow)
	}
}

// Somebody's motion is the same bits alone or among others, on any spot, and for any
// number of workers.
func TestStreamAloneOrAmongOthers(t *testing.T) {
	m := made(t)
	a, b := routine(t, m, 4, 4, 0.4, 2), routine(t, m, 5, 3, 0.6, 2)
	track := func(people, workers int) (out []string) {
		p := newTroupe(t, m, keypose.StreamOptions{People: people, Workers: workers})
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
			t.Errorf("among 70 on %d workers somebody moves otherwise than alone", workers)
		}
	}
}

// spoiler is a session that spoils the second sequence of a run, or fails.
type spoiler struct {
	netruntime.Session
	spoils *atomic.Uint32 // with the float32 of these bits, if it is not 0
	fails  *atomic.Bool
}

func (s spoiler) RunSequences(out, in [][]float32, batch, length int) error {
	if s.fails.Load() {
		return errors.New("no luck")
	}
	err := s.Session.RunSequences(out, in, batch, length)
	if bits := s.spoils.Load(); bits != 0 && batch > 1 {
		out[0][len(out[0])/batch+5] = math.Float32frombits(bits)
	}
	return err
}

// Whose window fails plays what interpolation makes, and nobody else notices. What is
// asked for and is no number counts as nothing.
func TestStreamKeepsFaultsApart(t *testing.T) {
	m := made(t)
	r := routine(t, m, 6, 4, 0.5, 2)
	var spoils atomic.Uint32
	var fails atomic.Bool
	open := func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		s, err := n.NewSession(o)
		return spoiler{s, &spoils, &fails}, err
	}
	// Two people of 65 have their turn at once.
	track := func(speed float32) (p *troupe, out []string) {
		p = newTroupe(t, m, keypose.StreamOptions{People: 65, Workers: 1, Open: open})
		for i := range 65 {
			p.add(feature.Place{}, keypose.Performance{Loop: r}, float64(i))
		}
		p.Controls()[64].Speed = speed
		for range 140 {
			p.tick()
			out = append(out, p.pose(0))
			if p.pose(64); !p.pos[0].Finite() {
				t.Fatalf("asked for speed %g somebody is at %v", speed, p.pos[0])
			}
			for j, q := range p.rot {
				if !(math.Abs(float64(q.Dot(q)-1)) < 1e-3) {
					t.Fatalf("asked for speed %g somebody's joint %d is turned by %v", speed, j, q)
				}
			}
		}
		return p, out
	}
	p, want := track(0)
	if p.Discarded() != 0 {
		t.Fatalf("%d windows are lost of those that are fine", p.Discarded())
	}
	var got []string
	for _, v := range []float32{float32(math.NaN()), float32(math.Inf(-1)), 1e30} {
		spoils.Store(math.Float32bits(v))
		if p, got = track(0); p.Discarded() == 0 {
			t.Errorf("spoiled with %g no window is lost", v)
		}
		if !slices.Equal(got, want) {
			t.Errorf("beside somebody whose windows are spoiled with %g others move otherwise", v)
		}
	}
	spoils.Store(0)
	if p, got = track(float32(math.NaN())); p.Discarded() != 0 || !slices.Equal(got, want) {
		t.Error("asked for a speed of NaN others move otherwise")
	}
	fails.Store(true)
	p.Continue() // what was begun before
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
			t.Fatalf("where the network fails somebody jumps by %g m", most)
		}
		copy(before, after)
	}
	if errs != 64 {
		t.Errorf("of 64 runs that fail %d say so", errs)
	}
}

// However people come, go, and are placed, rows stay theirs, and never more are due than
// there is room for.
func TestStreamComesAndGoes(t *testing.T) {
	m := made(t)
	r := routine(t, m, 7, 3, 0.5, 1.5)
	rapid.Check(t, func(t *rapid.T) {
		s, err := play(m.NewStream(keypose.StreamOptions{People: 6, Workers: 1, Every: rapid.SampledFrom([]int{1, 16, 64}).Draw(t, "every")}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var spots []float32 // of the rows
		next := float32(0)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				next += 5
				row, err := s.Add(feature.Place{Pos: m3.V(next, 0, 0)}, &keypose.Performance{Loop: r, Start: rapid.Float64Range(0, 9).Draw(t, "from")})
				if (err != nil) != (len(spots) == 6) {
					t.Fatalf("%d people, one more: %v", len(spots), err)
				}
				if err == nil {
					if spots = append(spots, next); row != len(spots)-1 {
						t.Fatalf("the row of the %dth is %d", len(spots), row)
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
				if err := s.Continue(); err != nil {
					t.Fatal(err)
				}
			}
			if s.People() != len(spots) {
				t.Fatalf("%d people, want %d", s.People(), len(spots))
			}
			for row, x := range spots {
				if at := s.Root(row).Pos; at.Dist(m3.V(x, 0, 0)) > 1 {
					t.Fatalf("row %d is at %v, its spot at %g", row, at, x)
				}
			}
		}
	})
}

// Who moves to the row of someone who leaves goes on as before.
func TestStreamRemoves(t *testing.T) {
	m := made(t)
	a, b := routine(t, m, 13, 4, 0.5, 2), routine(t, m, 14, 4, 0.5, 2)
	track := func(leaves bool) (out []string) {
		p := newTroupe(t, m, keypose.StreamOptions{People: 3, Workers: 1})
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
		t.Error("who gets another row goes on otherwise")
	}
}

// The way to another routine begins and ends slowly.
func TestStreamEasesOverToAnotherRoutine(t *testing.T) {
	m := shipped(t)
	of := keys(m, 15, 2, 1)
	of[1].Rot[m.Layout.Skel.Index("LeftArm")] = m3.AxisAngle(m3.V(0, 0, 1), -1.4)
	var r [2]*keypose.PoseLoop
	for i := range r {
		of[i].Time = 0
		var err error
		if r[i], err = m.Layout.NewPoseLoop(of[i:i+1], 0.5); err != nil {
			t.Fatal(err)
		}
	}
	p := newTroupe(t, m, keypose.StreamOptions{People: 1, Workers: 1})
	p.add(feature.Place{}, keypose.Performance{Loop: r[0]}, 0)
	var speeds []float32
	is, was, hand := make([]m3.Xform, len(p.pos)), m3.Vec3{}, m.Layout.Skel.Index("LeftHand")
	for tick := range 300 {
		if tick == 80 {
			p.Controls()[0].Loop = r[1]
		}
		p.tick()
		p.model(is, 0)
		if v := is[hand].Pos.Dist(was) * 60; tick > 80 && v > 0.2 {
			speeds = append(speeds, v)
		}
		was = is[hand].Pos
	}
	var way, end float32
	for i, v := range speeds {
		if way += v; i >= len(speeds)*3/4 {
			end += v
		}
	}
	if len(speeds) < 30 || end > 0.17*way {
		t.Errorf("in the last quarter of %d ticks the hand goes %.2f of its way", len(speeds), end/way)
	}
}

func TestStreamDoesNotAllocate(t *testing.T) {
	m := made(t)
	a, b := routine(t, m, 8, 4, 0.5, 2), routine(t, m, 9, 4, 0.5, 2)
	p := newTroupe(t, m, keypose.StreamOptions{People: 64, Workers: 1})
	for i := range 64 {
		p.add(feature.Place{}, keypose.Performance{Loop: a}, float64(i))
	}
	k := 0
	if n := testing.AllocsPerRun(70, func() {
		p.Controls()[k%64].Loop = b
		k++
		p.tick()
		p.Show(3, p.pos, p.rot)
	}); n != 0 {
		t.Errorf("a tick allocates %g times", n)
	}
}

func TestStreamRefuses(t *testing.T) {
	m := shipped(t)
	of := keys(m, 10, 3, 0.5)
	light := slices.Clone(of)
	light[0].Weight = make([]float32, m.Layout.Groups())
	light[0].Weight[keypose.GroupPath] = 1
	end := slices.Clone(of)
	end[2].Weight = light[0].Weight
	far := slices.Clone(of)
	far[0].Pos = slices.Clone(of[0].Pos)
	far[0].Pos[0].X = 9
	far[1].Time, far[2].Time = 2, 4
	for _, c := range []struct {
		want  string
		keys  []keypose.Key
		every float64
	}{
		{"without keys", nil, 1},
		{"want more than that", of, 1},
		{"want more than that", of, math.NaN()},
		{"want more than that", of, math.Inf(1)},
		{"key 1: it begins a routine", light, 2},
		{"key 3: people stay in it", end, 0},
		{"key 2: at 0 s", append(of[:1:1], of[0]), 2},
		{"the first: ", far, 4.1},
	} {
		var wrong *keypose.KeyError
		_, err := m.Layout.NewPoseLoop(c.keys, c.every)
		must.FailWith(t, err, c.want)
		if strings.HasPrefix(c.want, "key ") && !errors.As(err, &wrong) {
			t.Errorf("%v is no KeyError", err)
		}
	}
	for _, o := range []keypose.StreamOptions{{Workers: 1}, {People: 1, Workers: -1}} {
		if _, err := m.NewStream(o); err == nil {
			t.Errorf("a stream of %+v", o)
		}
	}
	sk := &skel.Skeleton{Names: []string{"a", "b"}, Parents: []int16{-1, 0}, Offsets: make([]m3.Vec3, 2), EndSite: make([]bool, 2)}
	l := must.Get(keypose.NewLayout(sk))(t)
	rot := []m3.Quat{m3.Ident, m3.Ident}
	other := must.Get(l.NewPoseLoop([]keypose.Key{{Pos: sk.Offsets, Rot: rot}}, 0))(t)
	good := keypose.Performance{Loop: routine(t, m, 11, 2, 1, 2)}
	p := newTroupe(t, m, keypose.StreamOptions{People: 1, Workers: 1})
	for _, c := range []struct {
		want string
		at   feature.Place
		part keypose.Performance
		from float64
	}{
		{"stand", feature.Place{Yaw: float32(math.NaN())}, good, 0},
		{"without a routine", feature.Place{}, keypose.Performance{}, 0},
		{"another skeleton", feature.Place{}, keypose.Performance{Loop: other}, 0},
		{"begins", feature.Place{}, good, math.NaN()},
	} {
		must.Fail(p.Add(c.at, &keypose.Performance{Loop: c.part.Loop, Speed: c.part.Speed, Start: c.from}))(t, c.want)
	}
	p.add(feature.Place{}, good, 0)
	must.Fail(p.Add(feature.Place{}, &good))(t, "taken")
	p.Controls()[0].Loop = other
	errs := 0
	for range 64 {
		if p.Continue() != nil {
			errs++
		}
	}
	if errs != 1 {
		t.Errorf("a part of another skeleton is told of %d times", errs)
	}
}

// BenchmarkStream is a tick of a hundred people, on one core.
func BenchmarkStream(b *testing.B) {
	m := shipped(b)
	r := routine(b, m, 12, 6, 0.5, 3)
	p := newTroupe(b, m, keypose.StreamOptions{People: 100, Workers: 1})
	for i := range 100 {
		p.add(feature.Place{}, keypose.Performance{Loop: r}, float64(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		p.tick()
	}
}
