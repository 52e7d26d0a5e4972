package baseline

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// basis is a principal component analysis of poses.
type basis struct {
	mean     []float64  // (dofs)
	weights  *mat.Dense // (dofs, components) from a centred pose to its scores
	variance []float64  // (components) of the training scores, falling
}

// fitBasis finds the first components of the pairs' inputs. Columns are divided by their standard
// deviations, because radians and metres per second cannot be compared. Columns that move less than
// the median column are divided by the median: small jitter of a wrist should not count more.
func fitBasis(pairs []Pair, components int) (*basis, error) {
	_, dofs := pairs[0].X.Dims()
	b := &basis{mean: columnMeans(pairs, false)}
	frames := countFrames(pairs)
	cov := mat.NewSymDense(dofs, nil)
	d := make([]float64, dofs)
	for _, p := range pairs {
		for t := range p.Step {
			for j, v := range p.X.RawRowView(t) {
				d[j] = v - b.mean[j]
			}
			cov.SymRankOne(cov, 1/float64(frames), mat.NewVecDense(dofs, d))
		}
	}
	deviation := make([]float64, dofs)
	for j := range deviation {
		deviation[j] = math.Sqrt(cov.At(j, j))
	}
	scale := softScale(deviation)
	for j := range dofs {
		for k := j; k < dofs; k++ {
			cov.SetSym(j, k, cov.At(j, k)/scale[j]/scale[k])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(cov, true) {
		return nil, fmt.Errorf("baseline: no principal components of the input poses: check them for values beyond reason")
	}
	values := eigen.Values(nil) // rising
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	n := 0
	for n < min(components, dofs) && values[dofs-1-n] > 1e-10*values[dofs-1] {
		n++
	}
	n = max(n, 1) // a still performance has one component with scores of 0
	b.weights = mat.NewDense(dofs, n, nil)
	for c := range n {
		for j := range dofs {
			b.weights.Set(j, c, vectors.At(j, dofs-1-c)/scale[j])
		}
		b.variance = append(b.variance, max(values[dofs-1-c], 0))
	}
	return b, nil
}

// softScale returns the divisors of columns with these standard deviations: see fitBasis.
func softScale(deviation []float64) []float64 {
	moving := slices.DeleteFunc(slices.Sorted(slices.Values(deviation)), func(v float64) bool { return v <= 0 })
	median := 1.0
	if len(moving) > 0 {
		median = moving[len(moving)/2]
	}
	scale := make([]float64, len(deviation))
	for j, v := range deviation {
		scale[j] = max(v, median)
	}
	return scale
}

// scores returns the coordinates of x along the components, (frames, components).
func (b *basis) scores(x *mat.Dense) *mat.Dense {
	r, dofs := x.Dims()
	centred := mat.NewDense(r, dofs, nil)
	for t := range r {
		dst := centred.RawRowView(t)
		for j, v := range x.RawRowView(t) {
			dst[j] = v - b.mean[j]
		}
	}
	var s mat.Dense
	s.Mul(centred, b.weights)
	return &s
}

// moving returns the scores and their velocities per frame, (frames, 2·components). A velocity is
// the change since the frame before, so that a translator never looks ahead. The first frame has
// the second's.
func (b *basis) moving(x *mat.Dense) *mat.Dense {
	s := b.scores(x)
	r, n := s.Dims()
	out := mat.NewDense(r, 2*n, nil)
	for t := range r {
		row := out.RawRowView(t)
		copy(row, s.RawRowView(t))
		now := max(t, 1)
		if r == 1 {
			continue
		}
		for j := range n {
			row[n+j] = s.At(now, j) - s.At(now-1, j)
		}
	}
	return out
}
