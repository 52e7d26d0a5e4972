package train

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mannequin/internal/testing/ranks"
	"mannequin/netruntime/grad"
)

// sharded makes a toy with shards, and a frozen parameter that Loss changes, as running means are.
func sharded(t testing.TB, shards int) *toy {
	y := newToy(t)
	y.job.Shards, y.job.Epochs = shards, 3
	mean := grad.NewParam("mean", 1, 1)
	mean.Frozen = true
	y.job.Params = append(y.job.Params, mean)
	loss := y.job.Loss
	y.job.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
		if !heldOut {
			mean.Val[0] = 0.9*mean.Val[0] + 0.1*float32(rows[0])
		}
		return loss(t, rows, heldOut, key)
	}
	return y
}

// together runs toys as ranks, and returns their reports and errors.
func together(t testing.TB, toys []*toy, world []*ranks.Rank, ctx func(rank int) context.Context) ([]*Report, []error) {
	t.Helper()
	reports, errs := make([]*Report, len(toys)), make([]error, len(toys))
	var all sync.WaitGroup
	for i, y := range toys {
		y.job.Ranks = world[i]
		y.job.Checkpoint = toys[0].job.Checkpoint
		all.Go(func() { reports[i], errs[i] = y.try(ctx(i), 1+i%2) })
	}
	all.Wait()
	return reports, errs
}

func always(int) context.Context { return context.Background() }

// worlds returns up to n ranks, on one and several machines.
func worlds(n int) (out [][]*ranks.Rank) {
	for k := 1; k <= n; k++ {
		for machine := 1; machine <= k; machine++ {
			out = append(out, ranks.Machines(k, machine))
		}
	}
	return out
}

// Any number of ranks ends with the same bytes, which those of one process with as many shards are. All ranks have the
// same weights, and only the first one saves.
func TestRanksAgree(t *testing.T) {
	whole := ""
	for _, c := range []struct {
		clip float64
		bf16 bool
	}{{0, false}, {0.3, false}, {0.3, true}} {
		for _, shards := range []int{1, 4, 8} {
			alone := sharded(t, shards)
			alone.job.ClipNorm, alone.job.GradientsBF16 = c.clip, c.bf16
			want := alone.outcome(t, alone.run(t, context.Background()))
			if shards == 8 && c.clip > 0 {
				if want == whole {
					t.Error("rounded gradients make the same weights")
				}
				whole = want
			}
			for _, world := range worlds(min(shards, 5)) {
				n := len(world)
				var toys []*toy
				for range n {
					y := sharded(t, shards)
					y.job.ClipNorm, y.job.GradientsBF16 = c.clip, c.bf16
					toys = append(toys, y)
				}
				reports, errs := together(t, toys, world, always)
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				if got := toys[0].outcome(t, reports[0]); got != want {
					t.Errorf("%d shards on %d ranks:\n%s\nwant\n%s", shards, n, got, want)
				}
				for i, y := range toys[1:] {
					for k, p := range y.job.Params {
						if !slices.Equal(p.Val, toys[0].job.Params[k].Val) {
							t.Errorf("%d shards on %d ranks: rank %d has another %s", shards, n, i+1, p.Name)
						}
					}
					if len(y.saves) > 0 {
						t.Errorf("rank %d saves", i+1)
					}
				}
			}
		}
	}
}

// Chunks of one parameter belong to several ranks, which change the same bits as one process does.
func TestRanksShareParameters(t *testing.T) {
	weights := func(world []*ranks.Rank, clip float64, bf16 bool) [][]float32 {
		var all sync.WaitGroup
		n := len(world)
		got := make([][][]float32, n)
		for i, rank := range world {
			all.Go(func() {
				j := wide()
				j.Optimizer, j.L1, j.ClipNorm, j.Shards, j.GradientsBF16, j.Ranks = Adam(0.01), 1e-4, clip, 4, bf16, rank
				idle := grad.NewParam("idle", 2, 2)
				idle.Val[1] = 1
				j.Params = append(j.Params, idle)
				pool := grad.NewPool(1 + i%3)
				defer pool.Close()
				step, err := j.Stepper(pool)
				if err != nil {
					t.Error(err)
					return
				}
				for range 6 {
					if err := step(); err != nil {
						t.Error(err)
						return
					}
				}
				for _, p := range j.Params {
					got[i] = append(got[i], slices.Clone(p.Val))
				}
			})
		}
		all.Wait()
		for i := range got {
			if !slices.EqualFunc(got[i], got[0], slices.Equal) {
				t.Errorf("rank %d of %d has other weights", i, n)
			}
		}
		return got[0]
	}
	for name, how := range map[string]struct {
		clip float64
		bf16 bool
	}{"all": {}, "clip": {clip: 0.05}, "bf16": {bf16: true}} {
		want := weights(ranks.New(1), how.clip, how.bf16)
		if slices.Equal(want[0], wide().Params[0].Val) || !slices.Equal(want[6], []float32{0, 1, 0, 0}) {
			t.Error("the weights stay, or the idle ones do not")
		}
		for _, world := range worlds(4) {
			if !slices.EqualFunc(weights(world, how.clip, how.bf16), want, slices.Equal) {
				t.Errorf("%s: %d ranks make other weights than one", name, len(world))
			}
		}
	}
}

// watched is a rank whose messages are seen.
type watched struct {
	Ranks
	sent func(tag int)
}

func (w watched) Send(to, tag int, b []byte) {
	w.sent(tag)
	w.Ranks.Send(to, tag, b)
}

// The gradient of the upper layer is sent before the backward pass of the lower one.
func TestGradientsAreSentEarly(t *testing.T) {
	var all sync.WaitGroup
	early := 0
	for i, rank := range ranks.New(2) {
		y := sharded(t, 8)
		y.job.Epochs = 1
		var tape *grad.Tape
		loss := y.job.Loss
		y.job.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
			tape = t
			return loss(t, rows, heldOut, key)
		}
		lower, upper := y.job.Params[0], 2 // of which rank 1 owns the upper one, which is one chunk
		y.job.Ranks = watched{rank, func(tag int) {
			if i == 0 && tag == upper && !tape.Reached(lower) {
				early++
			}
		}}
		all.Go(func() {
			if _, err := y.try(context.Background(), 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if early != toySteps {
		t.Errorf("%d of %d times", early, toySteps)
	}
}

// Ranks of one machine send neither gradients nor weights.
func TestOneMachineSendsNoValues(t *testing.T) {
	var all sync.WaitGroup
	for _, rank := range ranks.Machines(2, 2) {
		y := sharded(t, 8)
		y.job.Ranks = watched{rank, func(tag int) {
			if tag < len(y.job.Params) { // each is one chunk
				t.Errorf("a message with tag %d", tag)
			}
		}}
		all.Go(func() {
			if _, err := y.try(context.Background(), 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// Rounding is to the nearest bfloat16, or to the even one of two.
func TestRoundBF16(t *testing.T) {
	for up := range uint32(1<<16 - 1) {
		low, high := math.Float32frombits(up<<16), math.Float32frombits((up+1)<<16)
		if low != low || high != high || math.IsInf(float64(high), 0) {
			continue
		}
		even := low
		if up&1 == 1 {
			even = high
		}
		x := []float32{low, math.Float32frombits(up<<16 | 0x7fff), math.Float32frombits(up<<16 | 0x8000), math.Float32frombits(up<<16 | 0x8001)}
		if roundBF16(x); !slices.Equal(x, []float32{low, low, even, high}) {
			t.Fatalf("beside %x: %x", up, x)
		}
	}
	x := []float32{math.Float32frombits(0x7f800001), float32(math.Inf(-1))}
	if roundBF16(x); x[0] == x[0] || x[1] != float32(math.Inf(-1)) {
		t.Errorf("NaN and an infinity become %v", x)
	}
}

// Rounded gradients train nearly as well.
func TestGradientsBF16Learn(t *testing.T) {
	best := map[bool]float64{}
	for _, bf16 := range []bool{false, true} {
		y := sharded(t, 8)
		y.job.Epochs, y.job.GradientsBF16 = 60, bf16
		best[bf16] = y.run(t, context.Background()).Best
	}
	if math.Abs(best[true]/best[false]-1) > 0.05 {
		t.Errorf("held-out losses %v", best)
	}
}

// Progress has the time of each rank, and a slow one is seen.
func TestRankTimes(t *testing.T) {
	var toys []*toy
	var last [][]time.Duration
	for rank := range 3 {
		y := sharded(t, 8)
		if loss := y.job.Loss; rank == 1 {
			y.job.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
				time.Sleep(2 * time.Millisecond)
				return loss(t, rows, heldOut, key)
			}
		}
		last = append(last, nil)
		y.job.Progress = func(p Progress) { last[rank] = p.Ranks }
		toys = append(toys, y)
	}
	if _, errs := together(t, toys, ranks.New(3), always); errors.Join(errs...) != nil {
		t.Fatal(errs)
	}
	for rank, took := range last {
		if len(took) != 3 || took[1] < 4*time.Millisecond || took[0] <= 0 || took[1] < 2*took[0] || took[1] < 2*took[2] {
			t.Errorf("rank %d: the ranks took %v", rank, took)
		}
	}
}

// The gradient of shards is that of the whole batch, but for rounding.
func TestShardsAreTheBatch(t *testing.T) {
	step := func(shards int) []*grad.Param {
		y := sharded(t, shards)
		y.job.Optimizer = AdamW{Rate: 1e-3, Beta1: 0, Beta2: 0.999999, Eps: 1} // nearly the gradient itself
		whole := y.job.Loss
		y.job.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
			return whole(t, rows, heldOut, 0)
		}
		pool := grad.NewPool(1)
		defer pool.Close()
		next, err := y.job.Stepper(pool)
		if err != nil {
			t.Fatal(err)
		}
		if err := next(); err != nil {
			t.Fatal(err)
		}
		return y.job.Params
	}
	// Dropout has another key in each shard: compare shards of whole batches.
	one, many := step(1), step(8)
	far := 0.0
	for k := range one[:4] {
		for i, v := range one[k].Val {
			far = max(far, math.Abs(float64(v-many[k].Val[i])))
		}
	}
	if far > 2e-3 {
		t.Errorf("weights are up to %g apart after a step", far)
	}
}

// Interrupted on any rank, after any step, and resumed by another number of ranks, a run ends with the same bytes.
func TestRanksResume(t *testing.T) {
	alone := sharded(t, 4)
	want := alone.outcome(t, alone.run(t, context.Background()))
	for stop := 1; stop < 2*toySteps; stop += 3 {
		n, m := 1+stop%4, 1+(stop/2)%4
		var toys []*toy
		for range n {
			toys = append(toys, sharded(t, 4))
		}
		ctx, cancel := context.WithCancel(context.Background())
		steps := 0
		last := n - 1 // the rank that gets the signal
		toys[last].job.Progress = func(Progress) {
			if steps++; steps == stop {
				cancel()
			}
		}
		reports, errs := together(t, toys, ranks.Machines(n, 1+stop%3), func(rank int) context.Context {
			if rank == last {
				return ctx
			}
			return context.Background()
		})
		cancel()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			if r.Ended != EndInterrupted || r.Steps != reports[0].Steps {
				t.Fatalf("interrupted after step %d: %q after %d steps", stop, r.Ended, r.Steps)
			}
		}
		var again []*toy
		for range m {
			y := sharded(t, 4)
			y.job.Resume = true
			again = append(again, y)
		}
		again[0].job.Checkpoint = toys[0].job.Checkpoint
		reports, errs = together(t, again, ranks.Machines(m, 1+stop%2), always)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if got := again[0].outcome(t, reports[0]); got != want {
			t.Errorf("interrupted after step %d on %d ranks, resumed on %d:\n%s\nwant\n%s", stop, n, m, got, want)
		}
	}
}

// A rank that dies at any call ends the run on all; the rest resumes with fewer ranks to the same bytes.
func TestRankDies(t *testing.T) {
	alone := sharded(t, 4)
	want := alone.outcome(t, alone.run(t, context.Background()))
	for die := 1; die < 80; die += 7 {
		var toys []*toy
		for range 3 {
			y := sharded(t, 4)
			y.job.Every = 1 // a checkpoint after each step
			toys = append(toys, y)
		}
		world := ranks.Machines(3, 1+die%3)
		world[2].Die = die
		_, errs := together(t, toys, world, always)
		for i, err := range errs {
			if !errors.Is(err, ranks.ErrDead) {
				t.Fatalf("rank %d: %v", i, err)
			}
		}
		var again []*toy
		for range 2 {
			y := sharded(t, 4)
			y.job.Resume = true
			again = append(again, y)
		}
		again[0].job.Checkpoint = toys[0].job.Checkpoint
		reports, errs := together(t, again, ranks.New(2), always)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if got := again[0].outcome(t, reports[0]); got != want {
			t.Errorf("rank 2 died at call %d: the rest ends elsewhere", die)
		}
	}
}

// What one rank finds wrong ends the run on all, with the reason.
func TestRanksFail(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(y *toy)
		want  string
	}{
		"loss": {func(y *toy) {
			loss := y.job.Loss
			y.job.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
				l := loss(t, rows, heldOut, key)
				if !heldOut && slices.Contains(rows, 33) {
					l.Val[0] = float32(math.NaN())
				}
				return l
			}
		}, "Samples whose loss is not finite: 33"},
		"checkpoint": {func(y *toy) {
			if err := os.WriteFile(y.job.Checkpoint, []byte("no checkpoint"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "not a checkpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			var toys []*toy
			for range 3 {
				y := sharded(t, 4)
				c.spoil(y)
				toys = append(toys, y)
			}
			_, errs := together(t, toys, ranks.New(3), always)
			for i, err := range errs {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("rank %d: %v, want %q", i, err, c.want)
				}
			}
		})
	}
	y := sharded(t, 3)
	if _, err := y.try(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "divisor") {
		t.Errorf("shards that do not divide the batch: %v", err)
	}
	y = sharded(t, 2)
	y.job.Ranks = ranks.New(3)[0]
	if _, err := y.try(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "each rank") {
		t.Errorf("more ranks than shards: %v", err)
	}
}
