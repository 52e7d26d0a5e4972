package recipes

import (
	"math"
	"slices"

	"mannequin/animsys/strnn"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
)

// fcLayer is a fully connected layer. If it has gamma, an ELU, dropout and batch normalisation
// follow it.
type fcLayer struct {
	name                        string
	w, b                        *grad.Param
	gamma, beta, mean, variance *grad.Param // mean and variance are running statistics
}

func newFC(name string, in, out int, seed uint64) *fcLayer {
	l := newLinear(name, in, out, seed)
	l.gamma, l.beta = grad.NewParam(name+".norm.gamma", 1, out), grad.NewParam(name+".norm.beta", 1, out)
	l.mean, l.variance = grad.NewParam(name+".norm.mean", 1, out), grad.NewParam(name+".norm.var", 1, out)
	for i := range l.gamma.Val {
		l.gamma.Val[i], l.variance.Val[i] = 1, 1
	}
	l.mean.Frozen, l.variance.Frozen = true, true
	return l
}

// newLinear returns a layer without activation and normalisation.
func newLinear(name string, in, out int, seed uint64) *fcLayer {
	l := &fcLayer{name: name, w: grad.NewParam(name+".weight", out, in), b: grad.NewParam(name+".bias", 1, out)}
	uniform(l.w.Val, math.Sqrt(6/float64(in+out)), seed)
	return l
}

func (l *fcLayer) params() []*grad.Param {
	if l.gamma == nil {
		return []*grad.Param{l.w, l.b}
	}
	return []*grad.Param{l.w, l.b, l.gamma, l.beta, l.mean, l.variance}
}

func (l *fcLayer) forward(t *grad.Tape, x *grad.Mat, s *strnnPass) *grad.Mat {
	x = t.Dense(x, l.w, l.b)
	if l.gamma == nil {
		return x
	}
	s.drops++
	x = t.Dropout(t.ELU(x), s.keep, grad.Hash(s.key, uint64(s.drops)))
	return t.BatchNorm(x, l.gamma, l.beta, &grad.BatchStats{Mean: l.mean.Val, Var: l.variance.Val, Momentum: 0.1}, s.train)
}

// strnnPass holds the options of a pass through the network.
type strnnPass struct {
	train bool // batch normalisation uses the batch's statistics
	keep  float32
	key   uint64
	drops int // dropout layers so far
}

type lstmWeight struct{ wx, wh, b *grad.Param }

func newLSTM(name string, in, units int, seed uint64) *lstmWeight {
	l := &lstmWeight{grad.NewParam(name+".weight", 4*units, in), grad.NewParam(name+".recurrent", 4*units, units),
		grad.NewParam(name+".bias", 1, 4*units)}
	uniform(l.wx.Val, math.Sqrt(6/float64(in+units)), grad.Hash(seed, 1))
	uniform(l.wh.Val, math.Sqrt(3/float64(units)), grad.Hash(seed, 2))
	for i := units; i < 2*units; i++ {
		l.b.Val[i] = 1 // the forget gates are open at first
	}
	return l
}

func (l *lstmWeight) params() []*grad.Param { return []*grad.Param{l.wx, l.wh, l.b} }

// gaussianLayers predict a normal distribution: a hidden layer, means, logarithms of variances.
type gaussianLayers [3]*fcLayer

func newGaussian(name string, in, values int, seed uint64) gaussianLayers {
	const units = 256
	return gaussianLayers{newLinear(name, in, units, grad.Hash(seed, 1)),
		newLinear(name+".mean", units, values, grad.Hash(seed, 2)), newLinear(name+".logvar", units, values, grad.Hash(seed, 3))}
}

func (g gaussianLayers) forward(t *grad.Tape, x *grad.Mat) (mean, logVar *grad.Mat) {
	x = t.ELU(t.Dense(x, g[0].w, g[0].b))
	return t.Dense(x, g[1].w, g[1].b), t.Dense(x, g[2].w, g[2].b)
}

// paramsOf returns the parameters of layers in their order.
func paramsOf[L interface{ params() []*grad.Param }](layers ...L) (out []*grad.Param) {
	for _, l := range layers {
		out = append(out, l.params()...)
	}
	return out
}

// rowTensors returns dense weights as a model file holds them; biases have one dimension.
func rowTensors(params []*grad.Param, weights [][]float32) (out []netruntime.Tensor) {
	for i, p := range params {
		shape := []int{p.Rows, p.Cols}
		if p.Rows == 1 {
			shape = shape[1:]
		}
		out = append(out, netruntime.Tensor{Name: p.Name, Shape: shape, Data: weights[i]})
	}
	return out
}

// strnnNet is the trainable form of the spatio-temporal recurrent network. Without a spatial
// network, frames enter the temporal network directly and leave it through a linear layer.
type strnnNet struct {
	groups  *strnn.Groups
	units   int
	columns int
	encode  []*fcLayer     // L1: arms, legs, spine; L2: arms, legs with the spine; L3: upper, lower; L4
	decode  []*fcLayer     // L3, L2, L1, and the columns of each group
	out     *fcLayer       // without spatial network: to the columns
	lstm    [3]*lstmWeight // encoder, decoder, predictor
	filter  convNet        // removes noise from predicted frames; nil: there is none

	latents   int            // values that select one of the possible continuations; 0: none
	prior     gaussianLayers // the latent values from the encoder's state and the manner's code
	posterior gaussianLayers // the latent values from these and the frames that followed

	manners int      // values of a manner's code; 0: none
	manner  *fcLayer // the code from the manner
}

// mannerStats are the tensors by which manners are normalised.
var mannerStats = [2]string{"manner.mean", "manner.std"}

// strnnSizes are the units of the four spatial layers (sec. 4.1.1).
var strnnSizes = [4]int{64, 128, 256, 512}

// strnnParts names the parts of the body in the order of the layers.
var strnnParts = []string{"left-arm", "right-arm", "left-leg", "right-leg", "spine"}

// newSTRNN returns the network of m; the seed draws its weights.
func newSTRNN(m *STRNN, g *strnn.Groups, columns int, seed uint64) *strnnNet {
	units := m.Units
	n := &strnnNet{groups: g, units: units, columns: columns, latents: m.Latent, manners: m.Manner}
	in := columns
	if m.Spatial {
		in = strnnSizes[3]
		n.newSpatial(seed)
	} else {
		n.out = newLinear("out", units, columns, grad.Hash(seed, 14))
	}
	base := 0
	if m.Linear {
		base = columns
	}
	n.lstm[0] = newLSTM("encoder", in, units, grad.Hash(seed, 11))
	n.lstm[1] = newLSTM("decoder", 1+base, units, grad.Hash(seed, 12))
	n.lstm[2] = newLSTM("predictor", max(1, n.latents+n.manners)+base, units, grad.Hash(seed, 13))
	if n.manners > 0 {
		n.manner = newLinear(strnn.ValueCode, 2*columns, n.manners, grad.Hash(seed, 18))
	}
	if n.latents > 0 {
		n.prior = newGaussian(strnn.ValuePrior, units+n.manners, n.latents, grad.Hash(seed, 16))
		n.posterior = newGaussian("way", units+n.manners+m.Predict*columns, n.latents, grad.Hash(seed, 17))
		for _, l := range n.posterior[1:] { // at first it is the prior
			clear(l.w.Val)
		}
	}
	if m.Filter {
		k := m.FilterUnits
		n.filter = newConvNet([]int{columns, k, k, k, columns}, []int{5, 1, 1, 5}, grad.Hash(seed, 15)).named("filter")
		clear(n.filter[3].w.Val) // at first it changes nothing
	}
	return n
}

// newSpatial makes the layers of the spatial encoder and decoder.
func (n *strnnNet) newSpatial(seed uint64) {
	s, parts, made := strnnSizes, n.parts(), uint64(20)
	add := func(layers *[]*fcLayer, make func(name string, in, out int, seed uint64) *fcLayer, name string, in, out int) {
		made++
		*layers = append(*layers, make(name, in, out, grad.Hash(seed, made)))
	}
	for i, name := range strnnParts {
		add(&n.encode, newFC, "encode.1."+name, len(parts[i]), s[0])
	}
	for _, name := range strnnParts[:4] {
		add(&n.encode, newFC, "encode.2."+name, 2*s[0], s[1])
	}
	for _, name := range []string{"upper", "lower"} {
		add(&n.encode, newFC, "encode.3."+name, 2*s[1], s[2])
	}
	add(&n.encode, newFC, "encode.4", 2*s[2]+len(n.groups.Root)+len(n.groups.Contacts), s[3])
	for _, name := range []string{"upper", "lower"} {
		add(&n.decode, newFC, "decode.3."+name, n.units, s[2])
	}
	for _, name := range strnnParts[:4] {
		add(&n.decode, newFC, "decode.2."+name, s[2], s[1])
	}
	for i, name := range strnnParts {
		in := s[1]
		if i == 4 {
			in = 4 * s[1]
		}
		add(&n.decode, newFC, "decode.1."+name, in, s[0])
	}
	for i, name := range strnnParts {
		add(&n.decode, newLinear, "decode.0."+name, s[0], len(parts[i]))
	}
	add(&n.decode, newLinear, "decode.0.root", n.units, len(n.groups.Root))
	add(&n.decode, newLinear, "decode.0.contacts", n.units, len(n.groups.Contacts))
}

// parts returns the columns of each part of the body.
func (n *strnnNet) parts() [][]int {
	g := n.groups
	return [][]int{g.Arms[0], g.Arms[1], g.Legs[0], g.Legs[1], g.Spine}
}

func (n *strnnNet) params() []*grad.Param {
	out := append(n.temporal(), n.filter.params()...)
	if n.latents > 0 {
		out = append(out, paramsOf(n.posterior[:]...)...)
	}
	return out
}

// temporal returns the first parameters of params: all except the filter's and the posterior's.
func (n *strnnNet) temporal() []*grad.Param {
	out := paramsOf(slices.Concat(n.encode, n.decode)...)
	if n.out != nil {
		out = append(out, n.out.params()...)
	}
	out = append(out, paramsOf(n.lstm[:]...)...)
	if n.latents > 0 {
		out = append(out, paramsOf(n.prior[:]...)...)
	}
	if n.manners > 0 {
		out = append(out, n.manner.params()...)
	}
	return out
}

// ahead returns the parameters that only predicted frames depend on.
func (n *strnnNet) ahead() []*grad.Param {
	out := n.lstm[2].params()
	if n.latents > 0 {
		out = append(out, paramsOf(slices.Concat(n.prior[:], n.posterior[:])...)...)
	}
	if n.manners > 0 {
		out = append(out, n.manner.params()...)
	}
	return out
}

// tensors returns weights, in the order of params, as a model file holds them. The posterior is
// left out: only training needs it.
func (n *strnnNet) tensors(weights [][]float32) []netruntime.Tensor {
	temporal := n.temporal()
	return append(rowTensors(temporal, weights), n.filter.tensors(weights[len(temporal):][:2*len(n.filter)])...)
}

// spatialOps are the operations of the spatial network: on a tape for training, or as nodes of a
// model file. The names are the names of the nodes.
type spatialOps[V any] struct {
	layer  func(l *fcLayer, x V) V
	gather func(name string, x V, columns []int) V
	concat func(name string, x ...V) V
}

// tapeOps returns the operations on a tape.
func tapeOps(t *grad.Tape, s *strnnPass) spatialOps[*grad.Mat] {
	return spatialOps[*grad.Mat]{
		layer:  func(l *fcLayer, x *grad.Mat) *grad.Mat { return l.forward(t, x, s) },
		gather: func(_ string, x *grad.Mat, columns []int) *grad.Mat { return t.Gather(x, columns) },
		concat: func(_ string, x ...*grad.Mat) *grad.Mat { return t.Concat(x...) },
	}
}

// encodeSpatial returns the spatial encoder's value of frames x.
func encodeSpatial[V any](n *strnnNet, x V, o spatialOps[V]) V {
	e := n.encode
	if e == nil {
		return x
	}
	var one [5]V
	var two [4]V
	for i, part := range n.parts() {
		one[i] = o.layer(e[i], o.gather("see."+strnnParts[i], x, part))
	}
	for i := range two {
		two[i] = o.layer(e[5+i], o.concat("join.2."+strnnParts[i], one[i], one[4]))
	}
	upper := o.layer(e[9], o.concat("join.3.upper", two[0], two[1]))
	lower := o.layer(e[10], o.concat("join.3.lower", two[2], two[3]))
	root, contacts := o.gather("see.root", x, n.groups.Root), o.gather("see.contacts", x, n.groups.Contacts)
	return o.layer(e[11], o.concat("join.4", upper, lower, root, contacts))
}

// decodeSpatial returns the frames of the temporal network's units h.
func decodeSpatial[V any](n *strnnNet, h V, o spatialOps[V]) V {
	d := n.decode
	if d == nil {
		return o.layer(n.out, h)
	}
	upper, lower := o.layer(d[0], h), o.layer(d[1], h)
	var two [4]V
	for i, from := range []V{upper, upper, lower, lower} {
		two[i] = o.layer(d[2+i], from)
	}
	from := append(two[:], o.concat("spine", two[:]...))
	var parts []V
	var columns []int
	for i, part := range n.parts() {
		parts = append(parts, o.layer(d[11+i], o.layer(d[6+i], from[i])))
		columns = append(columns, part...)
	}
	parts = append(parts, o.layer(d[16], h), o.layer(d[17], h))
	columns = slices.Concat(columns, n.groups.Root, n.groups.Contacts)
	order := make([]int, n.columns) // index in parts of each column
	for i, c := range columns {
		order[c] = i
	}
	return o.gather("columns", o.concat("parts", parts...), order)
}

// state returns the state of the temporal network, (batch, units) each, after the frames of x,
// (batch·length, columns) normalised.
func (n *strnnNet) state(t *grad.Tape, x *grad.Mat, length int, s *strnnPass) (h, c *grad.Mat) {
	e := n.lstm[0]
	_, h, c = t.LSTM(encodeSpatial(n, x, tapeOps(t, s)), length, e.wx, e.wh, e.b, nil, nil, false)
	return h, c
}

// frames returns the frames of the temporal network's units h.
func (n *strnnNet) frames(t *grad.Tape, h *grad.Mat, s *strnnPass) *grad.Mat {
	return decodeSpatial(n, h, tapeOps(t, s))
}

// before returns the temporal network's units for the length frames that led to a state. base,
// (batch·length, columns) normalised, are these frames by linear filters; nil: there are none.
func (n *strnnNet) before(t *grad.Tape, h, c, base *grad.Mat, length int) *grad.Mat {
	d, clock := n.lstm[1], t.Const(h.Rows*length, 1)
	clear(clock.Val)
	y, _, _ := t.LSTM(beside(t, clock, base), length, d.wx, d.wh, d.b, h, c, true)
	return y
}

// after returns the temporal network's units for the length frames that follow a state. z,
// (batch, latents+manners), are the latent values and the manner's code, and base the frames by
// linear filters; both may be nil.
func (n *strnnNet) after(t *grad.Tape, h, c, z, base *grad.Mat, length int) *grad.Mat {
	if z == nil {
		z = t.Const(h.Rows, 1)
		clear(z.Val)
	}
	p := n.lstm[2]
	y, _, _ := t.LSTM(beside(t, t.Join(h.Rows, slices.Repeat([]*grad.Mat{z}, length)...), base), length, p.wx, p.wh, p.b, h, c, false)
	return y
}

// beside returns x and y beside each other; y may be nil.
func beside(t *grad.Tape, x, y *grad.Mat) *grad.Mat {
	if y == nil {
		return x
	}
	return t.Concat(x, y)
}

// posteriorOf returns the distribution of the latent values with which frames, (batch·length,
// columns), follow a state and a code, both in h: what to add to the prior's mean and logarithm of
// the variance, (batch, latents) each.
func (n *strnnNet) posteriorOf(t *grad.Tape, h, frames *grad.Mat) (mean, logVar *grad.Mat) {
	return n.posterior.forward(t, t.Concat(h, t.Reshape(frames, h.Rows, len(frames.Val)/h.Rows)))
}

// code returns the codes of manners, (batch, 2·columns) normalised.
func (n *strnnNet) code(t *grad.Tape, manner *grad.Mat) *grad.Mat {
	return t.Tanh(t.Dense(manner, n.manner.w, n.manner.b))
}

// filtered returns the frames x, (batch·length, columns) normalised, after the filter.
func (n *strnnNet) filtered(t *grad.Tape, x *grad.Mat, length int) *grad.Mat {
	y := x
	for l, c := range n.filter {
		if l > 0 {
			y = t.ELU(y)
		}
		y = t.Conv(y, length, c.w, c.b, c.width, false)
	}
	return t.Add(x, y)
}

// graph returns the graph of a model file; see the values of package strnn. With a linear filter,
// the frames before and after are differences from its frames.
func (n *strnnNet) graph(linear *strnn.Linear) *netruntime.Graph {
	g := &netruntime.Graph{}
	input := func(name string, channels int) {
		g.Inputs = append(g.Inputs, netruntime.Input{Name: name, Channels: channels})
	}
	add := func(n netruntime.Node) string {
		g.Nodes = append(g.Nodes, n)
		return n.Name
	}
	output := func(name, op, from string, tensors map[string]string) {
		g.Outputs = append(g.Outputs, add(netruntime.Node{Name: name, Op: op, In: []string{from}, Tensors: tensors}))
	}
	normalised := func(name, from string) string {
		return add(netruntime.Node{Name: name, Op: netruntime.OpNormalize, In: []string{from}, Tensors: ownStats})
	}
	concat := func(name string, in ...string) string { return add(node(name, netruntime.OpConcat, in...)) }
	ops := func(prefix string) spatialOps[string] {
		return spatialOps[string]{
			layer: func(l *fcLayer, in string) string {
				dense := node(prefix+l.name, netruntime.OpDense, in)
				dense.Tensors = map[string]string{"weight": l.w.Name, "bias": l.b.Name}
				if l.gamma == nil {
					return add(dense)
				}
				dense.Act = "elu"
				norm := node(dense.Name+".norm", netruntime.OpBatchNorm, add(dense))
				norm.Tensors = map[string]string{"gamma": l.gamma.Name, "beta": l.beta.Name, "mean": l.mean.Name, "var": l.variance.Name}
				return add(norm)
			},
			gather: func(name string, in string, columns []int) string {
				return add(netruntime.Node{Name: prefix + name, Op: netruntime.OpSelect, In: []string{in}, Columns: columns})
			},
			concat: func(name string, in ...string) string { return concat(prefix+name, in...) },
		}
	}
	input(strnn.ValueX, n.columns)
	input(strnn.ValueClock, 1)
	input(strnn.ValueLatent, max(1, n.latents+n.manners))
	add(node("encoder", netruntime.OpLSTM, encodeSpatial(n, normalised("normalised", strnn.ValueX), ops(""))))
	raw := ownStats
	if linear != nil {
		raw = map[string]string{"mean": "none", "std": "std"}
		input(strnn.ValueBase, n.columns)
		normalised("base.normalised", strnn.ValueBase)
	}
	for i, name := range []string{"decoder", "predictor"} {
		in := []string{strnn.ValueClock, strnn.ValueLatent}[i]
		if linear != nil {
			in = concat(name+".in", in, "base.normalised")
		}
		lstm := node(name, netruntime.OpLSTM, in, "encoder.h", "encoder.c")
		lstm.Reverse = i == 0
		y := decodeSpatial(n, add(lstm), ops(name+"."))
		output([]string{strnn.ValueBefore, strnn.ValueAfter}[i], netruntime.OpDenormalize, y, raw)
	}
	if n.latents > 0 {
		input(strnn.ValueH, n.units+n.manners)
		add(netruntime.Node{Name: strnn.ValuePrior, Op: netruntime.OpDense, In: []string{strnn.ValueH}, Act: "elu"})
		output(strnn.ValueMean, netruntime.OpDense, strnn.ValuePrior, nil)
		output(strnn.ValueLogVar, netruntime.OpDense, strnn.ValuePrior, nil)
	}
	if n.manners > 0 {
		input(strnn.ValueManner, 2*n.columns)
		add(netruntime.Node{Name: "manner.normalised", Op: netruntime.OpNormalize, In: []string{strnn.ValueManner},
			Tensors: map[string]string{"mean": mannerStats[0], "std": mannerStats[1]}})
		output(strnn.ValueCode, netruntime.OpDense, "manner.normalised", nil)
		g.Nodes[len(g.Nodes)-1].Act = "tanh"
	}
	if linear != nil {
		input(strnn.ValuePast, linear.Encode)
		output(strnn.ValueLinear, netruntime.OpDense, strnn.ValuePast, nil)
	}
	if n.filter != nil {
		input(strnn.ValueZ, n.columns)
		z := normalised("noisy", strnn.ValueZ)
		g.Nodes = append(g.Nodes, n.filter.nodes(z, "elu", "")...)
		output(strnn.ValueFiltered, netruntime.OpDenormalize, add(node("sum", netruntime.OpAdd, z, n.filter.last())), ownStats)
	}
	return g
}
