package grad

import (
	"math"
	"sync/atomic"
	"testing"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/kernel"
)

// everything is a network that uses every operation, wide enough that the pool divides the work.
type everything struct {
	tape   *Tape
	params []*Param
	stats  *BatchStats
	scale  []float32
	data   []float32
	cols   []int
	bones  Skeleton
	base   []float32
	pins   *netruntime.Pins

	convW, convB, backB              *Param
	gateX, gateH, gateB              *Param
	gamma, beta                      *Param
	denseW, denseB, mixW, mixB, mixT *Param
	chooseW, chooseB                 *Param
	loss                             *Mat
	x                                *Mat
}

const (
	allBatch, allFrames, allIn, allHidden, allWidth, allExperts = 6, 40, 24, 104, 5, 3
)

func newEverything(pool *kernel.Pool) *everything {
	e := &everything{tape: NewTape(pool), stats: NewBatchStats(allHidden)}
	param := func(name string, rows, cols int) *Param {
		p := NewParam(name, rows, cols)
		for i, v := range random(uint64(len(e.params)), rows, cols).f32() {
			p.Val[i] = v / float32(math.Sqrt(float64(cols)))
		}
		e.params = append(e.params, p)
		return p
	}
	e.convW, e.convB, e.backB = param("conv", allHidden, allWidth*allIn), param("conv.b", 1, allHidden), param("back.b", 1, allIn)
	e.gateX, e.gateH, e.gateB = param("x", 4*allHidden, allHidden), param("h", 4*allHidden, allHidden), param("gates.b", 1, 4*allHidden)
	e.gamma, e.beta = param("gamma", 1, allHidden), param("beta", 1, allHidden)
	e.denseW, e.denseB = param("dense", allIn, allHidden), param("dense.b", 1, allIn)
	e.mixW, e.mixB = param("mix", allExperts*allIn, allIn), param("mix.b", allExperts, allIn)
	e.chooseW, e.chooseB = param("choose", allExperts, allIn), param("choose.b", 1, allExperts)
	e.mixT = param("tied", allIn, allIn)
	e.scale = random(90, 1, allIn).f32()
	e.data = random(91, allBatch*allFrames, allIn).f32()
	e.cols = []int{3, 1, 2, 9, 8, 1}
	e.bones, e.base = bones(allBatch*allFrames, allIn/3)
	e.pins = pinned(allBatch, allFrames, allIn, 5)
	return e
}

// pass builds the graph, forward and backward.
func (e *everything) pass(key uint64) {
	t := e.tape
	t.Reset()
	x := t.Input(allBatch*allFrames, allIn)
	copy(x.Val, e.data)
	half := allFrames / 2
	h := t.ReLU(t.MaxPool(t.Conv(t.Dropout(x, 0.8, Hash(key, 0)), allFrames, e.convW, e.convB, allWidth, false), allFrames))
	gram := t.Gram(h, half)
	seq, last, cell := t.LSTM(h, half, e.gateX, e.gateH, e.gateB, nil, nil, false)
	back, _, _ := t.LSTM(t.BatchNorm(seq, e.gamma, e.beta, e.stats, true), half, e.gateX, e.gateH, e.gateB, last, cell, true)
	step, _ := t.LSTMStep(t.Tanh(last), last, cell, e.gateX, e.gateH, e.gateB)
	joined := t.Join(allBatch, t.Frames(t.Reverse(back, half), half, 0, half-1), step)
	mixed := t.Add(t.Depool(joined, 2, true, Hash(key, 1)), t.Depool(seq, 2, false, 0))
	y := t.ConvT(t.Bias(mixed, e.convB, -1), allFrames, e.convW, e.backB, allWidth, true)
	other := t.ELU(t.Dense(t.Conv(x, allFrames, e.convW, e.convB, allWidth, true), e.denseW, e.denseB))
	other = t.DenseT(t.Dense(other, e.mixT, e.denseB), e.mixT, e.denseB)
	omega := t.Softmax(t.Dense(other, e.chooseW, e.chooseB))
	z := t.Blend(t.Sigmoid(other), omega, e.mixW, e.mixB)
	both := t.Concat(t.Columns(y, 0, allIn/2), t.Columns(z, allIn/2, allIn))
	out := t.Affine(t.Mul(t.Exp(t.Scale(both, 0.1)), t.Sub(y, z)), e.scale, e.scale)
	bones := t.Norm(t.Gather(out, e.cols), 3)
	joints := t.FK(t.Pin(both, allFrames, e.pins), e.base, e.bones)
	want := t.Const(out.Rows, out.Cols)
	clear(want.Val)
	moving := t.Diff(t.Diff(out, allFrames), allFrames-1)
	e.x, e.loss = x, t.WeightedSum(
		Term{t.MSE(out, x), 1}, Term{t.MAE(y, want), 0.5}, Term{t.SumAbs(t.Param(e.convW)), 1e-3}, Term{t.SumSquares(moving), 1e-3},
		Term{t.Mean(bones), 0.1}, Term{t.Sum(t.Reshape(omega, 1, omega.Rows*omega.Cols)), 1e-4}, Term{t.SumSquares(gram), 1e-3}, Term{t.SumSquares(joints), 1e-3})
	t.Backward(e.loss)
}

// results are all values that a pass computes.
func (e *everything) results() [][]float32 {
	out := [][]float32{e.loss.Val, e.x.Grad, e.stats.Mean, e.stats.Var}
	for _, p := range e.params {
		out = append(out, p.Grad)
	}
	return out
}

func TestEveryOperationForAnyWorkers(t *testing.T) {
	for _, kind := range kernel.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			defer kernel.Force(kind)()
			var want [][]float32
			all := []int{1, 2, 3, 5}
			if kind == kernel.Generic {
				all = []int{1, 3} // it is slow
			}
			for _, workers := range all {
				pool := kernel.NewPool(workers)
				e := newEverything(pool)
				e.pass(1)
				pool.Close()
				got := e.results()
				if want == nil {
					want = got
				}
				for i := range want {
					var size float64
					for j, v := range want[i] {
						size += math.Abs(float64(v))
						if math.Float32bits(got[i][j]) != math.Float32bits(v) {
							t.Fatalf("%d workers: array %d, value %d is %g, with one worker %g", workers, i, j, got[i][j], v)
						}
					}
					if !(size > 0) || math.IsInf(size, 0) {
						t.Fatalf("array %d sums to %v: nothing was tested", i, size)
					}
				}
			}
		})
	}
}

func TestEveryOperationAllocatesNothing(t *testing.T) {
	pool := newPool(t, 2)
	e := newEverything(pool)
	key := uint64(0)
	if n := testing.AllocsPerRun(10, func() { key++; e.pass(key) }); n != 0 {
		t.Errorf("a pass allocates %v times", n)
	}
}

// Update gets the same as Grad without it, every value once.
func TestEveryOperationUpdates(t *testing.T) {
	pool := newPool(t, 2)
	plain, updated := newEverything(pool), newEverything(pool)
	got, calls := make([][]float32, len(updated.params)), make([][]int32, len(updated.params))
	for i, p := range updated.params {
		got[i], calls[i] = make([]float32, len(p.Val)), make([]int32, len(p.Val))
		p.Update = func(at int, g []float32) {
			copy(got[i][at:], g)
			for j := range g {
				atomic.AddInt32(&calls[i][at+j], 1)
			}
		}
	}
	plain.pass(1)
	updated.pass(1)
	for i, p := range plain.params {
		for j, want := range p.Grad {
			if calls[i][j] != 1 || math.Abs(float64(got[i][j]-want)) > 1e-5*(1+math.Abs(float64(want))) {
				t.Fatalf("%s: value %d came %d times, as %v, want %v", p.Name, j, calls[i][j], got[i][j], want)
			}
		}
	}
}

// Data that a tape caches about weights lasts one pass.
func TestWeightsChangeBetweenPasses(t *testing.T) {
	pool := newPool(t, 1)
	kept, other := newEverything(pool), newEverything(pool)
	kept.pass(1)
	for _, e := range []*everything{kept, other} {
		for _, p := range e.params {
			for i := range p.Val {
				p.Val[i] *= 0.5
			}
		}
		copy(e.stats.Mean, other.stats.Mean)
		copy(e.stats.Var, other.stats.Var)
		e.pass(2)
	}
	want := other.results()
	for i, got := range kept.results() {
		for j, v := range want[i] {
			if got[j] != v {
				t.Fatalf("array %d, value %d is %v after another pass, %v in the first", i, j, got[j], v)
			}
		}
	}
}
