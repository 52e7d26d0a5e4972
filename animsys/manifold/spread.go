package manifold

import (
	"fmt"
	"math"

	"mannequin/netruntime"
)

// How a change of hidden values spreads over frames. The decoder is linear: a
// change Δh of the hidden values changes the frames by E·Δh. A cost of frames
// with gradient g has the gradient Eᵀ·g in the hidden values, and following that
// changes the frames by K·g, K = E·Eᵀ. So whoever descends along gradients in
// the space of hidden values needs neither them nor E, only K: a convolution of
// frames with themselves, of a sixth of the arithmetic of E and Eᵀ.
//
// E repeats every hidden frame, which is every two frames. K is therefore a
// convolution over pairs of frames: a row holds two frames, 2·columns values.

// spread returns K as a network of one convolution over pairs of frames, "x" to
// "y", from the decoder's answers to impulses. It is an error if the decoder is
// not linear.
func spread(decoder *netruntime.Net) (*netruntime.Net, error) {
	e, taps, err := impulses(decoder)
	if err != nil {
		return nil, err
	}
	units, pair := decoder.Inputs(), 2*decoder.Outputs()
	width := 2*taps - 1
	w := make([]float32, pair*pair*width) // (out, in, width)
	// e[u] is the answer to unit u's impulse, (taps, pair), the impulse being at
	// the middle. K[m] = Σ_u Σ_t e[u][t+m]·e[u][t]ᵀ.
	sum := make([]float64, pair*pair)
	for m := range taps {
		clear(sum)
		for u := range units {
			for t := range taps - m {
				a, b := e[u][(t+m)*pair:][:pair], e[u][t*pair:][:pair]
				for i, x := range a {
					if x == 0 {
						continue
					}
					row := sum[i*pair:][:pair]
					for j, y := range b {
						row[j] += float64(x) * float64(y)
					}
				}
			}
		}
		// y[t] += K[m]·x[t−m] and, K being symmetric, y[t] += K[m]ᵀ·x[t+m].
		for i := range pair {
			for j := range pair {
				w[(i*pair+j)*width+taps-1-m] = float32(sum[i*pair+j])
				w[(j*pair+i)*width+taps-1+m] = float32(sum[i*pair+j])
			}
		}
	}
	return netruntime.New(netruntime.Meta{Name: "spread", Arch: "graph", Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: pair}},
		Nodes:   []netruntime.Node{{Name: "y", Op: netruntime.OpConv, In: []string{"x"}}},
		Outputs: []string{"y"},
	}}, []netruntime.Tensor{
		{Name: "y.weight", Shape: []int{pair, pair, width}, Data: w},
		{Name: "y.bias", Shape: []int{pair}, Data: make([]float32, pair)},
	})
}

// reach is the longest answer to an impulse, in hidden frames to either side,
// that is looked for: 4 s.
const reach = 60

// impulses returns the answer of the decoder to an impulse in each of its units,
// (taps, 2·columns) with the impulse at taps/2, taps odd and as few as hold all
// answers.
func impulses(decoder *netruntime.Net) (answers [][]float32, taps int, err error) {
	units, cols := decoder.Inputs(), decoder.Outputs()
	const length = 2*reach + 1
	s, err := decoder.NewSession(netruntime.SessionOptions{Batch: 1, Length: length, Workers: 1})
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	x := make([]float32, length*units)
	rest, y := make([]float32, 2*length*cols), make([]float32, 2*length*cols)
	run := func(y []float32) error { return s.RunSequences([][]float32{y}, [][]float32{x}, 1, length) }
	if err := run(rest); err != nil {
		return nil, 0, err
	}
	side := 0
	all := make([][]float32, units)
	for u := range units {
		x[reach*units+u] = 1
		if err := run(y); err != nil {
			return nil, 0, err
		}
		x[reach*units+u] = 0
		all[u] = make([]float32, len(y))
		most := 0.0
		for i := range y {
			all[u][i] = y[i] - rest[i]
			most = max(most, math.Abs(float64(all[u][i])))
		}
		for i, v := range all[u] {
			if math.Abs(float64(v)) > 1e-6*most {
				side = max(side, int(math.Abs(float64(i/(2*cols)-reach))))
			} else {
				all[u][i] = 0
			}
		}
	}
	// Twice all impulses at once must give twice the sum of the answers.
	for u := range units {
		x[reach*units+u] = 2
	}
	if err := run(y); err != nil {
		return nil, 0, err
	}
	for i := range y {
		sum, size := 0.0, 1e-3
		for _, a := range all {
			sum += 2 * float64(a[i])
			size += 2 * math.Abs(float64(a[i]))
		}
		if d := float64(y[i]-rest[i]) - sum; !(math.Abs(d) <= 1e-3*size) {
			return nil, 0, fmt.Errorf("manifold: the decoder is not linear in its hidden values: twice all of them change value %d of frame %d by %g, not %g", i%cols, i/cols, float64(y[i]-rest[i]), sum)
		}
	}
	taps = 2*side + 1
	for u := range all {
		all[u] = all[u][(reach-side)*2*cols:][:taps*2*cols]
	}
	return all, taps, nil
}
