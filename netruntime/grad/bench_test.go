package grad

import (
	"fmt"
	"math"
	"testing"
	"time"

	"mannequin/netruntime/internal/kernel"
)

// trained is a network in training: its parameters and Adam's moments.
type trained struct {
	pool   *kernel.Pool
	params []*Param
	m, v   [][]float32
	step   int
	p      int                 // of params, the next one to update
	adam1  func(worker, i int) // made once, because it allocates
}

const adamChunk = 1 << 14 // values per task

func newTrained(pool *kernel.Pool) *trained {
	n := &trained{pool: pool}
	n.adam1 = func(_, i int) {
		p, m, v := n.params[n.p], n.m[n.p], n.v[n.p]
		at, end := i*adamChunk, min((i+1)*adamChunk, len(p.Val))
		c1, c2 := 1-math.Pow(0.9, float64(n.step)), 1-math.Pow(0.999, float64(n.step))
		kernel.AdamW(p.Val[at:end], p.Grad[at:end], m[at:end], v[at:end], 1e-4, 0, 0.9, 0.999, 1e-8, float32(c1), float32(c2))
	}
	return n
}

func (n *trained) param(name string, rows, cols int) *Param {
	p := NewParam(name, rows, cols)
	for i, v := range random(uint64(len(n.params)), rows, cols).f32() {
		p.Val[i] = v / float32(math.Sqrt(float64(cols)))
	}
	n.params = append(n.params, p)
	n.m, n.v = append(n.m, make([]float32, rows*cols)), append(n.v, make([]float32, rows*cols))
	return p
}

func (n *trained) adam() {
	n.step++
	for n.p = range n.params {
		n.pool.Run((len(n.params[n.p].Val)+adamChunk-1)/adamChunk, n.adam1)
	}
}

// BenchmarkAutoencoder times a training step of the convolutional autoencoder of Holden et al.
// 2016: 73 channels, 240 frames, 256 filters 25 wide, batch 8.
func BenchmarkAutoencoder(b *testing.B) {
	const batch, frames, channels, filters, width = 8, 240, 73, 256, 25
	pool := newPool(b, 2)
	n := newTrained(pool)
	we, be := n.param("encoder.weight", filters, width*channels), n.param("encoder.bias", 1, filters)
	wd, bd := n.param("decoder.weight", channels, width*filters), n.param("decoder.bias", 1, channels)
	data := random(1, batch*frames, channels).f32()
	t := NewTape(pool)
	step := func() {
		key := uint64(n.step)
		t.Reset()
		x := t.Const(batch*frames, channels)
		copy(x.Val, data)
		h := t.ReLU(t.MaxPool(t.Conv(t.Dropout(x, 0.8, Hash(key, 0)), frames, we, be, width, false), frames))
		h = t.Depool(t.Dropout(h, 0.8, Hash(key, 1)), 2, true, Hash(key, 2))
		y := t.Conv(h, frames, wd, bd, width, false)
		t.Backward(t.WeightedSum(Term{t.MSE(y, x), 1}, Term{t.SumAbs(t.Param(we)), 1e-6}, Term{t.SumAbs(t.Param(wd)), 1e-6}))
		n.adam()
	}
	measure(b, batch, step)
}

// BenchmarkLSTM times a training step of a recurrent layer of 512 units and as many inputs over 40
// frames, batch 16.
func BenchmarkLSTM(b *testing.B) {
	const batch, frames, units = 16, 40, 512
	pool := newPool(b, 2)
	n := newTrained(pool)
	wx, wh, bias := n.param("weight", 4*units, units), n.param("recurrent", 4*units, units), n.param("bias", 1, 4*units)
	data := random(1, batch*frames, units).f32()
	t := NewTape(pool)
	step := func() {
		t.Reset()
		x := t.Input(batch*frames, units)
		copy(x.Val, data)
		y, _, _ := t.LSTM(x, frames, wx, wh, bias, nil, nil, false)
		t.Backward(t.MSE(y, x))
		n.adam()
	}
	measure(b, batch, step)
}

// BenchmarkLSTMSteps times a training step of a decoder that reads its own output: 512 units, 20
// frames, batch 32.
func BenchmarkLSTMSteps(b *testing.B) {
	const batch, frames, units = 32, 20, 512
	pool := newPool(b, 2)
	n := newTrained(pool)
	wx, wh, bias := n.param("weight", 4*units, units), n.param("recurrent", 4*units, units), n.param("bias", 1, 4*units)
	data := random(1, batch, units).f32()
	t := NewTape(pool)
	var y []*Mat
	step := func() {
		t.Reset()
		h, c := t.Const(batch, units), t.Const(batch, units)
		copy(h.Val, data)
		copy(c.Val, data)
		y = y[:0]
		for range frames {
			h, c = t.LSTMStep(h, h, c, wx, wh, bias)
			y = append(y, h)
		}
		t.Backward(t.SumSquares(t.Join(batch, y...)))
		n.adam()
	}
	measure(b, batch, step)
}

// BenchmarkBlendTicks times a training step of a mixture of eight experts that reads its own output:
// 256 hidden units, 8 ticks.
func BenchmarkBlendTicks(b *testing.B) {
	const ticks, in, hidden, experts = 8, 363, 256, 8
	for _, c := range []struct{ batch, workers int }{{32, 1}, {64, 1}, {64, 2}} {
		b.Run(fmt.Sprintf("batch=%d/workers=%d", c.batch, c.workers), func(b *testing.B) {
			pool := newPool(b, c.workers)
			n := newTrained(pool)
			var w, bias [3]*Param
			for i, size := range [...][2]int{{in, hidden}, {hidden, hidden}, {hidden, in}} {
				w[i] = n.param(fmt.Sprint("weight", i), experts*size[0], size[1])
				bias[i] = n.param(fmt.Sprint("bias", i), experts, size[1])
			}
			gating, zero := n.param("gating", experts, in), n.param("zero", 1, experts)
			first, want := random(1, c.batch, in).f32(), random(2, c.batch, in).f32()
			t := NewTape(pool)
			var terms []Term
			measure(b, c.batch, func() {
				t.Reset()
				x, y := t.Const(c.batch, in), t.Const(c.batch, in)
				copy(x.Val, first)
				copy(y.Val, want)
				terms = terms[:0]
				for range ticks {
					omega := t.Softmax(t.Dense(x, gating, zero))
					for i := range w {
						if x = t.Blend(x, omega, w[i], bias[i]); i < 2 {
							x = t.ELU(x)
						}
					}
					terms = append(terms, Term{Loss: t.MSE(x, y), Weight: 1})
				}
				t.Backward(t.WeightedSum(terms...))
				n.adam()
			})
		})
	}
}

func measure(b *testing.B, batch int, step func()) {
	for range 3 {
		step()
	}
	b.ReportAllocs()
	best := math.Inf(1)
	var last time.Duration
	for b.Loop() {
		step()
		now := b.Elapsed()
		best = min(best, (now - last).Seconds())
		last = now
	}
	b.ReportMetric(float64(batch*b.N)/b.Elapsed().Seconds(), "samples/s")
	b.ReportMetric(best*1e3, "ms/best")
}
