package recipes

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/animsys/keypose"
	"mannequin/internal/testing/must"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
	"mannequin/offline/procgen/human"
	"mannequin/offline/train"
)

// sparseStrolls are strolls in windows of two seconds; the last one ends beyond its clip.
func sparseStrolls(clips, frames int, first float64) *dataset.MotionSet {
	set, o := strolls(clips, frames, first), SparseWindow()
	set.Length, set.Margin, set.Windows = o.Length, o.Margin, nil
	for c := range set.Clips {
		for from := -o.Margin; from+o.Margin < frames-o.Hop; from += o.Hop {
			set.Windows = append(set.Windows, dataset.Window{Clip: int32(c), From: int32(from)})
		}
	}
	return set
}

func smallSparse(poses int) *Sparse {
	m := DefaultSparse()
	m.Poses, m.Train, m.HeldOut = poses, sparseStrolls(3, 200, 0), sparseStrolls(1, 150, 5)
	m.Channels, m.Widths, m.Epochs, m.Batch, m.AdamW.Rate, m.L1 = [3]int{6, 8, 6}, [4]int{3, 3, 5, 7}, 8, 2, 1e-2, 0.001
	return &m
}

// The poses are the clip's rows at their frames, as are the wanted frames. A window that would end
// beyond its clip ends with it.
func TestSparseBatch(t *testing.T) {
	for _, poses := range []int{1, 2} {
		m := smallSparse(poses)
		every := 60 / poses
		w := m.windows()
		w.key = 7
		for _, heldOut := range []bool{false, true} {
			set := m.Train
			if heldOut {
				set = m.HeldOut
			}
			for r, at := range set.Windows {
				tape := newTape(t)
				b := m.batch(tape, w, []int32{0, int32(r)}, heldOut)
				k, made := 2*poses+1, (2*poses+1)*every
				if b.x.Rows != 2*k || b.want.Rows != 2*made {
					t.Fatalf("%d poses and %d frames of two windows, want %d and %d", b.x.Rows, b.want.Rows, 2*k, 2*made)
				}
				clip := &set.Clips[at.Clip]
				from := min(w.start(int32(r), heldOut)+1, clip.Frames-121)
				for f := range made {
					src, row := from+f-every/2, (made+f)*70
					inside := f >= every/2 && f < every/2+121
					for c := range 70 {
						want := (clip.Rows[min(max(src, 0), clip.Frames-1)*70+c] - set.Mean[c]) / set.Std[c]
						mask, key := float32(0), float32(0)
						if inside {
							if mask = 1; (f-every/2)%every == 0 {
								key = 1
								if got := b.x.Val[(k+(f-every/2)/every)*70+c]; got != want {
									t.Fatalf("window %d: column %d of the pose at frame %d is %g, want %g", r, c, src, got, want)
								}
							}
							if got := b.want.Val[row+c]; got != want {
								t.Fatalf("window %d: column %d of frame %d is %g, want %g", r, c, src, got, want)
							}
						}
						if b.mask.Val[row+c] != mask || b.keys.Val[row+c] != key {
							t.Fatalf("window %d: frame %d of %d has mask %g and key %g, want %g and %g",
								r, f, made, b.mask.Val[row+c], b.keys.Val[row+c], mask, key)
						}
					}
				}
			}
		}
	}
}

// The model file computes what was trained, from raw poses to raw motion.
func TestSparseComputesWhatWasTrained(t *testing.T) {
	for _, poses := range []int{1, 2} {
		t.Run(fmt.Sprint(poses), func(t *testing.T) {
			m := smallSparse(poses)
			m.Epochs, m.RunOptions = 1, how(t.TempDir(), 1)
			file := trainedFile(t, m.Run, m.Out)
			s := must.Get(keypose.NewSparseModel(file))(t)
			if want := m.segments(); s.Segments != want || s.Segments.Frames(s.Segments.Poses) != SparseFrames || s.Layout.Hash() != m.Train.Layout.Hash() {
				t.Fatalf("segments %+v of schema %s, want %+v of %s", s.Segments, s.Layout.Hash(), want, m.Train.Layout.Hash())
			}
			trained := newSparseNet(70, m.Channels, m.Widths, expansions[poses], 1)
			if err := trained.convNet.copyTensors(file); err != nil {
				t.Fatal(err)
			}
			tape := newTape(t)
			b := m.batch(tape, m.windows(), []int32{1}, true)
			want := trained.forward(tape, b.x, s.Segments.Poses, 1, 0)
			raw := make([]float32, len(b.x.Val))
			for i, v := range b.x.Val {
				raw[i] = v*m.Train.Std[i%70] + m.Train.Mean[i%70]
			}
			maker := must.Get(s.NewInbetweener(keypose.InbetweenerOptions{}))(t)
			defer maker.Close()
			made := make([]float32, SparseFrames*70)
			if err := maker.Make(made, raw); err != nil {
				t.Fatal(err)
			}
			for i, v := range made {
				w := want.Val[s.Segments.Lead()*70+i]*m.Train.Std[i%70] + m.Train.Mean[i%70]
				if d := math.Abs(float64(v - w)); !(d <= 1e-4) {
					t.Fatalf("column %d of frame %d: the file makes %g, training %g", i%70, i/70, v, w)
				}
			}
		})
	}
}

// The loss is that of equation 4.2, computed in float64: the mean over frames to learn from, plus a
// tenth of the mean over frames with poses.
func TestSparseLoss(t *testing.T) {
	m := smallSparse(2)
	tape := newTape(t)
	b := m.batch(tape, m.windows(), []int32{0, 3}, false)
	y := tape.Const(b.want.Rows, 70)
	var all, keys, n, k float64
	for i := range y.Val {
		y.Val[i] = float32(math.Sin(float64(i)))
		d := float64(y.Val[i] - b.want.Val[i])
		switch f := i / 70 % 150; {
		case f < 15 || f > 135:
			continue
		case f%30 == 15:
			keys, k = keys+d*d, k+1
		}
		all, n = all+d*d, n+1
	}
	if got, want := float64(m.loss(tape, y, b).Val[0]), all/n+0.1*keys/k; math.Abs(got-want) > 1e-5*want {
		t.Errorf("loss %g, want %g", got, want)
	}
}

// The thesis's rate is 1e-3 and falls to a tenth every 50 epochs.
func TestSparseSchedule(t *testing.T) {
	m := DefaultSparse()
	for epoch, want := range map[int]float64{0: 1e-3, 49: 1e-3, 50: 1e-4, 100: 1e-5, 199: 1e-6} {
		if got := m.AdamW.Rate * m.schedule().At(epoch, 0.5); math.Abs(got-want) > 1e-9*want {
			t.Errorf("rate %g in epoch %d, want %g", got, epoch, want)
		}
	}
	if m.Epochs != 200 || m.AdamW.Decay != 0 {
		t.Errorf("%d epochs with decay %g", m.Epochs, m.AdamW.Decay)
	}
	m.Epochs, m.Steps = 9, 2
	if got, ok := m.schedule().(train.StepDecay); !ok || got.Every != 5 {
		t.Errorf("schedule %+v for 9 epochs in 2 parts", m.schedule())
	}
	if _, ok := (&Training{Epochs: 9}).schedule().(train.WarmRestarts); !ok {
		t.Error("no parts are no steps")
	}
}

func TestSparseRefuses(t *testing.T) {
	for want, spoil := range map[string]func(m *Sparse){
		"3 poses per second":         func(m *Sparse) { m.Poses = 3 },
		"0 channels":                 func(m *Sparse) { m.Channels[1] = 0 },
		"256 frames of a filter":     func(m *Sparse) { m.Widths[3] = 256 },
		"want 121":                   func(m *Sparse) { m.Train = strolls(1, 60, 0) },
		"no recordings are held out": func(m *Sparse) { m.HeldOut = &dataset.MotionSet{} },
	} {
		m := smallSparse(2)
		m.RunOptions = how(t.TempDir(), 1)
		spoil(m)
		if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if files, _ := filepath.Glob(filepath.Join(filepath.Dir(m.Out), "*")); len(files) > 0 {
			t.Errorf("%s: left %v", want, files)
		}
	}
}

// Trained on files of walks, the network comes nearer to the motion between the poses of a held-out
// walk than straight lines do.
func TestSparseWalks(t *testing.T) {
	takes, _, err := human.Generate(human.Options{Seed: 1, Minutes: 0.5, Actions: []string{human.Walk}, Styles: []string{"neutral"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := human.Write(dir, takes); err != nil {
		t.Fatal(err)
	}
	o := SparseWindow()
	o.HeldOut = []string{takes[len(takes)/2].Name}
	m := DefaultSparse()
	m.Poses, m.RunOptions = 1, how(t.TempDir(), 2)
	if m.Train, m.HeldOut, err = dataset.BuildMotion([]string{dir}, o); err != nil {
		t.Fatal(err)
	}
	m.Channels, m.Widths, m.Epochs, m.Batch, m.AdamW.Rate, m.L1 = [3]int{32, 32, 32}, [4]int{3, 7, 13, 21}, 12, 4, 5e-3, 0
	file := trainedFile(t, m.Run, m.Out)
	s := must.Get(keypose.NewSparseModel(file))(t)
	maker := must.Get(s.NewInbetweener(keypose.InbetweenerOptions{}))(t)
	defer maker.Close()
	rec := m.HeldOut.Clips[0].Rows
	measure := func(made, part []float32, err error) metrics.Sparse {
		if err != nil {
			t.Fatal(err)
		}
		r := must.Get(metrics.MeasureSparse(s.Layout, made, part, s.Segments.Every))(t)
		return r
	}
	got, straight := measure(metrics.FromSparse(s, maker, rec)), measure(metrics.BetweenSparse(s.Layout, rec, s.Segments.Every))
	if !(got.Body < 0.7*straight.Body) {
		t.Errorf("joints are %g cm away between poses, on straight lines %g", got.Body, straight.Body)
	}
}
