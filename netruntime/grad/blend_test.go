package grad

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

// blends is a pass through two blended layers, one of them used twice and penalised, and two dense
// ones. out is not a multiple of any panel's width.
func blends(tape *Tape, rows int, params func(i, rows, cols int) *Param) {
	const in, hidden, out, experts = 50, 40, 37, 3
	tape.Reset()
	x := tape.Input(rows, in)
	copy(x.Val, random(1, rows, in).f32())
	omega := tape.Softmax(tape.Dense(tape.Gather(x, []int{5, 1, 9}), params(0, experts, 3), params(1, 1, experts)))
	h := tape.ELU(tape.Blend(x, omega, params(2, experts*in, hidden), params(3, experts, hidden)))
	w, b := params(4, experts*hidden, hidden), params(5, experts, hidden)
	h = tape.ELU(tape.Blend(tape.ELU(tape.Blend(h, omega, w, b)), omega, w, b))
	y := tape.Blend(h, omega, params(6, experts*hidden, out), params(7, experts, out))
	want := tape.Const(rows, out)
	clear(want.Val)
	tape.Backward(tape.WeightedSum(Term{tape.MSE(y, want), 1}, Term{tape.SumSquares(tape.Param(w)), 0.1}))
}

// An Update gets the bits that Grad has without one, every value once, from any number of workers.
// It may change the weights that it is called for.
func TestUpdateGetsTheGradient(t *testing.T) {
	for _, kind := range kernel.Kinds() {
		for _, rows := range []int{1, 5, 33, 300} {
			t.Run(fmt.Sprintf("%v/rows=%d", kind, rows), func(t *testing.T) {
				defer kernel.Force(kind)()
				want := gradients(t, 1, rows, nil)
				for workers := 1; workers <= 3; workers++ {
					var mu sync.Mutex
					got := make([][]float32, len(want))
					times := make([][]int, len(want))
					for i, w := range want {
						got[i], times[i] = make([]float32, len(w)), make([]int, len(w))
					}
					gradients(t, workers, rows, func(i int, p *Param) func(at int, g []float32) {
						return func(at int, g []float32) {
							mu.Lock()
							defer mu.Unlock()
							copy(got[i][at:], g)
							for j := range g {
								times[i][at+j]++
								p.Val[at+j] = float32(math.NaN())
							}
						}
					})
					for i := range want {
						for j := range want[i] {
							if math.Float32bits(got[i][j]) != math.Float32bits(want[i][j]) || times[i][j] != 1 {
								t.Fatalf("%d workers: parameter %d, value %d: Update got %g %d times, Grad has %g", workers, i, j, got[i][j], times[i][j], want[i][j])
							}
						}
					}
				}
			})
		}
	}
}

// gradients makes two passes of blends and returns the gradients of the second. update, if any, is
// attached for the second.
func gradients(t testing.TB, workers, rows int, update func(i int, p *Param) func(at int, g []float32)) [][]float32 {
	tape := newTape(t, workers)
	var params []*Param
	get := func(i, r, c int) *Param {
		if i == len(params) {
			params = append(params, NewParam(fmt.Sprint(i), r, c))
			copy(params[i].Val, random(uint64(10+i), r, c).f32())
		}
		return params[i]
	}
	blends(tape, rows, get)
	if update != nil {
		for i, p := range params {
			p.Update = update(i, p)
		}
	}
	blends(tape, rows, get)
	var out [][]float32
	for _, p := range params {
		out = append(out, p.Grad)
	}
	return out
}

// Weights that several layers share get their gradient from one product over the rows of all, which has
// the bits of one layer with all these rows. It comes layer by layer, from the last one to the first, as
// soon as the backward pass of the layer's first use is done.
func TestSharedWeightsAreOneProduct(t *testing.T) {
	const rows, ticks, size, experts = 5, 3, 50, 3
	for _, kind := range kernel.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			defer kernel.Force(kind)()
			tape := newTape(t, 2)
			x, omega := random(1, ticks*rows, size).f32(), random(2, ticks*rows, experts).f32()
			pass := func(layers []*Param, rows int) {
				b := NewParam("b", experts, size)
				b.Frozen = true
				tape.Reset()
				var ends []Term
				for at := 0; at < len(x)/size; at += rows {
					h, mix := tape.Const(rows, size), tape.Const(rows, experts)
					copy(h.Val, x[at*size:])
					copy(mix.Val, omega[at*experts:])
					for _, w := range layers {
						h = tape.Blend(h, mix, w, b)
					}
					ends = append(ends, Term{tape.SumSquares(h), 1})
				}
				tape.Backward(tape.WeightedSum(ends...))
			}
			params := func() (out []*Param) {
				for i := range 2 {
					out = append(out, NewParam(fmt.Sprint(i), experts*size, size))
					copy(out[i].Val, random(uint64(3+i), experts*size, size).f32())
				}
				return out
			}
			whole, shared := params(), params()
			pass(whole, ticks*rows)
			// Backward takes the last tick first, so the rows of ticks are in the reverse order.
			reversed := func(m []float32) {
				n := len(m) / ticks
				for i := range n {
					m[i], m[(ticks-1)*n+i] = m[(ticks-1)*n+i], m[i]
				}
			}
			reversed(x)
			reversed(omega)
			pass(shared, rows)
			for i, w := range whole {
				for j, v := range w.Grad {
					if math.Float32bits(shared[i].Grad[j]) != math.Float32bits(v) {
						t.Fatalf("layer %d, value %d: %v from %d layers, %v from one", i, j, shared[i].Grad[j], ticks, v)
					}
				}
			}
			var order []string
			for _, w := range shared {
				w.Update = func(int, []float32) {
					if len(order) == 0 || order[len(order)-1] != w.Name {
						order = append(order, w.Name)
					}
				}
			}
			tape = newTape(t, 1)
			pass(shared, rows)
			if fmt.Sprint(order) != "[1 0]" {
				t.Errorf("gradients come in the order of layers %v", order)
			}
		})
	}
}

func TestUndeclaredParam(t *testing.T) {
	tape, p := newTape(t, 1), NewParam("p", 1, 1)
	tape.use(p)
	tape.Reset()
	must.Panic(t, "grad: p", func() { p.into(tape) })
}

// Frozen experts change no gradient of input and gating, and their own Grad stays unused.
func TestFrozenBlend(t *testing.T) {
	tape := newTape(t, 2)
	w, b := NewParam("w", 3*40, 30), NewParam("b", 3, 30)
	copy(w.Val, random(1, 120, 30).f32())
	copy(b.Val, random(2, 3, 30).f32())
	var want [][]float32
	for _, frozen := range []bool{false, true} {
		if w.Frozen, b.Frozen = frozen, frozen; frozen {
			w.Grad, b.Grad = nil, nil
		}
		tape.Reset()
		x, omega, y := tape.Input(9, 40), tape.Input(9, 3), tape.Const(9, 30)
		copy(x.Val, random(3, 9, 40).f32())
		copy(omega.Val, random(4, 9, 3).f32())
		clear(y.Val)
		tape.Backward(tape.MSE(tape.Blend(x, omega, w, b), y))
		got := [][]float32{append([]float32(nil), x.Grad...), append([]float32(nil), omega.Grad...)}
		if want == nil {
			want = got
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Error("frozen experts change the gradient of the input or of the gating")
		}
	}
}

// Tapes that use one parameter in turns do not add to each other's gradients.
func TestTwoTapes(t *testing.T) {
	pool := newPool(t, 1)
	w, b := NewParam("w", 1, 1), NewParam("b", 1, 1)
	w.Val[0] = 1
	updates := 0
	b.Update = func(int, []float32) { updates++ }
	for i, tape := range []*Tape{NewTape(pool), NewTape(pool), NewTape(pool)} {
		x, y := tape.Const(1, 1), tape.Const(1, 1)
		x.Val[0], y.Val[0] = float32(i+1), 0
		tape.Backward(tape.MSE(tape.Dense(x, w, b), y))
		if want := 2 * x.Val[0] * x.Val[0]; w.Grad[0] != want || updates != i+1 {
			t.Errorf("tape %d: gradient %v after %d updates, want %v", i, w.Grad[0], updates, want)
		}
	}
}

// One tape's packed recurrent weights are not used by another tape.
func TestTwoTapesOverTime(t *testing.T) {
	pool := newPool(t, 1)
	wx, wh, b := NewParam("x", 4, 1), NewParam("h", 4, 1), NewParam("b", 1, 4)
	set(wh.Val, 0.5)
	var last float32
	for _, tape := range []*Tape{NewTape(pool), NewTape(pool)} {
		h, c := tape.Const(1, 1), tape.Const(1, 1)
		set(h.Val, 1)
		set(c.Val, 1)
		next, _ := tape.LSTMStep(h, h, c, wx, wh, b)
		if next.Val[0] == last {
			t.Errorf("%v before and after the weights changed", last)
		}
		last = next.Val[0]
		set(wh.Val, -0.5)
	}
}

// Single steps that share weights but not the bias.
func TestStepsOfTwoBiases(t *testing.T) {
	pass := func(biases ...*Param) {
		tape := newTape(t, 1)
		wx, wh := NewParam("x", 8, 2), NewParam("h", 8, 2)
		copy(wx.Val, random(1, 8, 2).f32())
		copy(wh.Val, random(2, 8, 2).f32())
		h, c := tape.Const(1, 2), tape.Const(1, 2)
		set(h.Val, 0.5)
		set(c.Val, 0.25)
		for i, b := range biases {
			x := tape.Const(1, 2)
			set(x.Val, float32(1+i))
			h, c = tape.LSTMStep(x, h, c, wx, wh, b)
		}
		tape.Backward(tape.SumSquares(h))
	}
	first, second, both := NewParam("b1", 1, 8), NewParam("b2", 1, 8), NewParam("b", 1, 8)
	pass(first, second)
	pass(both, both)
	for i, want := range both.Grad {
		if got := first.Grad[i] + second.Grad[i]; math.Abs(float64(got-want)) > 1e-6 || first.Grad[i] == 0 || second.Grad[i] == 0 {
			t.Errorf("value %d: gradients %v and %v, together %v", i, first.Grad[i], second.Grad[i], want)
		}
	}
}
