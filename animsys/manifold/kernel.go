package manifold

import (
	"fmt"
	"math"

	"mannequin/netruntime"
)

// Changes of hidden values and of frames. The decoder is linear: a change Δh of the hidden values
// changes the frames by E·Δh. A cost of frames with gradient g has the gradient Eᵀ·g in the hidden
// values. A step along it changes the frames by K·g, K = E·Eᵀ. So gradient descent in the space of
// hidden values needs only K, a convolution of frames with a sixth of the arithmetic of E and Eᵀ.
//
// E repeats every hidden frame, one for two frames. So K is a convolution over pairs of frames: a
// row holds two frames, 2·columns values.

// newKernel returns K as a network of one convolution over pairs of frames, "x" to "y", computed
// from the decoder's impulse responses. It fails if the decoder is not linear.
func newKernel(decoder *netruntime.Net) (*netruntime.Net, error) {
	e, taps, err := impulseResponses(decoder)
	if err != nil {
		return nil, err
	}
	units, pair := decoder.Inputs(), 2*decoder.Outputs()
	// e[u] is the response to an impulse of unit u, (taps, pair), with the impulse in the middle.
	// K[m] = Σ_u Σ_t e[u][t+m]·e[u][t]ᵀ is a dense layer: its weights are all responses, its rows
	// the responses m frames earlier.
	in := units * taps
	weight, rows := make([]float32, pair*in), make([]float32, taps*pair*in)
	for u, answer := range e {
		for t := range taps {
			for i, v := range answer[t*pair:][:pair] {
				weight[i*in+u*taps+t] = v
				for m := range t + 1 {
					rows[(m*pair+i)*in+u*taps+t-m] = v
				}
			}
		}
	}
	product, err := netruntime.New(netruntime.Meta{Name: "product", Arch: "graph", Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: in}},
		Nodes:   []netruntime.Node{{Name: "y", Op: netruntime.OpDense, In: []string{"x"}}},
		Outputs: []string{"y"},
	}}, []netruntime.Tensor{
		{Name: "y.weight", Shape: []int{pair, in}, Data: weight},
		{Name: "y.bias", Shape: []int{pair}, Data: make([]float32, pair)},
	})
	if err != nil {
		return nil, err
	}
	s, err := product.NewSession(netruntime.SessionOptions{Batch: taps * pair, Workers: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	k := make([]float32, taps*pair*pair)
	if err := s.Run(k, rows, taps*pair); err != nil {
		return nil, err
	}
	// y[t] += K[m]·x[t−m] and, as K is symmetric, y[t] += K[m]ᵀ·x[t+m].
	width := 2*taps - 1
	w := make([]float32, pair*pair*width) // (out, in, width)
	for m := range taps {
		for i := range pair {
			for j, v := range k[(m*pair+i)*pair:][:pair] {
				w[(i*pair+j)*width+taps-1-m] = v
				w[(j*pair+i)*width+taps-1+m] = v
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

// maxReach is the longest impulse response that is searched for, in hidden frames to either side: 4
// s.
const maxReach = 60

// impulseResponses returns the decoder's response to an impulse in each unit, (taps, 2·columns),
// with the impulse at taps/2. taps is odd and as small as possible.
func impulseResponses(decoder *netruntime.Net) (answers [][]float32, taps int, err error) {
	units, cols := decoder.Inputs(), decoder.Outputs()
	run := func(batch, length int, set func(x []float32)) (y []float32, err error) {
		s, err := decoder.NewSession(netruntime.SessionOptions{Batch: batch, Length: length, Workers: 1})
		if err != nil {
			return nil, err
		}
		defer s.Close()
		x := make([]float32, batch*length*units)
		y = make([]float32, batch*2*length*cols)
		set(x)
		return y, s.RunSequences([][]float32{y}, [][]float32{x}, batch, length)
	}
	// The response to all units together, and to none.
	const length = 2*maxReach + 1
	rest, err := run(1, length, func([]float32) {})
	if err != nil {
		return nil, 0, err
	}
	double, err := run(1, length, func(x []float32) {
		for u := range units {
			x[maxReach*units+u] = 2
		}
	})
	if err != nil {
		return nil, 0, err
	}
	side, most := 0, 0.0
	for i := range double {
		most = max(most, math.Abs(float64(double[i]-rest[i])))
	}
	for i := range double {
		if math.Abs(float64(double[i]-rest[i])) > 1e-6*most {
			side = max(side, int(math.Abs(float64(i/(2*cols)-maxReach))))
		}
	}
	taps = 2*side + 1
	each, err := run(units, taps, func(x []float32) {
		for u := range units {
			x[(u*taps+side)*units+u] = 1
		}
	})
	if err != nil {
		return nil, 0, err
	}
	n := taps * 2 * cols
	from := (maxReach - side) * 2 * cols
	for u := range units {
		answer := each[u*n : (u+1)*n : (u+1)*n]
		for i := range answer {
			answer[i] -= rest[from+i]
		}
		answers = append(answers, answer)
	}
	// Twice all impulses at once must give twice the sum of the responses.
	for i := range n {
		sum, size := 0.0, 1e-3
		for _, a := range answers {
			sum += 2 * float64(a[i])
			size += 2 * math.Abs(float64(a[i]))
		}
		if d := float64(double[from+i]-rest[from+i]) - sum; !(math.Abs(d) <= 1e-3*size) {
			return nil, 0, fmt.Errorf("manifold: the decoder is not linear in its hidden values: twice all of them change value %d of frame %d by %g, not %g",
				i%cols, i/cols, float64(double[from+i]-rest[from+i]), sum)
		}
	}
	return answers, taps, nil
}
