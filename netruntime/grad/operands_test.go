package grad

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mannequin/netruntime/internal/kernel"
)

// operand makes an input of the given value: the matrix to compute with, and a function for its
// gradient, which is nil if it wants none.
type operand func(t *Tape, i int, m mat64) (x *Mat, grad func() []float32)

func input(t *Tape, _ int, m mat64) (*Mat, func() []float32) {
	x := t.Input(m.rows, m.cols)
	copy(x.Val, m.f32())
	return x, func() []float32 { return x.Grad }
}

// gradients returns the gradients of a case's inputs and parameters. Bit i of frozen freezes
// parameter i.
func (c *opCase) gradients(pool *kernel.Pool, in operand, frozen int) (grads [][]float32) {
	t := NewTape(pool)
	var operands []*Mat
	var of []func() []float32
	for i, m := range c.inputs {
		x, g := in(t, i, m)
		operands, of = append(operands, x), append(of, g)
	}
	var params []*Param
	for i, m := range c.params {
		p := NewParam(fmt.Sprint("p", i), m.rows, m.cols)
		copy(p.Val, m.f32())
		if frozen>>i&1 == 1 {
			p.Frozen, p.Grad = true, nil
		}
		params = append(params, p)
	}
	y := c.tape(t, operands, params)
	want := t.Const(y.Rows, y.Cols)
	copy(want.Val, target(y.Rows, y.Cols).f32())
	t.Backward(t.MSE(y, want))
	for _, g := range of {
		grads = append(grads, slices.Clone(g()))
	}
	for _, p := range params {
		grads = append(grads, p.Grad)
	}
	return grads
}

func allCases() []opCase {
	return slices.Concat(cases(), sequenceCases(), elementCases(), lossCases(), costCases(), kinematicsCases(), pinCases())
}

// Frozen or constant operands change no other gradient.
func TestFrozenOperands(t *testing.T) {
	pool := newPool(t, 1)
	for _, c := range allCases() {
		want := c.gradients(pool, input, 0)
		n := len(c.inputs)
		for left := range 1 << len(want) {
			some := func(t *Tape, i int, m mat64) (*Mat, func() []float32) {
				if left>>i&1 == 0 {
					return input(t, i, m)
				}
				x := t.Const(m.rows, m.cols)
				copy(x.Val, m.f32())
				return x, func() []float32 { return nil }
			}
			for i, g := range c.gradients(pool, some, left>>n) {
				if left>>i&1 == 0 && !slices.Equal(g, want[i]) {
					t.Errorf("%s, without gradients %b: gradient %d is %v, with all %v", c.name, left, i, g, want[i])
				}
			}
		}
	}
}

// Operations read and write through views.
func TestViewsOfOperands(t *testing.T) {
	pool := newPool(t, 1)
	for _, c := range allCases() {
		want := c.gradients(pool, input, 0)
		for name, view := range map[string]operand{
			"shape of a shape": func(t *Tape, _ int, m mat64) (*Mat, func() []float32) {
				x := t.Input(1, len(m.v))
				copy(x.Val, m.f32())
				return t.Reshape(t.Reshape(x, len(m.v), 1), m.rows, m.cols), func() []float32 { return x.Grad }
			},
			"shape of a parameter": func(t *Tape, _ int, m mat64) (*Mat, func() []float32) {
				p := NewParam("view", 1, len(m.v))
				copy(p.Val, m.f32())
				set(p.Grad, 100) // of another pass
				return t.Reshape(t.Param(p), m.rows, m.cols), func() []float32 { return p.Grad }
			},
		} {
			for i, g := range c.gradients(pool, view, 0) {
				if !slices.Equal(g, want[i]) {
					t.Errorf("%s, %s: gradient %d is %v, want %v", c.name, name, i, g, want[i])
				}
			}
		}
	}
}

// A matrix in two places gets the sum of both gradients.
func TestOperandTwice(t *testing.T) {
	pool := newPool(t, 1)
	tested := 0
	for _, c := range allCases() {
		for i := range c.inputs {
			for j := range i {
				if c.inputs[i].rows != c.inputs[j].rows || c.inputs[i].cols != c.inputs[j].cols {
					continue
				}
				tested++
				both := c
				both.inputs = slices.Clone(c.inputs)
				both.inputs[i] = both.inputs[j]
				want := both.gradients(pool, input, 0)
				sum := make([]float32, len(want[i]))
				kernel.Add(sum, want[i], want[j])
				var first *Mat
				got := both.gradients(pool, func(t *Tape, k int, m mat64) (*Mat, func() []float32) {
					x := first
					if k != i {
						x, _ = input(t, k, m)
					}
					if k == j {
						first = x
					}
					return x, func() []float32 { return x.Grad }
				}, 0)
				want[i], want[j] = sum, sum
				for k, g := range got {
					if !slices.EqualFunc(g, want[k], func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-6*(1+math.Abs(float64(b))) }) {
						t.Errorf("%s, operand %d is operand %d: gradient %d is %v, want %v", c.name, i, j, k, g, want[k])
					}
				}
			}
		}
	}
	if tested < 10 {
		t.Errorf("only %d pairs of operands have one shape", tested)
	}
}

// A loss may be a view. It passes its gradient to the matrix below.
func TestLossIsView(t *testing.T) {
	tape := newTape(t, 1)
	x := tape.Input(1, 2)
	copy(x.Val, []float32{1, 2})
	tape.Backward(tape.Reshape(tape.SumSquares(x), 1, 1))
	if !slices.Equal(x.Grad, []float32{2, 4}) {
		t.Errorf("gradient %v through a shape, want [2 4]", x.Grad)
	}
	tape.Reset()
	p := NewParam("p", 1, 1)
	updates := 0
	p.Update = func(_ int, g []float32) {
		if updates++; g[0] != 1 {
			t.Errorf("the gradient of a parameter by itself is %v", g)
		}
	}
	tape.Backward(tape.Param(p))
	if updates != 1 || !tape.Reached(p) {
		t.Errorf("a parameter that is the loss: %d updates", updates)
	}
	tape.Reset()
	x = tape.Input(1, 2)
	set(x.Grad, 7)
	tape.Backward(tape.Const(1, 1))
	if !slices.Equal(x.Grad, []float32{0, 0}) {
		t.Errorf("gradient %v of a constant loss", x.Grad)
	}
}
