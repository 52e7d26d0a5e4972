package onnx

import (
	"fmt"
	"math"
	"slices"
)

// array is a tensor in float64.
type array struct {
	dims []int
	data []float64
}

func size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func zeros(dims ...int) array { return array{dims, make([]float64, size(dims))} }

// each calls f with every index of dims.
func each(dims []int, f func(at []int)) {
	at := make([]int, len(dims))
	for range size(dims) {
		f(at)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < dims[i] {
				break
			}
			at[i] = 0
		}
	}
}

// get reads an element; leading axes may be missing, and axes of size 1 repeat, as in NumPy.
func (a array) get(at ...int) float64 {
	at = at[len(at)-len(a.dims):]
	i := 0
	for k, d := range a.dims {
		i *= d
		if d > 1 {
			i += at[k]
		}
	}
	return a.data[i]
}

func (a array) ints() []int {
	out := make([]int, len(a.data))
	for i, v := range a.data {
		out[i] = int(v)
	}
	return out
}

func broadcast(a, b array, f func(x, y float64) float64) array {
	long, short := a.dims, b.dims
	if len(long) < len(short) {
		long, short = short, long
	}
	dims := slices.Clone(long)
	for i, d := range short {
		if k := len(long) - len(short) + i; dims[k] == 1 {
			dims[k] = d
		} else if d != 1 && d != dims[k] {
			panic(fmt.Sprint("shapes do not broadcast: ", a.dims, b.dims))
		}
	}
	out := array{dims: dims}
	each(dims, func(at []int) { out.data = append(out.data, f(a.get(at...), b.get(at...))) })
	return out
}

func (a array) apply(f func(float64) float64) array {
	out := zeros(a.dims...)
	for i, v := range a.data {
		out.data[i] = f(v)
	}
	return out
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// eval computes a model by the operators' published definitions.
func (m *readModel) eval(inputs map[string]array) (outputs map[string]array, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	v := map[string]array{}
	for name, a := range m.constants {
		v[name] = a
	}
	for _, name := range m.inputs {
		v[name] = inputs[name]
	}
	for _, n := range m.nodes {
		var in []array
		for _, name := range n.in {
			a, ok := v[name]
			if name != "" && !ok {
				return nil, fmt.Errorf("%s reads %q before it is there", n.op, name)
			}
			in = append(in, a)
		}
		out := n.eval(in)
		for i, name := range n.out {
			if _, twice := v[name]; twice && name != "" {
				return nil, fmt.Errorf("%q is made twice", name)
			}
			v[name] = out[i]
		}
	}
	outputs = map[string]array{}
	for _, name := range m.outputs {
		outputs[name] = v[name]
	}
	return outputs, nil
}

func (n *readNode) eval(in []array) []array {
	one := func(a array) []array { return []array{a} }
	x := in[0]
	axis := func() int {
		a := n.attrs["axis"].(int)
		if a < 0 {
			a += len(x.dims)
		}
		return a
	}
	switch n.op {
	case "Elu":
		return one(x.apply(func(v float64) float64 { return math.Max(v, math.Expm1(math.Min(v, 0))) }))
	case "Relu":
		return one(x.apply(func(v float64) float64 { return math.Max(v, 0) }))
	case "Sigmoid":
		return one(x.apply(sigmoid))
	case "Tanh":
		return one(x.apply(math.Tanh))
	case "Add":
		return one(broadcast(x, in[1], func(a, b float64) float64 { return a + b }))
	case "Sub":
		return one(broadcast(x, in[1], func(a, b float64) float64 { return a - b }))
	case "Mul":
		return one(broadcast(x, in[1], func(a, b float64) float64 { return a * b }))
	case "Div":
		return one(broadcast(x, in[1], func(a, b float64) float64 { return a / b }))
	case "Sum":
		for _, a := range in[1:] {
			x = broadcast(x, a, func(a, b float64) float64 { return a + b })
		}
		return one(x)
	case "Transpose":
		perm := n.attrs["perm"].([]int)
		out := array{}
		for _, p := range perm {
			out.dims = append(out.dims, x.dims[p])
		}
		each(out.dims, func(at []int) {
			from := make([]int, len(at))
			for i, p := range perm {
				from[p] = at[i]
			}
			out.data = append(out.data, x.get(from...))
		})
		return one(out)
	case "Reshape":
		dims, rest := in[1].ints(), -1
		for i, d := range dims {
			if d == 0 {
				dims[i] = x.dims[i]
			} else if d < 0 {
				rest, dims[i] = i, 1
			}
		}
		if rest >= 0 {
			dims[rest] = len(x.data) / size(dims)
		}
		if size(dims) != len(x.data) {
			panic(fmt.Sprint("reshape of ", x.dims, " to ", dims))
		}
		return one(array{dims, x.data})
	case "Pad":
		pads, out := in[1].ints(), array{dims: slices.Clone(x.dims)}
		for i := range x.dims {
			out.dims[i] += pads[i] + pads[len(x.dims)+i]
		}
		each(out.dims, func(at []int) {
			v, from := 0.0, slices.Clone(at)
			inside := true
			for i := range from {
				from[i] -= pads[i]
				inside = inside && from[i] >= 0 && from[i] < x.dims[i]
			}
			if inside {
				v = x.get(from...)
			}
			out.data = append(out.data, v)
		})
		return one(out)
	case "Unsqueeze":
		a := in[1].ints()[0]
		if a < 0 {
			a += len(x.dims) + 1
		}
		return one(array{slices.Insert(slices.Clone(x.dims), a, 1), x.data})
	case "Squeeze":
		a := in[1].ints()[0]
		if a < 0 {
			a += len(x.dims)
		}
		if x.dims[a] != 1 {
			panic("squeeze of an axis that is not 1")
		}
		return one(array{slices.Delete(slices.Clone(x.dims), a, a+1), x.data})
	case "Gather":
		a, columns := axis(), in[1].ints()
		out := array{dims: slices.Clone(x.dims)}
		out.dims[a] = len(columns)
		each(out.dims, func(at []int) {
			from := slices.Clone(at)
			from[a] = columns[at[a]]
			out.data = append(out.data, x.get(from...))
		})
		return one(out)
	case "Concat":
		a := axis()
		out := array{dims: slices.Clone(x.dims)}
		for _, b := range in[1:] {
			out.dims[a] += b.dims[a]
		}
		each(out.dims, func(at []int) {
			from, b := slices.Clone(at), 0
			for from[a] >= in[b].dims[a] {
				from[a] -= in[b].dims[a]
				b++
			}
			out.data = append(out.data, in[b].get(from...))
		})
		return one(out)
	case "Softmax":
		a := axis()
		out := array{dims: x.dims}
		each(x.dims, func(at []int) {
			from, sum := slices.Clone(at), 0.0
			for from[a] = range x.dims[a] {
				sum += math.Exp(x.get(from...))
			}
			out.data = append(out.data, math.Exp(x.get(at...))/sum)
		})
		return one(out)
	case "Gemm":
		w := in[1]
		if n.attrs["transB"] == 1 {
			w = (&readNode{op: "Transpose", attrs: map[string]any{"perm": []int{1, 0}}}).eval([]array{w})[0]
		}
		return one(broadcast(matmul(x, w), in[2], func(a, b float64) float64 { return a + b }))
	case "MatMul":
		return one(matmul(x, in[1]))
	case "Conv":
		return one(n.conv(x, in[1], in[2]))
	case "MaxPool":
		return one(n.maxPool(x))
	case "Resize":
		if n.attrs["mode"] != "nearest" || n.attrs["coordinate_transformation_mode"] != "asymmetric" || n.attrs["nearest_mode"] != "floor" {
			panic("another resize than the one known here")
		}
		out := array{dims: slices.Clone(x.dims)}
		for i, s := range in[2].data {
			out.dims[i] = int(math.Floor(float64(x.dims[i]) * s))
		}
		each(out.dims, func(at []int) {
			from := slices.Clone(at)
			for i, s := range in[2].data {
				from[i] = int(math.Floor(float64(at[i]) / s))
			}
			out.data = append(out.data, x.get(from...))
		})
		return one(out)
	case "LSTM":
		return n.lstm(in)
	}
	panic("an operator that the test does not know: " + n.op)
}

func matmul(x, w array) array {
	r, s := len(x.dims), len(w.dims)
	k := x.dims[r-1]
	if w.dims[s-2] != k {
		panic(fmt.Sprint("product of ", x.dims, w.dims))
	}
	out := array{dims: append(slices.Clone(x.dims[:r-1]), w.dims[s-1])}
	each(out.dims, func(at []int) {
		a, b, sum := slices.Clone(at), slices.Clone(at), 0.0
		for i := range k {
			a[r-1], b[r-2] = i, i
			sum += x.get(a...) * w.get(b...)
		}
		out.data = append(out.data, sum)
	})
	return out
}

// Convolutions and pools are over the last axis; one before it has size 1.

func (n *readNode) conv(x, w, b array) array {
	pads, kernel := n.attrs["pads"].([]int), n.attrs["kernel_shape"].([]int)
	if len(kernel) != len(x.dims)-2 || len(pads) != 2*len(kernel) || kernel[len(kernel)-1] != w.dims[len(w.dims)-1] {
		panic("sizes of a convolution")
	}
	left, right := pads[len(kernel)-1], pads[len(pads)-1]
	last := len(x.dims) - 1
	out := array{dims: slices.Clone(x.dims)}
	out.dims[1], out.dims[last] = w.dims[0], x.dims[last]+left+right-w.dims[len(w.dims)-1]+1
	each(out.dims, func(at []int) {
		sum := b.data[at[1]]
		from, tap := slices.Clone(at), make([]int, len(at))
		tap[0] = at[1]
		for from[1] = range x.dims[1] {
			for i := range kernel[len(kernel)-1] {
				tap[1], tap[last] = from[1], i
				if t := at[last] + i - left; t >= 0 && t < x.dims[last] {
					from[last] = t
					sum += x.get(from...) * w.get(tap...)
				}
			}
		}
		out.data = append(out.data, sum)
	})
	return out
}

func (n *readNode) maxPool(x array) array {
	kernel, strides := n.attrs["kernel_shape"].([]int), n.attrs["strides"].([]int)
	last, k, s := len(x.dims)-1, kernel[len(kernel)-1], strides[len(strides)-1]
	out := array{dims: slices.Clone(x.dims)}
	out.dims[last] = (x.dims[last]-k)/s + 1
	each(out.dims, func(at []int) {
		top, from := math.Inf(-1), slices.Clone(at)
		for i := range k {
			from[last] = at[last]*s + i
			top = math.Max(top, x.get(from...))
		}
		out.data = append(out.data, top)
	})
	return out
}

func (n *readNode) lstm(in []array) []array {
	x, w, r, b := in[0], in[1], in[2], in[3]
	steps, batch, hidden := x.dims[0], x.dims[1], n.attrs["hidden_size"].(int)
	seq, h, c := zeros(steps, 1, batch, hidden), zeros(1, batch, hidden), zeros(1, batch, hidden)
	if len(in) > 4 {
		h, c = array{h.dims, slices.Clone(in[5].data)}, array{c.dims, slices.Clone(in[6].data)}
	}
	for i := range steps {
		t := i
		if n.attrs["direction"] == "reverse" {
			t = steps - 1 - i
		}
		next := zeros(1, batch, hidden)
		for k := range batch {
			for j := range hidden {
				gate := func(g int) float64 { // 0 input, 1 output, 2 forget, 3 cell
					row := g*hidden + j
					sum := b.get(0, row) + b.get(0, 4*hidden+row)
					for q := range x.dims[2] {
						sum += w.get(0, row, q) * x.get(t, k, q)
					}
					for q := range hidden {
						sum += r.get(0, row, q) * h.get(0, k, q)
					}
					return sum
				}
				at := k*hidden + j
				c.data[at] = sigmoid(gate(2))*c.data[at] + sigmoid(gate(0))*math.Tanh(gate(3))
				next.data[at] = sigmoid(gate(1)) * math.Tanh(c.data[at])
			}
		}
		h = next
		copy(seq.data[t*batch*hidden:], h.data)
	}
	return []array{seq, h, c}
}
