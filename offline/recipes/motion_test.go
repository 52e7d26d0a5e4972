package recipes

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/ranks"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
	"mannequin/offline/retarget"
	"mannequin/offline/train"
)

// strolls returns a set of made-up clips. Columns are sine waves, contacts square waves.
func strolls(clips, frames int, first float64) *dataset.MotionSet {
	m := &dataset.MotionSet{Layout: feature.Human(), Skeleton: retarget.Human(), Length: 24, Margin: 4}
	cols := m.Layout.Columns()
	for c := range clips {
		clip := dataset.MotionClip{Name: string(rune('a' + c)), Frames: frames, Rows: make([]float32, frames*cols), Poses: skel.NewClip(m.Skeleton, dataset.Rate, frames)}
		for f := range frames {
			at := first + float64(c) + float64(f)/10
			for i := range cols {
				clip.Rows[f*cols+i] = float32(math.Sin(at + float64(i%5)))
			}
			for i := range m.Layout.Contacts {
				clip.Rows[f*cols+m.Layout.Contact(i)] = float32(f / 15 % 2)
			}
			pos, rot := clip.Poses.Frame(f)
			pos[0] = m3.V(0, 1, float32(at))
			for j := range rot {
				rot[j] = m3.AxisAngle(m3.V(1, 0, 0), float32(0.5*math.Sin(3*at+float64(j%5))))
			}
		}
		m.Clips = append(m.Clips, clip)
		for from := -m.Margin; from+m.Margin < frames; from += 16 {
			m.Windows = append(m.Windows, dataset.Window{Clip: int32(c), From: int32(from)})
		}
	}
	m.Mean, m.Std = make([]float32, cols), slices.Repeat([]float32{0.7}, cols)
	m.Mean[3] = 0.1
	return m
}

// made is a recipe of a network of motion.
type made struct {
	run func(ctx context.Context, how RunOptions) (*train.Report, error)
}

func motionRecipes(t *testing.T, base *netruntime.Net) map[string]made {
	t.Helper()
	set, heldOut := strolls(3, 60, 0), strolls(1, 50, 5)
	return map[string]made{
		"manifold": {func(ctx context.Context, how RunOptions) (*train.Report, error) {
			m := DefaultManifold()
			m.Train, m.HeldOut, m.RunOptions = set, heldOut, how
			m.Hidden, m.Width, m.Epochs, m.Batch, m.Jitter, m.Smooth, m.AdamW.Rate = 8, 5, 30, 2, true, 0.5, 1e-2
			return m.Run(ctx)
		}},
		"footstep": {func(ctx context.Context, how RunOptions) (*train.Report, error) {
			m := DefaultFootstep()
			m.Train, m.HeldOut, m.RunOptions = set, heldOut, how
			m.Hidden, m.Widths, m.Epochs, m.Batch, m.AdamW.Rate = 4, [2]int{5, 3}, 6, 2, 3e-3
			return m.Run(ctx)
		}},
		"synth": {func(ctx context.Context, how RunOptions) (*train.Report, error) {
			m := DefaultSynth()
			m.Train, m.HeldOut, m.RunOptions, m.Manifold = set, heldOut, how, base
			m.Hidden, m.Widths, m.Epochs, m.Batch, m.AdamW.Rate = [2]int{4, 6}, [3]int{5, 3, 3}, 30, 2, 1e-2
			return m.Run(ctx)
		}},
		"keypose": {func(ctx context.Context, how RunOptions) (*train.Report, error) {
			m := DefaultKeypose()
			m.Train, m.HeldOut, m.RunOptions = set, heldOut, how
			m.Channels, m.Epochs, m.Batch, m.AdamW.Rate = [3]int{8, 8, 8}, 20, 2, 1e-2
			return m.Run(ctx)
		}},
		"sparse": {func(ctx context.Context, how RunOptions) (*train.Report, error) {
			m := smallSparse(2)
			m.RunOptions = how
			return m.Run(ctx)
		}},
		"latent": {func(ctx context.Context, how RunOptions) (*train.Report, error) {
			return smallLatent(how).Run(ctx)
		}},
	}
}

// newTape returns a tape with one worker.
func newTape(t *testing.T) *grad.Tape {
	pool := grad.NewPool(1)
	t.Cleanup(pool.Close)
	return grad.NewTape(pool)
}

// trainedFile trains a network and opens its model file.
func trainedFile(t *testing.T, run func(context.Context) (*train.Report, error), path string) *netruntime.Net {
	t.Helper()
	must.Get(run(t.Context()))(t)
	return must.Get(netruntime.Open(path))(t)
}

// how returns the options of a run that writes to dir.
func how(dir string, threads int) RunOptions {
	return RunOptions{Threads: threads, Checkpoint: filepath.Join(dir, "c"), Out: filepath.Join(dir, "m.safetensors"), Every: time.Hour,
		Log: slog.New(slog.DiscardHandler), Now: time.Now}
}

// base trains a small manifold.
func base(t *testing.T) *netruntime.Net {
	t.Helper()
	dir := t.TempDir()
	if _, err := motionRecipes(t, nil)["manifold"].run(t.Context(), how(dir, 1)); err != nil {
		t.Fatal(err)
	}
	net := must.Get(netruntime.Open(filepath.Join(dir, "m.safetensors")))(t)
	return net
}

// Every network of motion learns. Its bytes are the same for any number of workers, also after a
// stop.
func TestMotionRecipes(t *testing.T) {
	for name, r := range motionRecipes(t, base(t)) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rep := must.Get(r.run(t.Context(), how(dir, 1)))(t)
			if !(rep.Best < 0.95*rep.Initial) {
				t.Errorf("held-out loss %g, before training %g", rep.Best, rep.Initial)
			}
			want := read(t, filepath.Join(dir, "m.safetensors"))
			dir = t.TempDir()
			stopped := how(dir, 3)
			ctx, stop := context.WithCancel(t.Context())
			steps := 0
			stopped.Progress = func(train.Progress) {
				if steps++; steps == 9 {
					stop()
				}
			}
			if rep, err := r.run(ctx, stopped); err != nil || rep.Ended != train.EndInterrupted {
				t.Fatalf("%+v, %v: not interrupted", rep, err)
			}
			stopped.Progress, stopped.Resume = nil, true
			if _, err := r.run(t.Context(), stopped); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(read(t, stopped.Out), want) {
				t.Error("three workers, stopped and resumed, end at other bytes")
			}
		})
	}
}

// Two processes that train a network together make the bytes that one makes with as many shards.
func TestMotionRecipesShared(t *testing.T) {
	net, dir := base(t), t.TempDir()
	alone := map[string][]byte{}
	for name, r := range motionRecipes(t, net) {
		o := how(filepath.Join(dir, name), 1)
		must.Do(t, os.Mkdir(filepath.Dir(o.Out), 0o755))
		o.Shards = 2
		must.Get(r.run(t.Context(), o))(t)
		alone[name] = read(t, o.Out)
	}
	recipes := [2]map[string]made{motionRecipes(t, net), motionRecipes(t, net)}
	for name, want := range alone {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var all sync.WaitGroup
			for i, p := range ranks.New(2) {
				all.Go(func() {
					o := how(dir, 1)
					o.Shards, o.Ranks = 2, p
					if _, err := recipes[i][name].run(t.Context(), o); err != nil {
						t.Errorf("rank %d: %v", i, err)
					}
				})
			}
			all.Wait()
			if !bytes.Equal(read(t, how(dir, 1).Out), want) {
				t.Error("two processes make other bytes than one")
			}
		})
	}
}

// The model file computes what was trained, from raw frames to raw frames.
func TestManifoldComputesWhatWasTrained(t *testing.T) {
	net := base(t)
	model := must.Get(manifold.NewModel(net))(t)
	set := strolls(1, 24, 3)
	trained := must.Get(frozenManifold(model))(t)
	tape := newTape(t)
	x := tape.Const(24, 70)
	for i, v := range set.Clips[0].Rows {
		x.Val[i] = (v - set.Mean[i%70]) / set.Std[i%70]
	}
	want := trained.forward(tape, x, 24, 1, false, 0)
	s := must.Get(net.NewSession(netruntime.SessionOptions{Batch: 1, Length: 24, Workers: 1}))(t)
	defer s.Close()
	y := make([]float32, 24*70)
	if err := s.RunSequences([][]float32{y}, [][]float32{set.Clips[0].Rows}, 1, 24); err != nil {
		t.Fatal(err)
	}
	for i, v := range y {
		if d := math.Abs(float64(v - (want.Val[i]*set.Std[i%70] + set.Mean[i%70]))); d > 1e-5 {
			t.Fatalf("column %d of frame %d: the file gives %g, training %g", i%70, i/70, v, want.Val[i]*set.Std[i%70]+set.Mean[i%70])
		}
	}
}

// Together the trained files make a walk.
func TestTrainedFilesWalk(t *testing.T) {
	net := base(t)
	model := must.Get(manifold.NewModel(net))(t)
	var files []*netruntime.Net
	for _, name := range []string{"footstep", "synth"} {
		dir := t.TempDir()
		if _, err := motionRecipes(t, net)[name].run(t.Context(), how(dir, 1)); err != nil {
			t.Fatal(err)
		}
		n := must.Get(netruntime.Open(filepath.Join(dir, "m.safetensors")))(t)
		files = append(files, n)
	}
	if kind := files[1].Meta().Extra[manifold.KeyKind]; kind != "locomotion" {
		t.Errorf("the network of motion is of kind %q", kind)
	}
	l := must.Get(model.With(files[0], files[1]).NewLocomotion(manifold.LocomotionOptions{Batch: 1, Frames: 50, Workers: 1}))(t)
	defer l.Close()
	made, rep, err := l.Make([]manifold.Trajectory{make(manifold.Trajectory, 50)}, nil, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(made[0].Rows) != 50*70 || rep.Edit.After > rep.Edit.Before {
		t.Errorf("%d values, cost %g, before the edit %g", len(made[0].Rows), rep.Edit.After, rep.Edit.Before)
	}
}

// Unknown kinds, frames of another schema, no manifold and no held-out windows are refused.
func TestSynthRefuses(t *testing.T) {
	m := DefaultSynth()
	m.Train, m.HeldOut, m.Manifold, m.RunOptions = strolls(2, 60, 0), strolls(1, 50, 5), base(t), how(t.TempDir(), 1)
	m.Kind = "dance"
	if _, err := m.Run(t.Context()); err == nil {
		t.Error("an unknown kind accepted")
	}
	m.Kind = "punch"
	m.Train.Layout = feature.Human()
	m.Train.Layout.Contacts[0].Speed = 1
	if _, err := m.Run(t.Context()); err == nil {
		t.Error("frames of another schema accepted")
	}
	m.Train.Layout, m.Manifold = feature.Human(), nil
	if _, err := m.Run(t.Context()); err == nil {
		t.Error("no manifold accepted")
	}
	none := DefaultManifold()
	none.Train, none.HeldOut, none.RunOptions = strolls(2, 60, 0), strolls(0, 0, 0), how(t.TempDir(), 1)
	if _, err := none.Run(t.Context()); err == nil {
		t.Error("no held-out windows accepted")
	}
	if _, err := os.Stat(none.Out); err == nil {
		t.Error("a model was written")
	}
}

// Windows of training are played at other speeds, and some backward, with new draws in each epoch.
// Held-out windows are played as recorded. The step frequency changes with the speed.
func TestTempo(t *testing.T) {
	set := strolls(2, 600, 0)
	w := &windows{train: set, heldOut: set, tempo: Tempo{Stretch: 0.2, Reverse: 0.5}}
	for r := range set.Windows {
		if begin, step := w.play(int32(r), false); begin != float64(set.Windows[r].From) || step != 1 {
			t.Errorf("window %d without a key is played from %g by %g", r, begin, step)
		}
	}
	w.key = 7
	backward, speeds := 0, map[float64]bool{}
	for r := range int32(100) {
		r %= int32(len(set.Windows))
		w.key++
		begin, step := w.play(r, false)
		if speed := math.Abs(step); speed < 0.8 || speed > 1.2 {
			t.Errorf("window %d is played by %g", r, step)
		}
		if from := float64(w.start(r, false)); step < 0 {
			backward++
			begin += step * float64(set.Length-1)
			if math.Abs(begin-from) > 1e-6 {
				t.Errorf("window %d is played backward to %g, want %g", r, begin, from)
			}
		}
		speeds[step] = true
		if _, step := w.play(r, true); step != 1 {
			t.Errorf("held-out window %d is played by %g", r, step)
		}
	}
	if backward < 30 || backward > 70 || len(speeds) < 90 {
		t.Errorf("of 100 windows %d are backward, with %d speeds", backward, len(speeds))
	}
	steps := newStepTargets(set)
	steps.normalise(len(set.Layout.Contacts) + 1)
	cols, tape := len(steps.mean), newTape(t)
	mask := tape.Const(set.Length, 1)
	for i := range mask.Val {
		mask.Val[i] = 1
	}
	pace := func() (sum float64) {
		y, known := steps.fill(tape, w, []int32{0}, false, mask)
		n := 0.0
		for f := range set.Length {
			at := f*cols + cols - 1
			sum += float64(known.Val[at] * (y.Val[at]*steps.std[cols-1] + steps.mean[cols-1]))
			n += float64(known.Val[at])
		}
		return sum / n
	}
	w.tempo = Tempo{}
	usual := pace()
	w.tempo.Stretch = 0.2
	if _, step := w.play(0, false); math.Abs(pace()/usual-step) > 0.01 {
		t.Errorf("played by %g the pace is %g, before %g", step, pace(), usual)
	}
}
