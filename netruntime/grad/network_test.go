package grad

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/netruntime/internal/kernel"
)

// wholeNet has every operation of graphs. The tests of package netruntime compare a Network with
// sessions, and its gradients with differences.
func wholeNet(t testing.TB) *netruntime.Net {
	type node = netruntime.Node
	filters := map[string]string{"weight": "filters"}
	return netOf(t, &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: 4}, {Name: "h", Channels: 3, Once: true}, {Name: "c", Channels: 3, Once: true}},
		Nodes: []node{
			{Name: "n", Op: netruntime.OpNormalize, In: []string{"x"}},
			{Name: "a", Op: netruntime.OpConv, In: []string{"n"}, Act: "relu", Tensors: filters},
			{Name: "b", Op: netruntime.OpBatchNorm, In: []string{"a"}},
			{Name: "p", Op: netruntime.OpMaxPool, In: []string{"b"}},
			{Name: "l", Op: netruntime.OpLSTM, In: []string{"p", "h", "c"}},
			{Name: "u", Op: netruntime.OpDepool, In: []string{"p"}},
			{Name: "d", Op: netruntime.OpConv, In: []string{"u"}, Tied: true, Flip: true, Tensors: filters},
			{Name: "g", Op: netruntime.OpDense, In: []string{"n"}},
			{Name: "w", Op: netruntime.OpSoftmax, In: []string{"g"}},
			{Name: "m", Op: netruntime.OpBlend, In: []string{"d", "w"}, Act: "sigmoid"},
			{Name: "s", Op: netruntime.OpSelect, In: []string{"d"}, Columns: []int{3, 1, 3}},
			{Name: "j", Op: netruntime.OpConcat, In: []string{"m", "s"}},
			{Name: "e", Op: netruntime.OpAct, In: []string{"j"}, Act: "elu"},
			{Name: "f", Op: netruntime.OpAdd, In: []string{"e", "j"}},
			{Name: "y", Op: netruntime.OpDenormalize, In: []string{"f"}},
		},
		Outputs: []string{"y", "l.h", "l.c"},
	}, map[string][]int{
		"n.mean": {4}, "n.std": {4}, "filters": {5, 4, 3}, "a.bias": {5}, "b.gamma": {5}, "b.beta": {5}, "b.mean": {5}, "b.var": {5},
		"l.weight": {12, 5}, "l.recurrent": {12, 3}, "l.bias": {12}, "d.bias": {4}, "g.weight": {2, 4}, "g.bias": {2},
		"m.weight": {2, 3, 4}, "m.bias": {2, 3}, "y.mean": {6}, "y.std": {6},
	})
}

func netOf(t testing.TB, g *netruntime.Graph, shapes map[string][]int) *netruntime.Net {
	var tensors []netruntime.Tensor
	for name, shape := range shapes {
		size := 1
		for _, d := range shape {
			size *= d
		}
		w := netruntime.Tensor{Name: name, Shape: shape, Data: random(uint64(size), 1, size).f32()}
		if strings.HasSuffix(name, ".std") || strings.HasSuffix(name, ".var") {
			for i := range w.Data {
				w.Data[i] += 2
			}
		}
		tensors = append(tensors, w)
	}
	n := must.Get(netruntime.New(netruntime.Meta{Arch: "graph", Graph: g}, tensors))(t)
	return n
}

const netBatch, netFrames = 2, 6

// run starts a pass with one run.
func (n *Network) run(t *Tape) (x *Mat, out []*Mat) {
	t.Reset()
	x = t.Input(netBatch*netFrames, 4)
	h, c := t.Const(netBatch, 3), t.Const(netBatch, 3)
	for i, m := range []*Mat{x, h, c} {
		for j := range m.Val {
			m.Val[j] = float32(math.Sin(float64(i + 3*j)))
		}
	}
	return x, n.Forward(t, netFrames, x, h, c)
}

// copied returns outputs' values.
func copied(out []*Mat) (v []float32) {
	for _, m := range out {
		v = append(v, m.Val...)
	}
	return v
}

func newNetwork(t *testing.T, n *netruntime.Net) (*Network, *Tape) {
	pool := kernel.NewPool(2)
	t.Cleanup(pool.Close)
	net := must.Get(NewNetwork(n))(t)
	return net, NewTape(pool)
}

func TestNetworkParams(t *testing.T) {
	n, _ := newNetwork(t, wholeNet(t))
	var names []string
	for _, p := range n.Params() {
		if p.Frozen {
			t.Errorf("%s is frozen", p.Name)
		}
		names = append(names, p.Name)
	}
	want := []string{"filters", "a.bias", "b.gamma", "b.beta", "l.weight", "l.recurrent", "l.bias", "d.bias", "g.weight", "g.bias", "m.weight", "m.bias"}
	if !slices.Equal(names, want) {
		t.Errorf("the parameters are %q, want %q: no statistics, shared ones once", names, want)
	}
}

func TestNetworkTrainsAndRestores(t *testing.T) {
	whole := wholeNet(t)
	n, tape := newNetwork(t, whole)
	_, out := n.run(tape)
	first := copied(out)
	before := -1.0
	for range 20 {
		_, out := n.run(tape)
		loss := tape.SumSquares(out[0])
		tape.Backward(loss)
		if l := float64(loss.Val[0]); before >= 0 && !(l < before) {
			t.Fatalf("a step takes the loss from %v to %v", before, l)
		} else {
			before = l
		}
		for _, p := range n.Params() {
			if strings.HasPrefix(p.Name, "l.") { // not a part of y
				continue
			}
			for i, g := range p.Grad {
				p.Val[i] -= 1e-4 * g
			}
		}
	}
	_, out = n.run(tape)
	trained := copied(out)
	if slices.Equal(trained, first) {
		t.Fatal("training changes nothing")
	}
	saved := must.Get(n.Net())(t)
	n.Restore()
	_, out = n.run(tape)
	if !slices.Equal(copied(out), first) {
		t.Error("the restored network computes something else than at first")
	}
	again, tape := newNetwork(t, saved)
	_, out = again.run(tape)
	if !slices.Equal(copied(out), trained) {
		t.Error("the network that was trained computes something else than what was trained")
	}
	for i, w := range whole.Tensors() {
		trained := slices.ContainsFunc(n.Params(), func(p *Param) bool { return p.Name == w.Name }) && !strings.HasPrefix(w.Name, "l.")
		if slices.Equal(saved.Tensors()[i].Data, w.Data) == trained {
			t.Errorf("%s changed: %v, want %v", w.Name, !trained, trained)
		}
	}
}

// With all parameters frozen, only inputs get gradients, and the same ones.
func TestFrozenNetwork(t *testing.T) {
	n, tape := newNetwork(t, wholeNet(t))
	x, out := n.run(tape)
	tape.Backward(tape.SumSquares(out[0]))
	want := slices.Clone(x.Grad)
	for _, p := range n.Params() {
		p.Frozen = true
		set(p.Grad, 7)
	}
	x, out = n.run(tape)
	tape.Backward(tape.SumSquares(out[0]))
	if !slices.Equal(x.Grad, want) {
		t.Errorf("the input's gradient is %v, and was %v", x.Grad, want)
	}
	for _, p := range n.Params() {
		if p.Grad[0] != 7 || tape.Reached(p) {
			t.Errorf("%s is frozen and has got a gradient", p.Name)
		}
	}
}

// Runs of one pass keep their outputs, and their gradients add up.
func TestNetworkRunsSeveralTimesInAPass(t *testing.T) {
	n, tape := newNetwork(t, wholeNet(t))
	p := n.Params()[0]
	_, out := n.run(tape)
	tape.Backward(tape.SumSquares(out[0]))
	once := slices.Clone(p.Grad)
	x, out := n.run(tape)
	h, c := tape.Const(netBatch, 3), tape.Const(netBatch, 3)
	copy(h.Val, out[1].Val)
	copy(c.Val, out[2].Val)
	other := n.Forward(tape, netFrames, x, h, c)
	if &other[0] == &out[0] || slices.Equal(other[1].Val, out[1].Val) || !slices.Equal(other[0].Val, out[0].Val) {
		t.Error("a second run in the pass changes what the first one gave, or computes something else")
	}
	tape.Backward(tape.Add(tape.SumSquares(out[0]), tape.SumSquares(other[0])))
	for i, g := range p.Grad {
		if math.Abs(float64(g-2*once[i])) > 1e-4*(1+math.Abs(float64(g))) {
			t.Fatalf("gradient %d of two runs is %v, of one %v", i, g, once[i])
		}
	}
}

func TestNetworkAllocatesNothing(t *testing.T) {
	n, tape := newNetwork(t, wholeNet(t))
	if a := testing.AllocsPerRun(10, func() {
		x, out := n.run(tape)
		n.Forward(tape, netFrames, x, out[1], out[2])
		tape.Backward(tape.SumSquares(out[0]))
		n.Restore()
	}); a != 0 {
		t.Errorf("a pass allocates %v times", a)
	}
	if len(n.out) != 2*3 {
		t.Errorf("%d outputs are kept, the last pass has 6", len(n.out))
	}
}

// Operations that the tape lacks are known before it runs.
func TestNetworkErrors(t *testing.T) {
	type node = netruntime.Node
	in := []netruntime.Input{{Name: "x", Channels: 3}}
	for want, n := range map[string]*netruntime.Net{
		`node "d": tensor "n.mean" is a weight of one node and a statistic`: netOf(t, &netruntime.Graph{Inputs: in, Outputs: []string{"d"}, Nodes: []node{
			{Name: "n", Op: netruntime.OpNormalize, In: []string{"x"}},
			{Name: "d", Op: netruntime.OpDense, In: []string{"n"}, Tensors: map[string]string{"bias": "n.mean"}},
		}}, map[string][]int{"n.mean": {3}, "n.std": {3}, "d.weight": {3, 3}}),
		`node "b": tensor "c.weight" holds both filters and experts`: netOf(t, &netruntime.Graph{Inputs: in, Outputs: []string{"b"}, Nodes: []node{
			{Name: "c", Op: netruntime.OpConv, In: []string{"x"}},
			{Name: "b", Op: netruntime.OpBlend, In: []string{"x", "c"}, Tensors: map[string]string{"weight": "c.weight"}},
		}}, map[string][]int{"c.weight": {2, 3, 3}, "c.bias": {2}, "b.bias": {2, 3}}),
	} {
		must.Fail(NewNetwork(n))(t, want)
	}
	b := newBinding(wholeNet(t)) // nets refuse such nodes themselves today
	for want, n := range map[string]node{
		`node "y": the tape has no operation "fft"`:    {Name: "y", Op: "fft", In: []string{"x"}},
		`node "y": the tape has no activation "swish"`: {Name: "y", Op: netruntime.OpAct, Act: "swish", In: []string{"x"}},
	} {
		if err := b.add(&n); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

func TestMisuseOfANetwork(t *testing.T) {
	n, tape := newNetwork(t, wholeNet(t))
	x, h := tape.Const(netBatch*netFrames, 4), tape.Const(netBatch, 3)
	for want, f := range map[string]func(){
		"want 3 inputs":           func() { n.Forward(tape, netFrames, x, h) },
		"length 0":                func() { n.Forward(tape, 0, x, h, h) },
		`input "x" is 12×3`:       func() { n.Forward(tape, netFrames, tape.Const(12, 3), h, h) },
		`input "x" is 13×4`:       func() { n.Forward(tape, netFrames, tape.Const(13, 4), h, h) },
		`input "c" is 3×3`:        func() { n.Forward(tape, netFrames, x, h, tape.Const(3, 3)) },
		"sequences of odd length": func() { n.Forward(tape, 3, x, tape.Const(4, 3), tape.Const(4, 3)) },
		`want 3 channels of`:      func() { n.Forward(tape, netFrames, x, x, x) },
	} {
		must.Panic(t, want, f)
	}
}
