package grad

import (
	"math"
	"testing"

	"mannequin/internal/testing/must"
)

// A sequence's results do not depend on its neighbours, nor its gradient.
func TestSequencesDoNotMix(t *testing.T) {
	pool := newPool(t, 2)
	const frames, in, hidden, width = 12, 7, 9, 5
	w, b := NewParam("w", hidden, width*in), NewParam("b", 1, hidden)
	wx, wh, bh := NewParam("x", 4*hidden, hidden), NewParam("h", 4*hidden, hidden), NewParam("bh", 1, 4*hidden)
	for i, p := range []*Param{w, b, wx, wh, bh} {
		copy(p.Val, random(uint64(i), p.Rows, p.Cols).f32())
	}
	data := random(8, 3*frames, in).f32()
	tape := NewTape(pool)
	run := func(first, batch int, others float32) (y, g []float32) {
		tape.Reset()
		x := tape.Input(batch*frames, in)
		for i := range x.Val {
			x.Val[i] = others
		}
		at := 0
		if batch == 3 {
			at = frames * in
		}
		copy(x.Val[at:][:frames*in], data[first*frames*in:])
		h := tape.Conv(x, frames, w, b, width, false)
		h = tape.Depool(tape.MaxPool(h, frames), 2, false, 0)
		h, _, _ = tape.LSTM(h, frames, wx, wh, bh, nil, nil, false)
		z := tape.Diff(tape.ConvT(h, frames, w, nil, width, true), frames)
		tape.Backward(tape.SumSquares(z))
		rows := frames - 1
		y = z.Val
		if batch == 3 {
			y = y[rows*in:][:rows*in]
		}
		return append([]float32(nil), y...), append([]float32(nil), x.Grad[at:][:frames*in]...)
	}
	alone, gradient := run(1, 1, 0)
	for _, others := range []float32{0, 3, float32(math.NaN())} {
		y, g := run(1, 3, others)
		for i := range alone {
			if math.Float32bits(y[i]) != math.Float32bits(alone[i]) {
				t.Fatalf("among sequences of %v, value %d is %v, alone %v", others, i, y[i], alone[i])
			}
		}
		for i := range gradient {
			if math.Float32bits(g[i]) != math.Float32bits(gradient[i]) {
				t.Fatalf("among sequences of %v, gradient %d is %v, alone %v", others, i, g[i], gradient[i])
			}
		}
	}
}

func TestRunningStatistics(t *testing.T) {
	tape := newTape(t, 1)
	gamma, beta := NewParam("gamma", 1, 1), NewParam("beta", 1, 1)
	stats := NewBatchStats(1)
	stats.Momentum = 0.25
	run := func(train bool, v ...float32) {
		tape.Reset()
		x := tape.Const(len(v), 1)
		copy(x.Val, v)
		tape.BatchNorm(x, gamma, beta, stats, train)
	}
	run(true, 1, 2, 6) // mean 3, unbiased variance 7
	if m, v := stats.Mean[0], stats.Var[0]; math.Abs(float64(m-0.75)) > 1e-6 || math.Abs(float64(v-2.5)) > 1e-6 {
		t.Errorf("mean %v, variance %v, want 0.75, 2.5", m, v)
	}
	run(false, 100)
	run(true, 5) // one row: variance 0
	if m, v := stats.Mean[0], stats.Var[0]; math.Abs(float64(m-1.8125)) > 1e-6 || math.Abs(float64(v-1.875)) > 1e-6 {
		t.Errorf("mean %v, variance %v, want 1.8125, 1.875", m, v)
	}
}

// A random depool chooses half of the values for each frame, and every value once.
func TestDepoolDealsValues(t *testing.T) {
	tape := newTape(t, 2)
	const rows, cols = 100, 333
	for _, factor := range []int{2, 3, 5} {
		tape.Reset()
		x := tape.Const(rows, cols)
		set(x.Val, 7)
		y := tape.Depool(x, factor, true, 9)
		counts := make([]float64, factor)
		for r := range rows {
			for c := range cols {
				got := 0
				for i := range factor {
					switch y.Val[(r*factor+i)*cols+c] {
					case 7:
						counts[i]++
						got++
					case 0:
					default:
						t.Fatalf("a value of %v", y.Val[(r*factor+i)*cols+c])
					}
				}
				if got != 1 {
					t.Fatalf("value %d, %d went to %d frames", r, c, got)
				}
			}
		}
		n, p := float64(rows*cols), 1/float64(factor)
		for i, k := range counts {
			if d := math.Abs(k/n - p); d > 5*math.Sqrt(p*(1-p)/n) {
				t.Errorf("frame %d of %d got the share %v", i, factor, k/n)
			}
		}
	}
}

func TestFrozenLayersOverTime(t *testing.T) {
	tape := newTape(t, 1)
	frozen := func(name string, rows, cols int) *Param {
		p := NewParam(name, rows, cols)
		copy(p.Val, random(3, rows, cols).f32())
		p.Frozen, p.Grad = true, nil // frozen ones need no gradient memory
		return p
	}
	w, b := frozen("w", 4, 9), frozen("b", 1, 4)
	wx, wh, bh := frozen("wx", 16, 4), frozen("wh", 16, 4), frozen("bh", 1, 16)
	gamma, beta := frozen("gamma", 1, 4), frozen("beta", 1, 4)
	run := func(x *Mat) *Mat {
		copy(x.Val, random(4, x.Rows, x.Cols).f32())
		h, _, _ := tape.LSTM(tape.Conv(x, 6, w, b, 3, false), 6, wx, wh, bh, nil, nil, false)
		h = tape.Bias(tape.BatchNorm(h, gamma, beta, NewBatchStats(4), false), b, -1)
		l := tape.SumSquares(tape.ConvT(h, 6, w, nil, 3, true))
		if tape.Backward(l); l.Wants() != x.Wants() {
			t.Errorf("the loss wants a gradient: %v, its input: %v", l.Wants(), x.Wants())
		}
		return x
	}
	var norm float64
	for _, g := range run(tape.Input(12, 3)).Grad {
		norm += math.Abs(float64(g))
	}
	if norm == 0 {
		t.Error("the input of frozen layers got no gradient")
	}
	tape.Reset()
	run(tape.Const(12, 3))
}

func TestSlopesAtZero(t *testing.T) {
	tape := newTape(t, 1)
	for name, f := range map[string]func(x *Mat) *Mat{
		"Norm":   func(x *Mat) *Mat { return tape.Sum(tape.Norm(x, 3)) },
		"SumAbs": func(x *Mat) *Mat { return tape.SumAbs(x) },
		"MAE": func(x *Mat) *Mat {
			w := tape.Const(2, 3)
			clear(w.Val)
			return tape.MAE(x, w)
		},
	} {
		tape.Reset()
		x := tape.Input(2, 3)
		clear(x.Val)
		set(x.Grad, 5)
		tape.Backward(f(x))
		for _, g := range x.Grad {
			if g != 0 {
				t.Errorf("%s: slope %v at 0", name, g)
			}
		}
	}
}

func TestMisuseOfTime(t *testing.T) {
	pool := newPool(t, 1)
	p := NewParam
	for name, f := range map[string]func(t *Tape){
		"length 0":           func(t *Tape) { t.Gram(t.Const(4, 3), 0) },
		"no whole sequences": func(t *Tape) { t.Gram(t.Const(4, 3), 3) },
		"conv width":         func(t *Tape) { t.Conv(t.Const(4, 3), 2, p("w", 2, 6), p("b", 1, 2), 3, false) },
		"conv bias":          func(t *Tape) { t.Conv(t.Const(4, 3), 2, p("w", 2, 6), p("b", 1, 3), 2, false) },
		"convT input":        func(t *Tape) { t.ConvT(t.Const(4, 3), 2, p("w", 2, 6), nil, 2, false) },
		"convT width":        func(t *Tape) { t.ConvT(t.Const(4, 2), 2, p("w", 2, 6), nil, 4, false) },
		"convT bias":         func(t *Tape) { t.ConvT(t.Const(4, 2), 2, p("w", 2, 6), p("b", 1, 2), 2, false) },
		"max-pool odd":       func(t *Tape) { t.MaxPool(t.Const(3, 3), 3) },
		"depool 0":           func(t *Tape) { t.Depool(t.Const(3, 3), 0, false, 0) },
		"lstm weights":       func(t *Tape) { t.LSTM(t.Const(4, 3), 2, p("w", 8, 2), p("h", 8, 2), p("b", 1, 8), nil, nil, false) },
		"lstm recurrent":     func(t *Tape) { t.LSTM(t.Const(4, 3), 2, p("w", 8, 3), p("h", 9, 2), p("b", 1, 8), nil, nil, false) },
		"lstm state":         func(t *Tape) { t.LSTMStep(t.Const(4, 3), t.Const(3, 2), nil, p("w", 8, 3), p("h", 8, 2), p("b", 1, 8)) },
		"batch norm":         func(t *Tape) { t.BatchNorm(t.Const(4, 3), p("g", 1, 3), p("b", 1, 3), NewBatchStats(2), true) },
		"add":                func(t *Tape) { t.Add(t.Const(4, 3), t.Const(3, 4)) },
		"sub":                func(t *Tape) { t.Sub(t.Const(4, 3), t.Const(4, 4)) },
		"mul":                func(t *Tape) { t.Mul(t.Const(4, 3), t.Const(1, 3)) },
		"bias":               func(t *Tape) { t.Bias(t.Const(4, 3), p("b", 1, 2), 1) },
		"affine":             func(t *Tape) { t.Affine(t.Const(4, 3), make([]float32, 3), make([]float32, 2)) },
		"reshape":            func(t *Tape) { t.Reshape(t.Const(4, 3), 2, 5) },
		"concat of nothing":  func(t *Tape) { t.Concat() },
		"concat":             func(t *Tape) { t.Concat(t.Const(4, 3), t.Const(3, 3)) },
		"columns":            func(t *Tape) { t.Columns(t.Const(4, 3), 1, 4) },
		"no columns":         func(t *Tape) { t.Columns(t.Const(4, 3), 1, 1) },
		"frames":             func(t *Tape) { t.Frames(t.Const(4, 3), 2, 0, 3) },
		"join of nothing":    func(t *Tape) { t.Join(2) },
		"join":               func(t *Tape) { t.Join(2, t.Const(4, 3), t.Const(3, 3)) },
		"diff of one frame":  func(t *Tape) { t.Diff(t.Const(4, 3), 1) },
		"mae":                func(t *Tape) { t.MAE(t.Const(4, 3), t.Const(4, 2)) },
		"weighted sum":       func(t *Tape) { t.WeightedSum(Term{t.Const(1, 2), 1}) },
		"norm":               func(t *Tape) { t.Norm(t.Const(4, 3), 2) },
	} {
		t.Run(name, func(t *testing.T) { must.Panic(t, "grad: ", func() { f(NewTape(pool)) }) })
	}
}
