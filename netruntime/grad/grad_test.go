package grad

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

// Every operation is checked against a float64 twin that follows its formula: values directly,
// gradients by central differences of the twin.

func newPool(t testing.TB, workers int) *Pool {
	pool := NewPool(workers)
	t.Cleanup(pool.Close)
	return pool
}

func newTape(t testing.TB, workers int) *Tape { return NewTape(newPool(t, workers)) }

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

// build returns the matrix with the elements f.
func build(rows, cols int, f func(r, c int) float64) mat64 {
	m := zero64(rows, cols)
	for r := range rows {
		for c := range cols {
			m.v[r*cols+c] = f(r, c)
		}
	}
	return m
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
	cols := []int{3, 0, 3} // one column twice, others never
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
			func(in, p []mat64) mat64 { return blend64(in[0], in[1], p[0], p[1]) }},
		// Layers of several numbers of rows, and weights of more rows than a task takes.
		{"Blend in ticks", []mat64{random(15, 15, 20), random(16, 15, 3)}, []mat64{random(17, 3*20, 4), random(18, 3, 4)},
			func(t *Tape, in []*Mat, p []*Param) *Mat {
				var ticks []*Mat
				for _, r := range [][2]int{{0, 1}, {1, 14}, {14, 15}} {
					ticks = append(ticks, t.Blend(t.Frames(in[0], 15, r[0], r[1]), t.Frames(in[1], 15, r[0], r[1]), p[0], p[1]))
				}
				return t.Join(1, ticks...)
			},
			func(in, p []mat64) mat64 { return blend64(in[0], in[1], p[0], p[1]) }},
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

// blend64 is the twin of Tape.Blend.
func blend64(x, omega, w, b mat64) mat64 {
	y := zero64(x.rows, w.cols)
	for r := range y.rows {
		for o := range y.cols {
			for k := range omega.cols {
				expert := b.at(k, o)
				for i := range x.cols {
					expert += w.at(k*x.cols+i, o) * x.at(r, i)
				}
				y.v[r*y.cols+o] += omega.at(r, k) * expert
			}
		}
	}
	return y
}

// target is the target of every case's loss.
func target(rows, cols int) mat64 { return random(99, rows, cols) }

func mse64(y, want mat64) float64 {
	var s float64
	for i := range y.v {
		s += (y.v[i] - want.v[i]) * (y.v[i] - want.v[i])
	}
	return s / float64(len(y.v))
}

// difference returns the twin's derivatives of the loss with respect to every element of m.
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

// penalty is the weight of the operands' squares in the loss of passes that test gradients of
// several uses.
const penalty = 0.01

func TestOperations(t *testing.T) {
	pools := []*kernel.Pool{kernel.NewPool(1), kernel.NewPool(3)}
	for _, p := range pools {
		defer p.Close()
	}
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			want := c.twin(c.inputs, c.params)
			loss := func() float64 {
				y := c.twin(c.inputs, c.params)
				return mse64(y, target(y.rows, y.cols))
			}
			var grads [][]float64
			operands := slices.Concat(c.inputs, c.params)
			for _, m := range operands {
				grads = append(grads, difference(m, loss))
			}
			for _, pool := range pools {
				tape := NewTape(pool)
				params := make([]*Param, len(c.params))
				for i, p := range c.params {
					params[i] = NewParam(fmt.Sprint("p", i), p.rows, p.cols)
					copy(params[i].Val, p.f32())
				}
				for pass := range 3 { // the second pass reuses the buffers
					weight := 0.0
					if pass == 2 { // every operand has a gradient when the operation adds its own
						weight = penalty
					}
					y, l, got := c.pass(tape, params, float32(weight))
					if err := agree(y, want.v); err != nil {
						t.Fatalf("%d workers, pass %d: result: %v", pool.Workers(), pass, err)
					}
					wantLoss := loss()
					for i, m := range operands {
						wantGrad := slices.Clone(grads[i])
						for j, v := range m.v {
							wantGrad[j] += 2 * weight * v
							wantLoss += weight * v * v
						}
						if err := agree(got[i], wantGrad); err != nil {
							t.Errorf("%d workers, pass %d: gradient of operand %d: %v", pool.Workers(), pass, i, err)
						}
					}
					if err := agree([]float32{l}, []float64{wantLoss}); err != nil {
						t.Errorf("%d workers, pass %d: loss: %v", pool.Workers(), pass, err)
					}
				}
			}
		})
	}
}

// pass runs the operation forward and backward. It returns its result, the loss and the operands'
// gradients. weight is the weight of the operands' squares in the loss.
func (c *opCase) pass(tape *Tape, params []*Param, weight float32) (y []float32, loss float32, grads [][]float32) {
	tape.Reset()
	in := make([]*Mat, len(c.inputs))
	for i, m := range c.inputs {
		in[i] = tape.Input(m.rows, m.cols)
		copy(in[i].Val, m.f32())
	}
	result := c.tape(tape, in, params)
	want := tape.Const(result.Rows, result.Cols)
	copy(want.Val, target(result.Rows, result.Cols).f32())
	l := tape.MSE(result, want)
	if weight > 0 {
		terms := []Term{{l, 1}}
		for _, m := range in {
			terms = append(terms, Term{tape.SumSquares(m), weight})
		}
		for _, p := range params {
			terms = append(terms, Term{tape.SumSquares(tape.Param(p)), weight})
		}
		l = tape.WeightedSum(terms...)
	}
	tape.Backward(l)
	for _, m := range in {
		grads = append(grads, m.Grad)
	}
	for _, p := range params {
		grads = append(grads, p.Grad)
	}
	return result.Val, l.Val[0], grads
}

// The check itself must detect a gradient that is wrong by one part in a thousand, in one element.
func TestCheckSeesWrongGradient(t *testing.T) {
	want := difference(random(1, 5, 7), func() float64 { return 0 })
	for i := range want {
		want[i] = float64(i%5) - 2
	}
	got := mat64{5, 7, want}.f32()
	must.Do(t, agree(got, want))
	got[4] *= 1.001
	if agree(got, want) == nil {
		t.Error("a gradient off by 0.1 % passed")
	}
	got[4] = float32(math.NaN())
	if agree(got, want) == nil {
		t.Error("a NaN passed")
	}
}
