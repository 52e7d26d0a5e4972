// Package benchnet holds the networks of the benchmarks, with random weights, and the clock that
// times them beside others.
package benchnet

import (
	"fmt"
	"math"
	"math/rand/v2"

	"mannequin/netruntime"
)

// Work is a network and the sizes at which it is timed.
type Work struct {
	Name    string
	Title   string
	Batches []int
	Length  int     // frames of each sequence
	FLOP    float64 // additions and multiplications with weights for one sequence

	meta    netruntime.Meta
	tensors []shape
}

// shape is a random tensor's name and shape.
type shape struct {
	name string
	dims []int
}

// Works returns all networks, in the order of reports.
func Works() []*Work { return []*Work{mann(), autoencoder(), regression(), lstm()} }

// Net returns the network. Equal seeds give equal weights. They are Xavier's, so that signals keep
// their size through the layers.
func (w *Work) Net(seed uint64) (*netruntime.Net, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var tensors []netruntime.Tensor
	for _, s := range w.tensors {
		n := 1
		for _, d := range s.dims {
			n *= d
		}
		t := netruntime.Tensor{Name: s.name, Shape: s.dims, Data: make([]float32, n)}
		switch last := len(s.dims) - 1; {
		case s.name == "x_std" || s.name == "y_std":
			for i := range t.Data {
				t.Data[i] = 1
			}
		case last == 0:
			uniform(rng, t.Data, 0.1)
		default: // (out, in), (expert, out, in) or (out, in, taps)
			in, out := s.dims[last], s.dims[last-1]
			if w.meta.Arch == "graph" && last == 2 {
				in, out = s.dims[1]*s.dims[2], s.dims[0]*s.dims[2]
			}
			uniform(rng, t.Data, math.Sqrt(6/float64(in+out)))
		}
		tensors = append(tensors, t)
	}
	n, err := netruntime.New(w.meta, tensors)
	if err != nil {
		return nil, fmt.Errorf("benchnet: %s: %w", w.Name, err)
	}
	return n, nil
}

func uniform(rng *rand.Rand, x []float32, a float64) {
	for i := range x {
		x[i] = float32(a * (2*rng.Float64() - 1))
	}
}

// mann is the mode-adaptive network of Zhang, Starke et al. 2018 for the dog.
func mann() *Work {
	const k, in, hidden, out = 8, 480, 512, 363
	gating := []int{19, 32, 32, k}
	layers := []int{in, hidden, hidden, out}
	w := &Work{
		Name: "mann", Title: "MANN, 8 experts, 480→512→512→363", Batches: []int{1, 4, 16, 64, 256, 1024}, Length: 1,
		meta: netruntime.Meta{Name: "bench-mann", Arch: "mann", GatingColumns: make([]int, gating[0])},
		tensors: []shape{
			{"x_mean", []int{in}}, {"x_std", []int{in}}, {"y_mean", []int{out}}, {"y_std", []int{out}},
		},
	}
	for i := range w.meta.GatingColumns {
		w.meta.GatingColumns[i] = 25 * i
	}
	for l := range 3 {
		g, e := fmt.Sprintf("gating.%d.", l), fmt.Sprintf("experts.%d.", l)
		w.tensors = append(w.tensors,
			shape{g + "weight", []int{gating[l+1], gating[l]}}, shape{g + "bias", []int{gating[l+1]}},
			shape{e + "weight", []int{k, layers[l+1], layers[l]}}, shape{e + "bias", []int{k, layers[l+1]}})
		w.FLOP += 2 * float64(gating[l]*gating[l+1]+k*layers[l]*layers[l+1])
	}
	return w
}

// graph returns a work of convolutions and recurrent layers on x.
func graph(w Work, channels int, nodes ...netruntime.Node) *Work {
	w.meta = netruntime.Meta{Name: "bench-" + w.Name, Arch: "graph", Graph: &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: channels}},
		Nodes:   nodes,
		Outputs: []string{nodes[len(nodes)-1].Name},
	}}
	return &w
}

// autoencoder is the network of Holden et al. 2016 over 73 channels. After the depooling, pairs of
// frames are equal, so that only half of the taps count as work.
func autoencoder() *Work {
	const channels, filters, width, length = 73, 256, 25, 240
	return graph(Work{
		Name: "autoencoder", Title: "convolutional autoencoder, 73→256→73, 25 wide, 240 frames", Batches: []int{1, 16, 200}, Length: length,
		FLOP: 2 * length * channels * filters * (width + (width+1)/2),
		tensors: []shape{
			{"encode.weight", []int{filters, channels, width}}, {"encode.bias", []int{filters}},
			{"decode.weight", []int{channels, filters, width}}, {"decode.bias", []int{channels}},
		},
	}, channels,
		netruntime.Node{Name: "encode", Op: netruntime.OpConv, In: []string{"x"}, Act: "relu"},
		netruntime.Node{Name: "pool", Op: netruntime.OpMaxPool, In: []string{"encode"}},
		netruntime.Node{Name: "depool", Op: netruntime.OpDepool, In: []string{"pool"}},
		netruntime.Node{Name: "decode", Op: netruntime.OpConv, In: []string{"depool"}})
}

// regression is the feedforward network of Holden et al. 2016 from a trajectory
// to the autoencoder's hidden units.
func regression() *Work {
	const length = 240
	channels, width := []int{7, 64, 128, 256}, []int{45, 25, 15}
	w := Work{Name: "regression", Title: "regression, 7→64→128→256, 45, 25 and 15 wide, 240 frames", Batches: []int{1, 16, 200}, Length: length}
	var nodes []netruntime.Node
	from := "x"
	for l := range width {
		n := netruntime.Node{Name: fmt.Sprintf("conv%d", l), Op: netruntime.OpConv, In: []string{from}}
		if l < len(width)-1 {
			n.Act = "relu"
		}
		from = n.Name
		nodes = append(nodes, n)
		w.tensors = append(w.tensors,
			shape{n.Name + ".weight", []int{channels[l+1], channels[l], width[l]}}, shape{n.Name + ".bias", []int{channels[l+1]}})
		w.FLOP += 2 * length * float64(channels[l]*channels[l+1]*width[l])
	}
	return graph(w, channels[0], append(nodes, netruntime.Node{Name: "pool", Op: netruntime.OpMaxPool, In: []string{from}})...)
}

func lstm() *Work {
	const units, steps = 512, 40
	return graph(Work{
		Name: "lstm", Title: "LSTM, 512→512, 40 steps", Batches: []int{1, 16, 256}, Length: steps,
		FLOP:    2 * steps * 4 * units * (units + units),
		tensors: []shape{{"y.weight", []int{4 * units, units}}, {"y.recurrent", []int{4 * units, units}}, {"y.bias", []int{4 * units}}},
	}, units, netruntime.Node{Name: "y", Op: netruntime.OpLSTM, In: []string{"x"}})
}
