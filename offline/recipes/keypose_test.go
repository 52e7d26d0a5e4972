package recipes

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/keypose"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/offline/retarget"
	"mannequin/offline/train"
)

// smallKeypose is the recipe on made-up motion, with small networks.
func smallKeypose(t *testing.T) (*Keypose, *norm) {
	t.Helper()
	m := DefaultKeypose()
	m.Train, m.HeldOut = strolls(3, 60, 0), strolls(1, 50, 5)
	m.Channels = [3]int{4, 5, 6}
	m.layout = must.Get(keypose.NewLayout(m.Train.Skeleton))(t)
	return &m, m.normalisation(m.windows())
}

// The model file computes what was trained.
func TestKeyposeComputesWhatWasTrained(t *testing.T) {
	m, f := smallKeypose(t)
	net := newUNet(m.layout.Inputs(), m.Channels, m.layout.Columns()+keypose.Feet, 3)
	var weights [][]float32
	r := rand.New(rand.NewPCG(1, 1))
	for _, p := range net.params() {
		for i := range p.Val {
			p.Val[i] += 0.05 * float32(r.NormFloat64())
		}
		weights = append(weights, p.Val)
	}
	file := must.Get(m.model(net, f, trained{weights: weights, report: &train.Report{}}))(t)
	if _, err := keypose.NewModel(file); err != nil {
		t.Fatal(err)
	}
	const length = 16
	in, out := m.layout.Inputs(), m.layout.Columns()+keypose.Feet
	x := make([]float32, length*in)
	for i := range x {
		x[i] = f.mean[i%in] + f.std[i%in]*float32(r.NormFloat64())
	}
	tape := newTape(t)
	normal := tape.Const(length, in)
	for i, v := range x {
		normal.Val[i] = (v - f.mean[i%in]) / f.std[i%in]
	}
	want := tape.Affine(net.forward(tape, normal, length, 1, 0), f.out, nil)
	s := must.Get(file.NewSession(netruntime.SessionOptions{Batch: 1, Length: length, Workers: 1}))(t)
	defer s.Close()
	y := make([]float32, length*out)
	if err := s.RunSequences([][]float32{y}, [][]float32{x}, 1, length); err != nil {
		t.Fatal(err)
	}
	for i, v := range y {
		if d := math.Abs(float64(v - want.Val[i])); d > 1e-4*float64(1+f.out[i%out]) {
			t.Fatalf("value %d of frame %d: the file gives %g, training %g", i%out, i/out, v, want.Val[i])
		}
	}
}

// A training that starts from a model file has its weights and its normalisation. A file of another
// size is refused.
func TestKeyposeStart(t *testing.T) {
	m, f := smallKeypose(t)
	net := newUNet(m.layout.Inputs(), m.Channels, m.layout.Columns()+keypose.Feet, 3)
	var weights [][]float32
	for _, p := range net.params() {
		weights = append(weights, p.Val)
	}
	file := must.Get(m.model(net, f, trained{weights: weights, report: &train.Report{}}))(t)
	again := newUNet(m.layout.Inputs(), m.Channels, m.layout.Columns()+keypose.Feet, 4)
	g := must.Get(again.load(file))(t)
	for i, p := range again.params() {
		if !slices.Equal(p.Val, weights[i]) {
			t.Errorf("weights %d differ", i)
		}
	}
	if !slices.Equal(g.mean, f.mean) || !slices.Equal(g.std, f.std) || !slices.Equal(g.out, f.out) {
		t.Error("the normalisation differs")
	}
	if _, err := newUNet(m.layout.Inputs(), [3]int{4, 5, 7}, m.layout.Columns()+keypose.Feet, 4).load(file); err == nil {
		t.Error("a network of another size is taken")
	}
}

// Another posture turns the arms by one angle in all frames, and moves no leg.
func TestChangePosture(t *testing.T) {
	m, _ := smallKeypose(t)
	const n = 10
	was, is := m.layout.NewTrack(n, keypose.Rate), m.layout.NewTrack(n, keypose.Rate)
	for _, track := range []*keypose.Track{was, is} {
		track.SetClip(m.Train.Clips[0].Poses, 0, 2)
	}
	m.changePosture(is, rand.New(rand.NewPCG(1, 2)))
	joints := len(m.layout.Joints)
	for i, j := range m.layout.Joints {
		turn := func(f int) m3.Quat { return is.Rot[f*joints+i].Mul(was.Rot[f*joints+i].Conj()) }
		name := m.layout.Skel.Names[j]
		for f := range n {
			if turn(f).Angle(turn(0)) > 2e-3 {
				t.Errorf("%s is turned by another angle in frame %d", name, f)
			}
		}
		switch angle := turn(0).Angle(m3.Ident); {
		case strings.HasSuffix(name, "Arm") && (angle < 0.02 || angle > 1), strings.Contains(name, "Leg") && angle > 2e-3, i == 0 && angle > 2e-3:
			t.Errorf("%s is turned by %g rad", name, angle)
		}
	}
}

// The correction to learn is zero at keys and not zero between them.
func TestKeyposeBatch(t *testing.T) {
	m, _ := smallKeypose(t)
	tape := newTape(t)
	cols := m.layout.Columns()
	var all, keyed float64
	for key := range uint64(30) {
		tape.Reset()
		k := m.batch(tape, m.windows(), m.layout.NewInputEncoder(), []int32{0, 4}, false, key)
		if len(k.mask) != 24 || k.x.Rows != 24 || k.turns.Cols != cols {
			t.Fatalf("%d rows of %d corrections", k.x.Rows, k.turns.Cols)
		}
		for r, on := range k.mask {
			row, size := k.turns.Val[r*cols:][:cols], 0.0
			for _, v := range row {
				size += math.Abs(float64(v))
			}
			all += float64(on) * size
			whole := true
			for g := range m.layout.Groups() {
				whole = whole && k.pins.Weight[r*m.layout.Groups()+g] == 1 && k.pins.Prev[r*m.layout.Groups()] == int32(r%12)
			}
			if whole {
				path := math.Abs(float64(row[0])) + math.Abs(float64(row[1])) + math.Abs(float64(row[2]))
				keyed = max(keyed, size-path) // a path is smoothed
			}
		}
	}
	if all == 0 || keyed > 5e-3 {
		t.Errorf("corrections are %g in all and %g at keys, want some and none", all, keyed)
	}
}

// Keys are set in all ways, and frames to learn from have keys on both sides.
func TestKeyFrames(t *testing.T) {
	l := must.Get(keypose.NewLayout(retarget.Human()))(t)
	const n = 96
	ways := map[string]bool{}
	for seed := range uint64(400) {
		track, motion := l.NewTrack(n, keypose.Rate), l.NewTrack(n, keypose.Rate)
		first, last := keyFrames(track, motion, rand.New(rand.NewPCG(seed, 2)))
		if first < 0 || last >= n || first > last {
			t.Fatalf("seed %d: keys from %d to %d", seed, first, last)
		}
		path, partial, light, whole := 0, false, false, 0
		for f := range n {
			var on int
			for g, w := range track.Weight[f*l.Groups():][:l.Groups()] {
				if w < 0 || w > 1 {
					t.Fatalf("seed %d: weight %g", seed, w)
				}
				if w > 0 {
					on++
					light = light || w < 1
					if g == keypose.GroupPath {
						path++
					}
				}
			}
			if on > 1 && (f < first || f > last) {
				t.Fatalf("seed %d: a pose at frame %d, outside %d to %d", seed, f, first, last)
			}
			partial = partial || on > 1 && on < l.Groups()
			if on == l.Groups() {
				whole++
			}
		}
		ways["path"] = ways["path"] || path == n
		ways["partial"] = ways["partial"] || partial
		ways["light"] = ways["light"] || light
		ways["sparse"] = ways["sparse"] || path == whole && whole > 1 && whole < 5
		ways["dense"] = ways["dense"] || whole > 12
	}
	for _, way := range []string{"path", "partial", "light", "sparse", "dense"} {
		if !ways[way] {
			t.Errorf("no track is keyed in the way called %s", way)
		}
	}
}
