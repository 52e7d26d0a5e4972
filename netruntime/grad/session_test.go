package grad

import (
	"math"
	"slices"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// TestSessionsComputeTheSame compares the tape's forward with a session of the same network.
func TestSessionsComputeTheSame(t *testing.T) {
	const batch, frames = 3, 12
	var params []*Param
	param := func(rows, cols int) *Param {
		p := NewParam("p", rows, cols)
		for i, v := range random(uint64(200+len(params)), rows, cols).f32() {
			p.Val[i] = v / float32(math.Sqrt(float64(cols)))
		}
		params = append(params, p)
		return p
	}
	tensor := func(name string, p *Param, shape ...int) netruntime.Tensor {
		return netruntime.Tensor{Name: name, Shape: shape, Data: p.Val}
	}
	// The tape's taps are side by side, the file's are channel by channel.
	taps := func(name string, p *Param, width int) netruntime.Tensor {
		in := p.Cols / width
		w := netruntime.Tensor{Name: name, Shape: []int{p.Rows, in, width}}
		for o := range p.Rows {
			for i := range in {
				for j := range width {
					w.Data = append(w.Data, p.Val[o*p.Cols+j*in+i])
				}
			}
		}
		return w
	}
	// The tape's experts are transposed.
	experts := func(name string, p *Param, k int) netruntime.Tensor {
		in := p.Rows / k
		w := netruntime.Tensor{Name: name, Shape: []int{k, p.Cols, in}}
		for e := range k {
			for o := range p.Cols {
				for i := range in {
					w.Data = append(w.Data, p.Val[(e*in+i)*p.Cols+o])
				}
			}
		}
		return w
	}
	type input = netruntime.Input
	type node = netruntime.Node
	conv, convB, backB := param(20, 5*7), param(1, 20), param(1, 7)
	odd, oddB := param(9, 4*7), param(1, 9)
	wx, wh, wb := param(4*10, 7), param(4*10, 10), param(1, 4*10)
	dense, denseB := param(11, 7), param(1, 11)
	choose, chooseB := param(3, 11), param(1, 3)
	mix, mixB := param(3*7, 11), param(3, 11)
	gamma, beta, mean := param(1, 7), param(1, 7), param(1, 7)
	stats := &BatchStats{Mean: mean.Val, Var: []float32{1, 0.5, 2, 3, 0.1, 1, 4}}
	std := []float32{1, 2, 0.5, 3, 0.25, 1, 5}
	inv := make([]float32, 7)
	offset := make([]float32, 7)
	for i, s := range std {
		inv[i], offset[i] = 1/s, -mean.Val[i]/s
	}
	x := input{Name: "x", Channels: 7}
	for _, c := range []struct {
		name    string
		graph   netruntime.Graph
		tensors []netruntime.Tensor
		tape    func(t *Tape, in []*Mat) []*Mat
	}{
		{"autoencoder", netruntime.Graph{Inputs: []input{x}, Outputs: []string{"y"}, Nodes: []node{
			{Name: "a", Op: netruntime.OpConv, In: []string{"x"}},
			{Name: "b", Op: netruntime.OpMaxPool, In: []string{"a"}},
			{Name: "c", Op: netruntime.OpAct, Act: "relu", In: []string{"b"}},
			{Name: "d", Op: netruntime.OpDepool, In: []string{"c"}},
			{Name: "y", Op: netruntime.OpConv, Tied: true, Flip: true, In: []string{"d"}, Tensors: map[string]string{"weight": "a.weight"}},
		}}, []netruntime.Tensor{taps("a.weight", conv, 5), tensor("a.bias", convB, 20), tensor("y.bias", backB, 7)},
			func(t *Tape, in []*Mat) []*Mat {
				h := t.ReLU(t.MaxPool(t.Conv(in[0], frames, conv, convB, 5, false), frames))
				return []*Mat{t.ConvT(t.Depool(h, 2, false, 0), frames, conv, backB, 5, true)}
			}},
		{"flipped convolution of even width", netruntime.Graph{Inputs: []input{x}, Outputs: []string{"y"}, Nodes: []node{
			{Name: "y", Op: netruntime.OpConv, Flip: true, Act: "tanh", In: []string{"x"}},
		}}, []netruntime.Tensor{taps("y.weight", odd, 4), tensor("y.bias", oddB, 9)},
			func(t *Tape, in []*Mat) []*Mat { return []*Mat{t.Tanh(t.Conv(in[0], frames, odd, oddB, 4, true))} }},
		{"memory", netruntime.Graph{Inputs: []input{x, {Name: "h", Channels: 10, Once: true}, {Name: "c", Channels: 10, Once: true}}, Outputs: []string{"y", "y.h", "y.c"}, Nodes: []node{
			{Name: "y", Op: netruntime.OpLSTM, Reverse: true, In: []string{"x", "h", "c"}},
		}}, []netruntime.Tensor{tensor("y.weight", wx, 40, 7), tensor("y.recurrent", wh, 40, 10), tensor("y.bias", wb, 40)},
			func(t *Tape, in []*Mat) []*Mat {
				y, h, c := t.LSTM(in[0], frames, wx, wh, wb, in[1], in[2], true)
				return []*Mat{y, h, c}
			}},
		{"mixture", netruntime.Graph{Inputs: []input{x}, Outputs: []string{"y"}, Nodes: []node{
			{Name: "a", Op: netruntime.OpDense, Act: "elu", In: []string{"x"}},
			{Name: "b", Op: netruntime.OpDense, In: []string{"a"}},
			{Name: "w", Op: netruntime.OpSoftmax, In: []string{"b"}},
			{Name: "d", Op: netruntime.OpBlend, Act: "sigmoid", In: []string{"x", "w"}},
			{Name: "e", Op: netruntime.OpAdd, In: []string{"a", "d"}},
			{Name: "f", Op: netruntime.OpConcat, In: []string{"e", "x"}},
			{Name: "y", Op: netruntime.OpSelect, Columns: []int{17, 0, 3, 11, 3}, In: []string{"f"}},
		}}, []netruntime.Tensor{tensor("a.weight", dense, 11, 7), tensor("a.bias", denseB, 11), tensor("b.weight", choose, 3, 11), tensor("b.bias", chooseB, 3),
			experts("d.weight", mix, 3), tensor("d.bias", mixB, 3, 11)},
			func(t *Tape, in []*Mat) []*Mat {
				a := t.ELU(t.Dense(in[0], dense, denseB))
				d := t.Sigmoid(t.Blend(in[0], t.Softmax(t.Dense(a, choose, chooseB)), mix, mixB))
				return []*Mat{t.Gather(t.Concat(t.Add(a, d), in[0]), []int{17, 0, 3, 11, 3})}
			}},
		{"tied layers", netruntime.Graph{Inputs: []input{x}, Outputs: []string{"y"}, Nodes: []node{
			{Name: "a", Op: netruntime.OpDense, Act: "relu", In: []string{"x"}},
			{Name: "y", Op: netruntime.OpDense, Tied: true, In: []string{"a"}, Tensors: map[string]string{"weight": "a.weight"}},
		}}, []netruntime.Tensor{tensor("a.weight", dense, 11, 7), tensor("a.bias", denseB, 11), tensor("y.bias", backB, 7)},
			func(t *Tape, in []*Mat) []*Mat {
				return []*Mat{t.DenseT(t.ReLU(t.Dense(in[0], dense, denseB)), dense, backB)}
			}},
		{"normalisation", netruntime.Graph{Inputs: []input{x}, Outputs: []string{"y"}, Nodes: []node{
			{Name: "a", Op: netruntime.OpNormalize, In: []string{"x"}},
			{Name: "b", Op: netruntime.OpBatchNorm, Act: "tanh", In: []string{"a"}},
			{Name: "y", Op: netruntime.OpDenormalize, In: []string{"b"}, Tensors: map[string]string{"mean": "a.mean", "std": "a.std"}},
		}}, []netruntime.Tensor{tensor("a.mean", mean, 7), {Name: "a.std", Shape: []int{7}, Data: std},
			tensor("b.gamma", gamma, 7), tensor("b.beta", beta, 7), tensor("b.mean", mean, 7), {Name: "b.var", Shape: []int{7}, Data: stats.Var}},
			func(t *Tape, in []*Mat) []*Mat {
				b := t.Tanh(t.BatchNorm(t.Affine(in[0], inv, offset), gamma, beta, stats, false))
				return []*Mat{t.Affine(b, std, mean.Val)}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := must.Get(netruntime.New(netruntime.Meta{Arch: "graph", Graph: &c.graph}, c.tensors))(t)
			s := must.Get(net.NewSession(netruntime.SessionOptions{Batch: batch, Length: frames, Workers: 2}))(t)
			defer s.Close()
			tape := newTape(t, 2)
			var in []*Mat
			var data, got [][]float32
			for i, v := range c.graph.Inputs {
				rows := batch * frames
				if v.Once {
					rows = batch
				}
				m := tape.Const(rows, v.Channels)
				copy(m.Val, random(uint64(300+i), rows, v.Channels).f32())
				in, data = append(in, m), append(data, slices.Clone(m.Val))
			}
			want := c.tape(tape, in)
			for _, m := range want {
				got = append(got, make([]float32, len(m.Val)))
			}
			must.Do(t, s.RunSequences(got, data, batch, frames))
			for i, m := range want {
				var size float64
				for j, v := range m.Val {
					size += math.Abs(float64(v))
					if d := math.Abs(float64(v) - float64(got[i][j])); !(d <= 1e-5) {
						t.Fatalf("output %d, value %d: the session gives %v, the tape %v", i, j, got[i][j], v)
					}
				}
				if size == 0 {
					t.Fatalf("output %d is zero: nothing was tested", i)
				}
			}
		})
	}
}
