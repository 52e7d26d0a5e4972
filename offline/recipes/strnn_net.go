package recipes

import (
	"math"

	"mannequin/animsys/strnn"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
)

// fcLayer is a fully connected layer, rectified (ELU), with dropout and batch
// normalisation behind it where it has gamma.
type fcLayer struct {
	name                   string
	w, b                   *grad.Param
	gamma, beta, mean, dev *grad.Param // mean and dev are running statistics: of values, and variance
}

func newFC(name string, in, out int, seed uint64) fcLayer {
	l := newLinear(name, in, out, seed)
	l.gamma, l.beta = grad.NewParam(name+".norm.gamma", 1, out), grad.NewParam(name+".norm.beta", 1, out)
	l.mean, l.dev = grad.NewParam(name+".norm.mean", 1, out), grad.NewParam(name+".norm.var", 1, out)
	for i := range l.gamma.Val {
		l.gamma.Val[i], l.dev.Val[i] = 1, 1
	}
	l.mean.Frozen, l.dev.Frozen = true, true
	return l
}

// newLinear is newFC without activation and normalisation.
func newLinear(name string, in, out int, seed uint64) fcLayer {
	l := fcLayer{name: name, w: grad.NewParam(name+".weight", out, in), b: grad.NewParam(name+".bias", 1, out)}
	uniform(l.w.Val, math.Sqrt(6/float64(in+out)), seed)
	return l
}

func (l *fcLayer) params() []*grad.Param {
	if l.gamma == nil {
		return []*grad.Param{l.w, l.b}
	}
	return []*grad.Param{l.w, l.b, l.gamma, l.beta, l.mean, l.dev}
}

func (l *fcLayer) forward(t *grad.Tape, x *grad.Mat, s *strnnPass) *grad.Mat {
	x = t.Dense(x, l.w, l.b)
	if l.gamma == nil {
		return x
	}
	s.drops++
	x = t.Dropout(t.ELU(x), s.keep, grad.Hash(s.key, uint64(s.drops)))
	return t.BatchNorm(x, l.gamma, l.beta, &grad.BatchStats{Mean: l.mean.Val, Var: l.dev.Val, Momentum: 0.1}, s.train)
}

// strnnPass is what a pass through the network is for.
type strnnPass struct {
	train bool
	keep  float32
	key   uint64
	drops int
}

// strnnNet is the trainable form of the spatio-temporal recurrent network. Without
// spatial parts, frames go into the temporal network and come out of it through a
// linear layer.
type strnnNet struct {
	groups  *strnn.Groups
	units   int
	encode  []*fcLayer     // L1: arms, legs, spine; L2: arms, legs with the spine; L3: upper, lower; L4
	decode  []*fcLayer     // L3, L2, L1, and the columns of each group
	out     *fcLayer       // without spatial parts: to the columns
	lstm    [3]*lstmWeight // encoder, decoder, predictor
	filter  convNet        // what takes noise off frames that are made; nil: nothing does
	columns int

	latents int         // how many values say in which of the ways it may go on a motion does; 0: none
	prior   [3]*fcLayer // which are likely, from the encoder's state: hidden, means, logarithms of variances
	ways    [3]*fcLayer // which they were, from that state and the frames that came
}

// wayUnits are the hidden units of what tells latent values.
const wayUnits = 256

type lstmWeight struct{ wx, wh, b *grad.Param }

func newLSTM(name string, in, units int, seed uint64) *lstmWeight {
	l := &lstmWeight{grad.NewParam(name+".weight", 4*units, in), grad.NewParam(name+".recurrent", 4*units, units), grad.NewParam(name+".bias", 1, 4*units)}
	uniform(l.wx.Val, math.Sqrt(6/float64(in+units)), grad.Hash(seed, 1))
	uniform(l.wh.Val, math.Sqrt(3/float64(units)), grad.Hash(seed, 2))
	for i := units; i < 2*units; i++ {
		l.b.Val[i] = 1 // it remembers at first
	}
	return l
}

// newGaussian returns layers that tell a normal distribution of so many values.
func newGaussian(name string, in, values int, seed uint64) (g [3]*fcLayer) {
	for i, l := range []fcLayer{newLinear(name, in, wayUnits, grad.Hash(seed, 1)),
		newLinear(name+".mean", wayUnits, values, grad.Hash(seed, 2)), newLinear(name+".logvar", wayUnits, values, grad.Hash(seed, 3))} {
		g[i] = &l
	}
	return g
}

// gaussianOf returns the means and the logarithms of the variances.
func gaussianOf(t *grad.Tape, g [3]*fcLayer, x *grad.Mat) (mean, logVar *grad.Mat) {
	x = t.ELU(t.Dense(x, g[0].w, g[0].b))
	return t.Dense(x, g[1].w, g[1].b), t.Dense(x, g[2].w, g[2].b)
}

// Sizes of the four layers (sec. 4.1.1).
var strnnSizes = [4]int{64, 128, 256, 512}

// newSTRNN returns the network that m says, its weights drawn by the seed.
func newSTRNN(m *STRNN, g *strnn.Groups, columns int, seed uint64) *strnnNet {
	units := m.Units
	n := &strnnNet{groups: g, units: units, columns: columns, latents: m.Latent}
	in := columns
	if m.Spatial {
		s := strnnSizes
		made := uint64(20)
		fc := func(name string, in, out int) *fcLayer {
			made++
			l := newFC(name, in, out, grad.Hash(seed, made))
			return &l
		}
		linear := func(name string, in, out int) *fcLayer {
			made++
			l := newLinear(name, in, out, grad.Hash(seed, made))
			return &l
		}
		parts := n.parts()
		for i, name := range strnnParts {
			n.encode = append(n.encode, fc("encode.1."+name, len(parts[i]), s[0]))
		}
		for _, name := range strnnParts[:4] {
			n.encode = append(n.encode, fc("encode.2."+name, 2*s[0], s[1]))
		}
		for _, name := range []string{"upper", "lower"} {
			n.encode = append(n.encode, fc("encode.3."+name, 2*s[1], s[2]))
		}
		n.encode = append(n.encode, fc("encode.4", 2*s[2]+len(g.Root)+len(g.Contacts), s[3]))
		for _, name := range []string{"upper", "lower"} {
			n.decode = append(n.decode, fc("decode.3."+name, units, s[2]))
		}
		for _, name := range strnnParts[:4] {
			n.decode = append(n.decode, fc("decode.2."+name, s[2], s[1]))
		}
		for i, name := range strnnParts {
			in := s[1]
			if i == 4 {
				in = 4 * s[1]
			}
			n.decode = append(n.decode, fc("decode.1."+name, in, s[0]))
		}
		for i, name := range strnnParts {
			n.decode = append(n.decode, linear("decode.0."+name, s[0], len(parts[i])))
		}
		n.decode = append(n.decode, linear("decode.0.root", units, len(g.Root)), linear("decode.0.contacts", units, len(g.Contacts)))
		in = s[3]
	} else {
		l := newLinear("out", units, columns, grad.Hash(seed, 14))
		n.out = &l
	}
	base := 0
	if m.Linear {
		base = columns
	}
	n.lstm[0] = newLSTM("encoder", in, units, grad.Hash(seed, 11))
	n.lstm[1] = newLSTM("decoder", 1+base, units, grad.Hash(seed, 12))
	n.lstm[2] = newLSTM("predictor", max(1, n.latents)+base, units, grad.Hash(seed, 13))
	if n.latents > 0 {
		n.prior, n.ways = newGaussian(strnn.ValuePrior, units, n.latents, grad.Hash(seed, 16)), newGaussian("way", units+m.Predict*columns, n.latents, grad.Hash(seed, 17))
	}
	if m.Filter {
		n.filter = newConvNet([]int{columns, m.FilterUnits, m.FilterUnits, m.FilterUnits, columns}, []int{5, 1, 1, 5}, grad.Hash(seed, 15)).named("filter")
		clear(n.filter[3].w.Val) // it begins with none
	}
	return n
}

// strnnParts names the parts of a body in the order of the layers.
var strnnParts = []string{"left-arm", "right-arm", "left-leg", "right-leg", "spine"}

func (n *strnnNet) parts() [][]int {
	g := n.groups
	return [][]int{g.Arms[0], g.Arms[1], g.Legs[0], g.Legs[1], g.Spine}
}

func (n *strnnNet) params() (out []*grad.Param) {
	for _, l := range append(append([]*fcLayer{}, n.encode...), n.decode...) {
		out = append(out, l.params()...)
	}
	if n.out != nil {
		out = append(out, n.out.params()...)
	}
	for _, l := range n.lstm {
		out = append(out, l.wx, l.wh, l.b)
	}
	if n.latents > 0 {
		for _, l := range n.prior {
			out = append(out, l.params()...)
		}
	}
	out = append(out, n.filter.params()...)
	if n.latents > 0 {
		for _, l := range n.ways {
			out = append(out, l.params()...)
		}
	}
	return out
}

// filtered returns the frames x, (batch·length, columns) normalised, without the noise
// that the filter knows.
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

// latent returns what the spatial encoder makes of frames.
func (n *strnnNet) latent(t *grad.Tape, x *grad.Mat, s *strnnPass) *grad.Mat {
	if n.encode == nil {
		return x
	}
	e := n.encode
	var one, two [5]*grad.Mat
	for i, part := range n.parts() {
		one[i] = e[i].forward(t, t.Gather(x, part), s)
	}
	for i := range 4 {
		two[i] = e[5+i].forward(t, t.Concat(one[i], one[4]), s)
	}
	upper, lower := e[9].forward(t, t.Concat(two[0], two[1]), s), e[10].forward(t, t.Concat(two[2], two[3]), s)
	return e[11].forward(t, t.Concat(upper, lower, t.Gather(x, n.groups.Root), t.Gather(x, n.groups.Contacts)), s)
}

// frames returns the frames that the spatial decoder makes of the temporal network's
// units.
func (n *strnnNet) frames(t *grad.Tape, h *grad.Mat, s *strnnPass) *grad.Mat {
	if n.decode == nil {
		return n.out.forward(t, h, s)
	}
	d := n.decode
	upper, lower := d[0].forward(t, h, s), d[1].forward(t, h, s)
	var two [4]*grad.Mat
	for i, from := range []*grad.Mat{upper, upper, lower, lower} {
		two[i] = d[2+i].forward(t, from, s)
	}
	var parts []*grad.Mat
	var columns []int
	for i, part := range n.parts() {
		from := t.Concat(two[0], two[1], two[2], two[3])
		if i < 4 {
			from = two[i]
		}
		parts = append(parts, d[11+i].forward(t, d[6+i].forward(t, from, s), s))
		columns = append(columns, part...)
	}
	parts = append(parts, d[16].forward(t, h, s), d[17].forward(t, h, s))
	columns = append(append(columns, n.groups.Root...), n.groups.Contacts...)
	order := make([]int, n.columns) // where each column is
	for i, c := range columns {
		order[c] = i
	}
	return t.Gather(t.Concat(parts...), order)
}

// state returns the state of the temporal network, (batch, units) each, after the
// frames of x, (batch·length, columns) normalised.
func (n *strnnNet) state(t *grad.Tape, x *grad.Mat, length int, s *strnnPass) (h, c *grad.Mat) {
	e := n.lstm[0]
	_, h, c = t.LSTM(n.latent(t, x, s), length, e.wx, e.wh, e.b, nil, nil, false)
	return h, c
}

// before returns the temporal network's units for the length frames that led to a state.
// base, (batch·length, columns) normalised, is what linear filters say of them, nil
// where there are none.
func (n *strnnNet) before(t *grad.Tape, h, c, base *grad.Mat, length int) *grad.Mat {
	d, clock := n.lstm[1], t.Const(h.Rows*length, 1)
	clear(clock.Val)
	y, _, _ := t.LSTM(beside(t, clock, base), length, d.wx, d.wh, d.b, h, c, true)
	return y
}

// beside returns x and y beside each other; y may be nil.
func beside(t *grad.Tape, x, y *grad.Mat) *grad.Mat {
	if y == nil {
		return x
	}
	return t.Concat(x, y)
}

// after returns the temporal network's units for length frames that follow a state, in
// the way of z, (batch, latents); nil where there are none. base is as of before.
func (n *strnnNet) after(t *grad.Tape, h, c, z, base *grad.Mat, length int) *grad.Mat {
	if z == nil {
		z = t.Const(h.Rows, 1)
		clear(z.Val)
	}
	p, held := n.lstm[2], make([]*grad.Mat, length)
	for i := range held {
		held[i] = z
	}
	y, _, _ := t.LSTM(beside(t, t.Join(h.Rows, held...), base), length, p.wx, p.wh, p.b, h, c, false)
	return y
}

// likely returns the distribution of the latent values, mean and logarithm of variance,
// (batch, latents), after a state.
func (n *strnnNet) likely(t *grad.Tape, h *grad.Mat) (mean, logVar *grad.Mat) {
	return gaussianOf(t, n.prior, h)
}

// way returns the distribution of the latent values with which frames, (batch·length,
// columns), come after a state.
func (n *strnnNet) way(t *grad.Tape, h, frames *grad.Mat) (mean, logVar *grad.Mat) {
	return gaussianOf(t, n.ways, t.Concat(h, t.Reshape(frames, h.Rows, len(frames.Val)/h.Rows)))
}

// nodes returns the operations of a model file, and its inputs: see the values of
// package strnn. With a linear filter, before and after are differences.
func (n *strnnNet) nodes(linear *strnn.Linear) (inputs []netruntime.Input, nodes []netruntime.Node, outputs []string) {
	shared := map[string]string{"mean": "mean", "std": "std"}
	add := func(node netruntime.Node) string {
		nodes = append(nodes, node)
		return node.Name
	}
	layer := func(prefix string, l *fcLayer, in string) string {
		name, act := prefix+l.name, ""
		tensors := map[string]string{"weight": l.w.Name, "bias": l.b.Name}
		if l.gamma != nil {
			act = "elu"
		}
		name = add(netruntime.Node{Name: name, Op: netruntime.OpDense, In: []string{in}, Act: act, Tensors: tensors})
		if l.gamma == nil {
			return name
		}
		return add(netruntime.Node{Name: name + ".norm", Op: netruntime.OpBatchNorm, In: []string{name},
			Tensors: map[string]string{"gamma": l.gamma.Name, "beta": l.beta.Name, "mean": l.mean.Name, "var": l.dev.Name}})
	}
	concat := func(name string, in ...string) string {
		return add(netruntime.Node{Name: name, Op: netruntime.OpConcat, In: in})
	}
	inputs = []netruntime.Input{{Name: strnn.ValueX, Channels: n.columns}, {Name: strnn.ValueClock, Channels: 1}, {Name: strnn.ValueLatent, Channels: max(1, n.latents)}}
	latent := add(netruntime.Node{Name: "normalised", Op: netruntime.OpNormalize, In: []string{strnn.ValueX}, Tensors: shared})
	if e := n.encode; e != nil {
		pick := func(name string, columns []int) string {
			return add(netruntime.Node{Name: "see." + name, Op: netruntime.OpSelect, In: []string{"normalised"}, Columns: columns})
		}
		var one [5]string
		var two [4]string
		for i, part := range n.parts() {
			one[i] = layer("", e[i], pick(strnnParts[i], part))
		}
		for i := range two {
			two[i] = layer("", e[5+i], concat("join.2."+strnnParts[i], one[i], one[4]))
		}
		upper, lower := layer("", e[9], concat("join.3.upper", two[0], two[1])), layer("", e[10], concat("join.3.lower", two[2], two[3]))
		latent = layer("", e[11], concat("join.4", upper, lower, pick("root", n.groups.Root), pick("contacts", n.groups.Contacts)))
	}
	add(netruntime.Node{Name: "encoder", Op: netruntime.OpLSTM, In: []string{latent}})
	raw := map[string]string{"mean": "mean", "std": "std"}
	if linear != nil {
		raw["mean"] = "none"
		inputs = append(inputs, netruntime.Input{Name: strnn.ValueBase, Channels: n.columns})
		add(netruntime.Node{Name: "base.normalised", Op: netruntime.OpNormalize, In: []string{strnn.ValueBase}, Tensors: shared})
	}
	for i, of := range []string{"decoder", "predictor"} {
		prefix, out, in := of+".", of, []string{strnn.ValueClock, strnn.ValueLatent}[i]
		if linear != nil {
			in = concat(prefix+"in", in, "base.normalised")
		}
		add(netruntime.Node{Name: of, Op: netruntime.OpLSTM, In: []string{in, "encoder.h", "encoder.c"}, Reverse: i == 0})
		if d := n.decode; d == nil {
			out = layer(prefix, n.out, of)
		} else {
			upper, lower := layer(prefix, d[0], of), layer(prefix, d[1], of)
			var two [4]string
			for i, from := range []string{upper, upper, lower, lower} {
				two[i] = layer(prefix, d[2+i], from)
			}
			all := concat(prefix+"spine", two[0], two[1], two[2], two[3])
			var parts []string
			var columns []int
			for i, part := range n.parts() {
				from := all
				if i < 4 {
					from = two[i]
				}
				parts = append(parts, layer(prefix, d[11+i], layer(prefix, d[6+i], from)))
				columns = append(columns, part...)
			}
			parts = append(parts, layer(prefix, d[16], of), layer(prefix, d[17], of))
			columns = append(append(columns, n.groups.Root...), n.groups.Contacts...)
			order := make([]int, n.columns)
			for i, c := range columns {
				order[c] = i
			}
			out = add(netruntime.Node{Name: prefix + "columns", Op: netruntime.OpSelect, In: []string{concat(prefix+"parts", parts...)}, Columns: order})
		}
		outputs = append(outputs, add(netruntime.Node{Name: []string{strnn.ValueBefore, strnn.ValueAfter}[i], Op: netruntime.OpDenormalize, In: []string{out}, Tensors: raw}))
	}
	if n.latents > 0 {
		inputs = append(inputs, netruntime.Input{Name: strnn.ValueH, Channels: n.units})
		add(netruntime.Node{Name: strnn.ValuePrior, Op: netruntime.OpDense, In: []string{strnn.ValueH}, Act: "elu"})
		for _, of := range []string{strnn.ValueMean, strnn.ValueLogVar} {
			outputs = append(outputs, add(netruntime.Node{Name: of, Op: netruntime.OpDense, In: []string{strnn.ValuePrior}}))
		}
	}
	if linear != nil {
		inputs = append(inputs, netruntime.Input{Name: strnn.ValuePast, Channels: linear.Encode})
		outputs = append(outputs, add(netruntime.Node{Name: strnn.ValueLinear, Op: netruntime.OpDense, In: []string{strnn.ValuePast}}))
	}
	if n.filter != nil {
		inputs = append(inputs, netruntime.Input{Name: strnn.ValueZ, Channels: n.columns})
		z := add(netruntime.Node{Name: "noisy", Op: netruntime.OpNormalize, In: []string{strnn.ValueZ}, Tensors: shared})
		nodes = append(nodes, n.filter.nodes(z, "elu", "")...)
		sum := add(netruntime.Node{Name: "sum", Op: netruntime.OpAdd, In: []string{z, n.filter.last()}})
		outputs = append(outputs, add(netruntime.Node{Name: strnn.ValueFiltered, Op: netruntime.OpDenormalize, In: []string{sum}, Tensors: shared}))
	}
	return inputs, nodes, outputs
}

// tensors returns weights, in the order of params, as a model file holds them, without
// those that only training needs.
func (n *strnnNet) tensors(weights [][]float32) (out []netruntime.Tensor) {
	i := 0
	for _, p := range n.params()[:n.temporal()] {
		shape := []int{p.Rows, p.Cols}
		if p.Rows == 1 {
			shape = shape[1:]
		}
		out = append(out, netruntime.Tensor{Name: p.Name, Shape: shape, Data: weights[i]})
		i++
	}
	return append(out, n.filter.tensors(weights[i:i+2*len(n.filter)])...)
}

// temporal returns how many parameters, the first ones of params, are of neither the
// filter nor what tells latent values.
func (n *strnnNet) temporal() int {
	k := len(n.params()) - 2*len(n.filter)
	if n.latents > 0 {
		k -= 2 * len(n.ways)
	}
	return k
}
