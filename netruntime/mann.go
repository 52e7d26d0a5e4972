package netruntime

import (
	"fmt"
	"slices"
	"strconv"
)

// archMANN is the mode-adaptive network for quadruped control (Zhang, Starke et al. 2018, sec. 6).
// A gating network blends the weights of K experts:
//
//	ω = softmax(G2·ELU(G1·ELU(G0·x̂[gating columns])))
//	y = Φ2(ELU(Φ1(ELU(Φ0(x̂)))))     Φl(h) = Σ_k ω_k (W_lk·h + b_lk)
//
// Every G has a bias, and x̂ and y are normalised column by column. Its files carry no graph: the
// tensors and the metadata imply it.
const archMANN = "mann"

// mannGraph returns the network's graph.
func mannGraph(meta *Meta, tensors []Tensor) (*Graph, error) {
	i := slices.IndexFunc(tensors, func(t Tensor) bool { return t.Name == "x_mean" })
	switch {
	case i < 0:
		return nil, tensorf("x_mean", "it is missing: architecture %q needs it", archMANN)
	case len(tensors[i].Shape) != 1 || tensors[i].Shape[0] < 1 || tensors[i].Shape[0] > maxChannels:
		return nil, tensorf("x_mean", "has shape %v, want 1 axes of 1 to %d", tensors[i].Shape, maxChannels)
	case len(meta.GatingColumns) == 0:
		return nil, fmt.Errorf("gating_columns lists no inputs")
	}
	in := tensors[i].Shape[0]
	for _, c := range meta.GatingColumns {
		if c < 0 || c >= in {
			return nil, fmt.Errorf("gating_columns: there is no input %d, the network has %d", c, in)
		}
	}
	const omega = "gating"
	g := &Graph{
		Inputs: []Input{{Name: "x", Channels: in}},
		Nodes: []Node{
			{Name: "x_norm", Op: OpNormalize, In: []string{"x"}, Tensors: map[string]string{"mean": "x_mean", "std": "x_std"}},
			{Name: "gating.x", Op: OpSelect, In: []string{"x_norm"}, Columns: slices.Clone(meta.GatingColumns)},
			{Name: "gating.0", Op: OpDense, In: []string{"gating.x"}, Act: "elu"},
			{Name: "gating.1", Op: OpDense, In: []string{"gating.0"}, Act: "elu"},
			{Name: "gating.2", Op: OpDense, In: []string{"gating.1"}},
			{Name: omega, Op: OpSoftmax, In: []string{"gating.2"}},
			{Name: "experts.0", Op: OpBlend, In: []string{"x_norm", omega}, Act: "elu"},
			{Name: "experts.1", Op: OpBlend, In: []string{"experts.0", omega}, Act: "elu"},
			{Name: "experts.2", Op: OpBlend, In: []string{"experts.1", omega}},
			{Name: "y", Op: OpDenormalize, In: []string{"experts.2"}, Tensors: map[string]string{"mean": "y_mean", "std": "y_std"}},
		},
		Outputs: []string{"y"},
	}
	return g, nil
}

// mannSizes returns the sizes that the tensors' shapes imply.
func mannSizes(b *bound) map[string]string {
	of := func(name string) string { return strconv.Itoa(b.values[b.index[name]].Channels) }
	return map[string]string{"experts": of("gating"), "hidden": of("experts.0"), "gating_hidden": of("gating.0")}
}
