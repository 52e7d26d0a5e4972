package grad

import "math"

// unary returns the case of a function of every element.
func unary(name string, tape func(t *Tape, x *Mat) *Mat, f func(v float64) float64) opCase {
	return opCase{name, []mat64{random(50, 5, 7)}, nil,
		func(t *Tape, in []*Mat, _ []*Param) *Mat { return tape(t, in[0]) },
		func(in, _ []mat64) mat64 {
			return build(in[0].rows, in[0].cols, func(r, c int) float64 { return f(in[0].at(r, c)) })
		}}
}

// binary returns the case of a function of two matrices' elements.
func binary(name string, tape func(t *Tape, x, y *Mat) *Mat, f func(v, w float64) float64) opCase {
	return opCase{name, []mat64{random(51, 5, 7), random(52, 5, 7)}, nil,
		func(t *Tape, in []*Mat, _ []*Param) *Mat { return tape(t, in[0], in[1]) },
		func(in, _ []mat64) mat64 {
			return build(5, 7, func(r, c int) float64 { return f(in[0].at(r, c), in[1].at(r, c)) })
		}}
}

// moved returns the case of an operation on x (rows, cols) whose element (r, c)
// is element from(r, c) of x.
func moved(name string, rows, cols, toRows, toCols int, tape func(t *Tape, x *Mat) *Mat, from func(r, c int) (int, int)) opCase {
	return opCase{name, []mat64{random(53, rows, cols)}, nil,
		func(t *Tape, in []*Mat, _ []*Param) *Mat { return tape(t, in[0]) },
		func(in, _ []mat64) mat64 {
			return build(toRows, toCols, func(r, c int) float64 { return in[0].at(from(r, c)) })
		}}
}

func elementCases() []opCase {
	scale, shift := []float32{2, -0.5, 3}, []float32{1, -2, 0.25}
	running := func() *BatchStats {
		return &BatchStats{Mean: []float32{0.5, -1, 0, 2}, Var: []float32{1, 0.25, 4, 0.5}, Momentum: 0.1}
	}
	norm := func(x, p mat64, beta mat64, mean, variance func(c int) float64) mat64 {
		return build(x.rows, x.cols, func(r, c int) float64 {
			return (x.at(r, c)-mean(c))/math.Sqrt(variance(c)+1e-5)*p.v[c] + beta.v[c]
		})
	}
	return []opCase{
		unary("ReLU", (*Tape).ReLU, func(v float64) float64 { return max(v, 0) }),
		unary("Sigmoid", (*Tape).Sigmoid, func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }),
		unary("Tanh", (*Tape).Tanh, math.Tanh),
		unary("Exp", (*Tape).Exp, math.Exp),
		unary("Scale", func(t *Tape, x *Mat) *Mat { return t.Scale(x, -3) }, func(v float64) float64 { return -3 * v }),
		unary("Mul of itself", func(t *Tape, x *Mat) *Mat { return t.Mul(x, x) }, func(v float64) float64 { return v * v }),
		unary("Add of itself", func(t *Tape, x *Mat) *Mat { return t.Add(x, x) }, func(v float64) float64 { return 2 * v }),
		unary("Reshape of an operand", func(t *Tape, x *Mat) *Mat {
			return t.Add(t.Exp(x), t.Reshape(t.Scale(t.Reshape(x, 1, 35), 2), 5, 7))
		}, func(v float64) float64 { return math.Exp(v) + 2*v }),
		binary("Add", (*Tape).Add, func(v, w float64) float64 { return v + w }),
		binary("Sub", (*Tape).Sub, func(v, w float64) float64 { return v - w }),
		binary("Mul", (*Tape).Mul, func(v, w float64) float64 { return v * w }),
		moved("Reshape", 4, 6, 8, 3, func(t *Tape, x *Mat) *Mat { return t.Reshape(x, 8, 3) },
			func(r, c int) (int, int) { return (3*r + c) / 6, (3*r + c) % 6 }),
		moved("Columns", 4, 6, 4, 3, func(t *Tape, x *Mat) *Mat { return t.Columns(x, 2, 5) },
			func(r, c int) (int, int) { return r, c + 2 }),
		moved("Frames", 12, 3, 6, 3, func(t *Tape, x *Mat) *Mat { return t.Frames(x, 4, 1, 3) },
			func(r, c int) (int, int) { return r/2*4 + 1 + r%2, c }),
		moved("Reverse", 12, 3, 12, 3, func(t *Tape, x *Mat) *Mat { return t.Reverse(x, 4) },
			func(r, c int) (int, int) { return r/4*4 + 3 - r%4, c }),
		moved("Concat", 4, 3, 4, 6, func(t *Tape, x *Mat) *Mat { return t.Concat(x, t.Columns(x, 1, 3), t.Columns(x, 0, 1)) },
			func(r, c int) (int, int) { return r, []int{0, 1, 2, 1, 2, 0}[c] }),
		moved("Join", 6, 3, 10, 3, func(t *Tape, x *Mat) *Mat { return t.Join(2, x, t.Frames(x, 3, 1, 3)) },
			func(r, c int) (int, int) { return r/5*3 + []int{0, 1, 2, 1, 2}[r%5], c }),
		{"Diff", []mat64{random(54, 12, 3)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.Diff(t.Diff(in[0], 4), 3) },
			func(in, _ []mat64) mat64 {
				return build(6, 3, func(r, c int) float64 {
					i := r/2*4 + r%2
					return in[0].at(i+2, c) - 2*in[0].at(i+1, c) + in[0].at(i, c)
				})
			}},
		{"DenseT", []mat64{random(48, 5, 4)}, []mat64{random(49, 4, 7), random(47, 1, 7)},
			func(t *Tape, in []*Mat, p []*Param) *Mat { return t.DenseT(in[0], p[0], p[1]) },
			func(in, p []mat64) mat64 {
				return build(5, 7, func(r, i int) float64 {
					s := p[1].v[i]
					for o := range 4 {
						s += in[0].at(r, o) * p[0].at(o, i)
					}
					return s
				})
			}},
		{"Bias", []mat64{random(55, 4, 3)}, []mat64{random(56, 1, 3)},
			func(t *Tape, in []*Mat, p []*Param) *Mat { return t.Bias(t.Bias(in[0], p[0], 1), p[0], -3) },
			func(in, p []mat64) mat64 {
				return build(4, 3, func(r, c int) float64 { return in[0].at(r, c) - 2*p[0].v[c] })
			}},
		{"Affine", []mat64{random(57, 4, 3)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.Affine(t.Affine(in[0], scale, shift), scale, nil) },
			func(in, _ []mat64) mat64 {
				return build(4, 3, func(r, c int) float64 {
					return (in[0].at(r, c)*float64(scale[c]) + float64(shift[c])) * float64(scale[c])
				})
			}},
		{"BatchNorm in training", []mat64{random(58, 9, 4)}, []mat64{random(59, 1, 4), random(60, 1, 4)},
			func(t *Tape, in []*Mat, p []*Param) *Mat { return t.BatchNorm(in[0], p[0], p[1], running(), true) },
			func(in, p []mat64) mat64 {
				mean := func(c int) (m float64) {
					for r := range 9 {
						m += in[0].at(r, c) / 9
					}
					return m
				}
				return norm(in[0], p[0], p[1], mean, func(c int) (v float64) {
					for r := range 9 {
						v += math.Pow(in[0].at(r, c)-mean(c), 2) / 9
					}
					return v
				})
			}},
		{"BatchNorm in use", []mat64{random(61, 3, 4)}, []mat64{random(62, 1, 4), random(63, 1, 4)},
			func(t *Tape, in []*Mat, p []*Param) *Mat { return t.BatchNorm(in[0], p[0], p[1], running(), false) },
			func(in, p []mat64) mat64 {
				s := running()
				return norm(in[0], p[0], p[1], func(c int) float64 { return float64(s.Mean[c]) }, func(c int) float64 { return float64(s.Var[c]) })
			}},
		{"Norm", []mat64{random(64, 4, 6)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.Norm(in[0], 3) },
			func(in, _ []mat64) mat64 {
				return build(4, 2, func(r, c int) float64 {
					return math.Sqrt(math.Pow(in[0].at(r, 3*c), 2) + math.Pow(in[0].at(r, 3*c+1), 2) + math.Pow(in[0].at(r, 3*c+2), 2))
				})
			}},
		{"Gram", []mat64{random(65, 10, 4)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.Gram(in[0], 5) },
			func(in, _ []mat64) mat64 {
				return build(8, 4, func(r, c int) (g float64) {
					for i := range 5 {
						g += in[0].at(r/4*5+i, r%4) * in[0].at(r/4*5+i, c) / 5
					}
					return g
				})
			}},
	}
}

// total returns the case of a sum over the elements of x and a target.
func total(name string, tape func(t *Tape, x, want *Mat) *Mat, f func(v, w float64) float64) opCase {
	want := random(70, 5, 7)
	return opCase{name, []mat64{random(71, 5, 7)}, nil,
		func(t *Tape, in []*Mat, _ []*Param) *Mat {
			w := t.Const(5, 7)
			copy(w.Val, want.f32())
			return tape(t, in[0], w)
		},
		func(in, _ []mat64) mat64 {
			var s float64
			for i, v := range in[0].v {
				s += f(v, want.v[i])
			}
			return mat64{1, 1, []float64{s}}
		}}
}

func lossCases() []opCase {
	return []opCase{
		total("Sum", func(t *Tape, x, _ *Mat) *Mat { return t.Sum(x) }, func(v, _ float64) float64 { return v }),
		total("Mean", func(t *Tape, x, _ *Mat) *Mat { return t.Mean(x) }, func(v, _ float64) float64 { return v / 35 }),
		total("SumSquares", func(t *Tape, x, _ *Mat) *Mat { return t.SumSquares(x) }, func(v, _ float64) float64 { return v * v }),
		total("SumAbs", func(t *Tape, x, _ *Mat) *Mat { return t.SumAbs(x) }, func(v, _ float64) float64 { return math.Abs(v) }),
		total("MSE", (*Tape).MSE, func(v, w float64) float64 { return (v - w) * (v - w) / 35 }),
		total("MAE", (*Tape).MAE, func(v, w float64) float64 { return math.Abs(v-w) / 35 }),
		total("WeightedSum", func(t *Tape, x, want *Mat) *Mat {
			return t.WeightedSum(Term{t.MSE(x, want), 0.5}, Term{t.Sum(x), -2}, Term{t.Sum(want), 3})
		}, func(v, w float64) float64 { return 0.5*(v-w)*(v-w)/35 - 2*v + 3*w }),
		total("WeightedSum of one loss twice", func(t *Tape, x, want *Mat) *Mat {
			l := t.MSE(x, want)
			return t.WeightedSum(Term{l, 0.5}, Term{l, 2})
		}, func(v, w float64) float64 { return 2.5 * (v - w) * (v - w) / 35 }),
		{"L1 of a parameter", []mat64{random(72, 3, 2)}, []mat64{random(73, 4, 2), random(74, 1, 4)},
			func(t *Tape, in []*Mat, p []*Param) *Mat {
				return t.WeightedSum(Term{t.Mean(t.Dense(in[0], p[0], p[1])), 1}, Term{t.SumAbs(t.Param(p[0])), 0.1})
			},
			func(in, p []mat64) mat64 {
				var s float64
				for r := range 3 {
					for o := range 4 {
						s += (in[0].at(r, 0)*p[0].at(o, 0) + in[0].at(r, 1)*p[0].at(o, 1) + p[1].v[o]) / 12
					}
				}
				for _, v := range p[0].v {
					s += 0.1 * math.Abs(v)
				}
				return mat64{1, 1, []float64{s}}
			}},
	}
}
