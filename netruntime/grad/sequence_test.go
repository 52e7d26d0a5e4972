package grad

import (
	"fmt"
	"math"
)

// sequenceCases are the operations over time.
func sequenceCases() []opCase {
	var out []opCase
	for _, s := range []struct{ batch, length, in, out, width int }{
		{1, 1, 1, 1, 1}, {2, 1, 3, 2, 3}, {3, 2, 2, 4, 5}, {2, 5, 3, 4, 4}, {1, 9, 2, 3, 3}, {2, 4, 5, 2, 1}, {2, 3, 2, 2, 8},
	} {
		for _, flip := range []bool{false, true} {
			name := fmt.Sprintf("%+v flip %v", s, flip)
			tap := func(j int) int {
				if flip {
					return s.width - 1 - j
				}
				return j
			}
			rows := s.batch * s.length
			// sum over the taps and channels of x around row r
			around := func(x mat64, r int, weight func(j, c int) float64) (y float64) {
				for j := range s.width {
					if t := r%s.length + j - (s.width-1)/2; t >= 0 && t < s.length {
						for c := range x.cols {
							y += weight(tap(j), c) * x.at(r-r%s.length+t, c)
						}
					}
				}
				return y
			}
			w, b := random(21, s.out, s.width*s.in), random(22, 1, s.out)
			out = append(out, opCase{"Conv " + name, []mat64{random(20, rows, s.in)}, []mat64{w, b},
				func(t *Tape, in []*Mat, p []*Param) *Mat { return t.Conv(in[0], s.length, p[0], p[1], s.width, flip) },
				func(in, p []mat64) mat64 {
					return build(rows, s.out, func(r, o int) float64 {
						return p[1].v[o] + around(in[0], r, func(j, c int) float64 { return p[0].at(o, j*s.in+c) })
					})
				}})
			out = append(out, opCase{"ConvT " + name, []mat64{random(23, rows, s.out)}, []mat64{w, random(24, 1, s.in)},
				func(t *Tape, in []*Mat, p []*Param) *Mat { return t.ConvT(in[0], s.length, p[0], p[1], s.width, flip) },
				func(in, p []mat64) mat64 {
					return build(rows, s.in, func(r, c int) float64 {
						return p[1].v[c] + around(in[0], r, func(j, o int) float64 { return p[0].at(o, j*s.in+c) })
					})
				}})
			out = append(out, opCase{"ConvT without bias " + name, []mat64{random(23, rows, s.out)}, []mat64{w},
				func(t *Tape, in []*Mat, p []*Param) *Mat { return t.ConvT(in[0], s.length, p[0], nil, s.width, flip) },
				func(in, p []mat64) mat64 {
					return build(rows, s.in, func(r, c int) float64 {
						return around(in[0], r, func(j, o int) float64 { return p[0].at(o, j*s.in+c) })
					})
				}})
		}
	}
	for _, length := range []int{2, 6} {
		rows := 3 * length
		out = append(out, opCase{fmt.Sprint("MaxPool of ", length), []mat64{random(25, rows, 5)}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.MaxPool(in[0], length) },
			func(in, _ []mat64) mat64 {
				return build(rows/2, 5, func(r, c int) float64 { return max(in[0].at(2*r, c), in[0].at(2*r+1, c)) })
			}})
	}
	for _, factor := range []int{1, 2, 3} {
		const key, rows, cols = 5, 4, 37
		x := random(26, rows, cols)
		out = append(out, opCase{fmt.Sprint("Depool by ", factor), []mat64{x}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.Depool(in[0], factor, false, 0) },
			func(in, _ []mat64) mat64 {
				return build(rows*factor, cols, func(r, c int) float64 { return in[0].at(r/factor, c) / float64(factor) })
			}})
		out = append(out, opCase{fmt.Sprint("Depool at random by ", factor), []mat64{x}, nil,
			func(t *Tape, in []*Mat, _ []*Param) *Mat { return t.Depool(in[0], factor, true, key) },
			func(in, _ []mat64) mat64 {
				return build(rows*factor, cols, func(r, c int) float64 {
					if chosen(key, uint64(r/factor*cols+c), factor) == r%factor {
						return in[0].at(r/factor, c)
					}
					return 0
				})
			}})
	}
	for _, s := range []struct{ batch, length, in, n int }{{1, 1, 1, 1}, {3, 4, 5, 3}, {2, 3, 2, 17}} {
		for _, reverse := range []bool{false, true} {
			for _, state := range []bool{false, true} {
				if s.length == 1 && !state {
					continue // the recurrent weights then do nothing
				}
				out = append(out, lstmCase(s.batch, s.length, s.in, s.n, reverse, state))
			}
		}
	}
	last := lstmCase(2, 3, 2, 4, false, true)
	twin := last.twin
	last.name = "LSTM's last cell alone"
	last.tape = func(t *Tape, in []*Mat, p []*Param) *Mat {
		seq, _, c := t.LSTM(in[0], 3, p[0], p[1], p[2], in[1], in[2], false)
		set(seq.Grad, 5) // of an earlier pass
		return c
	}
	last.twin = func(in, p []mat64) mat64 {
		y := twin(in, p)
		return build(2, 4, func(s, c int) float64 { return y.at(s*5+4, c) })
	}
	out = append(out, last)
	out = append(out, opCase{"LSTMStep", []mat64{random(30, 2, 3), random(31, 2, 4), random(32, 2, 4)},
		[]mat64{random(33, 16, 3), random(34, 16, 4), random(35, 1, 16)},
		func(t *Tape, in []*Mat, p []*Param) *Mat { // twice, sharing the weights
			h, c := t.LSTMStep(in[0], in[1], in[2], p[0], p[1], p[2])
			h, c = t.LSTMStep(in[0], h, c, p[0], p[1], p[2])
			return t.Concat(h, c)
		},
		func(in, p []mat64) mat64 {
			h, c := lstm64(in[0], p, in[1], in[2])
			h, c = lstm64(in[0], p, h, c)
			return build(2, 8, func(r, q int) float64 {
				if q < 4 {
					return h.at(r, q)
				}
				return c.at(r, q-4)
			})
		}})
	two := []mat64{random(42, 16, 4), random(43, 16, 4), random(44, 1, 16), random(45, 16, 4), random(46, 16, 4), random(47, 1, 16)}
	for _, p := range two {
		for i := range p.v {
			p.v[i] /= 4
		}
	}
	out = append(out, opCase{"LSTMSteps of two layers", []mat64{random(48, 2, 4)}, two,
		func(t *Tape, in []*Mat, p []*Param) *Mat {
			x := in[0]
			var h, c, g, d *Mat // nil at first
			for range 3 {
				h, c = t.LSTMStep(x, h, c, p[0], p[1], p[2])
				g, d = t.LSTMStep(h, g, d, p[3], p[4], p[5])
				x = g
			}
			return g
		},
		func(in, p []mat64) mat64 {
			x := in[0]
			h, c, g, d := zero64(2, 4), zero64(2, 4), zero64(2, 4), zero64(2, 4)
			for range 3 {
				h, c = lstm64(x, p[:3], h, c)
				g, d = lstm64(h, p[3:], g, d)
				x = g
			}
			return g
		}})
	return out
}

// lstm64 is one step for every row.
func lstm64(x mat64, p []mat64, h, c mat64) (hNext, cNext mat64) {
	n := h.cols
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	hNext, cNext = zero64(h.rows, n), zero64(h.rows, n)
	for r := range h.rows {
		gate := func(g, u int) float64 {
			row := g*n + u
			v := p[2].v[row]
			for i := range x.cols {
				v += p[0].at(row, i) * x.at(r, i)
			}
			for i := range n {
				v += p[1].at(row, i) * h.at(r, i)
			}
			return v
		}
		for u := range n {
			k := r*n + u
			cNext.v[k] = sigmoid(gate(1, u))*c.v[k] + sigmoid(gate(0, u))*math.Tanh(gate(2, u))
			hNext.v[k] = sigmoid(gate(3, u)) * math.Tanh(cNext.v[k])
		}
	}
	return hNext, cNext
}

func lstmCase(batch, length, cols, n int, reverse, state bool) opCase {
	// With small weights, the differences between steps stay well above rounding.
	weights := func(key uint64, rows, cols int) mat64 {
		m := random(key, rows, cols)
		for i := range m.v {
			m.v[i] = float64(float32(m.v[i] / math.Sqrt(float64(cols))))
		}
		return m
	}
	inputs := []mat64{random(36, batch*length, cols)}
	if state {
		inputs = append(inputs, random(37, batch, n), random(38, batch, n))
	}
	return opCase{fmt.Sprintf("LSTM %d×%d %d→%d reverse %v state %v", batch, length, cols, n, reverse, state), inputs,
		[]mat64{weights(39, 4*n, cols), weights(40, 4*n, n), random(41, 1, 4*n)},
		func(t *Tape, in []*Mat, p []*Param) *Mat {
			var h0, c0 *Mat
			if state {
				h0, c0 = in[1], in[2]
			}
			seq, h, c := t.LSTM(in[0], length, p[0], p[1], p[2], h0, c0, reverse)
			return t.Join(batch, seq, h, c)
		},
		func(in, p []mat64) mat64 {
			h, c := zero64(batch, n), zero64(batch, n)
			if state {
				h, c = in[1], in[2]
			}
			y := zero64(batch*(length+2), n)
			put := func(m mat64, at int) {
				for s := range batch {
					copy(y.v[(s*(length+2)+at)*n:][:n], m.v[s*n:])
				}
			}
			for step := range length {
				frame := step
				if reverse {
					frame = length - 1 - step
				}
				x := build(batch, cols, func(s, i int) float64 { return in[0].at(s*length+frame, i) })
				h, c = lstm64(x, p, h, c)
				put(h, frame)
			}
			put(h, length)
			put(c, length+1)
			return y
		}}
}
