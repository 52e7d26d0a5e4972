package netruntime

import (
	"fmt"
	"slices"
	"sync"

	"mannequin/internal/boundedfile"
	"mannequin/internal/kernel"
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
	tensors []Tensor // in the architecture's order
	model   model

	bytes   int      // of the file that it was decoded from, or 0
	storage []string // that file's storage types

	mu     sync.Mutex
	packed [kernel.AVX512 + 1]any // weights as the sessions of a kernel family read them
}

// model is what an architecture provides.
type model interface {
	inputs() int
	outputs() int
	sizes() map[string]string // metadata that the tensors' shapes imply
	pack() any                // weights laid out for the active kernels
	session(packed any, maxRows, workers int) Session
}

// Session computes a network for up to MaxRows rows at a time. It belongs to
// one goroutine.
type Session interface {
	// Run computes y (rows, Outputs) from x (rows, Inputs), both raw: the
	// network's normalisation happens inside, and x is not modified. y and x
	// must not overlap. rows may be 0 to MaxRows; both slices must hold them.
	Run(y, x []float32, rows int) error
	// Gating returns the experts' weights (rows, K) of the last Run, or nil
	// for an architecture without gating. They are valid until the next Run.
	Gating() []float32
	MaxRows() int
	// Close ends the session's workers. A later Run is an error.
	Close() error
}

// New builds a network of meta.Arch from its tensors, which it copies. The
// error names the first tensor that is missing, unknown, of the wrong shape,
// or not finite.
func New(meta Meta, tensors []Tensor) (*Net, error) {
	own := make([]Tensor, len(tensors))
	for i, t := range tensors {
		own[i] = Tensor{t.Name, slices.Clone(t.Shape), slices.Clone(t.Data)}
	}
	n, err := build(meta.clone(), own)
	if err != nil {
		return nil, fmt.Errorf("netruntime: %w", err)
	}
	return n, nil
}

// build is New for tensors and metadata that nobody else holds.
func build(meta Meta, tensors []Tensor) (*Net, error) {
	n := &Net{meta: meta}
	switch meta.Arch {
	case archMANN:
		m, ordered, err := newMANN(&n.meta, tensors)
		if err != nil {
			return nil, err
		}
		n.model, n.tensors = m, ordered
	default:
		return nil, &UnsupportedError{What: "architecture", Got: meta.Arch, Have: []string{archMANN}}
	}
	if err := n.meta.settle(n.model.sizes()); err != nil {
		return nil, err
	}
	return n, nil
}

// maxFile bounds what Open loads into memory, in bytes.
const maxFile = 2 << 30

// Open reads a model file.
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

// Meta returns what the model file says about the network.
func (n *Net) Meta() Meta { return n.meta.clone() }

// Inputs returns the length of an input row.
func (n *Net) Inputs() int { return n.model.inputs() }

// Outputs returns the length of an output row.
func (n *Net) Outputs() int { return n.model.outputs() }

// Sizes returns what the shapes of the tensors say: for "mann" the numbers of
// experts, hidden and gating_hidden units, as decimal strings.
func (n *Net) Sizes() map[string]string { return n.model.sizes() }

// File returns the size in bytes of the model file that n was decoded from and
// the storage types in it, such as "BF16": 0 and nothing for a network made in
// memory.
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

// Tensor returns a copy of the named tensor, or false.
func (n *Net) Tensor(name string) (Tensor, bool) {
	for _, t := range n.tensors {
		if t.Name == name {
			return Tensor{t.Name, slices.Clone(t.Shape), slices.Clone(t.Data)}, true
		}
	}
	return Tensor{}, false
}

// NewSession returns a session of n on the processor for up to maxRows rows,
// computed by the given number of workers, Run's caller included.
func (n *Net) NewSession(maxRows, workers int) (Session, error) {
	if maxRows < 1 || workers < 1 {
		return nil, fmt.Errorf("netruntime: a session of %d rows and %d workers: both must be at least 1", maxRows, workers)
	}
	const most = 1 << 20
	if maxRows > most || workers > most {
		return nil, fmt.Errorf("netruntime: a session of %d rows and %d workers: at most %d", maxRows, workers, most)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	at := &n.packed[kernel.Active()]
	if *at == nil {
		*at = n.model.pack()
	}
	return n.model.session(*at, maxRows, workers), nil
}
