package netruntime

import (
	"fmt"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"mannequin/netruntime/internal/kernel"
)

// span is the length of a value: length·num/den frames in a run of the given length, in lowest
// terms, or always 1. den is a power of two.
type span struct {
	num, den int
	once     bool
}

// asRun is the length of the run; single is one frame.
var asRun, single = span{num: 1, den: 1}, span{num: 1, den: 1, once: true}

// scaled returns s times num/den.
func (s span) scaled(num, den int) span {
	s.num, s.den = s.num*num, s.den*den
	for s.num%2 == 0 && s.den%2 == 0 {
		s.num, s.den = s.num/2, s.den/2
	}
	return s
}

// shorter reports whether s is shorter than o in a run of any length.
func (s span) shorter(o span) bool { return s.num*o.den < o.num*s.den }

// frames returns the value's length in a run of the given length, or 0 if that cannot be halved as
// often as needed.
func (s span) frames(length int) int {
	if s.once {
		return 1
	}
	if length%s.den != 0 {
		return 0
	}
	return length / s.den * s.num
}

// most returns frames, rounded up if the length cannot be halved.
func (s span) most(length int) int {
	if s.once {
		return 1
	}
	return (length*s.num + s.den - 1) / s.den
}

func (s span) String() string {
	switch {
	case s.once:
		return "1"
	case s.den > 1:
		return fmt.Sprintf("%d/%d of the run's", s.num, s.den)
	}
	return fmt.Sprintf("%d times the run's", s.num)
}

// operands is the least and the greatest number of operands of each operation.
var operands = map[string][2]int{
	OpDense: {1, 1}, OpBlend: {2, 2}, OpConv: {1, 1}, OpMaxPool: {1, 1}, OpDepool: {1, 1}, OpLSTM: {1, 3},
	OpBatchNorm: {1, 1}, OpAct: {1, 1}, OpSoftmax: {1, 1}, OpConcat: {1, maxNodes}, OpSelect: {1, 1},
	OpAdd: {1, maxNodes}, OpNormalize: {1, 1}, OpDenormalize: {1, 1},
}

var activations = map[string]kernel.Activation{
	"": kernel.ActIdentity, "elu": kernel.ActELU, "relu": kernel.ActReLU, "sigmoid": kernel.ActSigmoid, "tanh": kernel.ActTanh,
}

// Validate checks everything about g that does not depend on its tensors: names, operations,
// options, lengths, and that every operand comes before its use. The error is a *GraphError that
// names the node, or an *UnsupportedError.
func (g *Graph) Validate() error {
	_, err := g.spans()
	return err
}

// Length returns the number of frames of the named value in a run of the given length. The value is
// an input, a node or an LSTM's last state. A value that does not exist, or a length that cannot be
// halved as often as the network does, is an error.
func (g *Graph) Length(value string, length int) (int, error) {
	spans, err := g.spans()
	if err != nil {
		return 0, fmt.Errorf("netruntime: %w", err)
	}
	s, ok := spans[value]
	if !ok {
		return 0, fmt.Errorf("netruntime: %w", graphf(value, "there is no such value"))
	}
	if length < 1 {
		return 0, fmt.Errorf("netruntime: a run of length %d", length)
	}
	n := s.frames(length)
	if n == 0 {
		return 0, fmt.Errorf("netruntime: %w", graphf(value, "a run of length %d has no %v", length, s))
	}
	return n, nil
}

// spans validates g and returns the length of every value.
func (g *Graph) spans() (map[string]span, error) {
	if len(g.Inputs) == 0 || len(g.Outputs) == 0 {
		return nil, graphf("", "%d inputs and %d outputs: both must be at least 1", len(g.Inputs), len(g.Outputs))
	}
	if len(g.Inputs) > maxNodes || len(g.Nodes) > maxNodes || len(g.Outputs) > maxNodes {
		return nil, graphf("", "%d inputs, %d nodes and %d outputs: at most %d each", len(g.Inputs), len(g.Nodes), len(g.Outputs), maxNodes)
	}
	spans := map[string]span{}
	for _, in := range g.Inputs {
		if err := newName(spans, in.Name); err != nil {
			return nil, err
		}
		if in.Channels < 1 || in.Channels > maxChannels {
			return nil, graphf(in.Name, "input of %d channels, want 1 to %d", in.Channels, maxChannels)
		}
		if spans[in.Name] = asRun; in.Once {
			spans[in.Name] = single
		}
	}
	for i := range g.Nodes {
		if err := g.Nodes[i].check(spans); err != nil {
			return nil, err
		}
	}
	for i, name := range g.Outputs {
		if _, ok := spans[name]; !ok {
			return nil, graphf(name, "output, but there is no such value")
		}
		if slices.Contains(g.Outputs[:i], name) {
			return nil, graphf(name, "output twice")
		}
	}
	return spans, nil
}

// newName checks that a name is valid and not yet used.
func newName(spans map[string]span, name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return graphf("", "name %.*q of %d bytes: want UTF-8 of 1 to %d", maxName, name, len(name), maxName)
	}
	for _, r := range name {
		if !unicode.IsGraphic(r) {
			return graphf("", "name %q has a character that cannot be printed", name)
		}
	}
	if _, ok := spans[name]; ok {
		return graphf(name, "two values have this name")
	}
	return nil
}

// check checks one node and adds the lengths of its results to spans.
func (n *Node) check(spans map[string]span) error {
	if err := newName(spans, n.Name); err != nil {
		return err
	}
	want, ok := operands[n.Op]
	if !ok {
		return &UnsupportedError{What: "operation", Got: n.Op, Have: slices.Sorted(maps.Keys(operands))}
	}
	if len(n.In) < want[0] || len(n.In) > want[1] {
		return graphf(n.Name, "%s of %d operands, want %d to %d", n.Op, len(n.In), want[0], want[1])
	}
	if n.Op == OpLSTM && len(n.In) == 2 {
		return graphf(n.Name, "lstm of 2 operands: the first state is both h and c, or neither")
	}
	for _, in := range n.In {
		if _, ok := spans[in]; !ok {
			return graphf(n.Name, "operand %q is not an input or an earlier node", in)
		}
	}
	if err := n.checkFields(); err != nil {
		return err
	}
	s := spans[n.In[0]]
	switch n.Op {
	case OpLSTM:
		for _, in := range n.In[1:] {
			if !spans[in].once {
				return graphf(n.Name, "first state %q has length %v, want 1", in, spans[in])
			}
		}
		for _, state := range []string{n.Name + ".h", n.Name + ".c"} {
			if err := newName(spans, state); err != nil {
				return err
			}
			spans[state] = single
		}
	case OpMaxPool, OpDepool:
		if s.once {
			return graphf(n.Name, "%s of %q, which has length 1", n.Op, n.In[0])
		}
		if n.Op == OpDepool {
			s = s.scaled(n.Times(), 1)
		} else {
			s = s.scaled(1, 2)
		}
		if max(s.num, s.den) > 1<<maxHalvings {
			return graphf(n.Name, "length %v: want no more than %d times, and no less than 1/%d", s, 1<<maxHalvings, 1<<maxHalvings)
		}
	default:
		for _, in := range n.In[1:] {
			if spans[in] != s {
				return graphf(n.Name, "operands %q and %q have other lengths: %v and %v", n.In[0], in, s, spans[in])
			}
		}
	}
	spans[n.Name] = s
	return nil
}

// checkFields checks that a node has only the options of its operation.
func (n *Node) checkFields() error {
	act, known := activations[n.Act]
	if !known {
		return &UnsupportedError{What: "activation", Got: n.Act, Have: slices.Sorted(maps.Keys(activations))}
	}
	type field struct {
		name string
		set  bool
		of   []string
	}
	for _, f := range []field{
		{"act", act != kernel.ActIdentity, []string{OpDense, OpBlend, OpConv, OpBatchNorm, OpAct}},
		{"flip", n.Flip, []string{OpConv}},
		{"tied", n.Tied, []string{OpDense, OpConv}},
		{"reverse", n.Reverse, []string{OpLSTM}},
		{"columns", len(n.Columns) > 0, []string{OpSelect}},
		{"factor", n.Factor != 0, []string{OpDepool}},
	} {
		if f.set && !slices.Contains(f.of, n.Op) {
			return graphf(n.Name, "%s is not an option of %s", f.name, n.Op)
		}
	}
	if n.Op == OpSelect && (len(n.Columns) == 0 || len(n.Columns) > maxChannels) {
		return graphf(n.Name, "select of %d columns, want 1 to %d", len(n.Columns), maxChannels)
	}
	if n.Op == OpDepool && (n.Times() < 2 || n.Times() > maxFactor) {
		return graphf(n.Name, "depool by a factor of %d, want 2 to %d", n.Factor, maxFactor)
	}
	if n.Op == OpAct && act == kernel.ActIdentity {
		return graphf(n.Name, "act names no activation")
	}
	for role, name := range n.Tensors {
		if !slices.ContainsFunc(roles[n.Op], func(s slot) bool { return s.role == role }) {
			return graphf(n.Name, "tensors: %s has no %q", n.Op, role)
		}
		if name == "" || len(name) > 2*maxName || !utf8.ValidString(name) {
			return graphf(n.Name, "tensors: %s has the name %.*q", role, maxName, name)
		}
	}
	return nil
}
