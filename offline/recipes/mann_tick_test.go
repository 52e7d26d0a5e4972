package recipes

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/netruntime/grad"
	"mannequin/netruntime/vec"
	"mannequin/offline/dataset"
	"mannequin/offline/procgen"
	"mannequin/offline/train"
)

// What the loss makes of a tick is what mann.Batch makes of it: to what float32
// resolves the next input's bones, and the future's velocities and, but for
// their length, directions where the player's wish is a constant one; to 2 cm the
// future's positions, for which the samples stand for the points between them.
func TestTickIsTheControllers(t *testing.T) {
	set, first := moving(t, 150)
	const settle, ticks = 90, 150 // by then the controller is where the recording is, and only moves
	live := controlled(t, set, first, settle, ticks)
	l := set.Layout
	u := newRollout(live, nil, nil, 2, 1)
	pool := grad.NewPool(1)
	defer pool.Close()
	tape := grad.NewTape(pool)
	var rows []int
	for r := settle; r < ticks-1; r++ {
		rows = append(rows, r)
	}
	x, y, wish := tape.Const(len(rows), l.Inputs()), tape.Const(len(rows), l.Outputs()), tape.Const(len(rows), l.Inputs())
	for i, r := range rows {
		u.set.input(x.Val[i*x.Cols:], r)
		u.set.output(y.Val[i*y.Cols:], r)
		// The future's last sample is all wish, and directions go evenly there.
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
}

// moving returns rows of motion and the first of a run of at least n in which
// nothing but moving is seen.
func moving(t *testing.T, n int) (set *dataset.MANN, first int) {
	t.Helper()
	takes, err := procgen.Generate(procgen.Options{Minutes: 2, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := procgen.Write(dir, takes); err != nil {
		t.Fatal(err)
	}
	if set, _, err = dataset.BuildMANN(dir, dataset.Options{HeldOut: []string{}}); err != nil {
		t.Fatal(err)
	}
	l := set.Layout
	for _, run := range set.Runs() {
		first = run[0]
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

// controlled returns what a controller makes of set's outputs from row first
// on: inputs and outputs of so many ticks. From tick settle on the outputs are
// disturbed, as a network's are, but for the root's motion and the lengths of
// directions.
func controlled(t *testing.T, set *dataset.MANN, first, settle, ticks int) *dataset.MANN {
	t.Helper()
	l := set.Layout
	m := MANN{Train: set, HeldOut: set}
	net := newMANNNet(l.Inputs(), l.Outputs(), 1, 4, 4, l.Gating())
	var weights [][]float32
	for _, p := range net.params() {
		weights = append(weights, p.Val)
	}
	file, err := m.model(net, trained{weights: weights, report: &train.Report{}})
	if err != nil {
		t.Fatal(err)
	}
	model, err := mann.NewModel(file)
	if err != nil {
		t.Fatal(err)
	}
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

// unit makes v one long.
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
