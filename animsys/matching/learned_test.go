package matching_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/testmatching"
	"mannequin/netruntime"
)

// playFile plays agents of what a file plays, and calls after in each tick.
func playFile(t testing.TB, f *matching.File, n, ticks int, goal func(row, tick int, at feature.Place) control.Goal, after func(tick int, s matching.Player, p *generator.Poses)) {
	t.Helper()
	s := must.Get(f.NewStream(matching.StreamOptions{Capacity: n, Workers: 1}))(t)
	defer s.Close()
	p := testgen.Play(s, f.Character().Skel.Len())
	for i := range n {
		must.Get(s.Add(feature.Place{Pos: m3.V(float32(i)*5, 0, 0)}, nil))(t)
	}
	for tick := range ticks {
		for row := range n {
			s.Controls()[row] = goal(row, tick, s.Root(row))
		}
		must.Do(t, p.Tick(n))
		after(tick, s, p.Poses())
	}
}

// networks are those that have learned the motion of testmatching.People.
func networks(t testing.TB) map[string]*matching.File {
	return map[string]*matching.File{
		"learned":  {Learned: testmatching.Learned(t)},
		"adaptive": {Adaptive: testmatching.Adaptive(t)},
	}
}

// Networks walk and run as fast as they are asked to and where, face where they should, and stop. Their poses are those of
// recordings.
func TestNetworksFollowGoals(t *testing.T) {
	for name, f := range networks(t) {
		t.Run(name, func(t *testing.T) { followsGoals(t, f) })
	}
}

func followsGoals(t *testing.T, f *matching.File) {
	d := testmatching.People(t)
	joints := d.Skel.Len()
	clips := make([]m3.Xform, 0, d.Frames()*joints)
	pos, rot, model := make([]m3.Vec3, joints), make([]m3.Quat, joints), make([]m3.Xform, joints)
	for f := range d.Frames() {
		d.Pose(f, pos, rot)
		d.Skel.LocalToModel(model, pos, rot)
		clips = append(clips, model...)
	}
	for _, speed := range []float32{1.2, 3} {
		way := m3.V(0.6, 0, 0.8)
		var roots []feature.Place
		var away float32 // from recorded poses
		compared := 0
		playFile(t, f, 1, 480, func(_, tick int, at feature.Place) control.Goal {
			if tick < 300 {
				return toward(at, way.Scale(speed), way)
			}
			return control.Goal{}
		}, func(tick int, s matching.Player, p *generator.Poses) {
			roots = append(roots, s.Root(0))
			at, turns := p.Joints(0, joints)
			for j, o := range d.Skel.Offsets[1:] {
				if at[j+1] != o {
					t.Fatalf("in tick %d bone %s is %v long", tick, d.Skel.Names[j+1], at[j+1])
				}
			}
			if tick%10 != 0 {
				return
			}
			d.Skel.LocalToModel(model, at, turns)
			back := p.Roots[0].Inv()
			least := float32(1e9)
			for f := 0; f < len(clips); f += joints {
				var sum float32
				for j, x := range clips[f : f+joints] {
					sum += x.Pos.Dist(back.Apply(model[j].Pos))
				}
				least = min(least, sum/float32(joints))
			}
			away, compared = away+least, compared+1
		})
		v := roots[299].Pos.Sub(roots[179].Pos).Scale(0.5)
		if off := v.Dist(way.Scale(speed)); off > 0.15*speed {
			t.Errorf("asked for %v it goes at %v m/s", way.Scale(speed), v)
		}
		if ahead := m3.YawQuat(roots[299].Yaw).Forward(); ahead.Dot(way) < 0.97 {
			t.Errorf("it faces %v, want %v", ahead, way)
		}
		if way := roots[479].Pos.Dist(roots[449].Pos); way > 0.1 {
			t.Errorf("three seconds after it should stand it goes at %.2f m/s", 2*way)
		}
		if away /= float32(compared); away > 0.03 {
			t.Errorf("at %g m/s joints are %.1f cm from the nearest recorded pose in the mean", speed, 100*away)
		}
	}
}

// An agent has the same bits alone and among others, and for any number of workers.
func TestNetworksAlone(t *testing.T) {
	for name, f := range networks(t) {
		t.Run(name, func(t *testing.T) { isAlone(t, f) })
	}
}

func isAlone(t *testing.T, f *matching.File) {
	goal := func(row, tick int, at feature.Place) control.Goal {
		return toward(at, m3.YawQuat(float32(row+tick/50)).Forward().Scale(float32(row%4)), m3.Vec3{})
	}
	run := func(n, workers, row int) (out []feature.Place) {
		s := must.Get(f.NewStream(matching.StreamOptions{Capacity: n, Workers: workers, Tuning: tuned(1)}))(t)
		defer s.Close()
		p := testgen.Play(s, f.Character().Skel.Len())
		for range n {
			must.Get(s.Add(feature.Place{}, nil))(t)
		}
		for tick := range 150 {
			for r := range n {
				number := r
				if n == 1 {
					number = row
				}
				s.Controls()[r] = goal(number, tick, s.Root(r))
			}
			must.Do(t, p.Tick(n))
			out = append(out, s.Root(min(row, n-1)))
		}
		return out
	}
	alone := run(1, 1, 70)
	for _, workers := range []int{1, 3} {
		if !slices.Equal(alone, run(100, workers, 70)) {
			t.Errorf("among others, on %d workers, an agent moves otherwise than alone", workers)
		}
	}
}

// tuned lets all agents search in the same ticks.
func tuned(every int) *matching.Tuning {
	t := matching.DefaultTuning()
	t.Every = every
	return &t
}

// An action that is played once goes on to its end however briefly it was asked for, again while it is asked for, and its
// last pose is held if it says so. Another action ends it.
func TestLearnedActs(t *testing.T) {
	d := testmatching.Actors(t)
	net := testmatching.Untrained(t, d, 16).Networks()
	const mark = 6 // of the first latent value, in acts
	act := func(tag string, holds bool) matching.Act {
		i := slices.Index(d.Tags, tag)
		state := slices.Clone(net.Rest)
		state[d.Columns()] = mark
		return matching.Act{Tags: 1 << i, Ticks: 30, Holds: holds, State: state}
	}
	net.Acts = []matching.Act{act(testmatching.Roll, false), act(testmatching.Death, true)}
	l := must.Get(matching.NewLearned(d, net))(t)
	asked := func(tag string, from, to int) []bool {
		a, ok := l.Action(tag)
		if !ok {
			t.Fatalf("no action is %q", tag)
		}
		var acts []bool
		var last []float32
		playFile(t, &matching.File{Learned: l}, 1, 100, func(_, tick int, _ feature.Place) (g control.Goal) {
			if tick >= from && tick < to {
				g.Action = a
			}
			return g
		}, func(tick int, s matching.Player, _ *generator.Poses) {
			state := s.(*matching.LearnedStream).State(0)
			acts = append(acts, state[d.Columns()] > mark-1)
			if tag == testmatching.Death && tick > from+30 && tick < to && !slices.Equal(last, state) {
				t.Errorf("in tick %d the last pose is not held", tick)
			}
			last = slices.Clone(state)
		})
		return acts
	}
	count := func(acts []bool) (n int) {
		for _, a := range acts {
			if a {
				n++
			}
		}
		return n
	}
	if acts := asked(testmatching.Roll, 10, 11); count(acts) != 30 || !acts[10] || !acts[39] {
		t.Errorf("asked for once it rolls for %d ticks, want 30", count(acts))
	}
	if n := count(asked(testmatching.Roll, 10, 80)); n != 90 {
		t.Errorf("asked for in 70 ticks it rolls in %d, want 90", n)
	}
	if n := count(asked(testmatching.Death, 10, 80)); n != 70 {
		t.Errorf("asked for in 70 ticks it lies in %d", n)
	}
	var b bytes.Buffer
	must.Do(t, (&matching.File{Learned: l}).Encode(&b))
	if again := must.Get(matching.DecodeFile(b.Bytes()))(t); again.Learned.Fingerprint() != l.Fingerprint() {
		t.Error("a file with actions comes back as another")
	}
}

// A file holds recordings, networks, or both, and plays what it says, to the same bits.
func TestLearnedFile(t *testing.T) {
	l, a, d := testmatching.Learned(t), testmatching.Adaptive(t), testmatching.People(t)
	roots := func(f *matching.File) (out []feature.Place) {
		s := must.Get(f.NewStream(matching.StreamOptions{Capacity: 1}))(t)
		defer s.Close()
		p := testgen.Play(s, l.Skel.Len())
		must.Get(s.Add(feature.Place{}, nil))(t)
		for range 100 {
			s.Controls()[0] = control.Goal{Move: m3.V(0, 0, 1), Speed: 2}
			must.Do(t, p.Tick(1))
			out = append(out, s.Root(0))
		}
		return out
	}
	files := map[string]*matching.File{"clips": {Database: d}, "networks": {Learned: l, Plays: matching.LearnedMatching}, "both": {Database: d, Learned: l}, "both, and networks play": {Database: d, Learned: l, Plays: matching.LearnedMatching},
		"adaptive": {Adaptive: a}, "all, and the adaptive network plays": {Database: d, Learned: l, Adaptive: a, Plays: matching.AdaptiveNetwork}}
	path := filepath.Join(t.TempDir(), "x.character")
	for name, f := range files {
		var b bytes.Buffer
		must.Do(t, f.Encode(&b))
		must.Do(t, os.WriteFile(path, b.Bytes(), 0o644))
		g := must.Get(matching.OpenFile(path))(t)
		if f.Fingerprint() != g.Fingerprint() || !slices.Equal(g.Ways(), f.Ways()) || !slices.Equal(roots(f), roots(g)) {
			t.Errorf("a file of %s comes back as another", name)
		}
		if !slices.Equal(g.Character().Speeds(4), f.Character().Speeds(4)) {
			t.Errorf("%s: speeds are %v, want %v", name, g.Character().Speeds(4), f.Character().Speeds(4))
		}
		_, err := matching.Open(path)
		if (err == nil) != (f.Database != nil) || err != nil && !strings.Contains(err.Error(), "networks without the recordings") {
			t.Errorf("%s, opened as a database: %v", name, err)
		}
	}
	if slices.Equal(roots(files["both"]), roots(files["both, and networks play"])) {
		t.Error("networks and clips move alike")
	}
	for _, f := range []*matching.File{{}, {Database: new(matching.Database)}} {
		if f.Encode(new(bytes.Buffer)) == nil {
			t.Error("an empty file is written")
		}
		if _, err := f.NewStream(matching.StreamOptions{Capacity: 1}); err == nil {
			t.Error("an empty file is played")
		}
	}
}

// Networks that do not fit are refused with what is wrong.
func TestLearnedRefused(t *testing.T) {
	refused(t, &matching.File{Learned: testmatching.Learned(t)}, map[string]change{
		"joints that turn": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return swap(m, a, `"turns":[0,`, `"turns":[99,`)
		},
		"greatest of": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return swap(m, a, `"fastest":[`, `"fastest":[1,`)
		},
		"unit quaternion": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			clear(named(a, "still"))
			return a
		},
		"want -": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			named(a, "rest")[0] = 1000
			return a
		},
		"the network stepper": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return slices.DeleteFunc(a, func(t netruntime.Tensor) bool { return t.Name == "stepper.layer1.bias" })
		},
		"array bounds is missing": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return slices.DeleteFunc(a, func(t netruntime.Tensor) bool { return t.Name == "bounds" })
		},
		"unknown array": func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor {
			return append(a, netruntime.Tensor{Name: "more", Shape: []int{1}, Data: []float32{1}})
		},
	})
}

// change changes a file.
type change func(m *netruntime.Meta, a []netruntime.Tensor) []netruntime.Tensor

// refused checks that a file is refused after each change, with what is wrong.
func refused(t *testing.T, f *matching.File, changes map[string]change) {
	t.Helper()
	var whole bytes.Buffer
	must.Do(t, f.Encode(&whole))
	for want, change := range changes {
		m, a, err := netruntime.DecodeArrays(whole.Bytes())
		must.Do(t, err)
		var b bytes.Buffer
		a = change(&m, a)
		must.Do(t, netruntime.EncodeArrays(&b, m, a, nil))
		if _, err := matching.DecodeFile(b.Bytes()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// A tick of networks allocates nothing.
func TestLearnedAllocates(t *testing.T) {
	l := testmatching.Learned(t)
	s := must.Get(l.NewStream(matching.StreamOptions{Capacity: 50, Workers: 2}))(t)
	defer s.Close()
	p := testgen.Play(s, l.Skel.Len())
	for range 50 {
		must.Get(s.Add(feature.Place{}, &control.Goal{Move: m3.V(0, 0, 1), Speed: 2}))(t)
	}
	must.Do(t, p.Tick(50))
	frozen := make([]bool, 50)
	if n := testing.AllocsPerRun(50, func() {
		must.Do(t, s.Generate(frozen))
		s.Sample(p.Poses(), 0, 50)
	}); n != 0 {
		t.Errorf("a tick allocates %g times", n)
	}
}

// With sessions from elsewhere each network runs once a tick for all agents, and the poses have the same bits, also of agents that come
// and go between two ticks.
func TestLearnedElsewhere(t *testing.T) {
	const most = 50
	l := testmatching.Learned(t)
	runs, raised := map[*netruntime.Net]int{}, float32(0)
	elsewhere := func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		s, err := n.NewSession(o)
		return counted{s, func(y []float32) {
			runs[n]++
			if n == l.Networks().Decompressor {
				y[1] += raised
			}
		}}, err
	}
	streams, players := [2]*matching.LearnedStream{}, [2]*testgen.Player[control.Goal]{}
	for i, open := range []netruntime.Opener{nil, elsewhere} {
		streams[i] = must.Get(l.NewStream(matching.StreamOptions{Capacity: most, Workers: 2, Open: open}))(t)
		defer streams[i].Close()
		players[i] = testgen.Play(streams[i], l.Skel.Len())
	}
	alike := func(what string, rows int) {
		t.Helper()
		a, b := players[0].Poses(), players[1].Poses()
		for row := range rows {
			pos, rot := a.Joints(row, l.Skel.Len())
			pos2, rot2 := b.Joints(row, l.Skel.Len())
			if !slices.Equal(pos, pos2) || !slices.Equal(rot, rot2) {
				t.Fatalf("%s: agent %d has another pose", what, row)
			}
		}
	}
	var st generator.State
	rows := 0
	for tick := range 60 {
		for i, s := range streams {
			for row := rows; row < most; row++ {
				must.Get(s.Add(feature.Place{Pos: m3.V(float32(row), 0, 0)}, &control.Goal{Move: m3.V(0, 0, 1), Speed: float32(1 + row%3)}))(t)
			}
			if tick%2 == 1 {
				s.Remove(0)
				st.Reset()
				s.Save(&st, 3)
				s.Remove(3)
				st.Rewind()
				must.Get(s.Restore(&st))(t)
			}
			for row := range most - tick%2 {
				s.Pose(players[i].Poses(), row)
			}
		}
		rows = most - tick%2
		alike(fmt.Sprint("before tick ", tick), rows)
		for _, p := range players {
			must.Do(t, p.Tick(rows))
		}
		alike(fmt.Sprint("tick ", tick), rows)
	}
	raised = 10
	must.Do(t, players[1].Tick(rows))
	if pos, _ := players[1].Poses().Joints(0, l.Skel.Len()); pos[0].Y < 9 {
		t.Errorf("the pose is not that from elsewhere: its hips are at %g m", pos[0].Y)
	}
	for name, n := range map[string]*netruntime.Net{"stepper": l.Networks().Stepper, "decompressor": l.Networks().Decompressor} {
		if runs[n] != 61 {
			t.Errorf("the %s runs %d times in 61 ticks", name, runs[n])
		}
	}
	if n := runs[l.Networks().Projector]; n < 10 || n > 61 {
		t.Errorf("the projector runs %d times", n)
	}
}

type counted struct {
	netruntime.Session
	ran func(y []float32)
}

func (c counted) Run(y, x []float32, rows int) error {
	err := c.Session.Run(y, x, rows)
	c.ran(y)
	return err
}

// A body for which the projector knows no way does not go on as before for ever: it comes to rest.
func TestLost(t *testing.T) {
	var whole, lost bytes.Buffer
	must.Do(t, (&matching.File{Learned: testmatching.Learned(t)}).Encode(&whole))
	m, arrays, err := netruntime.DecodeArrays(whole.Bytes())
	must.Do(t, err)
	last := ""
	for _, a := range arrays {
		if strings.HasPrefix(a.Name, "projector.") && strings.HasSuffix(a.Name, ".bias") {
			last = a.Name
		}
	}
	for i := range named(arrays, last) { // its answers are far from all that is asked for
		named(arrays, last)[i] = 100
	}
	must.Do(t, netruntime.EncodeArrays(&lost, m, arrays, nil))
	f := must.Get(matching.DecodeFile(lost.Bytes()))(t)
	var walks []float32
	ahead, back := control.Goal{Move: m3.V(0, 0, 1), Face: m3.V(0, 0, 1), Speed: 1.4}, control.Goal{Move: m3.V(0, 0, -1), Face: m3.V(0, 0, -1), Speed: 1.4}
	playFile(t, &matching.File{Learned: testmatching.Learned(t), Plays: matching.LearnedMatching}, 1, 180, func(_, _ int, at feature.Place) control.Goal { return ahead }, func(_ int, s matching.Player, _ *generator.Poses) {
		walks = slices.Clone(s.(*matching.LearnedStream).State(0))
	})
	var at []m3.Vec3
	playFile(t, f, 1, 180, func(int, int, feature.Place) control.Goal { return back }, func(tick int, s matching.Player, _ *generator.Poses) {
		if at = append(at, s.Root(0).Pos); tick == 0 {
			copy(s.(*matching.LearnedStream).State(0), walks)
		}
	})
	begins, ends := at[20].Sub(at[10]).Len()*6, at[179].Sub(at[169]).Len()*6
	if begins < 0.5 || ends > 0.1 {
		t.Errorf("the body goes at %.2f m/s, and after three seconds at %.2f", begins, ends)
	}
}

// A stream can be closed after poses were written into memory that is too short for them.
func TestCloseAfterPanic(t *testing.T) {
	s := must.Get(testmatching.Learned(t).NewStream(matching.StreamOptions{Capacity: 1, Workers: 1}))(t)
	must.Get(s.Add(feature.Place{}, nil))(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("poses were written into no memory")
			}
		}()
		s.Pose(new(generator.Poses), 0)
	}()
	must.Do(t, s.Close())
}

// A state whose pose is none of the recordings goes on from the projector's, even if that leads less to where it should go: if it
// goes there already, or is much nearer to it than the projector says that a recorded one is. A pose that is near the projector's
// goes on by itself.
func TestLearnedPoseOfRecordings(t *testing.T) {
	d := testmatching.People(t)
	for _, v := range []struct {
		off, way, speed float32
		jumps           bool
	}{{0.1, 2, 0, false}, {1, 2, 0, true}, {1, 2, 3, false}, {1, 20, 3, true}, {0.1, 20, 3, false}} {
		net := testmatching.Untrained(t, d, 16).Networks()
		size, way := len(net.Rest), d.WayColumn()
		answer := slices.Clone(net.Rest)
		answer[0] += v.off
		answer[way] += v.way // the place that it goes to
		net.Stepper = constant(t, size, make([]float32, size+3))
		net.Projector = constant(t, d.Columns()+len(d.Tags), answer)
		l := must.Get(matching.NewLearned(d, net))(t)
		playFile(t, &matching.File{Learned: l}, 1, 30, func(int, int, feature.Place) control.Goal { return control.Goal{Move: m3.V(0, 0, -1), Speed: v.speed} },
			func(tick int, s matching.Player, _ *generator.Poses) {
				if state := s.(*matching.LearnedStream).State(0); tick == 29 && (state[0] == answer[0]) != v.jumps {
					t.Errorf("asked for %g m/s, beside a pose that is off by %g on a way off by %g, a state goes on from %g", v.speed, v.off, v.way, state[0]-net.Rest[0])
				}
			})
	}
}

// A pose that is never near the projector's is left every 0.2 s, not at each search.
func TestLearnedPoseLeavesSeldom(t *testing.T) {
	d := testmatching.People(t)
	net := testmatching.Untrained(t, d, 16).Networks()
	size := len(net.Rest)
	answer := slices.Clone(net.Rest)
	answer[0] = 0.35 // beside the query's
	net.Stepper = constant(t, size, make([]float32, size+3))
	net.Projector = constant(t, d.Columns()+len(d.Tags), answer, 0)
	l := must.Get(matching.NewLearned(d, net))(t)
	var jumps []int
	playFile(t, &matching.File{Learned: l}, 1, 100, func(int, int, feature.Place) control.Goal { return control.Goal{Move: m3.V(0, 0, -1)} },
		func(tick int, _ matching.Player, p *generator.Poses) {
			if p.Restarted[0] {
				jumps = append(jumps, tick)
			}
			p.Restarted[0] = false
		})
	for i, tick := range jumps[min(1, len(jumps)):] {
		if tick-jumps[i] != 12 {
			t.Errorf("%d ticks from one jump to the next", tick-jumps[i])
		}
	}
	if len(jumps) < 7 {
		t.Errorf("a pose was left in ticks %v only", jumps)
	}
}

// constant is a network with the same outputs for all inputs, but that some columns of the input are added.
func constant(t *testing.T, inputs int, outputs []float32, added ...int) *netruntime.Net {
	vector := func(name string, v []float32) netruntime.Tensor {
		return netruntime.Tensor{Name: name, Shape: []int{len(v)}, Data: v}
	}
	n := len(outputs)
	weight := make([]float32, n*inputs)
	for _, k := range added {
		weight[k*inputs+k] = 1
	}
	return must.Get(matching.NewNetwork("constant", []netruntime.Tensor{
		vector("in.mean", make([]float32, inputs)), vector("in.std", slices.Repeat([]float32{1}, inputs)),
		{Name: "layer1.weight", Shape: []int{n, inputs}, Data: weight}, vector("layer1.bias", make([]float32, n)),
		vector("out.mean", outputs), vector("out.std", slices.Repeat([]float32{1}, n)),
	}))(t)
}

// Networks are asked for idle frames if they have learned to be, which their file says: others are not.
func TestLearnedIdle(t *testing.T) {
	d := testmatching.Dogs(t)
	f := &matching.File{Learned: testmatching.Untrained(t, d, 16)}
	var b bytes.Buffer
	must.Do(t, f.Encode(&b))
	meta, arrays, err := netruntime.DecodeArrays(b.Bytes())
	must.Do(t, err)
	swap(&meta, arrays, `"idle":1,`, "")
	var without bytes.Buffer
	must.Do(t, netruntime.EncodeArrays(&without, meta, arrays, nil))
	var ends []feature.Place
	for _, b := range []*bytes.Buffer{&b, &without} {
		var end feature.Place
		playFile(t, must.Get(matching.DecodeFile(b.Bytes()))(t), 1, 200, func(_, _ int, at feature.Place) control.Goal {
			end = at
			return control.Goal{}
		}, func(int, matching.Player, *generator.Poses) {})
		ends = append(ends, end)
	}
	if ends[0] == ends[1] {
		t.Errorf("networks that were asked for idle frames and others end at %v", ends[0])
	}
}
