package netruntime_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/netruntime/internal/kernel"
)

func network(t netruntime.Test, n *netruntime.Net) *grad.Network {
	return must.Get(grad.NewNetwork(n))(t)
}

// inputs writes arrays on a tape.
func inputs(tape *grad.Tape, n *netruntime.Net, in [][]float32) (mats []*grad.Mat) {
	for i, x := range n.Graph().Inputs {
		m := tape.Input(len(in[i])/x.Channels, x.Channels)
		copy(m.Val, in[i])
		mats = append(mats, m)
	}
	return mats
}

// checkForward compares a Network with a session of the same net.
func checkForward(t netruntime.Test, tape *grad.Tape, net *grad.Network, n *netruntime.Net, in [][]float32, batch, length int) {
	s := must.Get(n.NewSession(netruntime.SessionOptions{Batch: batch, Length: length, Workers: 1}))(t)
	defer s.Close()
	want, _ := netruntime.Arrays(n, 0, batch, length)
	must.Do(t, s.RunSequences(want, in, batch, length))
	tape.Reset()
	out := net.Forward(tape, length, inputs(tape, n, in)...)
	if len(out) != len(want) {
		t.Fatalf("%d outputs, want %d", len(out), len(want))
	}
	for i, w := range want {
		if len(out[i].Val) != len(w) {
			t.Fatalf("output %d is %d×%d, want %d values", i, out[i].Rows, out[i].Cols, len(w))
		}
		var w64 []float64
		for _, v := range w {
			w64 = append(w64, float64(v))
		}
		if e := netruntime.Relative(out[i].Val, w64); !(e <= 1e-4) {
			t.Fatalf("output %d of a run of %d by %d is off by %g: %+v", i, batch, length, e, n.Graph())
		}
	}
}

// TestNetworkComputesWhatSessionsDo runs every operation on a tape.
func TestNetworkComputesWhatSessionsDo(t *testing.T) {
	pool := grad.NewPool(2)
	defer pool.Close()
	tape := grad.NewTape(pool)
	names, nets, factors := netruntime.GraphCases()
	for i, n := range append(nets, netruntime.LongGraph()) {
		t.Run(append(names, "long")[i], func(t *testing.T) {
			net, factor := network(t, n), append(factors, 1)[i]
			for _, run := range [][2]int{{3, 6 * factor}, {1, factor}, {2, 3 * factor}} {
				_, in := netruntime.Arrays(n, 5, run[0], run[1])
				checkForward(t, tape, net, n, in, run[0], run[1])
			}
		})
	}
}

func TestNetworkOfRandomGraphs(t *testing.T) {
	pool := grad.NewPool(2)
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		n, factor := netruntime.RandomGraph(t, true, []int{0, 2, 3, 5})
		kinds := kernel.Kinds()
		defer kernel.Force(kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")])()
		tape, net := grad.NewTape(pool), network(t, n)
		for range 2 {
			batch, length := rapid.IntRange(1, 5).Draw(t, "sequences"), factor*rapid.IntRange(1, 4).Draw(t, "frames")
			_, in := netruntime.Arrays(n, uint64(batch), batch, length)
			checkForward(t, tape, net, n, in, batch, length)
		}
	})
}

// TestNetworkOfShippedModels draws inputs that are normally distributed where the model normalises
// them.
func TestNetworkOfShippedModels(t *testing.T) {
	pool := grad.NewPool(2)
	defer pool.Close()
	tape := grad.NewTape(pool)
	for _, name := range models.Names() {
		t.Run(name, func(t *testing.T) {
			n := must.Get(models.Open(name))(t)
			const batch = 2
			length := 8
			for slices.ContainsFunc(n.Values(), func(v netruntime.Value) bool { return v.Length(length) == 0 }) {
				length++
			}
			_, in := netruntime.Arrays(n, 7, batch, length)
			g := n.Graph()
			for i, x := range g.Inputs {
				k := slices.IndexFunc(g.Nodes, func(n netruntime.Node) bool { return n.Op == netruntime.OpNormalize && n.In[0] == x.Name })
				if k < 0 {
					continue
				}
				mean, _ := n.Tensor(g.Nodes[k].Tensor("mean"))
				std, _ := n.Tensor(g.Nodes[k].Tensor("std"))
				for j, v := range in[i] {
					c := j % x.Channels
					in[i][j] = mean.Data[c] + std.Data[c]*v
				}
			}
			net := network(t, n)
			checkForward(t, tape, net, n, in, batch, length)
			again := must.Get(net.Net())(t)
			for i, w := range n.Tensors() {
				if got := again.Tensors()[i]; got.Name != w.Name || !slices.Equal(got.Shape, w.Shape) || !slices.Equal(got.Data, w.Data) {
					t.Fatalf("tensor %q is another one after the way to the tape and back", w.Name)
				}
			}
		})
	}
}

// Subtracting a mean of very many deviations first loses no precision.
func TestNetworkNormalizesExactly(t *testing.T) {
	pool := grad.NewPool(1)
	defer pool.Close()
	g := &netruntime.Graph{Inputs: []netruntime.Input{{Name: "x", Channels: 3}}, Outputs: []string{"y"},
		Nodes: []netruntime.Node{{Name: "y", Op: netruntime.OpNormalize, In: []string{"x"}}}}
	n := must.Get(netruntime.New(netruntime.Meta{Arch: "graph", Graph: g}, []netruntime.Tensor{
		{Name: "y.mean", Shape: []int{3}, Data: []float32{1000, -70000, 2}}, {Name: "y.std", Shape: []int{3}, Data: []float32{0.03, 0.7, 0}}}))(t)
	checkForward(t, grad.NewTape(pool), network(t, n), n, [][]float32{{1000.01, -70001, 3, 999.99, -70000.5, 1}}, 2, 1)
}

// gradients is a net whose loss is the sum of its outputs, times random numbers.
type gradients struct {
	n             *netruntime.Net
	batch, length int
	in            [][]float32
	by            [][]float32 // by output
}

// loss64 is the loss in float64, of a net with other tensors or inputs.
func (g *gradients) loss64(n *netruntime.Net, in [][]float32) (sum float64) {
	for i, y := range netruntime.Interpret(n, in, g.batch, g.length) {
		for j, v := range y {
			sum += v * float64(g.by[i][j])
		}
	}
	return sum
}

// slope returns the change of loss with v, by differences.
func slope(v *float32, loss func() float64) float64 {
	const h = 1e-4
	old := *v
	defer func() { *v = old }()
	*v = old + h
	up, high := loss(), float64(*v)
	*v = old - h
	down := loss()
	return (up - down) / (high - float64(*v))
}

// check compares gradients of values with differences, for at most a given number of values. at
// maps them to their place in got.
func check(what string, got, values []float32, most int, at func(i int) int, loss func() float64) error {
	var want, have []float64
	top := 0.0
	for i := 0; i < len(values); i += max(1, len(values)/most) {
		want, have = append(want, slope(&values[i], loss)), append(have, float64(got[at(i)]))
		top = max(top, math.Abs(want[len(want)-1]))
	}
	if top == 0 {
		return fmt.Errorf("%s: the loss does not depend on it: nothing was tested", what)
	}
	for i, w := range want {
		if !(math.Abs(have[i]-w) <= 2e-3*top) {
			return fmt.Errorf("%s: gradient %d is %g, differences give %g of up to %g", what, i, have[i], w, top)
		}
	}
	return nil
}

func testGradients(t *testing.T, n *netruntime.Net, batch, length, most int) {
	pool := grad.NewPool(2)
	defer pool.Close()
	g := &gradients{n: n, batch: batch, length: length}
	_, g.in = netruntime.Arrays(n, 3, batch, length)
	g.by, _ = netruntime.Arrays(n, 0, batch, length)
	tape, net := grad.NewTape(pool), network(t, n)
	in := inputs(tape, n, g.in)
	var terms []grad.Term
	for i, y := range net.Forward(tape, length, in...) {
		by := tape.Const(y.Rows, y.Cols)
		for j := range by.Val {
			by.Val[j] = float32(math.Sin(float64(i + 2*j + 1)))
		}
		copy(g.by[i], by.Val)
		terms = append(terms, grad.Term{Loss: tape.Sum(tape.Mul(y, by)), Weight: 1})
	}
	tape.Backward(tape.WeightedSum(terms...))
	same := func(i int) int { return i }
	for i, x := range in {
		if err := check(fmt.Sprintf("input %d", i), x.Grad, g.in[i], most, same, func() float64 { return g.loss64(n, g.in) }); err != nil {
			t.Error(err)
		}
	}
	tensors := n.Tensors()
	for _, p := range net.Params() {
		w := &tensors[slices.IndexFunc(tensors, func(t netruntime.Tensor) bool { return t.Name == p.Name })]
		at := same
		if len(w.Shape) == 3 { // the tape has the last two axes swapped
			b, c := w.Shape[1], w.Shape[2]
			at = func(i int) int { return (i/(b*c)*c+i%c)*b + i/c%b }
		}
		if err := check(p.Name, p.Grad, w.Data, most, at, func() float64 {
			changed := must.Get(netruntime.New(n.Meta(), tensors))(t)
			return g.loss64(changed, g.in)
		}); err != nil {
			t.Error(err)
		}
	}
}

// smallNet has an lstm with a first state, dense layers that share a weight, a
// batch norm, a selection and a concatenation.
func smallNet(t *testing.T) *netruntime.Net {
	type node = netruntime.Node
	shared := map[string]string{"weight": "shared"}
	g := &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: 4}, {Name: "h", Channels: 3, Once: true}, {Name: "c", Channels: 3, Once: true}},
		Nodes: []node{
			{Name: "n", Op: netruntime.OpNormalize, In: []string{"x"}},
			{Name: "a", Op: netruntime.OpDense, In: []string{"n"}, Act: "tanh", Tensors: shared},
			{Name: "b", Op: netruntime.OpBatchNorm, In: []string{"a"}, Act: "sigmoid"},
			{Name: "l", Op: netruntime.OpLSTM, In: []string{"b", "h", "c"}, Reverse: true},
			{Name: "s", Op: netruntime.OpSelect, In: []string{"n"}, Columns: []int{3, 1, 3}},
			{Name: "j", Op: netruntime.OpConcat, In: []string{"l", "s"}},
			{Name: "d", Op: netruntime.OpDense, In: []string{"b"}, Act: "elu", Tied: true, Tensors: shared},
			{Name: "e", Op: netruntime.OpConv, In: []string{"j"}},
			{Name: "y", Op: netruntime.OpAdd, In: []string{"d", "e", "n"}},
			{Name: "z", Op: netruntime.OpDense, In: []string{"l.c"}},
		},
		Outputs: []string{"y", "z", "l.h", "j"},
	}
	var tensors []netruntime.Tensor
	for i, s := range []struct {
		name  string
		shape []int
	}{
		{"n.mean", []int{4}}, {"n.std", []int{4}}, {"shared", []int{5, 4}}, {"a.bias", []int{5}},
		{"b.gamma", []int{5}}, {"b.beta", []int{5}}, {"b.mean", []int{5}}, {"b.var", []int{5}},
		{"l.weight", []int{12, 5}}, {"l.recurrent", []int{12, 3}}, {"l.bias", []int{12}}, {"d.bias", []int{4}},
		{"e.weight", []int{4, 6, 3}}, {"e.bias", []int{4}}, {"z.weight", []int{2, 3}}, {"z.bias", []int{2}},
	} {
		size := 1
		for _, d := range s.shape {
			size *= d
		}
		w := netruntime.Tensor{Name: s.name, Shape: s.shape}
		for j := range size {
			v := float32(math.Sin(float64(7*i + 3*j + 1)))
			if s.name == "n.std" || s.name == "b.var" {
				v = 1.2 + v
			}
			w.Data = append(w.Data, v)
		}
		tensors = append(tensors, w)
	}
	n := must.Get(netruntime.New(netruntime.Meta{Arch: "graph", Graph: g}, tensors))(t)
	return n
}

func TestNetworkGradients(t *testing.T) {
	t.Run("small", func(t *testing.T) { testGradients(t, smallNet(t), 2, 5, math.MaxInt) })
	names, nets, factors := netruntime.GraphCases()
	for i, n := range nets {
		if strings.HasPrefix(names[i], "heavy") { // computed by sessions alone, and slow in float64
			continue
		}
		t.Run(names[i], func(t *testing.T) { testGradients(t, n, 1, 6*factors[i], 7) })
	}
}
