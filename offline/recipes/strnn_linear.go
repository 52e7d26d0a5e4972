package recipes

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/strnn"
	"mannequin/offline/dataset"
)

// Deviations of the noise on the given frames for which the filters are optimal, in deviations of
// the columns: for filters that reconstruct the given frames, and for those that predict.
const (
	linearBefore = 0.1
	linearAfter  = 0.03
)

// linearLeast is the smallest scale of a frame.
const linearLeast = 0.03

// linearHop is the distance in frames between the motions that filters are fitted to.
const linearHop = 3

// fitLinear returns the filters, (encode+predict, encode, columns), that reconstruct the given
// frames without noise and predict the following ones with the least squared error over a set, at
// 30 frames per second.
func fitLinear(set *dataset.MotionSet, encode, predict int) (*strnn.Linear, error) {
	cols, n := set.Layout.Columns(), encode+predict
	gram, cross := make([]float64, cols*encode*encode), make([]float64, cols*encode*n)
	power, missed := make([]float64, cols*n), make([]float64, n) // missed: squared errors of joints, by frame
	v := make([]float64, n)
	motions := 0
	var rows []float32
	for c := range set.Clips {
		clip := &set.Clips[c]
		frames := clip.Frames / 2
		rows = append(rows[:0], make([]float32, frames*cols)...)
		strnn.HalveRate(rows, clip.Rows, set.Layout)
		for from := 0; from+n <= frames; from += linearHop {
			motions++
			for c := range cols {
				for f := range v {
					v[f] = float64((rows[(from+f)*cols+c] - set.Mean[c]) / set.Std[c])
				}
				g, x := gram[c*encode*encode:], cross[c*encode*n:]
				for k := range n {
					power[c*n+k] += v[k] * v[k]
				}
				for i := range encode {
					for k := range encode {
						g[i*encode+k] += v[i] * v[k]
					}
					for k := range n {
						x[i*n+k] += v[i] * v[k]
					}
				}
			}
		}
	}
	if motions == 0 {
		return nil, fmt.Errorf("recipes: no recording has %d frames at %d per second", n, strnn.Rate)
	}
	l := &strnn.Linear{Encode: encode, Columns: cols, W: make([]float32, n*encode*cols)}
	for c := range cols {
		for _, part := range []struct {
			from, to int
			noise    float64
		}{{0, encode, linearBefore}, {encode, n, linearAfter}} {
			a := mat.NewSymDense(encode, nil)
			b := mat.NewDense(encode, part.to-part.from, nil)
			for i := range encode {
				for k := range encode {
					a.SetSym(i, k, gram[(c*encode+i)*encode+k])
				}
				a.SetSym(i, i, a.At(i, i)+(part.noise*part.noise+1e-6)*float64(motions))
				for k := part.from; k < part.to; k++ {
					b.Set(i, k-part.from, cross[(c*encode+i)*n+k])
				}
			}
			var chol mat.Cholesky
			var w mat.Dense
			if !chol.Factorize(a) {
				return nil, fmt.Errorf("recipes: no linear filter of column %d: its frames are not finite", c)
			}
			if err := chol.SolveTo(&w, b); err != nil {
				return nil, fmt.Errorf("recipes: linear filter of column %d: %w", c, err)
			}
			for k := part.from; k < part.to; k++ {
				// The minimum of |v − w·x|² is v·v − w·(x·v).
				miss := power[c*n+k]
				for i := range encode {
					l.W[(k*encode+i)*cols+c] = float32(w.At(i, k-part.from))
					miss -= w.At(i, k-part.from) * b.At(i, k-part.from)
				}
				if c < set.Layout.Body() {
					missed[k] += max(0, miss)
				}
			}
		}
	}
	last := math.Sqrt(missed[n-1])
	l.Scale = make([]float32, n)
	for f := range n {
		l.Scale[f] = float32(max(linearLeast, math.Sqrt(missed[f])/last))
	}
	return l, nil
}
