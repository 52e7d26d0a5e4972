package keypose_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/internal/testing/testgen"
	humankeypose "mannequin/models/human-keypose"
	"mannequin/netruntime"
)

func shipped(t testing.TB) *keypose.Model {
	t.Helper()
	net := must.Get(humankeypose.Open())(t)
	m := must.Get(keypose.NewModel(net))(t)
	return m
}

// made returns a small model: a network of one random convolution.
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

// keys returns n random poses on the spot, apart seconds apart.
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

func poseLoop(t testing.TB, m *keypose.Model, seed uint64, n int, apart, every float64) *keypose.PoseLoop {
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

// group is a stream of people, and a pose.
type group struct {
	t testing.TB
	m *keypose.Model
	*played
	pos []m3.Vec3
	rot []m3.Quat
}

func newGroup(t testing.TB, m *keypose.Model, o keypose.StreamOptions) *group {
	t.Helper()
	s := must.Get(play(m.NewStream(o)))(t)
	t.Cleanup(func() { s.Close() })
	n := m.Layout.Skel.Len()
	return &group{t, m, s, make([]m3.Vec3, n), make([]m3.Quat, n)}
}

func (p *group) add(at feature.Place, play keypose.Performance, from float64) int {
	p.t.Helper()
	play.Start = from
	return must.Get(p.Add(at, &play))(p.t)
}

func (p *group) tick() {
	p.t.Helper()
	must.Do(p.t, p.Continue())
}

func (p *group) pose(row int) string {
	p.Show(row, p.pos, p.rot)
	return fmt.Sprint(p.pos, p.rot, p.Root(row), p.Contacts(row))
}

// model writes the joints of row in world space.
func (p *group) model(dst []m3.Xform, row int) {
	p.Show(row, p.pos, p.rot)
	p.m.Layout.Skel.LocalToModel(dst, p.pos, p.rot)
}

func TestStreamDoesNotAllocate(t *testing.T) {
	race.Single(t)
	m := made(t)
	a, b := poseLoop(t, m, 8, 4, 0.5, 2), poseLoop(t, m, 9, 4, 0.5, 2)
	p := newGroup(t, m, keypose.StreamOptions{Capacity: 64, Workers: 1})
	for i := range 64 {
		p.add(feature.Place{}, keypose.Performance{Loop: a}, float64(i))
	}
	for range 130 { // the first windows make the workers' memory
		p.tick()
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
		{"key 1: it begins a pose loop", light, 2},
		{"key 3: agents stay in it", end, 0},
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
	for _, o := range []keypose.StreamOptions{{Workers: 1}, {Capacity: 1, Workers: -1}} {
		if _, err := m.NewStream(o); err == nil {
			t.Errorf("a stream of %+v accepted", o)
		}
	}
	sk := &skel.Skeleton{Names: []string{"a", "b"}, Parents: []int16{-1, 0}, Offsets: make([]m3.Vec3, 2), EndSite: make([]bool, 2)}
	l := must.Get(keypose.NewLayout(sk))(t)
	rot := []m3.Quat{m3.Ident, m3.Ident}
	other := must.Get(l.NewPoseLoop([]keypose.Key{{Pos: sk.Offsets, Rot: rot}}, 0))(t)
	good := keypose.Performance{Loop: poseLoop(t, m, 11, 2, 1, 2)}
	p := newGroup(t, m, keypose.StreamOptions{Capacity: 1, Workers: 1})
	for _, c := range []struct {
		want string
		at   feature.Place
		play keypose.Performance
		from float64
	}{
		{"stand", feature.Place{Yaw: float32(math.NaN())}, good, 0},
		{"without a loop", feature.Place{}, keypose.Performance{}, 0},
		{"another skeleton", feature.Place{}, keypose.Performance{Loop: other}, 0},
		{"begins", feature.Place{}, good, math.NaN()},
	} {
		must.Fail(p.Add(c.at, &keypose.Performance{Loop: c.play.Loop, Speed: c.play.Speed, Start: c.from}))(t, c.want)
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
		t.Errorf("a performance of another skeleton was reported %d times", errs)
	}
}

// BenchmarkStream ticks a hundred people, on one core.
func BenchmarkStream(b *testing.B) {
	m := shipped(b)
	r := poseLoop(b, m, 12, 6, 0.5, 3)
	p := newGroup(b, m, keypose.StreamOptions{Capacity: 100, Workers: 1})
	for i := range 100 {
		p.add(feature.Place{}, keypose.Performance{Loop: r}, float64(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		p.tick()
	}
}
