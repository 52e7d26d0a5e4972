package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mannequin/netruntime"
)

// Form chooses the formulation of operations that ONNX can express in several ways. Missing
// operations get the first of [Forms].
type Form map[string]string

// Forms returns the formulations of each operation. The first is the default, which ONNX Runtime
// computes fastest on a processor for most networks.
//
//   - blend: "outputs" is one product with all experts side by side and then a blend of the outputs;
//     "inputs" is one product of the inputs stacked K times, scaled by the gating weights; "weights"
//     blends the weights of every row.
//   - depool: "folded" joins a depooling and the convolution after it, which then needs half of the taps,
//     in one set for even frames and one for odd frames; "plain" doubles the frames first. Factors other
//     than 2 are always plain.
//   - conv: "2d" is a convolution over two axes, one of size 1, because ONNX Runtime has faster kernels for
//     two; "padded" also adds channels of zeros up to a multiple of 16, for the same kernels; "1d" is over
//     time alone.
func Forms() map[string][]string {
	return map[string][]string{
		formBlend:  {"outputs", "inputs", "weights"},
		formDepool: {"folded", "plain"},
		formConv:   {"2d", "padded", "1d"},
	}
}

const (
	formBlend  = netruntime.OpBlend
	formDepool = netruntime.OpDepool
	formConv   = netruntime.OpConv
)

// FormsOf returns every combination of formulations of the operations in g.
func FormsOf(g *netruntime.Graph) []Form {
	all := []Form{{}}
	for _, op := range slices.Sorted(maps.Keys(Forms())) {
		if !slices.ContainsFunc(g.Nodes, func(n netruntime.Node) bool { return n.Op == op }) {
			continue
		}
		var next []Form
		for _, f := range all {
			for _, name := range Forms()[op] {
				more := maps.Clone(f)
				more[op] = name
				next = append(next, more)
			}
		}
		all = next
	}
	return all
}

// Agrees reports whether f and g choose the same formulation for every operation in both.
func (f Form) Agrees(g Form) bool {
	for op, name := range f {
		if other, ok := g[op]; ok && other != name {
			return false
		}
	}
	return true
}

// Validate returns an error that names what is not in [Forms].
func (f Form) Validate() error {
	_, err := f.resolve()
	return err
}

// resolve completes f.
func (f Form) resolve() (Form, error) {
	out := Form{}
	for op, names := range Forms() {
		out[op] = names[0]
	}
	for op, name := range f {
		names, ok := Forms()[op]
		if !ok {
			return nil, fmt.Errorf("no formulations of %q, only of %s", op, strings.Join(slices.Sorted(maps.Keys(out)), ", "))
		}
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("no formulation %q of %s, only %s", name, op, strings.Join(names, ", "))
		}
		out[op] = name
	}
	return out, nil
}
