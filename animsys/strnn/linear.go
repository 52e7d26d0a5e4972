package strnn

import (
	"mannequin/netruntime"
	"mannequin/netruntime/vec"
)

// Linear is a linear filter of each column over time: frames made from frames seen. From
// what it says the network's frames are differences: how a motion goes on in the first
// tenth of a second is nearly linear in what was seen, and a network that starts from
// there need not learn it.
type Linear struct {
	Encode, Columns int       // frames seen; values of a frame
	W               []float32 // (made, Encode, Columns)

	// Scale is how far from the truth each frame made is, (made), in parts of the last
	// one: the network's frames are differences in these units.
	Scale []float32
}

// Apply writes frames from to from + n−1 of those made of the frames x, (Encode,
// Columns), into dst, (n, Columns). mean, (Columns), is what frames differ from; nil is
// zeros, and work has room for as many values as x.
func (l *Linear) Apply(dst, x, mean, work []float32, from int) {
	cols := l.Columns
	if mean != nil {
		for f := range l.Encode {
			for c, v := range x[f*cols:][:cols] {
				work[f*cols+c] = v - mean[c]
			}
		}
		x = work
	}
	for f := range len(dst) / cols {
		to := dst[f*cols:][:cols]
		if mean == nil {
			clear(to)
		} else {
			copy(to, mean)
		}
		for e := range l.Encode {
			vec.MulAdd(to, x[e*cols:][:cols], l.W[((from+f)*l.Encode+e)*cols:][:cols])
		}
	}
}

// Add adds to frames from to from + n−1 of those made, dst, (n, Columns), what the network
// says of them, (n, Columns).
func (l *Linear) Add(dst, net []float32, from int) {
	for f := range len(dst) / l.Columns {
		vec.Axpy(dst[f*l.Columns:][:l.Columns], l.Scale[from+f], net[f*l.Columns:][:l.Columns])
	}
}

// Tensor returns the filters as a model file holds them: (made·Columns, Encode).
func (l *Linear) Tensor() netruntime.Tensor {
	made := len(l.W) / (l.Encode * l.Columns)
	return netruntime.Tensor{Name: ValueLinear + ".weight", Shape: []int{made * l.Columns, l.Encode}, Data: swapped(l.W, made, l.Encode, l.Columns)}
}

// newLinear returns the filters that a model file holds.
func newLinear(w, scale []float32, encode, columns int) *Linear {
	return &Linear{Encode: encode, Columns: columns, W: swapped(w, len(w)/(encode*columns), columns, encode), Scale: scale}
}

// swapped returns x, (n, a, b), as (n, b, a).
func swapped(x []float32, n, a, b int) []float32 {
	y := make([]float32, len(x))
	for k := range n {
		for i := range a {
			for j := range b {
				y[(k*b+j)*a+i] = x[(k*a+i)*b+j]
			}
		}
	}
	return y
}
