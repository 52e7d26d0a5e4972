package onnx

import (
	"fmt"
	"math"
	"slices"

	"mannequin/netruntime"
)

// batchNormEpsilon is the epsilon of OpBatchNorm.
const batchNormEpsilon = 1e-5

// roles lists the tensors of every operation.
var roles = map[string][]string{
	netruntime.OpDense: {"weight", "bias"}, netruntime.OpBlend: {"weight", "bias"}, netruntime.OpConv: {"weight", "bias"},
	netruntime.OpLSTM:      {"weight", "recurrent", "bias"},
	netruntime.OpBatchNorm: {"gamma", "beta", "mean", "var"},
	netruntime.OpNormalize: {"mean", "std"}, netruntime.OpDenormalize: {"mean", "std"},
}

func (e *exporter) node(n *netruntime.Node) error {
	in := make([]*value, len(n.In))
	for i, name := range n.In {
		if in[i] = e.values[name]; in[i] == nil {
			return fmt.Errorf("there is no value %q before it", name)
		}
	}
	var t []netruntime.Tensor
	for _, role := range roles[n.Op] {
		x, ok := e.tensors[n.Tensor(role)]
		if !ok {
			return fmt.Errorf("tensor %q is missing", n.Tensor(role))
		}
		t = append(t, x)
	}
	out := &value{name: n.Name, channels: in[0].channels, length: in[0].length}
	at := frames
	var y ref
	switch n.Op {
	case netruntime.OpDense:
		y = e.dense(n, out, in[0], t[0], t[1])
	case netruntime.OpBlend:
		y = e.blend(n, out, in[0], in[1], t[0], t[1])
	case netruntime.OpConv:
		y, at = e.conv(n, out, in[0], t[0], t[1])
	case netruntime.OpMaxPool:
		y, at = e.op("MaxPool", n.Name, []ref{e.in(in[0], series)},
			attribute{"kernel_shape", e.over(2)}, attribute{"strides", e.over(2)}), series
		out.length = out.length.times(1, 2)
	case netruntime.OpDepool:
		if n.Times() == 2 {
			e.depools[n.Name] = in[0]
		}
		by := float32(n.Times())
		share := e.op("Mul", n.Name+".share", []ref{e.in(in[0], series), e.floats(fmt.Sprint("1/", by), "floats", []float32{1 / by})})
		scales := []float32{1, 1, by}
		if e.twoD {
			scales = []float32{1, 1, 1, by}
		}
		y, at = e.op("Resize", n.Name, []ref{share, 0, e.floats(fmt.Sprint(scales), "floats", scales)},
			attribute{"mode", "nearest"}, attribute{"coordinate_transformation_mode", "asymmetric"}, attribute{"nearest_mode", "floor"}), series
		out.length = out.length.times(n.Times(), 1)
	case netruntime.OpLSTM:
		y, at = e.lstm(n, out, in, t[0], t[1], t[2]), steps
	case netruntime.OpBatchNorm:
		scale, shift := make([]float32, out.channels), make([]float32, out.channels)
		for i := range scale {
			s := float64(t[0].Data[i]) / math.Sqrt(float64(t[3].Data[i])+batchNormEpsilon)
			scale[i], shift[i] = float32(s), float32(float64(t[1].Data[i])-float64(t[2].Data[i])*s)
		}
		y, at = e.any(in[0])
		y = e.op("Mul", n.Name+".scaled", []ref{y, e.perChannel(n.Name, "scale", at, scale)})
		y = e.act(n, e.op("Add", n.Name, []ref{y, e.perChannel(n.Name, "shift", at, shift)}))
	case netruntime.OpNormalize:
		y, at = e.any(in[0])
		y = e.op("Sub", n.Name+".centred", []ref{y, e.perChannel(t[0].Name, "", at, t[0].Data)})
		y = e.op("Div", n.Name, []ref{y, e.perChannel(t[1].Name, "nonzero", at, deviations(t[1]))})
	case netruntime.OpDenormalize:
		y, at = e.any(in[0])
		y = e.op("Mul", n.Name+".scaled", []ref{y, e.perChannel(t[1].Name, "nonzero", at, deviations(t[1]))})
		y = e.op("Add", n.Name, []ref{y, e.perChannel(t[0].Name, "", at, t[0].Data)})
	case netruntime.OpAct:
		y, at = e.any(in[0])
		y = e.act(n, y)
	case netruntime.OpSoftmax:
		y, at = e.any(in[0])
		y = e.op("Softmax", n.Name, []ref{y}, attribute{"axis", at.axis()})
	case netruntime.OpConcat:
		var xs []ref
		xs, at = e.alike(in)
		y = e.op("Concat", n.Name, xs, attribute{"axis", at.axis()})
		for _, v := range in[1:] {
			out.channels += v.channels
		}
	case netruntime.OpSelect:
		y, at = e.any(in[0])
		y = e.op("Gather", n.Name, []ref{y, e.ints(n.Columns...)}, attribute{"axis", at.axis()})
		out.channels = len(n.Columns)
	case netruntime.OpAdd:
		var xs []ref
		xs, at = e.alike(in)
		y = e.op("Sum", n.Name, xs)
	default:
		return fmt.Errorf("no way to write operation %q in ONNX", n.Op)
	}
	out.at[at] = y
	e.values[n.Name] = out
	return nil
}

var activations = map[string]string{"elu": "Elu", "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh"}

func (e *exporter) act(n *netruntime.Node, x ref) ref {
	if n.Act == "" {
		return x
	}
	return e.op(activations[n.Act], n.Name, []ref{x})
}

// alike returns all values in the layout of the first.
func (e *exporter) alike(in []*value) (xs []ref, at layout) {
	x, at := e.any(in[0])
	xs = []ref{x}
	for _, v := range in[1:] {
		xs = append(xs, e.in(v, at))
	}
	return xs, at
}

// deviations returns a tensor's values with 1 instead of 0.
func deviations(t netruntime.Tensor) []float32 {
	out := slices.Clone(t.Data)
	for i, v := range out {
		if v == 0 {
			out[i] = 1
		}
	}
	return out
}

// over returns n for the time axis of convolutions and pools.
func (e *exporter) over(n int) []int {
	if e.twoD {
		return []int{1, n}
	}
	return []int{n}
}

// perChannel adds an initialiser with a value per channel.
func (e *exporter) perChannel(name, form string, at layout, data []float32) ref {
	dims := []int{len(data)}
	if at == series {
		form += "column"
		dims = append(dims, 1)
		if e.twoD {
			dims = append(dims, 1)
		}
	}
	return e.constant(name, form, dims, func() any { return data })
}
