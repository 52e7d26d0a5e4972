package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mannequin/netruntime/grad"
)

// spoil makes the loss of the samples in bad NaN from the given epoch on.
func (y *toy) spoil(from int, heldOut bool, bad ...int32) {
	epoch, loss := 0, y.job.Loss
	y.job.Begin = func(e int) { epoch = e }
	y.job.Name = func(row int32, heldOut bool) string { return fmt.Sprintf("clip %d, %v", row, heldOut) }
	y.job.Loss = func(t *grad.Tape, rows []int32, h bool, key uint64) *grad.Mat {
		l := loss(t, rows, h, key)
		if h == heldOut && epoch >= from && slices.ContainsFunc(rows, func(r int32) bool { return slices.Contains(bad, r) }) {
			l.Val[0] = float32(math.NaN())
		}
		return l
	}
}

// The error of a NaN names its samples. The weights and the checkpoint are those of the last good
// state. A run without the NaN continues from it to the same result as a run that never had one.
func TestNotFiniteRollsBack(t *testing.T) {
	whole := newToy(t)
	want := whole.outcome(t, whole.run(t, context.Background()))
	for _, heldOut := range []bool{false, true} {
		y := newToy(t)
		y.job.Every = 3 * time.Second
		y.job.Progress = func(Progress) { y.clock = y.clock.Add(time.Second) }
		// Two samples of one batch of epoch 3.
		r := &run{Job: y.job}
		r.shuffle(2)
		bad := []int32{r.perm[5*toyBatch+1], r.perm[5*toyBatch+6]}
		if heldOut {
			bad = []int32{270, 290}
		}
		y.spoil(2, heldOut, bad...)
		_, err := y.try(context.Background(), 2)
		var e *NotFiniteError
		if !errors.As(err, &e) {
			t.Fatalf("held out %v: error %v", heldOut, err)
		}
		slices.Sort(bad)
		slices.Sort(e.Culprit)
		if !slices.Equal(e.Culprit, bad) || e.Epoch != 3 || !heldOut && (e.Step != 6 || len(e.Rows) != toyBatch) || heldOut && e.Step != 0 {
			t.Errorf("held out %v: %+v", heldOut, e)
		}
		for _, b := range bad {
			if name := fmt.Sprintf("%d (clip %d, %v)", b, b, heldOut); !strings.Contains(err.Error(), name) {
				t.Errorf("%v does not name %s", err, name)
			}
		}
		s := newState(newToy(t).job.Params, y.job.Optimizer)
		f, err := os.Open(y.job.Checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		info, _ := f.Stat()
		err = s.decode(f, info.Size(), y.job)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range y.job.Params {
			if !slices.Equal(p.Val, s.params[i].Val) {
				t.Errorf("held out %v: %s in memory is not what the checkpoint holds", heldOut, p.Name)
			}
		}
		if s.Total < int64(2*toySteps) || s.Total >= int64(3*toySteps) {
			t.Errorf("held out %v: back at step %d", heldOut, s.Total)
		}
		z := newToy(t)
		z.job.Checkpoint, z.job.Resume = y.job.Checkpoint, true
		if z.outcome(t, z.run(t, context.Background())) != want {
			t.Errorf("held out %v: continued without the NaN, the run ends elsewhere", heldOut)
		}
	}
}

// If a finite loss has an infinite gradient, the error names the batch of that step, not the batch
// that meets the broken weights.
func TestBrokenWeights(t *testing.T) {
	for _, stop := range []int{3, toySteps} { // in an epoch, at its end
		y := newToy(t)
		var batches [][]int32
		loss := y.job.Loss
		y.job.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
			if !heldOut && len(rows) == toyBatch {
				batches = append(batches, slices.Clone(rows))
			}
			return loss(t, rows, heldOut, key)
		}
		n := 0
		y.job.Progress = func(Progress) {
			if n++; n == stop {
				y.job.Params[2].Val[1] = float32(math.Inf(1))
			}
		}
		_, err := y.try(context.Background(), 1)
		var e *NotFiniteError
		if !errors.As(err, &e) || e.What != "weights" || e.Epoch != 1 || e.Step != stop || !slices.Equal(e.Rows, batches[stop-1]) || len(e.Culprit) != 0 {
			t.Errorf("broken after step %d: %v, %+v", stop, err, e)
		}
		for _, p := range y.job.Params {
			if !finite(p.Val) {
				t.Errorf("%s is not finite after the roll-back", p.Name)
			}
		}
	}
}

// A resumed run that fails is an unfinished run.
func TestFailureIsNoEnd(t *testing.T) {
	y := newToy(t)
	y.job.Epochs = 1
	y.run(t, context.Background())
	z := newToy(t)
	z.job.Checkpoint, z.job.Resume = y.job.Checkpoint, true
	z.spoil(1, false, 0, 1, 2, 3)
	if _, err := z.try(context.Background(), 1); err == nil {
		t.Fatal("no error")
	}
	z = newToy(t)
	z.job.Checkpoint = y.job.Checkpoint
	if _, err := z.try(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "unfinished") {
		t.Errorf("a new run over it: %v", err)
	}
}

func TestPatience(t *testing.T) {
	y := newToy(t)
	y.job.Epochs, y.job.Patience = 50, 3
	loss, epoch := y.job.Loss, 0
	y.job.Begin = func(e int) { epoch = e }
	y.job.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
		l := loss(t, rows, heldOut, key)
		if heldOut { // best at the end of the fifth epoch
			l.Val[0] = float32(1 + math.Abs(float64(epoch-4)))
		}
		return l
	}
	rep := y.run(t, context.Background())
	if rep.Ended != EndPatience || rep.BestEpoch != 5 || rep.Epochs != 8 {
		t.Errorf("ended by %q after %d epochs, best %d", rep.Ended, rep.Epochs, rep.BestEpoch)
	}
	y.job.Resume = true
	if rep = y.run(t, context.Background()); rep.Epochs != 8 {
		t.Errorf("resumed, it went on to epoch %d", rep.Epochs)
	}
}

// Epoch 0 counts: if training only makes the network worse, the initial weights are the best, and
// are saved at the end, also by a resumed run.
func TestEpoch0IsTheBest(t *testing.T) {
	worse := func(y *toy) {
		y.job.Epochs = 4
		loss, epoch := y.job.Loss, -1
		y.job.Begin = func(e int) { epoch = e }
		y.job.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
			l := loss(t, rows, heldOut, key)
			if heldOut {
				l.Val[0] = float32(2 + epoch)
			}
			return l
		}
	}
	y := newToy(t)
	worse(y)
	var initial []float32
	for _, p := range y.job.Params {
		initial = append(initial, p.Val...)
	}
	var saved []float32
	keep := func(best [][]float32, r *Report) error { saved = slices.Concat(best...); return nil }
	y.job.Save = keep
	check := func(rep *Report) {
		t.Helper()
		if rep.BestEpoch != 0 || rep.Best != rep.Initial || !slices.Equal(saved, initial) {
			t.Errorf("best epoch %d, loss %g of %g, initial weights saved: %v", rep.BestEpoch, rep.Best, rep.Initial, slices.Equal(saved, initial))
		}
	}
	check(y.run(t, context.Background()))
	z := newToy(t)
	worse(z)
	saved, z.job.Epochs, z.job.Checkpoint, z.job.Resume, z.job.Save = nil, 6, y.job.Checkpoint, true, keep
	check(z.run(t, context.Background()))
}

// A clock that is set back takes no time from the training, which goes on to write checkpoints that
// can be resumed.
func TestClockSetBack(t *testing.T) {
	whole := newToy(t)
	want := whole.outcome(t, whole.run(t, context.Background()))
	y := newToy(t)
	y.job.Every = 3 * time.Second
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	steps := 0
	y.job.Progress = func(p Progress) {
		switch steps++; steps {
		case 5:
			y.clock = y.clock.Add(-time.Hour)
		case 12:
			stop()
		default:
			y.clock = y.clock.Add(time.Second)
		}
		if p.Elapsed < 0 || p.Left < 0 {
			t.Errorf("step %d: %v done, %v left", steps, p.Elapsed, p.Left)
		}
	}
	if rep := y.run(t, ctx); rep.Seconds != 10 {
		t.Errorf("%g s in 11 steps of a second, one of which the clock lost", rep.Seconds)
	}
	z := newToy(t)
	z.job.Checkpoint, z.job.Resume = y.job.Checkpoint, true
	if z.outcome(t, z.run(t, context.Background())) != want {
		t.Error("resumed, the run ends elsewhere")
	}
}
