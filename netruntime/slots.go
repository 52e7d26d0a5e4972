package netruntime

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"mannequin/netruntime/internal/kernel"
)

// slot is one tensor of an operation: its role, and a letter for each axis. I and O are channels of
// the operand and the result, K is the number of experts, G and H are an LSTM's gates and state,
// and W is the width in frames.
type slot struct {
	role   string
	axes   string
	matrix bool // stored in bfloat16 on request
}

var (
	statistics = []slot{{"mean", "I", false}, {"std", "I", false}}

	// roles lists the tensors of every operation that has tensors.
	roles = map[string][]slot{
		OpDense:       {{"weight", "OI", true}, {"bias", "O", false}},
		OpBlend:       {{"weight", "KOI", true}, {"bias", "KO", false}},
		OpConv:        {{"weight", "OIW", true}, {"bias", "O", false}},
		OpLSTM:        {{"weight", "GI", true}, {"recurrent", "GH", true}, {"bias", "G", false}},
		OpBatchNorm:   {{"gamma", "I", false}, {"beta", "I", false}, {"mean", "I", false}, {"var", "I", false}},
		OpNormalize:   statistics,
		OpDenormalize: statistics,
	}

	allRoles = []string{"weight", "bias", "recurrent", "gamma", "beta", "mean", "var", "std"}
)

// tied swaps the axes of the channels.
var tied = map[string]string{"OI": "IO", "OIW": "IOW", "O": "O"}

// Value is a value of a network's graph: an input, a node's result, or an LSTM's last state.
type Value struct {
	Name     string
	Channels int
	span     span
}

// Length returns the number of frames of the value in a run of the given length, or 0 if that
// length is less than 1 or cannot be halved as often as the network does.
func (v Value) Length(run int) int {
	if run < 1 || v.span.den == 0 { // the zero Value has no frames
		return 0
	}
	return v.span.frames(run)
}

// bound is a graph whose shapes are known from its tensors.
type bound struct {
	graph  *Graph
	values []Value // the inputs, then the nodes' results and states
	nodes  []boundNode
	index  map[string]int // values by name
	used   []string       // tensors in the order of their first use
	at     map[string]int // index in used, by name
	matrix map[string]bool
}

// boundNode is a node with its operands and its result as indices of values. An LSTM's last h and c
// follow its result.
type boundNode struct {
	*Node
	in   []int
	out  int
	size map[byte]int // by axis
}

// Tensor returns the name of the node's tensor for a role, such as "weight".
func (n *Node) Tensor(role string) string {
	if name, ok := n.Tensors[role]; ok {
		return name
	}
	return n.Name + "." + role
}

// bind checks the tensors' shapes against g, without reading their data. Every tensor that g names
// must be there once, with the right shape, and there may be no other.
func bind(g *Graph, tensors []Tensor) (*bound, error) {
	spans, err := g.spans()
	if err != nil {
		return nil, err
	}
	shapes, have := map[string][]int{}, 0.0 // values in all tensors
	for _, t := range tensors {
		if _, twice := shapes[t.Name]; twice {
			return nil, tensorf(t.Name, "listed twice")
		}
		if t.Name == metadataKey {
			return nil, tensorf(t.Name, "the format reserves this name")
		}
		shapes[t.Name] = t.Shape
		values := 1.0
		for _, d := range t.Shape {
			values *= float64(d)
		}
		have += values
	}
	b := &bound{graph: g, index: map[string]int{}, at: map[string]int{}, matrix: map[string]bool{}}
	add := func(name string, channels int) {
		b.index[name] = len(b.values)
		b.values = append(b.values, Value{name, channels, spans[name]})
	}
	for _, in := range g.Inputs {
		add(in.Name, in.Channels)
	}
	frame, weights := 0.0, 0.0 // channels of all values for a frame of the run; values of packed weights
	for i := range g.Nodes {
		n := boundNode{Node: &g.Nodes[i], out: len(b.values), size: map[byte]int{}}
		for _, in := range n.In {
			n.in = append(n.in, b.index[in])
		}
		channels, err := b.channels(&n, shapes)
		if err != nil {
			return nil, err
		}
		if channels > maxChannels {
			return nil, graphf(n.Name, "%d channels, at most %d are allowed", channels, maxChannels)
		}
		add(n.Name, channels)
		if n.Op == OpLSTM {
			add(n.Name+".h", channels)
			add(n.Name+".c", channels)
		}
		if frame += float64(channels) * float64(b.values[n.out].span.num) / float64(b.values[n.out].span.den); frame > maxFrame {
			return nil, graphf(n.Name, "more than %d channels in all values up to here", maxFrame)
		}
		if weights += b.packed(&n); weights > max(maxWeights, 4*have) {
			return nil, graphf(n.Name, "%.3g weights in all nodes up to here, counting shared ones for each node: at most %.3g are allowed",
				weights, max(maxWeights, 4*have))
		}
		b.nodes = append(b.nodes, n)
	}
	for _, name := range b.used {
		delete(shapes, name)
	}
	if len(shapes) > 0 {
		extra := slices.Sorted(maps.Keys(shapes))
		const most = 20
		list := ""
		for _, name := range extra[:min(len(extra), most)] {
			list += ", " + strconv.Quote(name)
		}
		if len(extra) > most {
			list += fmt.Sprintf(" and %d more", len(extra)-most)
		}
		return nil, tensorf(extra[0], "unknown tensors %s: no node uses them", list[2:])
	}
	return b, nil
}

// packed returns the greatest number of values of the node's weights when they are packed. Nodes
// that share a tensor each pack it.
func (b *bound) packed(n *boundNode) float64 {
	wide := func(columns int) float64 { return float64(columns + kernel.AVX512.PanelCols() - 1) }
	in, out := float64(n.size['I']), n.size['O']
	switch n.Op {
	case OpDense:
		return in * wide(out)
	case OpBlend:
		return float64(n.size['K']) * (in + 1) * wide(out) // weights and biases
	case OpConv:
		// A convolution after a depooling has fewer taps and more columns in proportion. A filter
		// has four thirds of the taps.
		taps := func(w int) float64 {
			if g := (kernel.Taps{Width: w}); filters(g) {
				w = 2 * g.Block()
			}
			return float64(w)
		}
		values := taps(n.size['W']) * wide(out)
		for _, d := range b.nodes { // before n
			if d.Op == OpDepool && d.out == n.in[0] {
				_, left := depooledTaps(n.size['W'], d.Times())
				values = max(values, taps(left)*wide(d.Times()*out))
			}
		}
		return in * values
	case OpLSTM:
		return (in + float64(n.size['H'])) * wide(n.size['G'])
	}
	return 0
}

// channels checks the tensors of a node and returns the number of channels of its result.
func (b *bound) channels(n *boundNode, shapes map[string][]int) (int, error) {
	width := func(i int) int { return b.values[n.in[i]].Channels }
	in := width(0)
	n.size['I'] = in
	from := map[byte]string{'I': strconv.Quote(n.In[0]) + " has"}
	switch n.Op {
	case OpBlend:
		n.size['K'], from['K'] = width(1), strconv.Quote(n.In[1])+" has"
	case OpLSTM:
		if len(n.In) == 3 {
			if width(1) != width(2) {
				return 0, graphf(n.Name, "first state of %d and %d channels", width(1), width(2))
			}
			n.size['H'], from['H'] = width(1), strconv.Quote(n.In[1])+" has"
			n.size['G'], from['G'] = 4*width(1), "four gates need"
		}
	}
	for _, s := range roles[n.Op] {
		if err := b.fit(n, s, shapes, from); err != nil {
			return 0, err
		}
	}
	switch n.Op {
	case OpDense, OpConv, OpBlend:
		return n.size['O'], nil
	case OpLSTM:
		if n.size['G'] != 4*n.size['H'] {
			return 0, tensorf(n.Tensor("weight"), "%d gates for a state of %d channels, want four times as many (node %q)",
				n.size['G'], n.size['H'], n.Name)
		}
		return n.size['H'], nil
	case OpSelect:
		for _, c := range n.Columns {
			if c < 0 || c >= in {
				return 0, graphf(n.Name, "select: there is no channel %d, %q has %d", c, n.In[0], in)
			}
		}
		return len(n.Columns), nil
	case OpConcat:
		sum := 0
		for i := range n.in {
			sum += width(i)
		}
		return sum, nil
	case OpAdd:
		for i := range n.in {
			if width(i) != in {
				return 0, graphf(n.Name, "add of %q of %d channels and %q of %d", n.In[0], in, n.In[i], width(i))
			}
		}
	}
	return in, nil
}

// fit checks one tensor's shape, and records the sizes that are not known yet.
func (b *bound) fit(n *boundNode, s slot, shapes map[string][]int, from map[byte]string) error {
	name, axes := n.Tensor(s.role), s.axes
	if n.Tied {
		axes = tied[axes]
	}
	shape, ok := shapes[name]
	if !ok {
		return tensorf(name, "it is missing, node %q needs it as its %s", n.Name, s.role)
	}
	if len(shape) != len(axes) {
		return tensorf(name, "has shape %v, want %d axes (node %q)", shape, len(axes), n.Name)
	}
	for i, d := range shape {
		a := axes[i]
		if d < 1 {
			return tensorf(name, "has shape %v", shape)
		}
		if want, known := n.size[a]; known && d != want {
			return tensorf(name, "has shape %v, axis %d should be %d: %s that many (node %q)", shape, i, want, from[a], n.Name)
		} else if !known {
			n.size[a], from[a] = d, strconv.Quote(name)+" has"
		}
	}
	if _, known := b.at[name]; !known {
		b.at[name] = len(b.used)
		b.used = append(b.used, name)
		b.matrix[name] = true
	}
	b.matrix[name] = b.matrix[name] && s.matrix
	return nil
}

// checkValues checks that the tensors' values are finite, that the deviations and variances can be
// divided by, and that batch norms are finite.
func (b *bound) checkValues(get func(name string) []float32) error {
	for _, name := range b.used {
		for i, v := range get(name) {
			if v-v != 0 {
				return tensorf(name, "value %d is %v", i, v)
			}
		}
	}
	for _, n := range b.nodes {
		switch n.Op {
		case OpNormalize, OpDenormalize:
			name := n.Tensor("std")
			for i, s := range get(name) {
				if s < 0 || s != 0 && math.IsInf(float64(1/s), 0) {
					return tensorf(name, "deviation %d is %g", i, s)
				}
			}
		case OpBatchNorm:
			name := n.Tensor("var")
			gamma, beta, mean := get(n.Tensor("gamma")), get(n.Tensor("beta")), get(n.Tensor("mean"))
			for i, v := range get(name) {
				if v < 0 {
					return tensorf(name, "variance %d is %g", i, v)
				}
				scale, shift := normScale(gamma[i], beta[i], mean[i], v)
				if f := float32(scale); f-f != 0 {
					return tensorf(n.Tensor("gamma"), "channel %d is scaled by %g (node %q)", i, f, n.Name)
				}
				if f := float32(shift); f-f != 0 {
					return tensorf(n.Tensor("beta"), "channel %d is moved by %g (node %q)", i, f, n.Name)
				}
			}
		}
	}
	return nil
}

// size returns an error unless shape has the given number of values.
func size(name string, shape []int, values int) error {
	n := 1
	for _, d := range shape {
		if d < 1 || n > values/d {
			return tensorf(name, "has shape %v and %d values", shape, values)
		}
		n *= d
	}
	if n != values {
		return tensorf(name, "has shape %v and %d values", shape, values)
	}
	return nil
}
