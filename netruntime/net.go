package netruntime

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"mannequin/internal/boundedfile"
)

// Tensor is a named array.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32 // row-major
}

// Net is a trained network. It is immutable and safe to share.
type Net struct {
	meta    Meta
	tensors []Tensor // in the order of their first use in the graph
	bound   *bound
	sizes   map[string]string // metadata that the tensors' shapes imply

	bytes   int      // of the file that it was decoded from, or 0
	storage []string // that file's storage types

	mu    sync.Mutex
	plans map[planKey]*plan
}

// New builds a network of architecture meta.Arch from its tensors, which it copies. A *TensorError
// names the first tensor that is missing, unknown, of the wrong shape or with impossible values. A
// *GraphError names a node of the graph.
func New(meta Meta, tensors []Tensor) (*Net, error) {
	n, err := build(meta.clone(), tensors, func(i int) ([]float32, error) {
		t := tensors[i]
		return slices.Clone(t.Data), size(t.Name, t.Shape, len(t.Data))
	})
	if err != nil {
		return nil, fmt.Errorf("netruntime: %w", err)
	}
	return n, nil
}

// build is New for metadata that no other code holds. It calls load for a tensor's data only after
// all names and shapes have proved right.
func build(meta Meta, tensors []Tensor, load func(i int) ([]float32, error)) (*Net, error) {
	n := &Net{meta: meta, plans: map[planKey]*plan{}}
	g := meta.Graph
	var err error
	switch {
	case meta.Arch == archMANN && g == nil:
		if g, err = mannGraph(&meta, tensors); err != nil {
			return nil, err
		}
	case meta.Arch == archMANN:
		return nil, graphf("", "architecture %q implies its graph: leave it out", archMANN)
	case meta.Arch != archGraph:
		return nil, &UnsupportedError{What: "architecture", Got: meta.Arch, Have: []string{archGraph, archMANN}}
	case g == nil:
		return nil, graphf("", "architecture %q without a graph", archGraph)
	}
	if n.bound, err = bind(g, tensors); err != nil {
		return nil, err
	}
	if meta.Arch == archMANN {
		n.sizes = mannSizes(n.bound)
	}
	if err := n.meta.checkExtra(n.sizes); err != nil {
		return nil, err
	}
	n.tensors = make([]Tensor, len(tensors))
	for i, t := range tensors {
		data, err := load(i)
		if err != nil {
			return nil, err
		}
		n.tensors[n.bound.at[t.Name]] = Tensor{t.Name, slices.Clone(t.Shape), data}
	}
	return n, n.bound.checkValues(n.data)
}

// data returns the values of the named tensor, which must not be changed.
func (n *Net) data(name string) []float32 {
	i, ok := n.bound.at[name]
	if !ok {
		panic("netruntime: no tensor " + name)
	}
	return n.tensors[i].Data
}

// maxFile bounds what Open loads into memory, in bytes.
const maxFile = 2 << 30

// Open reads a model file. Errors name the path; see Decode for their types.
func Open(path string) (*Net, error) {
	b, err := boundedfile.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	n, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// Embedded returns a function that decodes a model file in the program's own memory, once. A
// package with weights uses it as its Open. name is what errors call the file.
func Embedded(name string, file []byte) func() (*Net, error) {
	return sync.OnceValues(func() (*Net, error) {
		n, err := Decode(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return n, nil
	})
}

// Meta returns what the model file says about the network: name, licence, feature layout and more.
func (n *Net) Meta() Meta { return n.meta.clone() }

// Graph returns a copy of the network's graph, with its tensors' names.
func (n *Net) Graph() *Graph { return n.known().graph.clone() }

// known returns the graph's values and tensors by name. The zero Net has none.
func (n *Net) known() *bound {
	if n.bound == nil {
		return &bound{graph: &Graph{}}
	}
	return n.bound
}

// Values lists the values of the graph: the inputs, then the nodes' results. An LSTM's last state
// follows its result.
func (n *Net) Values() []Value { return slices.Clone(n.known().values) }

// Inputs returns the number of channels of all inputs: the length of an input row.
func (n *Net) Inputs() int { return n.channels(n.known().values[:len(n.known().graph.Inputs)]) }

// Outputs returns the number of channels of all outputs: the length of an output row.
func (n *Net) Outputs() int {
	var out []Value
	for _, name := range n.known().graph.Outputs {
		out = append(out, n.bound.values[n.bound.index[name]])
	}
	return n.channels(out)
}

func (n *Net) channels(values []Value) int {
	sum := 0
	for _, v := range values {
		sum += v.Channels
	}
	return sum
}

// Sizes returns the sizes that the tensors' shapes imply, as decimal strings: for "mann" the keys
// experts, hidden and gating_hidden.
func (n *Net) Sizes() map[string]string { return maps.Clone(n.sizes) }

// File returns the size in bytes of the model file that n was decoded from, and the file's storage
// types, such as "BF16". For a network made in memory it returns 0 and nil.
func (n *Net) File() (bytes int, storage []string) { return n.bytes, slices.Clone(n.storage) }

// Parameters returns the number of values in all tensors.
func (n *Net) Parameters() int {
	sum := 0
	for _, t := range n.tensors {
		sum += len(t.Data)
	}
	return sum
}

// Tensors returns copies of all tensors.
func (n *Net) Tensors() []Tensor {
	out := make([]Tensor, len(n.tensors))
	for i, t := range n.tensors {
		out[i] = Tensor{t.Name, slices.Clone(t.Shape), slices.Clone(t.Data)}
	}
	return out
}

// Tensor returns a copy of the named tensor, and whether there is one.
func (n *Net) Tensor(name string) (Tensor, bool) {
	i, ok := n.known().at[name]
	if !ok {
		return Tensor{}, false
	}
	t := n.tensors[i]
	return Tensor{t.Name, slices.Clone(t.Shape), slices.Clone(t.Data)}, true
}
