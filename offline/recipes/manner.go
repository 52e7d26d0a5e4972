package recipes

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mannequin/animsys/feature"
	"mannequin/offline/dataset"

	"mannequin/netruntime/grad"
)

// manners describe how somebody moves, beyond what the body's motion over the ground explains:
// posture, lean, how far arms and legs swing. They are an input of the networks of locomotion, so
// that the people of several recordings stay apart instead of becoming their mean.
//
// Posture and swing are measured over about two seconds. What a regression on the body's motion
// predicts is subtracted; the manner is the first principal components of the rest, with mean 0 and
// deviation 1. Standing and moving people have a regression and components each.
type manners struct {
	values         int
	train, heldOut [][]float32 // (frames, values) of each clip
}

const (
	mannerStep  = 10   // frames from one measurement to the next
	mannerSigma = 6.0  // of the Gaussian over which a measurement reaches, in such steps
	mannerMost  = 2.5  // deviations; more count as that many
	mannerRidge = 1e-3 // of the regression, a share of the weight of the data
)

// Speeds, m/s: people stand below the first and move above the second.
const standsBelow, movesAbove = 0.2, 0.6

// sighting is one measurement.
type sighting struct {
	posture []float64 // mean of each position, then the swing of each joint, m
	terms   []float64 // of the regression
	moves   float64   // 0: stands, 1: moves
}

// newManners returns the manners of the clips of train and heldOut, measured by train.
func newManners(values int, train, heldOut *dataset.MotionSet) (*manners, error) {
	m := &manners{values: values}
	if values == 0 {
		return m, nil
	}
	seen := make([][]sighting, len(train.Clips))
	for c := range train.Clips {
		seen[c] = sight(train.Layout, &train.Clips[c])
	}
	var by [2]*mannerOf
	for i := range by {
		var err error
		if by[i], err = newMannerOf(values, seen, i == 1); err != nil {
			return nil, err
		}
	}
	for c := range train.Clips {
		m.train = append(m.train, mannerFrames(values, by, seen[c], train.Clips[c].Frames))
	}
	for c := range heldOut.Clips {
		m.heldOut = append(m.heldOut, mannerFrames(values, by, sight(heldOut.Layout, &heldOut.Clips[c]), heldOut.Clips[c].Frames))
	}
	return m, nil
}

// sight measures a clip every mannerStep frames.
func sight(l *feature.Motion, c *dataset.MotionClip) []sighting {
	cols, n := l.Columns(), (c.Frames+mannerStep-1)/mannerStep
	width := l.Body() + feature.MotionLen
	mean, square := make([]float64, n*width), make([]float64, n*width)
	for k := range n {
		from, to := k*mannerStep, min((k+1)*mannerStep, c.Frames)
		for f := from; f < to; f++ {
			for i, v := range c.Rows[f*cols:][:width] {
				mean[k*width+i] += float64(v) / float64(to-from)
				square[k*width+i] += float64(v) * float64(v) / float64(to-from)
			}
		}
	}
	out := make([]sighting, n)
	for k := range out {
		sum, squares, weight := make([]float64, width), make([]float64, width), 0.0
		for i := max(0, k-int(3*mannerSigma)); i <= min(n-1, k+int(3*mannerSigma)); i++ {
			w := math.Exp(-0.5 * float64((i-k)*(i-k)) / (mannerSigma * mannerSigma))
			weight += w
			for j := range sum {
				sum[j] += w * mean[i*width+j]
				squares[j] += w * square[i*width+j]
			}
		}
		for j := range sum {
			sum[j], squares[j] = sum[j]/weight, squares[j]/weight
		}
		s := sighting{posture: sum[:l.Body():l.Body()]}
		for j := range l.Joints {
			swing := 0.0
			for i := l.Pos(j); i < l.Pos(j)+3; i++ {
				swing += math.Max(0, squares[i]-sum[i]*sum[i])
			}
			s.posture = append(s.posture, math.Sqrt(swing))
		}
		aside, ahead, turn := sum[l.Body()+feature.MotionX], sum[l.Body()+feature.MotionZ], sum[l.Body()+feature.MotionYaw]
		s.terms = []float64{1, ahead, ahead * ahead, math.Abs(ahead), aside, math.Abs(aside), turn, math.Abs(turn)}
		u := min(max((math.Hypot(aside, ahead)-standsBelow)/(movesAbove-standsBelow), 0), 1)
		s.moves = u * u * (3 - 2*u)
		out[k] = s
	}
	return out
}

// mannerOf measures the manners of people who stand, or of those who move.
type mannerOf struct {
	usual *mat.Dense // (terms, posture) the regression
	part  *mat.Dense // (posture, values) components, divided by their deviation
}

func newMannerOf(values int, seen [][]sighting, moving bool) (*mannerOf, error) {
	var all []*sighting
	var weights []float64
	total := 0.0
	for c := range seen {
		for k := range seen[c] {
			s := &seen[c][k]
			w := s.moves
			if !moving {
				w = 1 - w
			}
			if w > 0 {
				all, weights, total = append(all, s), append(weights, w), total+w
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	terms, width := len(all[0].terms), len(all[0].posture)
	if values > width {
		return nil, fmt.Errorf("recipes: a manner of %d values, want at most %d", values, width)
	}
	gram, cross := mat.NewSymDense(terms, nil), mat.NewDense(terms, width, nil)
	for i, s := range all {
		for a, u := range s.terms {
			for b := a; b < terms; b++ {
				gram.SetSym(a, b, gram.At(a, b)+weights[i]*u*s.terms[b])
			}
			for b, v := range s.posture {
				cross.Set(a, b, cross.At(a, b)+weights[i]*u*v)
			}
		}
	}
	for a := 1; a < terms; a++ { // not the mean
		gram.SetSym(a, a, gram.At(a, a)+mannerRidge*total)
	}
	m := &mannerOf{usual: mat.NewDense(terms, width, nil), part: mat.NewDense(width, values, nil)}
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return nil, fmt.Errorf("recipes: the motion of the recordings is degenerate: no manner can be measured")
	}
	if err := chol.SolveTo(m.usual, cross); err != nil {
		return nil, fmt.Errorf("recipes: manners: %w", err)
	}
	cov, rest := mat.NewSymDense(width, nil), make([]float64, width)
	for i, s := range all {
		m.rest(rest, s)
		for a, u := range rest {
			for b := a; b < width; b++ {
				cov.SetSym(a, b, cov.At(a, b)+weights[i]/total*u*rest[b])
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(cov, true) {
		return nil, fmt.Errorf("recipes: manners: no principal components were found")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for k := range values { // the last are the largest
		at := width - 1 - k
		scale := 1 / math.Sqrt(math.Max(eigen.Values(nil)[at], 1e-10))
		for i := range width {
			m.part.Set(i, k, scale*vectors.At(i, at))
		}
	}
	return m, nil
}

// rest writes what the regression does not predict.
func (m *mannerOf) rest(dst []float64, s *sighting) {
	for i, v := range s.posture {
		for a, u := range s.terms {
			v -= u * m.usual.At(a, i)
		}
		dst[i] = v
	}
}

// mannerFrames returns the manner in each frame of a clip, (frames, values).
func mannerFrames(values int, by [2]*mannerOf, seen []sighting, frames int) []float32 {
	at, rest := make([]float64, len(seen)*values), make([]float64, len(seen[0].posture))
	for k := range seen {
		s := &seen[k]
		for i, share := range [2]float64{1 - s.moves, s.moves} {
			if share == 0 || by[i] == nil {
				continue
			}
			by[i].rest(rest, s)
			for v := range values {
				sum := 0.0
				for j, u := range rest {
					sum += u * by[i].part.At(j, v)
				}
				at[k*values+v] += share * sum
			}
		}
	}
	out := make([]float32, frames*values)
	for f := range frames {
		u := min(max((float64(f)-(mannerStep-1)/2.0)/mannerStep, 0), float64(len(seen)-1))
		k := min(int(u), max(0, len(seen)-2))
		for v := range values {
			a := at[k*values+v]
			b := at[min(k+1, len(seen)-1)*values+v]
			out[f*values+v] = float32(min(max(a+(u-float64(k))*(b-a), -mannerMost), mannerMost))
		}
	}
	return out
}

// beside returns given, (batch·length, columns), with the manners of the windows rows as further
// columns.
func (m *manners) beside(t *grad.Tape, given *grad.Mat, w *windows, rows []int32, isHeldOut bool) *grad.Mat {
	if m.values == 0 {
		return given
	}
	set, clips := w.set(isHeldOut), m.train
	if isHeldOut {
		clips = m.heldOut
	}
	cols := given.Cols + m.values
	out := t.Const(given.Rows, cols)
	for i, r := range rows {
		begin, step := w.play(r, isHeldOut)
		clip := clips[set.Windows[r].Clip]
		for f := range set.Length {
			dst, row := out.Val[(i*set.Length+f)*cols:][:cols], i*set.Length+f
			copy(dst, given.Val[row*given.Cols:][:given.Cols])
			at := nearest(begin+float64(f)*step, len(clip)/m.values)
			copy(dst[given.Cols:], clip[at*m.values:][:m.values])
		}
	}
	return out
}

// stats returns the normalisation of the inputs of a network that takes manners.
func (m *manners) stats(mean, std []float32) (means, stds []float32) {
	for range m.values {
		mean, std = append(mean, 0), append(std, 1)
	}
	return mean, std
}
