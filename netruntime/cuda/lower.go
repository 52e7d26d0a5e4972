//go:build cuda

package cuda

// #include "ops.h"
import "C"

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mannequin/netruntime"
)

// plan is a network as launches of the kernels. It is immutable.
type plan struct {
	values          []value
	launches        []launch
	inputs, outputs []int // values
	omega           int   // value of the gating weights, or −1
	constants
}

// value is an array (sequences, frames, channels) in the memory of a lane.
type value struct {
	channels int
	like     netruntime.Value // of the graph, as long as it
	forms    [forms]bool
}

// asLongAs reports whether two values have the same length in every run, by comparing two long
// runs.
func (v *value) asLongAs(w *value) bool {
	return v.like.Length(1<<24) == w.like.Length(1<<24) && v.like.Length(1<<25) == w.like.Length(1<<25)
}

// operands reports whether products read v.
func (v *value) operands() bool { return v.forms[opFP32] || v.forms[opTF32] || v.forms[opBF16] }

// launch is a call of a kernel: a product, or a chain of light operations on the same rows. For a
// recurrent layer it is both, for every frame.
type launch struct {
	product *product
	chain   []light
	rows    int // value whose frames are the rows
	loop    *loop
}

// loop repeats a launch for every frame of a value.
type loop struct {
	frames  int // value
	reverse bool
}

type product struct {
	form     form
	sources  []source
	segments int
	before   int // frames before its own at which a row's window begins
	n        int // columns
	b, bias  constant
	omega    int // value, or −1
	points   []point
	out      int
}

type source struct {
	value int
	part  matrix
	frame bool // in a loop: the row belongs to the frame
}

type point struct {
	kind, act   int
	scale, rest constant
}

type light struct {
	kind, width int
	x, x2       int // values, −1 for none
	columns     constant
	point       point
	inputs      int
	w, b        constant
	out, column int  // value, and its first column that is written
	frame       bool // in a loop: the result belongs to the frame
	copies      bool // x is out: only its operands are written
}

type compiler struct {
	*plan
	net     *netruntime.Net
	graph   *netruntime.Graph
	form    form // of heavy products
	skip    float32
	index   map[string]int
	reads   map[string][]int // nodes by value
	isOut   map[string]bool
	fused   []bool
	skipped map[int]int // by value: the gating weights without those below skip
}

const activate = C.ACTIVATE

var activations = map[string]int{"": C.IDENTITY, "elu": C.ELU, "relu": C.RELU, "sigmoid": C.SIGMOID, "tanh": C.TANH}

// compile plans a network.
func compile(n *netruntime.Net, f form, skip float32) (*plan, error) {
	g := n.Graph()
	c := &compiler{
		plan: &plan{omega: -1}, net: n, graph: g, form: f, skip: skip, index: map[string]int{}, reads: map[string][]int{},
		isOut: map[string]bool{}, fused: make([]bool, len(g.Nodes)), skipped: map[int]int{},
	}
	for _, v := range n.Values() {
		c.index[v.Name] = len(c.values)
		c.values = append(c.values, value{channels: v.Channels, like: v})
	}
	for i := range g.Inputs {
		c.inputs = append(c.inputs, i)
		c.values[i].forms[plain] = true
	}
	for _, name := range g.Outputs {
		c.outputs, c.isOut[name] = append(c.outputs, c.read(c.index[name])), true
	}
	for i, node := range g.Nodes {
		for _, in := range node.In {
			c.reads[in] = append(c.reads[in], i)
		}
	}
	for i := range g.Nodes {
		if c.fused[i] {
			continue
		}
		if err := c.lower(i); err != nil {
			return nil, err
		}
	}
	c.gating()
	c.loads()
	return c.plan, nil
}

// gating sets omega to the value from which all blends take their weights.
func (c *compiler) gating() {
	for _, n := range c.graph.Nodes {
		if n.Op != netruntime.OpBlend {
			continue
		}
		v := c.index[n.In[1]]
		if c.omega >= 0 && c.omega != v {
			c.omega = -1
			return
		}
		c.omega = c.read(v)
	}
}

// loads converts the inputs that products read to operands.
func (c *compiler) loads() {
	var first []launch
	for v := range c.inputs {
		if c.values[v].operands() {
			load := newLight(C.COPY, c.values[v].channels, v, v)
			load.copies = true
			first = append(first, launch{chain: []light{load}, rows: v})
		}
	}
	c.launches = append(first, c.launches...)
}

// read records that v is read as float32.
func (c *compiler) read(v int) int {
	c.values[v].forms[plain] = true
	return v
}

// operand records that v is a product's left side.
func (c *compiler) operand(v int, f form) int {
	c.values[v].forms[f] = true
	return v
}

// temporary adds a value as long as v.
func (c *compiler) temporary(v, channels int) int {
	c.values = append(c.values, value{channels: channels, like: c.values[v].like})
	return len(c.values) - 1
}

// data returns the tensor of a node for a role.
func (c *compiler) data(n *netruntime.Node, role string) []float32 { return c.tensor(n, role).Data }

func (c *compiler) tensor(n *netruntime.Node, role string) netruntime.Tensor {
	t, ok := c.net.Tensor(n.Tensor(role))
	if !ok {
		panic("cuda: no tensor " + n.Tensor(role))
	}
	return t
}

// activation returns the named function. The empty name is the identity.
func activation(name string) point {
	return point{kind: activate, act: activations[name], scale: none, rest: none}
}

// newLight returns an operation of value x on out, without the fields that only some operations
// have.
func newLight(kind, width, x, out int) light {
	return light{kind: kind, width: width, x: x, x2: -1, columns: none, point: activation(""), w: none, b: none, out: out}
}

// lower adds the launches of one node.
func (c *compiler) lower(i int) error {
	n := &c.graph.Nodes[i]
	in, out := make([]int, len(n.In)), c.index[n.Name]
	for j, name := range n.In {
		in[j] = c.index[name]
	}
	op := newLight(C.ZERO, c.values[out].channels, in[0], out)
	switch n.Op {
	case netruntime.OpDense, netruntime.OpBlend, netruntime.OpConv:
		c.product(i, in, out)
		return nil
	case netruntime.OpLSTM:
		c.lstm(n, in, out)
		return nil
	case netruntime.OpMaxPool:
		op.kind = C.MAX_POOL
	case netruntime.OpDepool:
		if n.Times() != 2 {
			return fmt.Errorf("cuda: node %q lengthens by %d, the kernels only by 2", n.Name, n.Times())
		}
		op.kind = C.DEPOOL
	case netruntime.OpSoftmax:
		op.kind = C.SOFTMAX
	case netruntime.OpSelect:
		op.kind, op.columns = C.COPY, c.integers(n.Columns)
	case netruntime.OpConcat:
		op.kind = C.COPY
		for _, v := range in {
			op.x, op.width = v, c.values[v].channels
			c.emit(op)
			op.column += op.width
		}
		return nil
	case netruntime.OpAdd:
		if op.kind = C.COPY; len(in) > 1 {
			op.kind, op.x2 = C.ADD, in[1]
		}
		c.emit(op)
		for _, v := range in[min(2, len(in)):] {
			op.x, op.x2 = out, v
			c.emit(op)
		}
		return nil
	default:
		points, err := c.points(n)
		if err != nil {
			return err
		}
		op.kind = C.POINT
		for _, p := range points {
			op.point = p
			c.emit(op)
			op.x = out
		}
		return nil
	}
	c.emit(op)
	return nil
}

// emit adds a light operation to the last launch's chain, if that has the same rows. An operation
// that reads other rows than its own, such as a pool, has an operand of another length and does not
// join the chain.
func (c *compiler) emit(o light) {
	c.read(o.x)
	if o.x2 >= 0 {
		c.read(o.x2)
	}
	if n := len(c.launches); n > 0 && c.launches[n-1].product == nil && c.launches[n-1].loop == nil {
		if l := &c.launches[n-1]; c.values[l.rows].asLongAs(&c.values[o.out]) {
			l.chain = append(l.chain, o)
			return
		}
	}
	c.launches = append(c.launches, launch{chain: []light{o}, rows: o.out})
}

// points returns the functions of an elementwise node.
func (c *compiler) points(n *netruntime.Node) ([]point, error) {
	act := activation(n.Act)
	switch n.Op {
	case netruntime.OpAct:
		return []point{act}, nil
	case netruntime.OpNormalize, netruntime.OpDenormalize:
		scale := slices.Clone(c.data(n, "std"))
		for i, s := range scale {
			scale[i] = cmp.Or(s, 1)
			if n.Op == netruntime.OpNormalize {
				scale[i] = 1 / scale[i]
			}
		}
		kind := C.AFFINE
		if n.Op == netruntime.OpNormalize {
			kind = C.NORMALIZE
		}
		return []point{{kind: kind, scale: c.vector(scale), rest: c.vector(c.data(n, "mean"))}}, nil
	case netruntime.OpBatchNorm:
		gamma, beta, mean, variance := c.data(n, "gamma"), c.data(n, "beta"), c.data(n, "mean"), c.data(n, "var")
		scale, shift := make([]float32, len(gamma)), make([]float32, len(gamma))
		for i := range scale {
			s := float64(gamma[i]) / math.Sqrt(float64(variance[i])+1e-5)
			scale[i], shift[i] = float32(s), float32(float64(beta[i])-float64(mean[i])*s)
		}
		points := []point{{kind: C.AFFINE, scale: c.vector(scale), rest: c.vector(shift)}}
		if n.Act != "" {
			points = append(points, act)
		}
		return points, nil
	}
	return nil, fmt.Errorf("cuda: node %q: operation %q is not known here", n.Name, n.Op)
}

func elementwise(op string) bool {
	return op == netruntime.OpAct || op == netruntime.OpBatchNorm || op == netruntime.OpNormalize || op == netruntime.OpDenormalize
}

// product adds a dense layer, a blend or a convolution, with the elementwise nodes that follow it,
// as long as each is the only reader of the one before.
func (c *compiler) product(i int, in []int, out int) {
	n := &c.graph.Nodes[i]
	weight, bias := c.tensor(n, "weight"), c.data(n, "bias")
	inputs, columns, w := c.values[in[0]].channels, c.values[out].channels, weight.Data
	p := &product{form: c.form, segments: 1, n: columns, omega: -1, out: out}
	parts := []matrix{{taps: 1, channels: inputs, columns: columns}}
	switch n.Op {
	case netruntime.OpDense:
		parts[0].at = func(_, i, o int) float32 { return w[o*inputs+i] }
		if n.Tied {
			parts[0].at = func(_, i, o int) float32 { return w[i*columns+o] }
		}
	case netruntime.OpConv:
		width := weight.Shape[2]
		parts[0].taps, p.before = width, (width-1)/2
		parts[0].at = func(t, i, o int) float32 {
			if n.Flip {
				t = width - 1 - t
			}
			if n.Tied {
				return w[(i*columns+o)*width+t]
			}
			return w[(o*inputs+i)*width+t]
		}
	case netruntime.OpBlend:
		p.segments = weight.Shape[0]
		p.omega = c.read(c.skipSmall(in[1]))
		for k := 1; k < p.segments; k++ {
			parts = append(parts, parts[0])
		}
		for k := range parts {
			parts[k].at = func(_, i, o int) float32 { return w[(k*columns+o)*inputs+i] }
		}
	}
	if len(w) < netruntime.HeavyWeights {
		p.form = opFP32
		if n.Op == netruntime.OpDense {
			at, b := c.reserve(4 * inputs * columns)
			for i := range inputs {
				for o := range columns {
					plain.put(b[4*(i*columns+o):], parts[0].at(0, i, o))
				}
			}
			dense := newLight(C.DENSE, columns, in[0], out)
			dense.inputs, dense.w, dense.b, dense.point = inputs, at, c.vector(bias), activation(n.Act)
			c.emit(dense)
			return
		}
	}
	if n.Act != "" {
		p.points = append(p.points, activation(n.Act))
	}
	for name := n.Name; len(c.reads[name]) == 1 && !c.isOut[name]; {
		j := c.reads[name][0]
		next := &c.graph.Nodes[j]
		if !elementwise(next.Op) {
			break
		}
		points, _ := c.points(next) // no error for these operations
		if len(p.points)+len(points) > C.POINTS {
			break
		}
		c.fused[j] = true
		p.points = append(p.points, points...)
		name, p.out = next.Name, c.index[next.Name]
	}
	p.sources = []source{{value: c.operand(in[0], p.form), part: parts[0]}}
	p.b = c.matrices(p.form, parts)
	p.sources[0].part.at = nil // it holds the weights
	wide := roundUp(columns, tileColumns)
	all := make([]float32, p.segments*wide)
	for s := range p.segments {
		copy(all[s*wide:], bias[s*columns:(s+1)*columns])
	}
	p.bias = c.vector(all)
	c.launches = append(c.launches, launch{product: p, rows: p.out})
}

// skipSmall returns v without the weights below the session's limit.
func (c *compiler) skipSmall(v int) int {
	if c.skip == 0 {
		return v
	}
	if k, ok := c.skipped[v]; ok {
		return k
	}
	k := c.temporary(v, c.values[v].channels)
	bound := slices.Repeat([]float32{c.skip}, c.values[v].channels)
	skip := newLight(C.POINT, len(bound), v, k)
	skip.point = point{kind: C.SKIP, scale: none, rest: c.vector(bound)}
	c.emit(skip)
	c.skipped[v] = k
	return k
}

// lstm adds a recurrent layer: the first state, and then for every frame the gates, as one product
// of the frame and the state, and the cells.
func (c *compiler) lstm(n *netruntime.Node, in []int, out int) {
	wx, wh, bias := c.data(n, "weight"), c.data(n, "recurrent"), c.data(n, "bias")
	h, cell := out+1, out+2
	inputs, units := c.values[in[0]].channels, c.values[out].channels
	f := c.form
	if len(wx)+len(wh) < netruntime.HeavyWeights {
		f = opFP32
	}
	gates := c.temporary(h, 4*units)
	op := newLight(C.ZERO, units, h, h)
	for i, v := range []int{h, cell} {
		first := op
		if first.out = c.read(v); len(in) == 3 {
			first.kind, first.x = C.COPY, in[1+i]
		}
		c.emit(first)
	}
	x := matrix{taps: 1, channels: inputs, columns: 4 * units, at: func(_, i, o int) float32 { return wx[o*inputs+i] }}
	state := matrix{taps: 1, channels: units, columns: 4 * units, at: func(_, i, o int) float32 { return wh[o*units+i] }}
	p := &product{
		form: f, segments: 2, n: 4 * units, omega: -1, out: c.read(gates),
		sources: []source{{c.operand(in[0], f), x, true}, {c.operand(h, f), state, false}},
		b:       c.matrices(f, []matrix{x, state}), bias: c.padded(bias, 2*roundUp(4*units, tileColumns)),
	}
	for i := range p.sources {
		p.sources[i].part.at = nil // it holds the weights
	}
	update, write := op, op
	update.kind, update.x, update.x2, update.out = C.LSTM, gates, cell, h
	write.kind, write.x, write.out, write.frame = C.COPY, h, out, true
	c.launches = append(c.launches, launch{product: p, chain: []light{update, write}, rows: h, loop: &loop{frames: in[0], reverse: n.Reverse}})
	// Products may read the last c: its operands are written from the last cells.
	last := op
	last.kind, last.x, last.out, last.copies = C.COPY, cell, cell, true
	c.launches = append(c.launches, launch{chain: []light{last}, rows: cell})
}
