package recipes

import (
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"testing"
	"time"

	"mannequin/netruntime/grad"
	"mannequin/offline/train"
)

// twin is the whole training step in float64, written from the paper's formulas. It blends the
// experts' weights instead of stacked inputs, takes gradients by central differences, and spells
// out AdamW and the schedule.
type twin struct {
	net  *mannNet
	w    [][]float64 // in the order of net.params()
	m, v [][]float64
	keep float64
}

func newTwin(n *mannNet, keep float64) *twin {
	t := &twin{net: n, keep: keep}
	for _, p := range n.params() {
		w := make([]float64, len(p.Val))
		for i, v := range p.Val {
			w[i] = float64(v)
		}
		t.w = append(t.w, w)
		t.m = append(t.m, make([]float64, len(w)))
		t.v = append(t.v, make([]float64, len(w)))
	}
	return t
}

// loss returns the mean squared error over the rows. masks[site][row] scales the values of a
// dropout site, in the order gating input, gating hidden 1 and 2, input, hidden 1 and 2.
func (t *twin) loss(x, y [][]float64, masks [6][][]float64) float64 {
	var sum float64
	for r := range x {
		drop := func(site int, h []float64) []float64 {
			out := make([]float64, len(h))
			for i := range h {
				out[i] = h[i] * masks[site][r][i]
			}
			return out
		}
		var g []float64
		for _, c := range t.net.columns {
			g = append(g, x[r][c])
		}
		for l := range 3 {
			g = drop(l, g)
			g = dense(t.w[2*l], t.w[2*l+1], g)
			if l < 2 {
				elu(g)
			}
		}
		var total float64
		for i := range g {
			g[i] = math.Exp(g[i])
			total += g[i]
		}
		h := x[r]
		for l := range 3 {
			h = drop(3+l, h)
			in, out := t.net.motionSize[l], t.net.motionSize[l+1]
			w, b := make([]float64, out*in), make([]float64, out)
			for k := range t.net.experts {
				omega := g[k] / total
				for o := range out {
					b[o] += omega * t.w[6+2*l+1][k*out+o]
					for i := range in {
						w[o*in+i] += omega * t.w[6+2*l][(k*in+i)*out+o]
					}
				}
			}
			h = dense(w, b, h)
			if l < 2 {
				elu(h)
			}
		}
		for o, v := range h {
			sum += (v - y[r][o]) * (v - y[r][o])
		}
	}
	return sum / float64(len(y)*len(y[0]))
}

func dense(w, b, x []float64) []float64 {
	out := make([]float64, len(b))
	for o := range out {
		out[o] = b[o]
		for i, v := range x {
			out[o] += w[o*len(x)+i] * v
		}
	}
	return out
}

func elu(h []float64) {
	for i, v := range h {
		if v < 0 {
			h[i] = math.Exp(v) - 1
		}
	}
}

// step updates the weights; n counts from 1.
func (t *twin) step(n int, a train.AdamW, mult, decay float64, loss func() float64) {
	const h = 1e-6
	grads := make([][]float64, len(t.w))
	for i := range t.w {
		for j, v := range t.w[i] {
			t.w[i][j] = v + h
			up := loss()
			t.w[i][j] = v - h
			down := loss()
			t.w[i][j] = v
			grads[i] = append(grads[i], (up-down)/(2*h))
		}
	}
	for i := range t.w {
		for j, g := range grads[i] {
			t.m[i][j] = a.Beta1*t.m[i][j] + (1-a.Beta1)*g
			t.v[i][j] = a.Beta2*t.v[i][j] + (1-a.Beta2)*g*g
			m := t.m[i][j] / (1 - math.Pow(a.Beta1, float64(n)))
			v := t.v[i][j] / (1 - math.Pow(a.Beta2, float64(n)))
			t.w[i][j] -= mult * (a.Rate*m/(math.Sqrt(v)+a.Eps) + decay*t.w[i][j])
		}
	}
}

// Ten steps of the trainer on a small network, with dropout and schedule, have the twin's losses.
func TestTenSteps(t *testing.T) {
	const (
		inputs, outputs, experts = 7, 4, 3
		samples, batch, keep     = 50, 5, 0.7
	)
	net := newMANNNet(inputs, outputs, experts, 6, 5, []int{6, 1, 2})
	net.init(3)
	// The paper's experts start so small that all outputs are nearly zero. Larger ones test every
	// formula.
	for _, p := range net.expertW {
		for i := range p.Val {
			p.Val[i] *= 2
		}
	}
	reference := newTwin(net, keep)
	value := func(row, c int) float64 { return float64(float32(math.Sin(float64(7*row+c*c) + float64(c)/3))) }

	var got []float64
	type call struct {
		rows []int32
		key  uint64
	}
	var calls []call
	job := &train.Job{
		Params: net.params(),
		Loss: func(tape *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
			x, y := tape.Const(len(rows), inputs), tape.Const(len(rows), outputs)
			for i, r := range rows {
				for c := range inputs {
					x.Val[i*inputs+c] = float32(value(int(r), c))
				}
				for c := range outputs {
					y.Val[i*outputs+c] = float32(value(int(r)+1000, c))
				}
			}
			k := float32(keep)
			if heldOut {
				k = 1
			}
			out, _ := net.forward(tape, x, k, key)
			l := tape.MSE(out, y)
			if !heldOut {
				got = append(got, float64(l.Val[0]))
				calls = append(calls, call{append([]int32(nil), rows...), key})
			}
			return l
		},
		Samples: samples, HeldOut: 3, DataHash: "-", Recipe: "-", Batch: batch, Epochs: 1, Seed: 4,
		Optimizer:  train.AdamW{Rate: 0.02, Decay: 0.3, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8},
		Schedule:   train.WarmRestarts{First: 1, Mult: 2, Clamp: 0.9},
		Checkpoint: filepath.Join(t.TempDir(), "c"), Every: time.Hour,
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(0, 0) },
	}
	pool := grad.NewPool(2)
	defer pool.Close()
	if _, err := job.Run(context.Background(), pool); err != nil {
		t.Fatal(err)
	}
	if len(got) != 10 {
		t.Fatalf("%d steps, want 10", len(got))
	}

	sizes := [6]int{3, 5, 5, inputs, 6, 6}
	for n, c := range calls {
		var x, y [][]float64
		for _, r := range c.rows {
			var in, out []float64
			for i := range inputs {
				in = append(in, value(int(r), i))
			}
			for i := range outputs {
				out = append(out, value(int(r)+1000, i))
			}
			x, y = append(x, in), append(y, out)
		}
		var masks [6][][]float64
		for site, width := range sizes {
			masks[site] = dropoutMasks(pool, grad.Hash(c.key, uint64(site+1)), width)
		}
		loss := func() float64 { return reference.loss(x, y, masks) }
		want := loss()
		if d := math.Abs(got[n]/want - 1); !(d < 2e-5) {
			t.Errorf("step %d: loss %.7f, want %.7f", n+1, got[n], want)
		}
		t.Logf("step %2d  %.7f  %.7f", n+1, got[n], want)
		mult := 0.5 * (1 + math.Cos(math.Pi*min(float64(n)/10, 0.9)))
		reference.step(n+1, job.Optimizer.(train.AdamW), mult, 0.3*math.Sqrt(float64(batch)/(samples*1)), loss)
	}
	for i, p := range net.params() {
		for j, v := range p.Val {
			if d := math.Abs(float64(v) - reference.w[i][j]); !(d < 2e-4) {
				t.Fatalf("after ten steps %s[%d] is %v, want %v", p.Name, j, v, reference.w[i][j])
			}
		}
	}
}

func dropoutMasks(pool *grad.Pool, key uint64, width int) [][]float64 {
	tape := grad.NewTape(pool)
	ones := tape.Const(5, width)
	for i := range ones.Val {
		ones.Val[i] = 1
	}
	m := tape.Dropout(ones, 0.7, key)
	out := make([][]float64, 5)
	for r := range out {
		for c := range width {
			v := 0.0
			if m.Val[r*width+c] != 0 {
				v = 1 / float64(float32(0.7))
			}
			out[r] = append(out[r], v)
		}
	}
	return out
}
