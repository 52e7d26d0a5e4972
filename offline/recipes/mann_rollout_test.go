package recipes

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/netruntime/vec"
	"mannequin/offline/dataset"
	"mannequin/offline/procgen"
	"mannequin/offline/train"
)

// smallNet returns a network with random weights for the rows of smallRecipe.
func smallNet(m *MANN) *mannNet {
	l := m.Train.Layout
	n := newMANNNet(l.Inputs(), l.Outputs(), m.Experts, m.Hidden, m.GatingHidden, l.Gating())
	n.init(3)
	for _, p := range n.params() {
		for i := range p.Val {
			p.Val[i] *= 3
		}
	}
	return n
}

// The loss of a window is that of a network run by hand, with its poses written back into raw
// inputs. Its gradient agrees with finite differences.
func TestRollout(t *testing.T) {
	m := smallRecipe(t)
	testRollout(t, m)
	m.Skate = 0.3
	testRollout(t, m)
	m.Skate, m.Bend = 0, 0.2
	testRollout(t, m)
	m.Bend = 0
	m.Change = 0.3
	testRollout(t, m)
}

// at reads three values.
func at(v []float32, i int) m3.Vec3 { return m3.V(v[i], v[i+1], v[i+2]) }

// byHand returns the raw input after the input x of row r, of which a network has made y. was and
// now are the bones' positions before and after, relative to the root of the row's own frame.
func byHand(set *dataset.MANN, x, y []float32, r int) (next []float32, was, now []m3.Vec3) {
	l := set.Layout
	root := set.Output(r - 1)[l.OutRoot():]
	turned := m3.YawQuat(-root[feature.RootYaw] / 60 * math.Pi / 180)
	for b := range l.Joints {
		p := turned.Rotate(at(x, l.InBone(b)).Sub(m3.V(root[feature.RootX]/60, 0, root[feature.RootZ]/60)))
		was, now = append(was, p), append(now, p.Add(at(y, l.OutBone(b)+feature.BoneVel).Scale(1./60)).Lerp(at(y, l.OutBone(b)), 0.5))
	}
	next = append(next, set.Input(r+1)...)
	copy(next[l.InBone(0):], y[l.OutBone(0):l.OutRoot()])
	tuning := mann.DefaultTuning()
	var from, had [2]float64 // position and wished position of the sample before
	for s := 1; s <= 5; s++ {
		for c := 2; c < 6; c++ {
			e := []float32{tuning.BlendDir, tuning.BlendVel}[c/2-1]
			wish := 1 - math.Pow(1-float64(s)/5, float64(e))
			i := l.InSample(6+s) + c
			next[i] = float32((1-wish)*float64(y[l.OutSample(s)+c]) + wish*float64(next[i]))
		}
		// Steps of ten points, each bent more than the one before.
		var share float64
		for p := s*10 - 9; p <= s*10; p++ {
			share += math.Pow(1-float64(p)/50, float64(tuning.BlendPos)) / 10
		}
		root := set.Output(r)[l.OutRoot():]
		i := l.InSample(6 + s)
		old := m3.V(x[i]-root[feature.RootX]/60, 0, x[i+1]-root[feature.RootZ]/60)
		old = m3.YawQuat(-root[feature.RootYaw] / 60 * math.Pi / 180).Rotate(old)
		out := y[l.OutSample(s):]
		for c, o := range []float32{old.X, old.Z} {
			place := (float64(o+out[4+c]/60) + float64(out[c])) / 2
			goal := float64(set.Input(r + 1)[i+c])
			step := share*(place-from[c]) + (1-share)*(goal-had[c])
			next[i+c] = float32(step)
			if s > 1 {
				next[i+c] += next[l.InSample(5+s)+c]
			}
			from[c], had[c] = place, goal
		}
	}
	for b, p := range now {
		copy(next[l.InBone(b):], []float32{p.X, p.Y, p.Z})
	}
	return next, was, now
}

// session runs net row by row, raw, as the runtime does.
func session(t *testing.T, m *MANN, net *mannNet) netruntime.Session {
	t.Helper()
	var weights [][]float32
	for _, p := range net.params() {
		weights = append(weights, p.Val)
	}
	model := must.Get(m.model(net, trained{weights: weights, report: &train.Report{}}))(t)
	s := must.Get(model.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1}))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func testRollout(t *testing.T, m *MANN) {
	net := smallNet(m)
	const ticks = 3
	u := newRollout(m.Train, net, m.Train.Order, ticks, 1)
	if m.Change > 0 {
		u.change = newChange(m.Train, m.Change, changesOf(m.Train))
	}
	if m.Skate+m.Bend > 0 {
		u.legs = newLegs(m.Train, m.Skate, m.Bend)
	}
	tape := newTape(t)
	rows := []int{4, 40}
	loss := func() *grad.Mat {
		tape.Reset()
		return u.loss(tape, rows, 7)
	}
	got := loss()
	tape.Backward(got)

	var slopes [][]float32
	for _, p := range net.params() {
		slopes = append(slopes, append([]float32(nil), p.Grad...))
	}
	set, l := m.Train, m.Train.Layout
	session := session(t, m, net)
	var want float64
	y := make([]float32, net.outputs)
	for _, r := range rows {
		x := append([]float32(nil), set.Input(r)...)
		for k := range ticks {
			if err := session.Run(y, x, 1); err != nil {
				t.Fatal(err)
			}
			for c, v := range y {
				d := float64(v-set.Output(r + k)[c]) / float64(set.YStd[c])
				want += d * d / float64(ticks*len(rows)*net.outputs)
			}
			if change := u.change; change != nil {
				pose := l.PoseLen()
				for c := range pose {
					in, out := l.InBone(0)+c, l.OutBone(0)+c
					d := float64(y[out]-x[in]-(set.Output(r + k)[out]-set.Input(r + k)[in])) / float64(change.Std[c])
					want += float64(change.weight) * d * d / float64(ticks*len(rows)*pose)
				}
			}
			next, was, now := byHand(set, x, y, r+k)
			for _, tip := range []int{1, 3} {
				recorded := at(set.Output(r+k), l.OutBone(tip)+feature.BoneVel)
				off := now[tip].Sub(was[tip]).Scale(60).Sub(recorded).Flat().Scale(1 / (0.15 + recorded.Flat().Len()))
				want += float64(m.Skate) * float64(off.Dot(off)) / float64(ticks*len(rows)*4)
			}
			// The only joint above a tip, except the root, relative to the root.
			fold := func(v []float32, bone func(int) int) (f [4]float64) {
				for a := range 2 {
					for b := range 2 {
						f[2*a+b] = float64(at(v, bone(2)+feature.BoneForward+3*a).Dot(at(v, bone(0)+feature.BoneForward+3*b)))
					}
				}
				return f
			}
			rate := func(x, y []float32) float64 {
				var sum float64
				a, b := fold(x, l.InBone), fold(y, l.OutBone)
				for i := range a {
					sum += (b[i] - a[i]) * (b[i] - a[i])
				}
				return math.Sqrt(sum) / 0.04
			}
			off := rate(x, y) - rate(set.Input(r+k), set.Output(r+k))
			want += float64(m.Bend) * off * off / float64(ticks*len(rows))
			x = next
		}
	}
	if math.Abs(float64(got.Val[0])-want) > 1e-4*want {
		t.Errorf("loss %v, want %v", got.Val[0], want)
	}

	for i, p := range net.params() {
		// Along the gradient, where the difference is largest.
		var norm float64
		for _, g := range slopes[i] {
			norm += float64(g) * float64(g)
		}
		norm = math.Sqrt(norm)
		const step = 2e-3
		move := func(k float64) float64 {
			for j, g := range slopes[i] {
				p.Val[j] += float32(k * step * float64(g) / norm)
			}
			return float64(loss().Val[0])
		}
		up := move(1)
		down := move(-2)
		move(1)
		if d := (up - down) / (2 * step); math.Abs(d-norm) > 0.02*norm+3e-7*want/step {
			t.Errorf("%s: slope %v, differences say %v", p.Name, norm, d)
		}
	}
}

// Windows lie within one recording and one half of the set. The first row of a sample is one of its
// own windows in every epoch.
func TestWindows(t *testing.T) {
	m := smallRecipe(t)
	m.Train.Frame[20]++ // a gap
	for i := 21; i < 32; i++ {
		m.Train.Frame[i]++
	}
	m.Train.Clips = append(m.Train.Clips, "trot")
	for i := 50; i < 64; i++ {
		m.Train.Clip[i] = 1
	}
	net := smallNet(m)
	u := newRollout(m.Train, net, m.Train.Order, 4, 1)
	have := map[int32]int{}
	for _, r := range u.first {
		have[r]++
	}
	for r := range int32(64) {
		want := 1
		if r == 0 {
			want = 3 // it is visited three times
		}
		if r == 1 {
			want = 2
		}
		for _, end := range []int32{0, 20, 32, 50, 64} { // the row before is needed, too
			if r == end || r < end && r > end-4 {
				want = 0
			}
		}
		if have[r] != want {
			t.Errorf("row %d begins %d windows, want %d", r, have[r], want)
		}
	}
	for _, epoch := range []uint64{0, 1} {
		u.epoch = grad.Hash(1, epoch)
		for i := range int32(u.samples()) {
			r := u.start(i)
			if !slices.Contains(u.first[4*i:4*i+4], int32(r)) {
				t.Errorf("sample %d starts in row %d", i, r)
			}
		}
	}
	if got := newRollout(m.HeldOut, net, nil, 4, 1); len(got.first) != 4 || got.name(int(got.first[1])) != "frame 5 of run" {
		t.Error(got.first)
	}
}

// A run that starts from a model continues with its weights. A model of another form is refused.
func TestStart(t *testing.T) {
	m := smallRecipe(t)
	first := mustRun(t, m)
	from := must.Get(netruntime.Open(m.Out))(t)
	next := smallRecipe(t)
	next.Start, next.Ticks, next.Keep, next.Epochs = from, 2, 0.9, 3
	second := mustRun(t, next)
	if !(second.Initial < 0.9*first.Initial) {
		t.Errorf("a run that starts from a trained network begins with loss %v, an untrained one with %v", second.Initial, first.Initial)
	}
	other := smallRecipe(t)
	other.Start, other.Hidden = from, 8
	if _, err := other.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "experts.0.weight") {
		t.Error(err)
	}
}

// A network loaded for data with other statistics computes the same as before.
func TestStartElsewhere(t *testing.T) {
	m := smallRecipe(t)
	mustRun(t, m)
	from := must.Get(netruntime.Open(m.Out))(t)
	net := smallNet(m)
	for _, v := range [][]float32{m.Train.XMean, m.Train.XStd, m.Train.YMean, m.Train.YStd} {
		for i := range v {
			v[i] = v[i]*1.3 + 0.1*float32(i%3)
			if v[i] == 0 {
				v[i] = 0.4
			}
		}
	}
	for i := range m.Train.YStd {
		m.Train.YStd[i] = 0.5 + 0.1*float32(i%4)
	}
	if err := net.load(from, m.Train.XMean, m.Train.XStd, m.Train.YMean, m.Train.YStd); err != nil {
		t.Fatal(err)
	}
	var weights [][]float32
	for _, p := range net.params() {
		weights = append(weights, p.Val)
	}
	to := must.Get(m.model(net, trained{weights: weights, report: &train.Report{}}))(t)
	run := func(n *netruntime.Net) []float32 {
		s := must.Get(n.NewSession(netruntime.SessionOptions{Batch: 1, Workers: 1}))(t)
		defer s.Close()
		y := make([]float32, net.outputs)
		if err := s.Run(y, m.Train.Input(7), 1); err != nil {
			t.Fatal(err)
		}
		return y
	}
	want, got := run(from), run(to)
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 1e-4 {
			t.Fatalf("output %d is %v, was %v", i, got[i], want[i])
		}
	}
}

// The next input after a recorded row is the recorded next row, because positions agree with
// velocities and the trajectories of outputs with those of inputs.
func TestNextOnRecordings(t *testing.T) {
	set, _, err := dataset.BuildMANN(filepath.Join(mocapdata.Dir(t), "dog"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := set.Layout
	u := newRollout(set, nil, nil, 2, 1)
	tape := newTape(t)
	var rows []int
	for i := 0; i < len(u.first); i += len(u.first) / 500 {
		rows = append(rows, int(u.first[i]))
	}
	x, y := tape.Const(len(rows), l.Inputs()), tape.Const(len(rows), l.Outputs())
	for i, r := range rows {
		u.set.input(x.Val[i*x.Cols:], r)
		u.set.output(y.Val[i*y.Cols:], r)
	}
	pose := u.pose(tape, y)
	recorded := tape.Const(len(rows), l.Inputs())
	for i, r := range rows {
		u.set.input(recorded.Val[i*x.Cols:], r+1)
	}
	following, _, _ := u.next(tape, x, y, pose, rows, 0)
	next := tape.Concat(u.steer(tape, x, y, recorded, rows, 0), following)
	want := make([]float32, l.Inputs())
	for i, r := range rows {
		u.set.input(want, r+1)
		for c, v := range next.Val[i*next.Cols:][:next.Cols] {
			if d := float64(v-want[c]) * float64(set.XStd[c]); math.Abs(d) > 2e-4 {
				t.Fatalf("row %d, column %d of the input: off by %v", r, c, d)
			}
		}
	}
}

// The next input of the loss is that of mann.Batch. Bones, and the future's velocities and
// directions for a constant wish, agree to the precision of float32, except the length of
// directions. The future's positions agree to 2 cm, because the loss has only the samples, not the
// points between them. The controller also turns the head back, which the loss does not do. In this motion
// it first does so after the ticks that are compared.
func TestTickIsTheControllers(t *testing.T) {
	set, first := moving(t, 140)
	const settle, ticks = 90, 140 // until then the controller reaches the recording and only moves
	live := controlled(t, set, first, settle, ticks)
	l := set.Layout
	u := newRollout(live, nil, nil, 2, 1)
	tape := newTape(t)
	var rows []int
	for r := settle; r < ticks-1; r++ {
		rows = append(rows, r)
	}
	x, y, wish := tape.Const(len(rows), l.Inputs()), tape.Const(len(rows), l.Outputs()), tape.Const(len(rows), l.Inputs())
	for i, r := range rows {
		u.set.input(x.Val[i*x.Cols:], r)
		u.set.output(y.Val[i*y.Cols:], r)
		// The wish is the future's last sample, with even steps toward it.
		raw := append([]float32(nil), live.Input(r+1)...)
		last := raw[l.InSample(feature.TrajSamples-1):]
		for s := feature.TrajNow + 1; s < feature.TrajSamples; s++ {
			sample := raw[l.InSample(s):]
			copy(sample[feature.SampleVel:][:2], last[feature.SampleVel:])
			turn := math.Atan2(float64(last[feature.SampleDir]), float64(last[feature.SampleDir+1]))
			sin, cos := math.Sincos(turn * float64(s-feature.TrajNow) / (feature.TrajFuture - 1))
			sample[feature.SampleDir], sample[feature.SampleDir+1] = float32(sin), float32(cos)
			for k := range 2 {
				sample[feature.SamplePos+k] = last[feature.SampleVel+k] * float32(s-feature.TrajNow) / (feature.TrajFuture - 1)
			}
		}
		vec.Normalize(wish.Val[i*x.Cols:][:x.Cols], raw, set.XMean, u.set.xInv)
	}
	pose := u.pose(tape, y)
	following, _, _ := u.next(tape, x, y, pose, rows, 0)
	next := tape.Concat(u.steer(tape, x, y, wish, rows, 0), following)
	for _, s := range l.InputSpans() {
		most := 2e-5
		if s.Start < l.InBone(0) && s.Start%l.SampleLen() == feature.SamplePos {
			most = 0.02
		}
		for i, r := range rows {
			want, got := live.Input(r + 1)[s.Start:][:s.Len], make([]float32, s.Len)
			for k := range got {
				c := s.Start + k
				got[k] = next.Val[i*next.Cols+c]*set.XStd[c] + set.XMean[c]
			}
			if s.Start < l.InBone(0) && s.Start%l.SampleLen() == feature.SampleDir {
				unit(got)
			}
			for k, w := range want {
				if d := math.Abs(float64(got[k] - w)); !(d < most) {
					t.Fatalf("tick %d, %s: %v, the controller has %v", r, s.Name, got, want)
				}
			}
		}
	}
	// Who follows a simulated body sees its future, whatever the network predicts.
	u.asIs = true
	if next := u.steer(tape, x, y, wish, rows, 0); next.Cols != l.InBone(0) || next.Val[0] != wish.Val[0] || !slices.Equal(next.Val[next.Cols:2*next.Cols], wish.Val[wish.Cols:][:next.Cols]) {
		t.Error("the future is not as recorded")
	}
}

// moving returns rows of motion, and the first row of a run of at least n rows with only the action
// move.
func moving(t *testing.T, n int) (*dataset.MANN, int) {
	t.Helper()
	takes := must.Get(procgen.Generate(procgen.Options{Minutes: 2, Seed: 5}))(t)
	dir := t.TempDir()
	if err := procgen.Write(dir, takes); err != nil {
		t.Fatal(err)
	}
	set, _, err := dataset.BuildMANN(dir, dataset.Options{HeldOut: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	l := set.Layout
	for _, run := range set.Runs() {
		first := run[0]
		for r := run[0]; r < run[1]; r++ {
			for s := range feature.TrajSamples {
				if set.Input(r)[l.InActions(s)+int(control.Move)] < 1 {
					first = r + 1
				}
			}
			if r+1-first >= n {
				return set, first
			}
		}
	}
	t.Fatalf("no run of %d rows that move", n)
	return nil, 0
}

// controlled returns the inputs and outputs of a controller that gets set's outputs, beginning with
// row first, for a number of ticks. After tick settle the outputs are disturbed as a network's are,
// except the root's motion and the lengths of directions.
func controlled(t *testing.T, set *dataset.MANN, first, settle, ticks int) *dataset.MANN {
	t.Helper()
	l := set.Layout
	m := MANN{Train: set, HeldOut: set}
	net := newMANNNet(l.Inputs(), l.Outputs(), 1, 4, 4, l.Gating())
	var weights [][]float32
	for _, p := range net.params() {
		weights = append(weights, p.Val)
	}
	file := must.Get(m.model(net, trained{weights: weights, report: &train.Report{}}))(t)
	model := must.Get(mann.NewModel(file))(t)
	live := *set
	live.Rows = 2 * ticks // the mirrored half is not used
	live.X, live.Y = make([]float32, live.Rows*l.Inputs()), make([]float32, live.Rows*l.Outputs())
	live.Clip, live.Frame = make([]int32, live.Rows), make([]int32, live.Rows)
	b := mann.NewBatch(model, 1)
	goals := []control.Goal{{Action: control.Move, Move: m3.V(0, 0, 1), Speed: 1}}
	for k := range ticks {
		live.Frame[k] = int32(k)
		b.Plan(goals, 0, 1)
		b.Gather(live.Input(k), 0, 1)
		y := live.Output(k)
		copy(y, set.Output(first+k))
		if k >= settle {
			for c := range l.OutRoot() {
				disturb(y[c:c+1], 0.1*set.YStd[c], grad.Hash(uint64(k), uint64(c)))
			}
			for s := range feature.TrajFuture {
				unit(y[l.OutSample(s)+feature.SampleDir:][:2])
			}
			for j := range l.Joints {
				unit(y[l.OutBone(j)+feature.BoneForward:][:3])
				unit(y[l.OutBone(j)+feature.BoneUp:][:3])
			}
		}
		b.Scatter(y, 0, 1)
	}
	if b.Restored(0) > 0 {
		t.Fatal("the watchdog took the disturbed motion for broken")
	}
	return &live
}

// unit scales v to length 1.
func unit(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
}

// disturb adds normal noise of the given deviation to v.
func disturb(v []float32, deviation float32, key uint64) {
	rng := rand.New(rand.NewPCG(key, 1))
	for i := range v {
		v[i] += deviation * float32(rng.NormFloat64())
	}
}
