package netruntime

import (
	"slices"

	"mannequin/netruntime/internal/kernel"
)

// plan is a network laid out for one family of kernels. It is immutable, and
// all sessions that ask for the same share it.
type plan struct {
	values  []place
	ops     []op
	groups  []group
	buffers int     // how many the sessions have
	shared  [][]int // values by buffer
	inputs  []int
	outputs []int
	omega   int  // value of the gating weights, or −1
	gates   int  // most gates of a sequence that an LSTM step has at once
	steps   int  // and most channels of its operand
	scratch int  // most floats of a row of a blend's operand or result
	filters bool // it has some
	bf16    bool
	kernel  string // what the products run on
	reuse   span   // rows of a sequence that share a pass over the heavy weights
}

type planKey struct {
	kind kernel.Kind
	bf16 bool
}

// place is where a value lives during a run. A value's sequences follow each
// other, each with frames of zeros before and after it where a convolution
// reads it: the W frames that it sees at a frame are then contiguous.
type place struct {
	channels    int
	span        span
	lead, trail int // frames of zeros
	half        bool
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

// op is a step of the plan. It computes a rectangle of a grid: rows are frames
// of the block's sequences, columns are parts of the result's channels.
type op interface {
	// grid returns the value whose frames are the rows, and the number of
	// parts, 1 where the columns cannot be shared out.
	grid() (rows, parts int)
	// run computes rows [r0, r1) and parts [p0, p1). Where the values are
	// stored does not matter to an element's bits, nor does the rectangle. An
	// operation by blocks of frames computes the blocks that begin in the rows.
	run(t *task, r0, r1, p0, p1 int)
	// uses lists the values that are read and written.
	uses() (in, out []int)
	// local says that a row reads nothing but the same row of its operands.
	local() bool
	// heavy says that the weights are worth sharing out among the workers.
	heavy() bool
}

// group is a run of operations between two barriers of a small batch: a heavy
// one alone, or light ones in a chain that take the same rows.
type group struct {
	ops   []op
	heavy bool
}

// HeavyWeights is from how many weights on a product is shared out by columns
// in small batches, and multiplied in bfloat16 where that is asked for. Below,
// a barrier or a conversion costs more than it saves, and what small products
// compute is often a gate, which all else depends on.
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

// only returns the single node that reads value v, or nil where there are more
// or none, or v is an output.
func (c *compiler) only(v int) *boundNode {
	if len(c.reads[v]) == 1 && !c.isOut[v] {
		return c.reads[v][0]
	}
	return nil
}

// data returns the tensor of a node's role.
func (c *compiler) data(n *boundNode, role string) []float32 { return c.net.data(n.Tensor(role)) }

// lower adds the operations of one node.
func (c *compiler) lower(n *boundNode) {
	in := n.in[0]
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
		c.ops = append(c.ops, &depool{in: in, out: n.out, factor: n.Times()})
	case OpMaxPool:
		c.ops = append(c.ops, &maxPool{in: in, out: n.out})
	case OpSoftmax:
		c.ops = append(c.ops, &softmaxOp{in: in, out: n.out})
	case OpConcat:
		c.ops = append(c.ops, &concat{in: n.in, out: n.out, widths: c.widths(n.in)})
	case OpSelect:
		c.ops = append(c.ops, &selectOp{in: in, out: n.out, columns: n.Columns})
	case OpAdd:
		c.ops = append(c.ops, &add{in: n.in, out: n.out})
	default:
		e, out := c.elementwise(n)
		c.ops = append(c.ops, &pointwise{in: in, out: out, do: e})
	}
}

func (c *compiler) widths(values []int) []int {
	out := make([]int, len(values))
	for i, v := range values {
		out[i] = c.values[v].channels
	}
	return out
}

// elementwise takes n and the elementwise nodes that alone read what it
// computes, one after the other, and returns them with the last one's value.
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

// gating finds the value that all blends take their weights from.
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

// store decides where the values live, and adds the copies that this takes.
func (c *compiler) store() {
	var loads []op
	for i, v := range c.inputs {
		p := &c.values[v]
		if p.lead+p.trail > 0 || p.half || v == c.omega {
			loads = append(loads, &copyOp{in: c.extra(v, input, i), out: v})
		} else {
			p.at, p.index = input, i
		}
	}
	c.ops = append(loads, c.ops...)
	for i, v := range c.outputs {
		p := &c.values[v]
		if p.at == input || p.lead+p.trail > 0 || v < len(c.inputs) || v == c.omega {
			c.ops = append(c.ops, &copyOp{in: v, out: c.extra(v, output, i)})
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

// share gives every value in buffers one of them, such that no two values are
// in one buffer between the group that writes the first and the last group
// that reads it.
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
	var width []int // by buffer: of its widest value, per frame of the run
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
