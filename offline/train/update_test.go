package train

import (
	"context"
	"fmt"
	"math"
	"testing"

	"mannequin/netruntime/grad"
)

// line is a job that fits one dense layer, and its twin in float64. The loss is a mean of squares,
// whose gradient is a closed form.
type line struct {
	job  *Job
	w, b []float64
}

const lineIn, lineOut, lineBatch = 4, 3, 5

func newLine(t *testing.T) *line {
	t.Helper()
	w, b := grad.NewParam("w", lineOut, lineIn), grad.NewParam("b", 1, lineOut)
	l := &line{w: make([]float64, len(w.Val)), b: make([]float64, len(b.Val))}
	for i := range w.Val {
		w.Val[i] = number(5, i)
		l.w[i] = float64(w.Val[i])
	}
	w.Val[3], l.w[3] = 0, 0 // where the sign of a weight is 0
	j := *newToy(t).job
	j.Params, j.Batch, j.Samples = []*grad.Param{w, b}, lineBatch, 40
	j.Loss = func(t *grad.Tape, rows []int32, _ bool, _ uint64) *grad.Mat {
		x, want := t.Const(len(rows), lineIn), t.Const(len(rows), lineOut)
		for i, r := range rows {
			for c := range lineIn {
				x.Val[i*lineIn+c] = number(6, int(r)*lineIn+c)
			}
			for o := range lineOut {
				want.Val[i*lineOut+o] = 3 * number(7, int(r)*lineOut+o)
			}
		}
		return t.MSE(t.Dense(x, w, b), want)
	}
	l.job = &j
	return l
}

// grads are the twin's gradients of the loss.
func (l *line) grads(rows []int32) (gw, gb []float64) {
	gw, gb = make([]float64, len(l.w)), make([]float64, len(l.b))
	for _, r := range rows {
		for o := range lineOut {
			y := l.b[o]
			for c := range lineIn {
				y += l.w[o*lineIn+c] * float64(number(6, int(r)*lineIn+c))
			}
			d := 2 * (y - 3*float64(number(7, int(r)*lineOut+o))) / float64(lineOut*len(rows))
			gb[o] += d
			for c := range lineIn {
				gw[o*lineIn+c] += d * float64(number(6, int(r)*lineIn+c))
			}
		}
	}
	return gw, gb
}

// Every rule, with and without penalties and clipping, agrees with the formulas in float64 for
// several steps of a schedule.
func TestUpdates(t *testing.T) {
	type set = func(j *Job)
	rules := map[string]set{
		"adam":     func(j *Job) { j.Optimizer = Adam(0.05) },
		"adamw":    func(j *Job) { j.Optimizer = AdamW{Rate: 0.05, Decay: 0.4, Beta1: 0.8, Beta2: 0.99, Eps: 1e-8} },
		"adadelta": func(j *Job) { j.Optimizer = AdaDelta{Rate: 1, Rho: 0.95, Eps: 1e-4} },
	}
	extras := map[string]set{
		"plain":     func(*Job) {},
		"L1":        func(j *Job) { j.L1 = 0.03 },
		"L2":        func(j *Job) { j.L2 = 0.05 },
		"L2 of w":   func(j *Job) { j.L1, j.L2, j.Penalised = 0.02, 0.05, j.Params[:1] },
		"value":     func(j *Job) { j.ClipValue = 0.1 },
		"norm":      func(j *Job) { j.ClipNorm = 0.5 },
		"wide norm": func(j *Job) { j.ClipNorm = 1e6 },
		"all":       func(j *Job) { j.L1, j.L2, j.ClipNorm, j.ClipValue = 0.03, 0.05, 0.5, 0.1 },
		"schedule":  func(j *Job) { j.Schedule = WarmUp{Epochs: 2, Then: StepDecay{Every: 1, Factor: 0.5}} },
	}
	for rule, setRule := range rules {
		for extra, setExtra := range extras {
			t.Run(rule+"/"+extra, func(t *testing.T) {
				l := newLine(t)
				l.job.Schedule, l.job.Epochs = Constant{}, 3
				setRule(l.job)
				setExtra(l.job)
				var batches [][]int32
				loss := l.job.Loss
				l.job.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
					batches = append(batches, append([]int32(nil), rows...))
					return loss(t, rows, heldOut, key)
				}
				pool := grad.NewPool(2)
				defer pool.Close()
				step, err := l.job.Stepper(pool)
				if err != nil {
					t.Fatal(err)
				}
				twin := newRule(l.job)
				for n := range 20 { // 8 steps are an epoch
					if err := step(); err != nil {
						t.Fatal(err)
					}
					gw, gb := l.grads(batches[n])
					twin.step(n, [][]float64{l.w, l.b}, [][]float64{gw, gb})
				}
				for i, v := range append(append([]float64(nil), l.w...), l.b...) {
					got := append(append([]float32(nil), l.job.Params[0].Val...), l.job.Params[1].Val...)[i]
					if math.Abs(float64(got)-v) > 1e-4 {
						t.Errorf("value %d is %v after 20 steps, want %v", i, got, v)
					}
				}
			})
		}
	}
}

// rule is the update in float64 by the formulas.
type rule struct {
	j    *Job
	a, b [][]float64
}

func newRule(j *Job) *rule {
	r := &rule{j: j}
	for _, p := range j.Params {
		r.a, r.b = append(r.a, make([]float64, len(p.Val))), append(r.b, make([]float64, len(p.Val)))
	}
	return r
}

func (r *rule) step(n int, w, g [][]float64) {
	j := r.j
	var squares float64
	for i := range w {
		for k, v := range w[i] {
			if j.Penalised == nil || i == 0 {
				g[i][k] += 2 * j.L2 * v
				if v > 0 {
					g[i][k] += j.L1
				} else if v < 0 {
					g[i][k] -= j.L1
				}
			}
			squares += g[i][k] * g[i][k]
		}
	}
	rate := 1.0
	if _, ok := j.Schedule.(WarmUp); ok {
		rate = min(1, float64(n)/16) * math.Pow(0.5, math.Floor(float64(n)/8))
	}
	for i := range w {
		for k := range w[i] {
			gk := g[i][k]
			if norm := math.Sqrt(squares); j.ClipNorm > 0 && norm > j.ClipNorm {
				gk *= j.ClipNorm / norm
			}
			if j.ClipValue > 0 {
				gk = max(-j.ClipValue, min(j.ClipValue, gk))
			}
			a, b := &r.a[i][k], &r.b[i][k]
			switch o := j.Optimizer.(type) {
			case AdamW:
				*a = o.Beta1**a + (1-o.Beta1)*gk
				*b = o.Beta2**b + (1-o.Beta2)*gk*gk
				t := float64(n + 1)
				decay := o.Decay * math.Sqrt(float64(j.Batch)/float64(j.Samples*j.Epochs))
				w[i][k] -= rate * (decay*w[i][k] + o.Rate*(*a/(1-math.Pow(o.Beta1, t)))/(math.Sqrt(*b/(1-math.Pow(o.Beta2, t)))+o.Eps))
			case AdaDelta:
				*a = o.Rho**a + (1-o.Rho)*gk*gk
				u := math.Sqrt(*b+o.Eps) / math.Sqrt(*a+o.Eps) * gk
				*b = o.Rho**b + (1-o.Rho)*u*u
				w[i][k] -= rate * o.Rate * u
			}
		}
	}
}

// For every rule, the bits of a run do not depend on the number of workers.
func TestWorkersChangeNoUpdate(t *testing.T) {
	for name, set := range everyWay {
		var want string
		for _, workers := range []int{1, 2, 3} {
			y := newToy(t)
			set(y.job)
			rep, err := y.try(context.Background(), workers)
			if err != nil {
				t.Fatal(err)
			}
			got := y.outcome(t, rep)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s: %d workers end elsewhere than one", name, workers)
			}
		}
	}
}

// everyWay returns the ways to change weights.
var everyWay = map[string]func(j *Job){
	"adadelta": func(j *Job) { j.Optimizer, j.Schedule = AdaDelta{Rate: 1, Rho: 0.95, Eps: 1e-8}, Constant{} },
	"norm":     func(j *Job) { j.ClipNorm, j.L1 = 0.3, 0.001 },
	"value":    func(j *Job) { j.ClipValue, j.L2 = 0.01, 0.001 },
	"noise": func(j *Job) {
		sigma, loss := 0.0, j.Loss
		fall := Falling{From: 0.3, By: 0.1}
		j.Begin = func(epoch int) { sigma = fall.At(epoch) }
		j.Loss = func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
			l := loss(t, rows, heldOut, key)
			if heldOut {
				return l
			}
			k := t.Const(1, 1)
			k.Val[0] = float32(sigma)
			return t.MSE(l, k)
		}
	},
}

// An interrupted run continues to the same bits with every rule.
func TestResumeEveryWay(t *testing.T) {
	for name, set := range everyWay {
		whole := newToy(t)
		set(whole.job)
		want := whole.outcome(t, whole.run(t, context.Background()))
		for _, stop := range []int{1, toySteps - 1, toySteps, toySteps + 1, 3 * toySteps} {
			y := newToy(t)
			set(y.job)
			y.interrupt(t, stop)
			z := newToy(t)
			set(z.job)
			z.job.Checkpoint, z.job.Resume = y.job.Checkpoint, true
			if got := z.outcome(t, z.run(t, context.Background())); got != want {
				t.Errorf("%s: interrupted after step %d, the run ends elsewhere", name, stop)
			}
		}
	}
}

// A parameter that the loss does not reach keeps its value, with and without clipping by norm. So
// does a frozen one.
func TestUnreachedParameter(t *testing.T) {
	for _, norm := range []float64{0, 1} {
		y := newToy(t)
		idle, frozen := grad.NewParam("idle", 2, 2), grad.NewParam("frozen", 2, 2)
		for i := range idle.Val {
			idle.Val[i], idle.Grad[i], frozen.Val[i] = 1, 5, 2
		}
		frozen.Frozen = true
		y.job.Params, y.job.ClipNorm = append(y.job.Params, idle, frozen), norm
		y.run(t, context.Background())
		if fmt.Sprint(idle.Val, frozen.Val) != "[1 1 1 1] [2 2 2 2]" {
			t.Errorf("norm %v: the idle parameter is %v, the frozen one %v", norm, idle.Val, frozen.Val)
		}
	}
}
