package grad

import (
	"math"
	"slices"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

// mixture runs a forward and backward pass of a network of two blended layers,
// wide enough that the pool divides the work, and returns everything computed.
func mixture(tape *Tape, seed uint64) [][]float32 {
	const rows, in, hidden, out, experts = 32, 200, 128, 70, 8
	var params []*Param
	param := func(r, c int) *Param {
		p := NewParam("p", r, c)
		copy(p.Val, random(seed+uint64(len(params)), r, c).f32())
		params = append(params, p)
		return p
	}
	tape.Reset()
	x := tape.Input(rows, in)
	copy(x.Val, random(seed+100, rows, in).f32())
	omega := tape.Softmax(tape.Dense(tape.Gather(x, []int{5, 1, 9}), param(experts, 3), param(1, experts)))
	h := tape.Dropout(tape.ELU(tape.Blend(x, omega, param(experts*in, hidden), param(experts, hidden))), 0.7, seed)
	y := tape.Blend(h, omega, param(experts*hidden, out), param(experts, out))
	want := tape.Const(rows, out)
	clear(want.Val)
	loss := tape.MSE(y, want)
	tape.Backward(loss)
	all := [][]float32{loss.Val, y.Val, x.Grad}
	for _, p := range params {
		all = append(all, p.Grad)
	}
	return all
}

func TestWorkersChangeNothing(t *testing.T) {
	var want [][]float32
	for _, workers := range []int{1, 2, 5} {
		pool := kernel.NewPool(workers)
		got := mixture(NewTape(pool), 3)
		pool.Close()
		if want == nil {
			want = got
			continue
		}
		for i := range want {
			for j := range want[i] {
				if math.Float32bits(got[i][j]) != math.Float32bits(want[i][j]) {
					t.Fatalf("%d workers: array %d, value %d is %g, with one worker %g", workers, i, j, got[i][j], want[i][j])
				}
			}
		}
	}
}

func TestPassesAllocateNothing(t *testing.T) {
	tape := newTape(t, 2)
	w, b := NewParam("w", 8*64, 48), NewParam("b", 8, 48)
	g, gb := NewParam("g", 8, 64), NewParam("gb", 1, 8)
	key := uint64(0)
	pass := func() {
		key++
		tape.Reset()
		x, want := tape.Const(40, 64), tape.Const(40, 48)
		omega := tape.Softmax(tape.Dense(x, g, gb))
		tape.Backward(tape.MSE(tape.ELU(tape.Blend(tape.Dropout(x, 0.7, key), omega, w, b)), want))
	}
	if n := testing.AllocsPerRun(20, pass); n != 0 {
		t.Errorf("a pass allocates %v times", n)
	}
}

func TestFrozen(t *testing.T) {
	tape := newTape(t, 1)
	w, b := NewParam("w", 2, 3), NewParam("b", 1, 2)
	copy(w.Val, random(1, 2, 3).f32())
	w.Frozen, b.Frozen = true, true
	w.Grad, b.Grad = nil, nil // frozen ones need no gradient memory
	run := func(x *Mat) *Mat {
		for i := range x.Val {
			x.Val[i] = float32(i)
		}
		want := tape.Const(4, 2)
		clear(want.Val)
		tape.Backward(tape.MSE(tape.Dense(x, w, b), want))
		return x
	}
	var norm float64
	for _, g := range run(tape.Input(4, 3)).Grad {
		norm += math.Abs(float64(g))
	}
	if norm == 0 {
		t.Error("the input of a frozen layer got no gradient")
	}
	tape.Reset()
	if x := run(tape.Const(4, 3)); x.Wants() {
		t.Error("a constant wants a gradient")
	}
}

func TestUnreachedInputHasZeroGradient(t *testing.T) {
	tape := newTape(t, 1)
	for range 2 {
		tape.Reset()
		x, y := tape.Input(2, 2), tape.Input(2, 2)
		tape.ELU(x) // not a part of the loss
		x.Grad[0] = 5
		want := tape.Const(2, 2)
		tape.Backward(tape.MSE(y, want))
		if x.Grad[0] != 0 {
			t.Fatalf("gradient %v of a matrix that the loss does not depend on", x.Grad[0])
		}
	}
}

func TestDropoutKeeps(t *testing.T) {
	tape := newTape(t, 1)
	const rows, cols = 100, 1000
	for _, keep := range []float32{0.3, 0.7, 0.95} {
		tape.Reset()
		x := tape.Const(rows, cols)
		for i := range x.Val {
			x.Val[i] = 1
		}
		if tape.Dropout(x, 1, 1) != x {
			t.Error("keep 1 is not the identity")
		}
		y := tape.Dropout(x, keep, 42)
		z := tape.Dropout(x, keep, 43)
		var kept, both float64
		for i := range y.Val {
			if y.Val[i] != 0 {
				kept++
				if y.Val[i] != 1/keep {
					t.Fatalf("kept value %v, want %v", y.Val[i], 1/keep)
				}
				if z.Val[i] != 0 {
					both++
				}
			}
		}
		// Five standard deviations of a binomial share.
		n, k := float64(rows*cols), float64(keep)
		if d := math.Abs(kept/n - k); d > 5*math.Sqrt(k*(1-k)/n) {
			t.Errorf("share kept is %v, want %v", kept/n, keep)
		}
		if d := math.Abs(both/n - k*k); d > 5*math.Sqrt(k*k*(1-k*k)/n) {
			t.Errorf("share kept under both of two keys is %v, want %v", both/n, k*k)
		}
	}
}

func TestMisuse(t *testing.T) {
	pool := newPool(t, 1)
	for name, f := range map[string]func(t *Tape){
		"empty matrix":    func(t *Tape) { t.Const(0, 3) },
		"dense width":     func(t *Tape) { t.Dense(t.Const(2, 3), NewParam("w", 2, 4), NewParam("b", 1, 2)) },
		"dense bias":      func(t *Tape) { t.Dense(t.Const(2, 3), NewParam("w", 2, 3), NewParam("b", 1, 3)) },
		"denseT width":    func(t *Tape) { t.DenseT(t.Const(2, 3), NewParam("w", 4, 3), NewParam("b", 1, 3)) },
		"denseT bias":     func(t *Tape) { t.DenseT(t.Const(2, 3), NewParam("w", 3, 4), NewParam("b", 1, 3)) },
		"blend experts":   func(t *Tape) { t.Blend(t.Const(2, 3), t.Const(2, 4), NewParam("w", 9, 5), NewParam("b", 3, 5)) },
		"blend rows":      func(t *Tape) { t.Blend(t.Const(2, 3), t.Const(1, 3), NewParam("w", 9, 5), NewParam("b", 3, 5)) },
		"dropout of 0":    func(t *Tape) { t.Dropout(t.Const(2, 3), 0, 1) },
		"dropout of NaN":  func(t *Tape) { t.Dropout(t.Const(2, 3), float32(math.NaN()), 1) },
		"mse shapes":      func(t *Tape) { t.MSE(t.Const(2, 3), t.Const(3, 2)) },
		"gather column 3": func(t *Tape) { t.Gather(t.Const(2, 3), []int{0, 3}) },
		"backward of 2×1": func(t *Tape) { t.Backward(t.Const(2, 1)) },
		"backward twice": func(t *Tape) {
			l := t.Sum(t.Input(2, 1))
			t.Backward(l)
			t.Backward(l)
		},
	} {
		t.Run(name, func(t *testing.T) { must.Panic(t, "grad: ", func() { f(NewTape(pool)) }) })
	}
}

// An upper layer's gradient is passed on before the lower ones have theirs, also if two steps share a layer.
func TestUpdateComesEarly(t *testing.T) {
	tape := newTape(t, 2)
	var layers []*Param
	var order []string
	for i, name := range []string{"low", "shared", "high"} {
		w := NewParam(name, 4, 4)
		copy(w.Val, random(uint64(i), 4, 4).f32())
		w.Update = func(int, []float32) {
			order = append(order, name)
			for _, below := range layers[:i] {
				if !math.IsNaN(float64(below.Grad[0])) {
					t.Errorf("%s is passed on after the backward pass of %s", name, below.Name)
				}
			}
		}
		set(w.Grad, float32(math.NaN()))
		layers = append(layers, w)
	}
	b := NewParam("bias", 1, 4)
	b.Frozen = true
	x, want := tape.Const(3, 4), tape.Const(3, 4)
	copy(x.Val, random(9, 3, 4).f32())
	clear(want.Val)
	for _, w := range []*Param{layers[0], layers[1], layers[1], layers[2]} {
		x = tape.Dense(x, w, b)
	}
	tape.Backward(tape.MSE(x, want))
	if !slices.Equal(order, []string{"high", "shared", "low"}) {
		t.Errorf("the order is %v", order)
	}
}
