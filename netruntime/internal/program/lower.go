package program

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mannequin/netruntime"
)

type compiler struct {
	*Program
	net     *netruntime.Net
	graph   *netruntime.Graph
	form    Form // of heavy products
	small   Form // of the others
	skip    float32
	pairs   Pairs
	index   map[string]int
	reads   map[string][]int // nodes by value
	isOut   map[string]bool
	fused   []bool
	skipped map[int]int // by value: the gating weights without those below skip
}

var activations = map[string]Activation{"": Identity, "elu": ELU, "relu": ReLU, "sigmoid": Sigmoid, "tanh": Tanh}

// Compile returns the program of a network. Its heavy products have operands of form f. If f is
// Plain, so have the others, their rows have no padding, and pairs says which right sides are bfloat16. Gating weights below skip count as 0.
func Compile(n *netruntime.Net, f Form, skip float32, pairs Pairs) (*Program, error) {
	g := n.Graph()
	c := &compiler{
		Program: &Program{Omega: -1}, net: n, graph: g, form: f, small: FP32, skip: skip, pairs: pairs, index: map[string]int{}, reads: map[string][]int{},
		isOut: map[string]bool{}, fused: make([]bool, len(g.Nodes)), skipped: map[int]int{},
	}
	if f == Plain {
		c.small = Plain
	}
	for _, v := range n.Values() {
		c.index[v.Name] = len(c.Values)
		c.Values = append(c.Values, Value{Channels: v.Channels, like: v})
	}
	for i := range g.Inputs {
		c.Inputs = append(c.Inputs, i)
		c.Values[i].Forms[Plain] = true
	}
	for _, name := range g.Outputs {
		c.Outputs, c.isOut[name] = append(c.Outputs, c.read(c.index[name])), true
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
	return c.Program, nil
}

// gating sets omega to the value from which all blends take their weights.
func (c *compiler) gating() {
	for _, n := range c.graph.Nodes {
		if n.Op != netruntime.OpBlend {
			continue
		}
		v := c.index[n.In[1]]
		if c.Omega >= 0 && c.Omega != v {
			c.Omega = -1
			return
		}
		c.Omega = c.read(v)
	}
}

// loads converts the inputs that products read to operands.
func (c *compiler) loads() {
	var first []Launch
	for v := range c.Inputs {
		if c.Values[v].Operands() {
			load := newLight(Copy, c.Values[v].Channels, v, v)
			load.Copies = true
			first = append(first, Launch{Chain: []Light{load}, Rows: v})
		}
	}
	c.Launches = append(first, c.Launches...)
}

// read records that v is read as float32.
func (c *compiler) read(v int) int {
	c.Values[v].Forms[Plain] = true
	return v
}

// operand records that v is a product's left side.
func (c *compiler) operand(v int, f Form) int {
	c.Values[v].Forms[f] = true
	return v
}

// temporary adds a value as long as v.
func (c *compiler) temporary(v, channels int) int {
	c.Values = append(c.Values, Value{Channels: channels, like: c.Values[v].like})
	return len(c.Values) - 1
}

// data returns the tensor of a node for a role.
func (c *compiler) data(n *netruntime.Node, role string) []float32 { return c.tensor(n, role).Data }

func (c *compiler) tensor(n *netruntime.Node, role string) netruntime.Tensor {
	t, ok := c.net.Tensor(n.Tensor(role))
	if !ok {
		panic("program: no tensor " + n.Tensor(role))
	}
	return t
}

// activation returns the named function. The empty name is the identity.
func activation(name string) Point {
	return Point{Kind: Activate, Act: activations[name], Scale: None, Rest: None}
}

// newLight returns an operation of value x on out, without the fields that only some operations
// have.
func newLight(kind LightKind, width, x, out int) Light {
	return Light{Kind: kind, Width: width, X: x, X2: -1, Columns: None, Point: activation(""), W: None, B: None, Out: out}
}

// lower adds the launches of one node.
func (c *compiler) lower(i int) error {
	n := &c.graph.Nodes[i]
	in, out := make([]int, len(n.In)), c.index[n.Name]
	for j, name := range n.In {
		in[j] = c.index[name]
	}
	op := newLight(Zero, c.Values[out].Channels, in[0], out)
	switch n.Op {
	case netruntime.OpDense, netruntime.OpBlend, netruntime.OpConv:
		c.product(i, in, out)
		return nil
	case netruntime.OpLSTM:
		c.lstm(n, in, out)
		return nil
	case netruntime.OpMaxPool:
		op.Kind = MaxPool
	case netruntime.OpDepool:
		op.Kind, op.Factor = Depool, n.Times()
	case netruntime.OpSoftmax:
		op.Kind = Softmax
	case netruntime.OpSelect:
		op.Kind, op.Columns = Copy, c.integers(n.Columns)
	case netruntime.OpConcat:
		op.Kind = Copy
		for _, v := range in {
			op.X, op.Width = v, c.Values[v].Channels
			c.emit(op)
			op.Column += op.Width
		}
		return nil
	case netruntime.OpAdd:
		if op.Kind = Copy; len(in) > 1 {
			op.Kind, op.X2 = Add, in[1]
		}
		c.emit(op)
		for _, v := range in[min(2, len(in)):] {
			op.X, op.X2 = out, v
			c.emit(op)
		}
		return nil
	default:
		points, err := c.points(n)
		if err != nil {
			return err
		}
		op.Kind = Elementwise
		for _, p := range points {
			op.Point = p
			c.emit(op)
			op.X = out
		}
		return nil
	}
	c.emit(op)
	return nil
}

// emit adds a light operation to the last launch's chain, if that has the same rows. An operation
// that reads other rows than its own, such as a pool, has an operand of another length and does not
// join the chain.
func (c *compiler) emit(o Light) {
	c.read(o.X)
	if o.X2 >= 0 {
		c.read(o.X2)
	}
	if n := len(c.Launches); n > 0 && c.Launches[n-1].Product == nil && c.Launches[n-1].Loop == nil {
		if l := &c.Launches[n-1]; c.Values[l.Rows].asLongAs(&c.Values[o.Out]) {
			l.Chain = append(l.Chain, o)
			return
		}
	}
	c.Launches = append(c.Launches, Launch{Chain: []Light{o}, Rows: o.Out})
}

// points returns the functions of an elementwise node.
func (c *compiler) points(n *netruntime.Node) ([]Point, error) {
	act := activation(n.Act)
	switch n.Op {
	case netruntime.OpAct:
		return []Point{act}, nil
	case netruntime.OpNormalize, netruntime.OpDenormalize:
		scale := slices.Clone(c.data(n, "std"))
		for i, s := range scale {
			scale[i] = cmp.Or(s, 1)
			if n.Op == netruntime.OpNormalize {
				scale[i] = 1 / scale[i]
			}
		}
		kind := Affine
		if n.Op == netruntime.OpNormalize {
			kind = Normalize
		}
		return []Point{{Kind: kind, Scale: c.vector(scale), Rest: c.vector(c.data(n, "mean"))}}, nil
	case netruntime.OpBatchNorm:
		gamma, beta, mean, variance := c.data(n, "gamma"), c.data(n, "beta"), c.data(n, "mean"), c.data(n, "var")
		scale, shift := make([]float32, len(gamma)), make([]float32, len(gamma))
		for i := range scale {
			s := float64(gamma[i]) / math.Sqrt(float64(variance[i])+1e-5)
			scale[i], shift[i] = float32(s), float32(float64(beta[i])-float64(mean[i])*s)
		}
		points := []Point{{Kind: Affine, Scale: c.vector(scale), Rest: c.vector(shift)}}
		if n.Act != "" {
			points = append(points, act)
		}
		return points, nil
	}
	return nil, fmt.Errorf("node %q: operation %q is not known here", n.Name, n.Op)
}

func elementwise(op string) bool {
	return op == netruntime.OpAct || op == netruntime.OpBatchNorm || op == netruntime.OpNormalize || op == netruntime.OpDenormalize
}

// product adds a dense layer, a blend or a convolution, with the elementwise nodes that follow it,
// as long as each is the only reader of the one before.
func (c *compiler) product(i int, in []int, out int) {
	n := &c.graph.Nodes[i]
	weight, bias := c.tensor(n, "weight"), c.data(n, "bias")
	inputs, columns, w := c.Values[in[0]].Channels, c.Values[out].Channels, weight.Data
	p := &Product{Form: c.form, Segments: 1, N: columns, Omega: -1, Out: out}
	parts := []Matrix{{Taps: 1, Channels: inputs, columns: columns}}
	switch n.Op {
	case netruntime.OpDense:
		parts[0].at = func(_, i, o int) float32 { return w[o*inputs+i] }
		if n.Tied {
			parts[0].at = func(_, i, o int) float32 { return w[i*columns+o] }
		}
	case netruntime.OpConv:
		width := weight.Shape[2]
		parts[0].Taps, p.Before = width, (width-1)/2
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
		p.Segments = weight.Shape[0]
		p.Omega = c.read(c.skipSmall(in[1]))
		for k := 1; k < p.Segments; k++ {
			parts = append(parts, parts[0])
		}
		for k := range parts {
			parts[k].at = func(_, i, o int) float32 { return w[(k*columns+o)*inputs+i] }
		}
	}
	if len(w) < netruntime.HeavyWeights {
		p.Form = c.small
		if n.Op == netruntime.OpDense {
			at, b := c.reserve(4 * inputs * columns)
			for i := range inputs {
				for o := range columns {
					Plain.put(b[4*(i*columns+o):], parts[0].at(0, i, o))
				}
			}
			dense := newLight(Dense, columns, in[0], out)
			dense.Inputs, dense.W, dense.B, dense.Point = inputs, at, c.vector(bias), activation(n.Act)
			c.emit(dense)
			return
		}
	}
	if n.Act != "" {
		p.Points = append(p.Points, activation(n.Act))
	}
	for name := n.Name; len(c.reads[name]) == 1 && !c.isOut[name]; {
		j := c.reads[name][0]
		next := &c.graph.Nodes[j]
		if !elementwise(next.Op) {
			break
		}
		points, _ := c.points(next) // no error for these operations
		if len(p.Points)+len(points) > MostPoints {
			break
		}
		c.fused[j] = true
		p.Points = append(p.Points, points...)
		name, p.Out = next.Name, c.index[next.Name]
	}
	p.Sources = []Source{{Value: c.operand(in[0], p.Form), Part: parts[0]}}
	c.rightSide(p, parts, w)
	p.Sources[0].Part.at = nil // it holds the weights
	wide := RoundUp(columns, TileColumns)
	all := make([]float32, p.Segments*wide)
	for s := range p.Segments {
		copy(all[s*wide:], bias[s*columns:(s+1)*columns])
	}
	p.Bias = c.vector(all)
	c.Launches = append(c.Launches, Launch{Product: p, Rows: p.Out})
}

// rightSide adds the right side of a product, whose values are weights.
func (c *compiler) rightSide(p *Product, parts []Matrix, weights ...[]float32) {
	n, exact, most := 0, true, float32(0)
	for _, w := range weights {
		n += len(w)
		for _, v := range w {
			most = max(most, v, -v) // NaN if one is
		}
		exact = exact && !slices.ContainsFunc(w, func(v float32) bool { return math.Float32bits(v)<<16 != 0 })
	}
	p.Scale = 1
	scale := halfScale(most)
	switch heavy := p.Form == Plain && n >= netruntime.HeavyWeights; {
	case heavy && c.pairs == Half && scale != 0:
		p.Pairs, p.Scale = Halves, scale
		p.B = c.pair(parts, func(v float32) uint16 { return toHalf(v / scale) })
	case heavy && (c.pairs == Always || c.pairs == Exact && exact):
		p.Pairs, p.B = Brains, c.pair(parts, toBF16)
	default:
		p.B = c.matrices(p.Form, parts)
	}
}

// skipSmall returns v without the weights below the session's limit.
func (c *compiler) skipSmall(v int) int {
	if c.skip == 0 {
		return v
	}
	if k, ok := c.skipped[v]; ok {
		return k
	}
	k := c.temporary(v, c.Values[v].Channels)
	bound := slices.Repeat([]float32{c.skip}, c.Values[v].Channels)
	skip := newLight(Elementwise, len(bound), v, k)
	skip.Point = Point{Kind: Skip, Scale: None, Rest: c.vector(bound)}
	c.emit(skip)
	c.skipped[v] = k
	return k
}

// lstm adds a recurrent layer: the first state, and then for every frame the gates, as one product
// of the frame and the state, and the cells.
func (c *compiler) lstm(n *netruntime.Node, in []int, out int) {
	wx, wh, bias := c.data(n, "weight"), c.data(n, "recurrent"), c.data(n, "bias")
	h, cell := out+1, out+2
	inputs, units := c.Values[in[0]].Channels, c.Values[out].Channels
	f := c.form
	if len(wx)+len(wh) < netruntime.HeavyWeights {
		f = c.small
	}
	gates := c.temporary(h, 4*units)
	op := newLight(Zero, units, h, h)
	for i, v := range []int{h, cell} {
		first := op
		if first.Out = c.read(v); len(in) == 3 {
			first.Kind, first.X = Copy, in[1+i]
		}
		c.emit(first)
	}
	x := Matrix{Taps: 1, Channels: inputs, columns: 4 * units, at: func(_, i, o int) float32 { return wx[o*inputs+i] }}
	state := Matrix{Taps: 1, Channels: units, columns: 4 * units, at: func(_, i, o int) float32 { return wh[o*units+i] }}
	p := &Product{
		Form: f, Segments: 2, N: 4 * units, Omega: -1, Out: c.read(gates),
		Sources: []Source{{c.operand(in[0], f), x, true}, {c.operand(h, f), state, false}},
		Bias:    c.padded(bias, 2*RoundUp(4*units, TileColumns)),
	}
	c.rightSide(p, []Matrix{x, state}, wx, wh)
	for i := range p.Sources {
		p.Sources[i].Part.at = nil // it holds the weights
	}
	update, write := op, op
	update.Kind, update.X, update.X2, update.Out = LSTM, gates, cell, h
	write.Kind, write.X, write.Out, write.Frame = Copy, h, out, true
	c.Launches = append(c.Launches, Launch{Product: p, Chain: []Light{update, write}, Rows: h, Loop: &Loop{Frames: in[0], Reverse: n.Reverse}})
	// Products may read the last c: its operands are written from the last cells.
	last := op
	last.Kind, last.X, last.Out, last.Copies = Copy, cell, cell, true
	c.Launches = append(c.Launches, Launch{Chain: []Light{last}, Rows: cell})
}
