package soak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"mannequin/animsys/matching"
	"mannequin/internal/atomicfile"
	"mannequin/internal/boundedfile"
	"mannequin/internal/testing/apidrive"
	"mannequin/internal/testing/testmatching"
	"mannequin/models"
	stylesfree "mannequin/models/styles-free"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/netruntime/grad"
	"mannequin/offline/train"
	"mannequin/scenes"
	"mannequin/scenes/open"
	"mannequin/scenes/tape"
)

func resources(t *testing.T, workers int) open.Resources {
	return open.Resources{Net: models.Open, Styles: stylesfree.Open, Transfers: stylesgram.Open, Workers: workers, Log: slog.New(slog.DiscardHandler),
		Character: func(string) (*matching.File, error) { return &matching.File{Database: testmatching.People(t)}, nil }}
}

// input returns any input that a program may give, now and then one that is not a number.
func input(rng *rand.Rand) scenes.Input {
	axis := func() float32 {
		if rng.IntN(500) == 0 {
			return []float32{float32(math.NaN()), float32(math.Inf(1)), -math.MaxFloat32}[rng.IntN(3)]
		}
		return 2*rng.Float32() - 1
	}
	some := func() bool { return rng.IntN(20) == 0 }
	return scenes.Input{
		Forward: axis(), Side: axis(), Turn: axis(), Gait: scenes.Gait(rng.IntN(8) - 2),
		Sit: some(), Lie: some(), Stand: some(), Jump: some(), Reset: rng.IntN(300) == 0,
		Watched: !some(), Saving: axis(),
	}
}

// newCrowd opens a crowd that lives through all rounds, while agents come and go.
func newCrowd(t *testing.T) func(*round) {
	setup := open.Default("crowd")
	setup.Agents, setup.Churn = 60, 20
	scene, _, err := open.Scene(setup, resources(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scene.Close() })
	var f scenes.Frame
	return func(r *round) {
		for range 300 {
			r.check(scene.Step(input(r.rng)))
			r.ticks++
		}
		scene.Frame(&f, r.rng.Float32())
	}
}

// newCalls calls the public API at random, as apidrive.Drive says.
func newCalls(t *testing.T) func(*round) {
	kinds, err := apidrive.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return func(r *round) {
		const calls = 500
		_, err := apidrive.Drive(kinds, uint64(1_000_000+r.n), calls)
		r.check(err)
		r.calls += calls
	}
}

// failing is a writer whose disk is full after some bytes.
type failing struct {
	io.Writer
	left int
}

func (f *failing) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	f.left -= n
	k, err := f.Writer.Write(b[:n])
	if err == nil && k < len(b) {
		err = syscall.ENOSPC
	}
	return k, err
}

// tapes records a scene, in every other round until the disk is full, and plays what was written
// with another number of workers.
func tapes(r *round) {
	setup := open.Default(open.Names[r.n%len(open.Names)])
	setup.Agents = min(setup.Agents, 6)
	setup.Seed = uint64(r.n)
	room := math.MaxInt
	if r.n%2 == 1 {
		room = 2000 + r.rng.IntN(10_000)
	}
	scene, _, header, err := tape.OpenScene(setup, resources(r.T, 1+r.rng.IntN(3)))
	r.check(err)
	var b bytes.Buffer
	w, err := tape.NewWriter(&failing{&b, room}, header)
	if err == nil {
		recorded := tape.Record(scene, w)
		for range 180 {
			if err = recorded.Step(input(r.rng)); err != nil {
				break
			}
			r.ticks++
		}
		err = errors.Join(err, w.Close())
	}
	r.check(scene.Close())
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		r.Fatalf("%s: %s: %v", r.what, setup.Scene, err)
	}
	reader, err := tape.NewReader(&b)
	if err != nil && room < 1<<16 {
		return // not even the header was written
	}
	r.check(err)
	again, _, _, err := tape.OpenScene(reader.Header.Setup, resources(r.T, 1+r.rng.IntN(3)))
	r.check(err)
	n, err := tape.Verify(context.Background(), again, reader)
	var cut *tape.CutError
	if err != nil && !(errors.As(err, &cut) && room < math.MaxInt) {
		r.Fatalf("%s: %s: tick %d: %v", r.what, setup.Scene, n, err)
	}
	r.ticks += int(n)
	r.check(again.Close())
}

// faults makes writing files fail at random until mend is called.
func faults(rng *rand.Rand, share float64) (mend func()) {
	atomicfile.Fault = func(step, path string) error {
		if rng.Float64() >= share {
			return nil
		}
		return []error{syscall.ENOSPC, syscall.EIO, syscall.EMFILE, syscall.EROFS}[rng.IntN(4)]
	}
	return func() { atomicfile.Fault = nil }
}

// line is a training of a straight line through noisy points.
func line(checkpoint string) *train.Job {
	w, b := grad.NewParam("w", 1, 1), grad.NewParam("b", 1, 1)
	return &train.Job{
		Params: []*grad.Param{w, b},
		Loss: func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
			x, want := t.Const(len(rows), 1), t.Const(len(rows), 1)
			for i, r := range rows {
				x.Val[i] = float32(r) / 64
				want.Val[i] = 2*x.Val[i] - 1 + float32(r*7%5)/10
			}
			return t.MSE(t.Dense(x, w, b), want)
		},
		Samples: 64, HeldOut: 16, DataHash: "line", Recipe: "line", Batch: 4, Epochs: 30, Seed: 1,
		Optimizer:  train.AdamW{Rate: 0.05, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
		Schedule:   train.WarmRestarts{First: 10, Mult: 2, Clamp: 0.9},
		Checkpoint: checkpoint, Every: time.Millisecond, Resume: true,
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
}

func weights(j *train.Job) (all []float32) {
	for _, p := range j.Params {
		all = append(all, p.Val...)
	}
	return all
}

// newTraining trains once without faults. Each round must end with the same weights though the disk
// fails, the clock is set back and the training is interrupted.
func newTraining(t *testing.T) func(*round) {
	whole := line(filepath.Join(t.TempDir(), "whole.ckpt"))
	pool := grad.NewPool(2)
	t.Cleanup(pool.Close)
	if _, err := whole.Run(context.Background(), pool); err != nil {
		t.Fatal(err)
	}
	want := weights(whole)
	return func(r *round) {
		dir, err := os.MkdirTemp("", "soak")
		r.check(err)
		defer os.RemoveAll(dir)
		var wrong time.Duration // of the clock
		for attempt := 0; ; attempt++ {
			j := line(filepath.Join(dir, "line.ckpt"))
			mend := faults(r.rng, 0.2)
			if attempt == 20 {
				mend()
			}
			ctx, stop := context.WithCancel(context.Background())
			left := 50 + r.rng.IntN(600)
			j.Now = func() time.Time { return time.Now().Round(0).Add(wrong) }
			j.Progress = func(train.Progress) {
				if r.rng.IntN(50) == 0 {
					wrong -= time.Duration(r.rng.IntN(int(time.Hour)))
				}
				if left--; left == 0 {
					stop()
				}
			}
			report, err := j.Run(ctx, pool)
			stop()
			mend()
			switch {
			case err == nil && report.Epochs == j.Epochs:
				if got := weights(j); !slices.Equal(got, want) {
					r.Fatalf("%s: weights %v, without faults %v", r.what, got, want)
				}
				return
			case err != nil && !injected(err) || attempt > 20:
				r.Fatalf("%s: attempt %d: %v, %+v", r.what, attempt, err, report)
			}
		}
	}
}

// injected reports whether err is one of those of faults, or that of too few descriptors.
func injected(err error) bool {
	for _, e := range []error{syscall.ENOSPC, syscall.EIO, syscall.EMFILE, syscall.EROFS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// files reads and writes while there are too few descriptors, and then while the disk fails. A file
// is whole at any time, and nothing is left beside it.
func files(r *round) {
	dir, err := os.MkdirTemp("", "soak")
	r.check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "file")
	text := []byte("0")
	r.check(os.WriteFile(path, text, 0o644))
	for i := range 60 {
		back := descriptors(r.rng.IntN(4))
		if i%2 == 0 {
			back()
			back = faults(r.rng, 0.3)
		}
		next := []byte(fmt.Sprint(r.n, i))
		err := atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(next); return err })
		if err == nil {
			text = next
		} else if !injected(err) {
			r.Fatalf("%s: write: %v", r.what, err)
		}
		if got, err := boundedfile.Read(path, 100); err == nil && !bytes.Equal(got, text) || err != nil && !injected(err) {
			r.Fatalf("%s: read %q, %v; want %q", r.what, got, err, text)
		}
		back()
		left, err := os.ReadDir(dir)
		if r.check(err); len(left) != 1 {
			r.Fatalf("%s: left behind: %v", r.what, names(left))
		}
	}
}

func names(files []fs.DirEntry) (all []string) {
	for _, f := range files {
		all = append(all, f.Name())
	}
	return all
}
