package onnx

// layout is an order of a value's axes.
type layout int

const (
	// frames is (batch, length, channels), the network's own, or in a flat graph
	// (batch, channels). The graph's inputs and outputs are in it.
	frames layout = iota
	// series is (batch, channels, length), for convolutions; with the form
	// conv=2d it is (batch, channels, 1, length).
	series
	// steps is (length, batch, channels), for recurrent layers.
	steps
	// phases is a series of half the length: even frames' channels, then the odd frames'.
	phases
	layouts
)

// value is a value of the network in the layouts made so far.
type value struct {
	name     string
	channels int
	length   length
	at       [layouts]ref
}

// in returns v in a layout.
func (e *exporter) in(v *value, want layout) ref {
	if v.at[want] == 0 {
		v.at[want] = e.convert(v, want)
	}
	return v.at[want]
}

func (e *exporter) convert(v *value, want layout) ref {
	transpose := func(x ref, perm ...int) ref {
		return e.op("Transpose", v.name+".transposed", []ref{x}, attribute{"perm", perm})
	}
	reshape := func(x ref, shape ...int) ref {
		return e.op("Reshape", v.name+".reshaped", []ref{x, e.ints(shape...)})
	}
	if want == steps {
		return transpose(e.in(v, frames), 1, 0, 2)
	}
	switch {
	case v.at[phases] != 0:
		x := reshape(v.at[phases], 0, 2, v.channels, -1)
		if want == frames {
			return reshape(transpose(x, 0, 3, 1, 2), 0, -1, v.channels)
		}
		x = transpose(x, 0, 2, 3, 1)
		if e.twoD {
			return reshape(x, 0, v.channels, 1, -1)
		}
		return reshape(x, 0, v.channels, -1)
	case want == frames && v.at[steps] != 0:
		return transpose(v.at[steps], 1, 0, 2)
	case want == frames:
		x := v.at[series]
		if e.twoD {
			x = e.op("Squeeze", v.name+".squeezed", []ref{x, e.ints(2)})
		}
		return transpose(x, 0, 2, 1)
	}
	var x ref
	if v.at[frames] != 0 {
		x = transpose(v.at[frames], 0, 2, 1)
	} else {
		x = transpose(v.at[steps], 1, 2, 0)
	}
	if e.twoD {
		x = e.op("Unsqueeze", v.name+".unsqueezed", []ref{x, e.ints(2)})
	}
	return x
}

// any returns v in a layout that exists, for operations per frame and channel. Phases become
// frames, because a decoder ends soon.
func (e *exporter) any(v *value) (ref, layout) {
	for _, l := range []layout{frames, series, steps} {
		if v.at[l] != 0 {
			return v.at[l], l
		}
	}
	return e.in(v, frames), frames
}

func (l layout) axis() int {
	if l == series {
		return 1
	}
	return -1
}
