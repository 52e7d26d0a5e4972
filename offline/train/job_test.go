package train

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mannequin/netruntime/grad"
)

// toy is a small regression with all features of a run: two layers, dropout, an incomplete last
// batch.
type toy struct {
	job   *Job
	clock time.Time
	saves []float64 // best losses that Save has seen
	best  [][]float32
}

const (
	toyIn, toyOut, toyHidden = 6, 3, 10
	toySamples, toyHeldOut   = 70, 300 // 300 is two evaluation batches
	toyBatch                 = 8
	toySteps                 = toySamples / toyBatch
)

func newToy(t testing.TB) *toy {
	t.Helper()
	y := &toy{clock: time.Unix(1000, 0)}
	w1, b1 := grad.NewParam("w1", toyHidden, toyIn), grad.NewParam("b1", 1, toyHidden)
	w2, b2 := grad.NewParam("w2", toyOut, toyHidden), grad.NewParam("b2", 1, toyOut)
	for i := range w1.Val {
		w1.Val[i] = number(1, i)
	}
	for i := range w2.Val {
		w2.Val[i] = number(2, i)
	}
	y.job = &Job{
		Params: []*grad.Param{w1, b1, w2, b2},
		Loss: func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
			x, want := t.Const(len(rows), toyIn), t.Const(len(rows), toyOut)
			keep := float32(0.8)
			for i, r := range rows {
				if heldOut {
					r += toySamples
					keep = 1
				}
				in := x.Val[i*toyIn:][:toyIn]
				for c := range in {
					in[c] = number(3, int(r)*toyIn+c)
				}
				for o := range toyOut {
					want.Val[i*toyOut+o] = in[o]*in[o+1] - in[5]
				}
			}
			h := t.Dropout(t.ELU(t.Dense(x, w1, b1)), keep, key)
			return t.MSE(t.Dense(h, w2, b2), want)
		},
		Samples: toySamples, HeldOut: toyHeldOut, DataHash: "data", Recipe: "toy",
		Batch: toyBatch, Epochs: 5, Seed: 9,
		Optimizer: AdamW{Rate: 0.01, Decay: 0.05, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
		Schedule:  WarmRestarts{First: 2, Mult: 2, Clamp: 0.9},

		Checkpoint: filepath.Join(t.TempDir(), "toy.ckpt"),
		Every:      time.Hour,
		Save: func(best [][]float32, r *Report) error {
			y.saves = append(y.saves, r.Best)
			y.best = nil
			for _, b := range best {
				y.best = append(y.best, slices.Clone(b))
			}
			return nil
		},
		Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return y.clock },
	}
	return y
}

// number is a reproducible value in [−1, 1).
func number(key uint64, i int) float32 {
	return float32(float64(grad.Hash(key, uint64(i))>>11)/(1<<52) - 1)
}

func (y *toy) run(t *testing.T, ctx context.Context) *Report {
	t.Helper()
	rep, err := y.try(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func (y *toy) try(ctx context.Context, workers int) (*Report, error) {
	pool := grad.NewPool(workers)
	defer pool.Close()
	return y.job.Run(ctx, pool)
}

// outcome holds the results that must agree between equal runs.
func (y *toy) outcome(t *testing.T, rep *Report) string {
	t.Helper()
	s := newState(y.job.Params, y.job.Optimizer)
	f, err := os.Open(y.job.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	if err := s.decode(f, info.Size(), y.job); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range s.params {
		for _, a := range s.arrays(i) {
			for _, v := range a {
				fmt.Fprintf(&b, "%08x ", math.Float32bits(v))
			}
		}
	}
	for _, w := range y.best {
		fmt.Fprintf(&b, "%x ", w)
	}
	for _, p := range rep.Curve {
		fmt.Fprintf(&b, "%v %x %x %x\n", p.Epoch, p.Train, p.HeldOut, p.Rate)
	}
	fmt.Fprintf(&b, "%d %d %x %d %s", rep.Epochs, rep.Steps, rep.Best, rep.BestEpoch, rep.Ended)
	return b.String()
}

func TestRunLearns(t *testing.T) {
	y := newToy(t)
	y.job.Epochs = 60
	rep := y.run(t, context.Background())
	if rep.Ended != EndEpochs || rep.Epochs != 60 || rep.Steps != 60*toySteps {
		t.Errorf("report %+v", rep)
	}
	if !(rep.Best < 0.5*rep.Initial) {
		t.Errorf("held-out loss fell from %v to %v only", rep.Initial, rep.Best)
	}
	if len(rep.Curve) != 61 || rep.Curve[rep.BestEpoch].HeldOut != rep.Best || rep.Curve[60].HeldOut != rep.HeldOut {
		t.Errorf("the curve of %d points does not fit the report", len(rep.Curve))
	}
	for i, s := range y.saves {
		if i > 0 && s >= y.saves[i-1] {
			t.Errorf("Save got losses %v: each should be better than the one before", y.saves)
			break
		}
	}
	if len(y.saves) == 0 || y.saves[len(y.saves)-1] != rep.Best {
		t.Errorf("Save got losses %v, the best is %v", y.saves, rep.Best)
	}
}

func TestWorkersChangeNothing(t *testing.T) {
	var want string
	for _, workers := range []int{1, 2, 5} {
		y := newToy(t)
		rep, err := y.try(context.Background(), workers)
		if err != nil {
			t.Fatal(err)
		}
		got := y.outcome(t, rep)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d workers end elsewhere than one", workers)
		}
	}
}

func TestSeedMatters(t *testing.T) {
	a, b := newToy(t), newToy(t)
	b.job.Seed++
	if ra, rb := a.run(t, context.Background()), b.run(t, context.Background()); ra.HeldOut == rb.HeldOut {
		t.Error("another seed gave the same result")
	}
}

func TestLimit(t *testing.T) {
	const step = time.Second // per step, by the fake clock
	tick := func(y *toy) { y.job.Progress = func(Progress) { y.clock = y.clock.Add(step) } }
	epoch := toySteps * step

	t.Run("whole epochs", func(t *testing.T) {
		y := newToy(t)
		tick(y)
		y.job.Limit = 3*epoch + epoch/2
		rep := y.run(t, context.Background())
		if rep.Ended != EndLimit || rep.Steps != 3*toySteps || rep.Epochs != 3 {
			t.Errorf("3.5 epochs of time: ended by %q after %d epochs, %d steps", rep.Ended, rep.Epochs, rep.Steps)
		}
		// Continued without a limit, the run has the same result as one that never had a limit.
		whole := newToy(t)
		want := whole.outcome(t, whole.run(t, context.Background()))
		z := newToy(t)
		z.job.Checkpoint, z.job.Resume = y.job.Checkpoint, true
		if z.outcome(t, z.run(t, context.Background())) != want {
			t.Error("continued after its limit, the run ends elsewhere")
		}
	})
	t.Run("less than an epoch", func(t *testing.T) {
		y := newToy(t)
		tick(y)
		y.job.Limit = epoch / 2
		rep := y.run(t, context.Background())
		if rep.Ended != EndLimit || rep.Epochs != 0 || rep.Steps < toySteps/2 || rep.Steps > toySteps/2+1 {
			t.Errorf("half an epoch of time: ended by %q after %d epochs, %d steps", rep.Ended, rep.Epochs, rep.Steps)
		}
		if n := len(rep.Curve); n != 2 || rep.Curve[1].HeldOut != rep.HeldOut || rep.Curve[1].Epoch != float64(rep.Steps)/toySteps {
			t.Errorf("curve %v", rep.Curve)
		}
		if len(y.saves) != 1 || y.saves[0] != rep.HeldOut || !(rep.HeldOut < rep.Initial) {
			t.Errorf("Save got %v; held-out loss %v, before %v", y.saves, rep.HeldOut, rep.Initial)
		}
		y.job.Resume = true
		if again := y.run(t, context.Background()); again.Steps != rep.Steps {
			t.Errorf("a run whose time was over in an epoch did %d more steps", again.Steps-rep.Steps)
		}
		whole := newToy(t)
		want := whole.outcome(t, whole.run(t, context.Background()))
		z := newToy(t)
		z.job.Checkpoint, z.job.Resume = y.job.Checkpoint, true
		if z.outcome(t, z.run(t, context.Background())) != want {
			t.Error("continued after its limit in an epoch, the run ends elsewhere")
		}
	})
	t.Run("over resumed runs", func(t *testing.T) {
		y := newToy(t)
		tick(y)
		y.job.Limit = 3 * epoch
		y.run(t, context.Background())
		y.job.Resume = true
		if rep := y.run(t, context.Background()); rep.Steps != 3*toySteps {
			t.Errorf("a run whose time is over went on for %d steps", rep.Steps-3*toySteps)
		}
		y.job.Limit = 4 * epoch
		if rep := y.run(t, context.Background()); rep.Steps != 4*toySteps || rep.Resumed != 3*toySteps {
			t.Errorf("with one epoch more: %d steps, resumed at %d", rep.Steps, rep.Resumed)
		}
	})
}

func TestNotFinite(t *testing.T) {
	y := newToy(t)
	y.job.Params[0].Val[3] = float32(math.NaN())
	if _, err := y.try(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "not finite") {
		t.Errorf("held-out loss of NaN weights: %v", err)
	}
	y = newToy(t)
	loss := y.job.Loss
	y.job.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
		l := loss(t, rows, heldOut, key)
		if !heldOut {
			l.Val[0] = float32(math.Inf(1))
		}
		return l
	}
	if _, err := y.try(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "epoch 1, step 1") {
		t.Errorf("infinite loss in a step: %v", err)
	}
}

func TestShuffle(t *testing.T) {
	r := &run{Job: &Job{Samples: 1000, Seed: 5}}
	var last []int32
	for epoch := range 3 {
		r.shuffle(epoch)
		sorted := slices.Sorted(slices.Values(r.perm))
		for i, v := range sorted {
			if int(v) != i {
				t.Fatalf("epoch %d: not a permutation", epoch)
			}
		}
		same := 0
		for i, v := range r.perm {
			if last != nil && last[i] == v {
				same++
			}
		}
		// About one common position is expected.
		if same > 10 {
			t.Errorf("epoch %d has %d of 1000 places in common with the one before", epoch, same)
		}
		last = slices.Clone(r.perm)
	}
}

// A file that cannot be written does not end the run. It is reported in the end, unless a later
// attempt succeeds.
func TestUnwrittenFiles(t *testing.T) {
	y := newToy(t)
	y.job.Checkpoint = filepath.Join(t.TempDir(), "absent", "c")
	if rep, err := y.try(context.Background(), 1); err == nil || rep == nil || rep.Epochs != y.job.Epochs {
		t.Errorf("checkpoint in an absent folder: %v, report %+v", err, rep)
	}
	y = newToy(t)
	y.job.Curves = filepath.Join(t.TempDir(), "absent", "c")
	if _, err := y.try(context.Background(), 1); err == nil {
		t.Error("curves in an absent folder: no error")
	}
	for _, c := range []struct {
		failures int
		want     bool
	}{{1, false}, {1000, true}} {
		y = newToy(t)
		n := 0
		y.job.Save = func([][]float32, *Report) error {
			if n++; n <= c.failures {
				return errors.New("disk full")
			}
			return nil
		}
		_, err := y.try(context.Background(), 1)
		if n < 2 {
			t.Fatalf("%d calls of Save, the test needs two", n)
		}
		if (err != nil) != c.want {
			t.Errorf("Save failed %d of %d times: %v", min(n, c.failures), n, err)
		}
	}
}

func TestProgress(t *testing.T) {
	y := newToy(t)
	var all []Progress
	y.job.Progress = func(p Progress) {
		all = append(all, p)
		y.clock = y.clock.Add(time.Second)
	}
	y.run(t, context.Background())
	if len(all) != 5*toySteps {
		t.Fatalf("%d calls, want %d", len(all), 5*toySteps)
	}
	for i, p := range all {
		if p.Epoch != i/toySteps || p.Step != i%toySteps+1 || p.Steps != toySteps || p.Epochs != 5 {
			t.Fatalf("call %d: %+v", i, p)
		}
		// The clock advances after the report of a step, so i steps have taken i seconds.
		if want := float64(i) / float64(i+1) * float64(5*toySteps-i-1); math.Abs(p.Left.Seconds()-want) > 1e-6 {
			t.Fatalf("call %d: %v left, want %v s", i, p.Left, want)
		}
		if i > 0 && p.Done <= all[i-1].Done {
			t.Fatalf("call %d: %v done after %v", i, p.Done, all[i-1].Done)
		}
	}
	if d := all[len(all)-1].Done; d != 1 {
		t.Errorf("%v done at the end", d)
	}
}
