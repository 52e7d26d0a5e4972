package train

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"testing"
	"time"

	"mannequin/netruntime/grad"
)

// wide is a job whose updates several workers share. Its parameters have several chunks, are
// updated within the backward pass and after it, and one is frozen.
func wide() *Job {
	const in, hidden, out, experts, rows = 150, 128, 40, 3, 16
	param := func(key uint64, r, c int) *grad.Param {
		p := grad.NewParam(fmt.Sprint(key), r, c)
		for i := range p.Val {
			p.Val[i] = number(key, i) / float32(math.Sqrt(float64(c)))
		}
		return p
	}
	w, b := param(1, experts*in, hidden), param(2, experts, hidden)
	x2, b2 := param(3, 300, hidden), param(4, 1, 300)
	y, yb := param(5, out, 300), param(6, 1, out)
	yb.Frozen = true
	return &Job{
		Params: []*grad.Param{w, b, x2, b2, y, yb},
		Loss: func(t *grad.Tape, r []int32, _ bool, key uint64) *grad.Mat {
			x, omega, want := t.Const(len(r), in), t.Const(len(r), experts), t.Const(len(r), out)
			for i, row := range r {
				for c := range in {
					x.Val[i*in+c] = number(7, int(row)*in+c)
				}
				for c := range experts {
					omega.Val[i*experts+c] = number(8, int(row)*experts+c)
				}
				for c := range out {
					want.Val[i*out+c] = number(9, int(row)*out+c)
				}
			}
			h := t.Dropout(t.ELU(t.Blend(x, omega, w, b)), 0.8, key)
			return t.MSE(t.Dense(t.ELU(t.Dense(h, x2, b2)), y, yb), want)
		},
		Samples: 4 * rows, HeldOut: 1, Batch: rows, Epochs: 9, Seed: 1, Schedule: Constant{},
		Checkpoint: "none", Every: 1, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
}

func TestWideUpdates(t *testing.T) {
	for name, set := range map[string]func(j *Job){
		"adamw":    func(j *Job) { j.Optimizer = AdamW{Rate: 0.01, Decay: 0.1, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8} },
		"adadelta": func(j *Job) { j.Optimizer, j.L1, j.L2, j.ClipValue = AdaDelta{1, 0.95, 1e-6}, 1e-4, 1e-3, 1e-3 },
		"clipped": func(j *Job) {
			j.Optimizer, j.L1, j.L2, j.ClipNorm, j.ClipValue = Adam(0.01), 1e-4, 1e-3, 0.05, 1e-3
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want [][]float32
			for _, workers := range []int{1, 2, 5} {
				j := wide()
				set(j)
				pool := grad.NewPool(workers)
				step, err := j.Stepper(pool)
				if err != nil {
					t.Fatal(err)
				}
				for range 6 {
					if err := step(); err != nil {
						t.Fatal(err)
					}
				}
				var got [][]float32
				for _, p := range j.Params {
					got = append(got, slices.Clone(p.Val))
				}
				// A worker that waits for the first time allocates once, whenever that is.
				n := testing.AllocsPerRun(5, func() { step() })
				for range 4 {
					n = min(n, testing.AllocsPerRun(5, func() { step() }))
				}
				if n != 0 {
					t.Errorf("%d workers: a step allocates %v times", workers, n)
				}
				pool.Close()
				if want == nil {
					want = got
				}
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("%d workers: parameter %d differs", workers, i)
					}
				}
				if slices.Equal(got[0], wide().Params[0].Val) || !slices.Equal(got[5], wide().Params[5].Val) {
					t.Error("a weight stays, or a frozen one does not")
				}
			}
		})
	}
}
