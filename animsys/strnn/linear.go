package strnn

import (
	"mannequin/netruntime"
	"mannequin/netruntime/vec"
)

// Linear is a linear filter over time for each column: from frames seen to frames before and after.
// The network's frames are differences from it, because motion is nearly linear in the past for the
// first tenth of a second, and the network need not learn that.
type Linear struct {
	Encode, Columns int       // frames seen; values per frame
	W               []float32 // (made, Encode, Columns)

	// Scale is the typical error of each output frame, (made), relative to the last one. The
	// network's frames are in these units.
	Scale []float32
}

// Apply writes output frames from to from + n−1 for frames x, (Encode, Columns), into dst, (n,
// Columns). mean, (Columns), is subtracted and added again; nil: zeros. work is scratch of the size
// of x.
func (l *Linear) Apply(dst, x, mean, work []float32, from int) {
	cols := l.Columns
	if cols < 1 {
		return
	}
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

// Add adds the network's differences, (n, Columns), to output frames from to from + n−1, dst, (n,
// Columns).
func (l *Linear) Add(dst, net []float32, from int) {
	if l.Columns < 1 {
		return
	}
	for f := range len(dst) / l.Columns {
		vec.Axpy(dst[f*l.Columns:][:l.Columns], l.Scale[from+f], net[f*l.Columns:][:l.Columns])
	}
}

// Tensor returns the filters as a model file holds them: (made·Columns, Encode).
func (l *Linear) Tensor() netruntime.Tensor {
	made := len(l.W) / max(l.Encode*l.Columns, 1)
	return netruntime.Tensor{Name: ValueLinear + ".weight", Shape: []int{made * l.Columns, l.Encode}, Data: swapped(l.W, made, l.Encode, l.Columns)}
}

// newLinear returns the filters of a model file.
func newLinear(w, scale []float32, encode, columns int) *Linear {
	return &Linear{Encode: encode, Columns: columns, W: swapped(w, len(w)/(encode*columns), columns, encode), Scale: scale}
}

// swapped returns x, (n, a, b), transposed to (n, b, a).
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
