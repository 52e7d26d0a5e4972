package grad

import (
	"fmt"
	"math"
	"testing"

	"mannequin/internal/kernel"
)

// Every operation is checked against a float64 twin that is written as the
// formula reads: values directly, gradients by central differences of the
// twin.

// mat64 is a float64 matrix.
type mat64 struct {
	rows, cols int
	v          []float64
}

func (m mat64) at(r, c int) float64 { return m.v[r*m.cols+c] }

func zero64(rows, cols int) mat64 { return mat64{rows, cols, make([]float64, rows*cols)} }

// random fills with values in (−1.5, 1.5), which float32 holds exactly.
func random(key uint64, rows, cols int) mat64 {
	m := zero64(rows, cols)
	for i := range m.v {
		m.v[i] = float64(float32(3*float64(Hash(key, uint64(i))>>11)/(1<<53) - 1.5))
	}
	return m
}

func (m mat64) f32() []float32 {
	out := make([]float32, len(m.v))
	for i, v := range m.v {
		out[i] = float32(v)
	}
	return out
}

// opCase is one operation with its operands: inputs first, then parameters.
type opCase struct {
	name   string
	inputs []mat64
	params []mat64
	tape   func(t *Tape, in []*Mat, p []*Param) *Mat
	twin   func(in, p []mat64) mat64
}

func cases() []opCase {
	const dropKey = 77
	cols := []int{3, 0, 3} // one column twice, some never
	return []opCase{
		{"Dense", []mat64{random(1, 5, 7)}, []mat64{random(2, 4, 7), random(3, 1, 4)},
			func(t *Tape, in []*Mat, p []*Param) *Mat { return t.Dense(in[0], p[0], p[1]) },
			func(in, p []mat64) mat64 {
				y := zero64(in[0].rows, p[0].rows)
				for r := range y.rows {
					for o := range y.cols {
						s := p[1].v[o]
						for i := range in[0].cols {
							s += in[0].at(r, i) * p[0].at(o, i)
						}
						y.v[r*y.cols+o] = s
					}
				}
				return y
			}},
		{"Blend", []mat64{random(4, 5, 6), random(5, 5, 3)}, []mat64{random(6, 3*6, 4), random(7, 3, 4)},
			func(t *Tape, in []*Mat, p []*Param) *Mat { return t.Blend(in[0], in[1], p[0], p[1]) },
			func(in, p []mat64) mat64 {
				x, omega := in[0], in[1]
				y := zero64(x.rows, p[0].cols)
				for r := range y.rows {
					for o := range y.cols {
						for k := range omega.cols {
							expert := p[1].at(k, o)
							for i := range x.cols {
								expert += p[0].at(k*x.cols+i, o) * x.at(r, i)
							}
							y.v[r*y.cols+o] += omega.at(r, k) * expert
						}
					}
				}
				return y
			}},
		// One operand twice: its gradient is a sum.
		{"Blend of itself", []mat64{random(8, 5, 3)}, []mat64{random(9, 3*3, 4), random(10, 3, 4)},
			func(t *Tape, in []*Mat, p []*Param) *Mat {
				a := t.Blend(in[0], in[0], p[0], p[1])
				return t.Blend(in[0], t.Gather(a, []int{0, 1, 2}), p[0], p[1])
			},
			func(in, p []mat64) mat64 {
				blend := func(x mat64, omega func(r, k int) float64) mat64 {
					y := zero64(x.rows, 4)
					for r := range y.rows {
						for o := range y.cols {
							for k := range 3 {
								y.v[r*4+o] += omega(r, k) * p[1].at(k, o)
								for i := range 3 {
									y.v[r*4+o] += omega(r, k) * p[0].at(k*3+i, o) * x.at(r, i)
								}
							}
						}
					}
					return y
				}
				return blend(in[0], blend(in[0], in[0].at).at)
			}},
		{"ELU", []mat64{random(11, 5, 7)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.ELU(in[0]) },
			func(in, _ []mat64) mat64 {
				y := zero64(in[0].rows, in[0].cols)
				for i, v := range in[0].v {
					if y.v[i] = v; v < 0 {
						y.v[i] = math.Exp(v) - 1
					}
				}
				return y
			}},
		{"Softmax", []mat64{random(12, 5, 4)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.Softmax(in[0]) },
			func(in, _ []mat64) mat64 {
				y := zero64(in[0].rows, in[0].cols)
				for r := range y.rows {
					var sum float64
					for c := range y.cols {
						sum += math.Exp(in[0].at(r, c))
					}
					for c := range y.cols {
						y.v[r*y.cols+c] = math.Exp(in[0].at(r, c)) / sum
					}
				}
				return y
			}},
		{"Dropout", []mat64{random(13, 6, 8)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.Dropout(in[0], 0.7, dropKey) },
			func(in, _ []mat64) mat64 {
				y := zero64(in[0].rows, in[0].cols)
				for i, v := range in[0].v {
					if kept(dropKey, uint64(i), 0.7) {
						y.v[i] = v / float64(float32(0.7))
					}
				}
				return y
			}},
		{"Gather", []mat64{random(14, 5, 6)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.Gather(in[0], cols) },
			func(in, _ []mat64) mat64 {
				y := zero64(in[0].rows, len(cols))
				for r := range y.rows {
					for j, c := range cols {
						y.v[r*y.cols+j] = in[0].at(r, c)
					}
				}
				return y
			}},
	}
}

// target is what the loss of every case compares with.
func target(rows, cols int) mat64 { return random(99, rows, cols) }

func mse64(y, want mat64) float64 {
	var s float64
	for i := range y.v {
		s += (y.v[i] - want.v[i]) * (y.v[i] - want.v[i])
	}
	return s / float64(len(y.v))
}

// difference returns the twin's derivatives of the loss by every element of m.
func difference(m mat64, loss func() float64) []float64 {
	const h = 1e-5
	out := make([]float64, len(m.v))
	for i := range m.v {
		v := m.v[i]
		m.v[i] = v + h
		up := loss()
		m.v[i] = v - h
		down := loss()
		m.v[i] = v
		out[i] = (up - down) / (2 * h)
	}
	return out
}

// agree compares float32 results with float64 ones, relative to the largest.
func agree(got []float32, want []float64) error {
	var top float64
	for _, w := range want {
		top = max(top, math.Abs(w))
	}
	if top == 0 {
		return fmt.Errorf("every expected value is zero: nothing was tested")
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= 3e-6*top) {
			return fmt.Errorf("value %d is %g, want %g", i, got[i], w)
		}
	}
	return nil
}

func TestOperations(t *testing.T) {
	for _, workers := range []int{1, 3} {
		pool := kernel.NewPool(workers)
		defer pool.Close()
		for _, c := range cases() {
			t.Run(fmt.Sprintf("%s/workers=%d", c.name, workers), func(t *testing.T) {
				tape := NewTape(pool)
				params := make([]*Param, len(c.params))
				for i, p := range c.params {
					params[i] = NewParam(fmt.Sprint("p", i), p.rows, p.cols)
					copy(params[i].Val, p.f32())
				}
				loss64 := func() float64 {
					y := c.twin(c.inputs, c.params)
					return mse64(y, target(y.rows, y.cols))
				}
				for pass := range 2 { // the second one reuses the buffers
					tape.Reset()
					in := make([]*Mat, len(c.inputs))
					for i, m := range c.inputs {
						in[i] = tape.Input(m.rows, m.cols)
						copy(in[i].Val, m.f32())
					}
					y := c.tape(tape, in, params)
					want := tape.Const(y.Rows, y.Cols)
					copy(want.Val, target(y.Rows, y.Cols).f32())
					loss := tape.MSE(y, want)
					if err := agree(y.Val, c.twin(c.inputs, c.params).v); err != nil {
						t.Fatalf("pass %d: result: %v", pass, err)
					}
					if err := agree(loss.Val, []float64{loss64()}); err != nil {
						t.Fatalf("pass %d: loss: %v", pass, err)
					}
					tape.Backward(loss)
					for i, m := range c.inputs {
						if err := agree(in[i].Grad, difference(m, loss64)); err != nil {
							t.Errorf("pass %d: gradient of input %d: %v", pass, i, err)
						}
					}
					for i, p := range c.params {
						if err := agree(params[i].Grad, difference(p, loss64)); err != nil {
							t.Errorf("pass %d: gradient of parameter %d: %v", pass, i, err)
						}
					}
				}
			})
		}
	}
}

// The check itself must see a gradient that is off by one part in a thousand,
// in one element.
func TestCheckSeesWrongGradient(t *testing.T) {
	want := difference(random(1, 5, 7), func() float64 { return 0 })
	for i := range want {
		want[i] = float64(i%5) - 2
	}
	got := mat64{5, 7, want}.f32()
	if err := agree(got, want); err != nil {
		t.Fatal(err)
	}
	got[4] *= 1.001
	if agree(got, want) == nil {
		t.Error("a gradient off by 0.1 % passed")
	}
	got[4] = float32(math.NaN())
	if agree(got, want) == nil {
		t.Error("a NaN passed")
	}
}

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
	pool := kernel.NewPool(2)
	defer pool.Close()
	tape := NewTape(pool)
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
	pool := kernel.NewPool(1)
	defer pool.Close()
	tape := NewTape(pool)
	w, b := NewParam("w", 2, 3), NewParam("b", 1, 2)
	copy(w.Val, random(1, 2, 3).f32())
	w.Frozen, b.Frozen = true, true
	w.Grad, b.Grad = nil, nil // frozen ones need no room for a gradient
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
	pool := kernel.NewPool(1)
	defer pool.Close()
	tape := NewTape(pool)
	for range 2 {
		tape.Reset()
		x, y := tape.Input(2, 2), tape.Input(2, 2)
		tape.ELU(x) // leads nowhere
		x.Grad[0] = 5
		want := tape.Const(2, 2)
		tape.Backward(tape.MSE(y, want))
		if x.Grad[0] != 0 {
			t.Fatalf("gradient %v of a matrix that the loss does not depend on", x.Grad[0])
		}
	}
}

func TestDropoutKeeps(t *testing.T) {
	pool := kernel.NewPool(1)
	defer pool.Close()
	tape := NewTape(pool)
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
	pool := kernel.NewPool(1)
	defer pool.Close()
	for name, f := range map[string]func(t *Tape){
		"empty matrix":    func(t *Tape) { t.Const(0, 3) },
		"dense width":     func(t *Tape) { t.Dense(t.Const(2, 3), NewParam("w", 2, 4), NewParam("b", 1, 2)) },
		"dense bias":      func(t *Tape) { t.Dense(t.Const(2, 3), NewParam("w", 2, 3), NewParam("b", 1, 3)) },
		"blend experts":   func(t *Tape) { t.Blend(t.Const(2, 3), t.Const(2, 4), NewParam("w", 9, 5), NewParam("b", 3, 5)) },
		"blend rows":      func(t *Tape) { t.Blend(t.Const(2, 3), t.Const(1, 3), NewParam("w", 9, 5), NewParam("b", 3, 5)) },
		"dropout of 0":    func(t *Tape) { t.Dropout(t.Const(2, 3), 0, 1) },
		"dropout of NaN":  func(t *Tape) { t.Dropout(t.Const(2, 3), float32(math.NaN()), 1) },
		"mse shapes":      func(t *Tape) { t.MSE(t.Const(2, 3), t.Const(3, 2)) },
		"backward of 2×1": func(t *Tape) { t.Backward(t.Const(2, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f(NewTape(pool))
		})
	}
}
