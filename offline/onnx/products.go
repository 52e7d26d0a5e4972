package onnx

import (
	"mannequin/netruntime"
)

// dense adds act(x·Wᵀ + b).
func (e *exporter) dense(n *netruntime.Node, out, x *value, w, b netruntime.Tensor) ref {
	out.channels = w.Shape[0]
	if n.Tied {
		out.channels = w.Shape[1]
	}
	bias := e.perChannel(b.Name, "", frames, b.Data)
	if e.flat {
		trans := 1
		if n.Tied {
			trans = 0
		}
		return e.act(n, e.op("Gemm", n.Name, []ref{e.in(x, frames), e.asIs(w), bias}, attribute{"transB", trans}))
	}
	weight := e.asIs(w)
	if !n.Tied {
		weight = e.constant(w.Name, "transposed", []int{w.Shape[1], w.Shape[0]}, func() any {
			return permuted(w.Data, w.Shape, 1, 0)
		})
	}
	y := e.op("MatMul", n.Name+".product", []ref{e.in(x, frames), weight})
	return e.act(n, e.op("Add", n.Name, []ref{y, bias}))
}

// blend adds act(Σ_k ω_k (W_k·x + b_k)).
func (e *exporter) blend(n *netruntime.Node, out, x, omega *value, w, b netruntime.Tensor) ref {
	k, o, i := w.Shape[0], w.Shape[1], w.Shape[2]
	out.channels = o
	xs, ws := e.in(x, frames), e.in(omega, frames)
	zeros := []int{0} // axes that a Reshape keeps
	if !e.flat {
		zeros = []int{0, 0}
	}
	shape := func(last ...int) ref { return e.ints(append(zeros[:len(zeros):len(zeros)], last...)...) }
	row := func() ref { return e.op("Unsqueeze", omega.name+".row", []ref{ws, e.ints(-2)}) } // (…, 1, K)
	var y ref
	switch e.form[formBlend] {
	case "outputs":
		// All experts side by side, then ω (1, K) · (K, O).
		weight := e.constant(w.Name, "outputs", []int{i, k * o}, func() any { return permuted(w.Data, w.Shape, 2, 0, 1) })
		bias := e.constant(b.Name, "outputs", []int{k * o}, func() any { return b.Data })
		if e.flat {
			y = e.op("Gemm", n.Name+".experts", []ref{xs, weight, bias})
		} else {
			y = e.op("MatMul", n.Name+".product", []ref{xs, weight})
			y = e.op("Add", n.Name+".experts", []ref{y, bias})
		}
		y = e.op("Reshape", n.Name+".byExpert", []ref{y, shape(k, o)})
		y = e.op("MatMul", n.Name+".blended", []ref{row(), y})
		return e.act(n, e.op("Squeeze", n.Name, []ref{y, e.ints(-2)}))
	case "inputs":
		// [ω_1 x … ω_K x] · [W_1ᵀ; …; W_Kᵀ].
		weight := e.constant(w.Name, "inputs", []int{k * i, o}, func() any { return permuted(w.Data, w.Shape, 0, 2, 1) })
		y = e.op("Unsqueeze", omega.name+".column", []ref{ws, e.ints(-1)})
		x1 := e.op("Unsqueeze", x.name+".row", []ref{xs, e.ints(-2)})
		y = e.op("Mul", n.Name+".scaled", []ref{y, x1})
		y = e.op("Reshape", n.Name+".stacked", []ref{y, shape(k * i)})
		y = e.op("MatMul", n.Name+".product", []ref{y, weight})
	case "weights":
		// (Σ ω_k W_k)·x with other weights for every row.
		weight := e.constant(w.Name, "weights", []int{k, i * o}, func() any { return permuted(w.Data, w.Shape, 0, 2, 1) })
		y = e.op("MatMul", n.Name+".weights", []ref{ws, weight})
		y = e.op("Reshape", n.Name+".matrices", []ref{y, shape(i, o)})
		x1 := e.op("Unsqueeze", x.name+".row", []ref{xs, e.ints(-2)})
		y = e.op("MatMul", n.Name+".rows", []ref{x1, y})
		y = e.op("Squeeze", n.Name+".product", []ref{y, e.ints(-2)})
	}
	bias := e.op("MatMul", n.Name+".bias", []ref{ws, e.asIs(b)})
	return e.act(n, e.op("Add", n.Name, []ref{y, bias}))
}

// conv adds act(b + W ∗ x).
func (e *exporter) conv(n *netruntime.Node, out, x *value, w, b netruntime.Tensor) (ref, layout) {
	form, taps := "", conv{out: w.Shape[0], in: w.Shape[1], width: w.Shape[2], w: w.Data}
	if n.Tied {
		form += "tied"
		taps = conv{out: taps.in, in: taps.out, width: taps.width, w: permuted(w.Data, w.Shape, 1, 0, 2)}
	}
	if n.Flip {
		form += "flipped"
		taps.flip()
	}
	left := (taps.width - 1) / 2
	right := taps.width - 1 - left
	out.channels = taps.out
	at, twice, data := series, "", b.Data
	src := x
	if half, ok := e.depools[x.name]; ok && e.form[formDepool] == "folded" {
		form, twice, src, at = form+"folded", "twice", half, phases
		taps, left, right = taps.fold(left)
		data = append(data[:len(data):len(data)], data...)
	}
	input := e.in(src, series)
	if add := -taps.in & (channelBlock - 1); e.form[formConv] == "padded" && taps.in > channelBlock && add > 0 {
		input = e.op("Pad", src.name+".padded", []ref{input, e.ints(0, 0, 0, 0, 0, add, 0, 0)})
		form += "padded"
		taps.pad(add)
	}
	dims := append([]int{taps.out, taps.in}, e.over(taps.width)...)
	pads := []int{left, right}
	if e.twoD {
		pads = []int{0, left, 0, right}
	}
	weight := e.constant(w.Name, form, dims, func() any { return taps.w })
	y := e.op("Conv", n.Name, []ref{input, weight, e.floats(b.Name, twice, data)},
		attribute{"kernel_shape", e.over(taps.width)}, attribute{"pads", pads})
	return e.act(n, y), at
}

// conv is the weights of a convolution, (out, in, width).
type conv struct {
	out, in, width int
	w              []float32
}

func (c *conv) flip() {
	w := make([]float32, len(c.w))
	for i := range w {
		row, tap := i/c.width, i%c.width
		w[i] = c.w[row*c.width+c.width-1-tap]
	}
	c.w = w
}

// channelBlock is the number of channels in a block of ONNX Runtime's layout with AVX-512.
const channelBlock = 16

// pad adds input channels whose weights are zero.
func (c *conv) pad(channels int) {
	from, to := c.in*c.width, (c.in+channels)*c.width
	w := make([]float32, c.out*to)
	for o := range c.out {
		copy(w[o*to:], c.w[o*from:][:from])
	}
	c.in, c.w = c.in+channels, w
}

// fold joins c, whose first tap reads left frames before, with an average depooling before it. The
// result computes the channels of the even frames and then of the odd ones from the shorter signal.
//
// The depooled signal is u[s] = x[⌊s/2⌋]/2, so tap w of the output frame 2τ + r reads x[τ + ⌊(r + w
// − left)/2⌋]/2: two taps become one, except for the first and the last.
func (c *conv) fold(left int) (folded conv, before, after int) {
	at := func(r, w int) int { return (r + w - left) >> 1 }
	before, after = -at(0, 0), at(1, c.width-1)
	f := conv{out: 2 * c.out, in: c.in, width: before + after + 1}
	f.w = make([]float32, f.out*f.in*f.width)
	for i, v := range c.w {
		row, w := i/c.width, i%c.width // row: (out, in)
		for r := range 2 {
			f.w[(r*c.out*c.in+row)*f.width+before+at(r, w)] += v / 2
		}
	}
	return f, before, after
}

// lstm adds a recurrent layer and the values of its last state.
func (e *exporter) lstm(n *netruntime.Node, out *value, in []*value, w, r, b netruntime.Tensor) ref {
	h := r.Shape[1]
	out.channels = h
	// Our gates are input, forget, cell, output; ONNX has input, output, forget, cell.
	gates := func(t netruntime.Tensor) []float32 {
		part := len(t.Data) / 4
		var d []float32
		for _, g := range []int{0, 3, 1, 2} {
			d = append(d, t.Data[g*part:][:part]...)
		}
		return d
	}
	operands := []ref{
		e.in(in[0], steps),
		e.constant(w.Name, "iofc", []int{1, 4 * h, w.Shape[1]}, func() any { return gates(w) }),
		e.constant(r.Name, "iofc", []int{1, 4 * h, h}, func() any { return gates(r) }),
		// One bias of the input and one of the state: the second is zero.
		e.constant(b.Name, "iofc", []int{1, 8 * h}, func() any { return append(gates(b), make([]float32, 4*h)...) }),
	}
	if len(in) > 1 {
		operands = append(operands, 0, e.in(in[1], steps), e.in(in[2], steps))
	}
	direction := "forward"
	if n.Reverse {
		direction = "reverse"
	}
	results := []ref{e.tensor(n.Name + ".directions")}
	for _, part := range []string{".h", ".c"} {
		v := &value{name: n.Name + part, channels: h, length: length{1, 1, true}}
		v.at[steps] = e.tensor(v.name)
		results = append(results, v.at[steps])
		e.values[v.name] = v
	}
	e.ops = append(e.ops, operation{"LSTM", operands, results, []attribute{{"hidden_size", h}, {"direction", direction}}})
	return e.op("Squeeze", n.Name, []ref{results[0], e.ints(1)})
}

func (e *exporter) asIs(t netruntime.Tensor) ref {
	return e.constant(t.Name, "", t.Shape, func() any { return t.Data })
}

// permuted returns an array whose axis i is axis perm[i] of the array x.
func permuted(x []float32, shape []int, perm ...int) []float32 {
	stride := make([]int, len(shape)) // of x, by axis of the result
	size := make([]int, len(shape))
	for i, p := range perm {
		size[i], stride[i] = shape[p], 1
		for _, s := range shape[p+1:] {
			stride[i] *= s
		}
	}
	y := make([]float32, 0, len(x))
	var walk func(axis, at int)
	walk = func(axis, at int) {
		if axis == len(size) {
			y = append(y, x[at])
			return
		}
		for range size[axis] {
			walk(axis+1, at)
			at += stride[axis]
		}
	}
	walk(0, 0)
	return y
}
