package netruntime

import (
	"slices"

	"mannequin/netruntime/internal/kernel"
)

// plan is a network laid out for one family of kernels. It is immutable, and sessions with the same
// options share it.
type plan struct {
	values  []place
	ops     []op
	groups  []group
	buffers int     // number of buffers that a session has
	shared  [][]int // values by buffer
	inputs  []int
	outputs []int
	omega   int  // value of the gating weights, or −1
	gates   int  // most gates of a sequence that an LSTM step holds at once
	steps   int  // and most channels of its operand
	scratch int  // most floats of a row of a blend's operand or result
	filters bool // some product is a filter
	bf16    bool
	kernel  string // name of the products' kernels
	reuse   span   // rows of a sequence that share a pass over the heavy weights
}

type planKey struct {
	kind kernel.Kind
	bf16 bool
}

// place is the place of a value in memory during a run. A value's sequences follow each other. If a
// convolution reads it, each has frames of zeros before and after it, so that the W frames of a
// window are contiguous.
type place struct {
	channels    int
	span        span
	lead, trail int  // frames of zeros
	half        bool // also kept in bfloat16
	at          storage
	index       int // of the buffer, input or output
}

type storage uint8

const (
	nowhere storage = iota // computed into its consumer
	buffer                 // a block of sequences at a time, in a buffer that several values may share
	input                  // the caller's
	output                 // the caller's
	whole                  // all sequences, in memory of the session
)

// op is an operation of the plan. It computes a rectangle of a grid: rows are frames of the block's
// sequences, columns are parts of the result's channels.
type op interface {
	// grid returns the value whose frames are the rows, and the number of parts, or 1 if the
	// workers cannot share the columns.
	grid() (rows, parts int)
	// run computes rows [r0, r1) and parts [p0, p1). An element's bits depend neither on where the
	// values are stored nor on the rectangle. An operation on blocks of frames computes the blocks
	// that begin in the rows.
	run(t *task, r0, r1, p0, p1 int)
	// uses returns the values that are read and written.
	uses() (in, out []int)
	// local reports whether a row reads only the same row of its operands.
	local() bool
	// heavy reports whether the workers should share the weights.
	heavy() bool
}

// group is a sequence of operations between two barriers of a small batch: one heavy operation, or
// a chain of light ones on the same rows.
type group struct {
	ops   []op
	heavy bool
}

// HeavyWeights is the least number of weights of a product that small batches share by columns, and
// that is computed in bfloat16 on request. For smaller products a barrier or a conversion costs
// more than it saves. Also, small products often compute gates, on which everything else depends.
const HeavyWeights = 1 << 15

// compiler turns a graph into a plan.
type compiler struct {
	*plan
	net      *Net
	key      planKey
	reads    [][]*boundNode // by value
	isOut    []bool
	fused    map[*boundNode]bool
	depooled map[int]*boundNode // depoolings that their convolutions include, by value
	planes   map[planesKey]int  // values
}

func compile(net *Net, key planKey) *plan {
	b := net.bound
	c := &compiler{
		plan: &plan{values: make([]place, len(b.values)), omega: -1, bf16: key.bf16, kernel: key.kind.String()},
		net:  net, key: key, reads: make([][]*boundNode, len(b.values)), isOut: make([]bool, len(b.values)),
		fused: map[*boundNode]bool{}, depooled: map[int]*boundNode{}, planes: map[planesKey]int{},
	}
	if key.bf16 {
		c.kernel += "_bf16"
	}
	for i, v := range b.values {
		c.values[i] = place{channels: v.Channels, span: v.span}
	}
	for i := range b.graph.Inputs {
		c.inputs = append(c.inputs, i)
	}
	for i := range b.nodes {
		for _, in := range b.nodes[i].in {
			c.reads[in] = append(c.reads[in], &b.nodes[i])
		}
	}
	for _, name := range b.graph.Outputs {
		v := b.index[name]
		c.outputs, c.isOut[v] = append(c.outputs, v), true
	}
	for i := range b.nodes {
		if n := &b.nodes[i]; !c.fused[n] {
			c.lower(n)
		}
	}
	c.gating()
	c.store()
	c.chain()
	c.share()
	return c.plan
}

// only returns the single node that reads value v. It returns nil if there are none or several, or
// if v is an output.
func (c *compiler) only(v int) *boundNode {
	if len(c.reads[v]) == 1 && !c.isOut[v] {
		return c.reads[v][0]
	}
	return nil
}

// data returns the tensor of a node for a role.
func (c *compiler) data(n *boundNode, role string) []float32 { return c.net.data(n.Tensor(role)) }

// lower adds the operations of one node.
func (c *compiler) lower(n *boundNode) {
	in := rowwise{n.in, n.out}
	switch n.Op {
	case OpDense, OpBlend, OpConv:
		c.product(n)
	case OpLSTM:
		c.lstm(n)
	case OpDepool:
		if !c.isOut[n.out] && len(c.reads[n.out]) > 0 &&
			!slices.ContainsFunc(c.reads[n.out], func(r *boundNode) bool { return r.Op != OpConv }) {
			c.depooled[n.out] = n
			return
		}
		c.ops = append(c.ops, &depool{in, n.Times()})
	case OpMaxPool:
		c.ops = append(c.ops, &maxPool{in})
	case OpSoftmax:
		c.ops = append(c.ops, &softmaxOp{in})
	case OpConcat:
		c.ops = append(c.ops, &concat{in})
	case OpSelect:
		c.ops = append(c.ops, &selectOp{in, n.Columns})
	case OpAdd:
		c.ops = append(c.ops, &add{in})
	default:
		e, out := c.elementwise(n)
		c.ops = append(c.ops, &pointwise{rowwise{n.in, out}, e})
	}
}

// elementwise collects n and the elementwise nodes that follow it, as long as each is the only
// reader of the one before. It returns their functions and the last one's value.
func (c *compiler) elementwise(n *boundNode) (do []pointFunc, out int) {
	for n != nil && isElementwise(n.Op) {
		c.fused[n] = true
		do = append(do, c.pointFunc(n)...)
		out = n.out
		n = c.only(out)
	}
	return do, out
}

func isElementwise(op string) bool {
	return op == OpAct || op == OpBatchNorm || op == OpNormalize || op == OpDenormalize
}

// gating sets omega to the value from which all blends take their weights.
func (c *compiler) gating() {
	for i := range c.net.bound.nodes {
		n := &c.net.bound.nodes[i]
		switch {
		case n.Op != OpBlend:
		case c.omega >= 0 && c.omega != n.in[1]:
			c.omega = -1
			return
		default:
			c.omega = n.in[1]
		}
	}
}

// store chooses the place of each value, and adds the copies that this needs.
func (c *compiler) store() {
	var loads []op
	for i, v := range c.inputs {
		p := &c.values[v]
		if p.lead+p.trail > 0 || p.half || v == c.omega {
			loads = append(loads, &copyOp{rowwise{[]int{c.extra(v, input, i)}, v}})
		} else {
			p.at, p.index = input, i
		}
	}
	c.ops = append(loads, c.ops...)
	for i, v := range c.outputs {
		p := &c.values[v]
		if p.at == input || p.lead+p.trail > 0 || v < len(c.inputs) || v == c.omega {
			c.ops = append(c.ops, &copyOp{rowwise{[]int{v}, c.extra(v, output, i)}})
		} else {
			p.at, p.index = output, i
		}
	}
	for _, o := range c.ops {
		in, out := o.uses()
		for _, v := range slices.Concat(in, out) {
			if p := &c.values[v]; p.at == nowhere {
				p.at = buffer
			}
		}
	}
	if c.omega >= 0 {
		c.values[c.omega].at = whole
	}
}

// extra adds a value of v's shape, without padding, in the caller's memory.
func (c *compiler) extra(v int, at storage, index int) int {
	p := c.values[v]
	c.values = append(c.values, place{channels: p.channels, span: p.span, at: at, index: index})
	return len(c.values) - 1
}

// chain groups the operations.
func (c *compiler) chain() {
	heavy := false
	var written []int // by the current chain
	for _, o := range c.ops {
		rows, _ := o.grid()
		in, out := o.uses()
		if o.heavy() {
			c.groups = append(c.groups, group{[]op{o}, true})
			if s := c.values[rows].span; !heavy || s.once || !c.reuse.once && s.shorter(c.reuse) {
				c.reuse = s
			}
			if _, ok := o.(*lstm); ok {
				c.reuse = single
			}
			heavy = true
			continue
		}
		joins := false
		if n := len(c.groups); n > 0 && !c.groups[n-1].heavy {
			first, _ := c.groups[n-1].ops[0].grid()
			joins = c.values[first].span == c.values[rows].span && !isSequential(c.groups[n-1].ops[0]) && !isSequential(o) &&
				(o.local() || !slices.ContainsFunc(in, func(v int) bool { return slices.Contains(written, v) }))
		}
		if !joins {
			c.groups, written = append(c.groups, group{}), nil
		}
		g := &c.groups[len(c.groups)-1]
		g.ops, written = append(g.ops, o), append(written, out...)
	}
	if !heavy {
		c.reuse = asRun
	}
}

// share assigns buffers to values. Two values share a buffer only if their uses do not overlap:
// from the group that writes a value to the last group that reads it.
func (c *compiler) share() {
	last := make([]int, len(c.values))
	for g, gr := range c.groups {
		for _, o := range gr.ops {
			in, out := o.uses()
			for _, v := range slices.Concat(in, out) {
				last[v] = g
			}
		}
	}
	var until []int // by buffer: the last group that uses it
	var width []int // by buffer: channels of its widest value, per frame of the run
	placed := make([]bool, len(c.values))
	for g, gr := range c.groups {
		for _, o := range gr.ops {
			_, out := o.uses()
			for _, v := range out {
				p := &c.values[v]
				if p.at != buffer || placed[v] {
					continue
				}
				placed[v] = true
				w := (p.channels << maxHalvings) * p.span.num / p.span.den
				best := -1
				for b := range until {
					if until[b] < g && (best < 0 || max(width[b]-w, w-width[b]) < max(width[best]-w, w-width[best])) {
						best = b
					}
				}
				if best < 0 {
					best, until, width = len(until), append(until, 0), append(width, 0)
				}
				p.index, until[best], width[best] = best, last[v], max(width[best], w)
			}
		}
	}
	c.buffers, c.shared = len(until), make([][]int, len(until))
	for v := range c.values {
		if p := &c.values[v]; p.at == buffer {
			c.shared[p.index] = append(c.shared[p.index], v)
		}
	}
}
