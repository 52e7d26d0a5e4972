package baseline

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// GPOptions are the options of [FitGP].
type GPOptions struct {
	Components int // principal components of the input's pose; their scores and velocities are the features; 0: 8
	MaxPoints  int // most frames in the regression; 0: 600
}

// GP is Gaussian process regression from the input's pose and velocity to the output's pose and the
// logarithm of its step, after Ikemoto, Arikan and Forsyth 2009. It learns the difference between
// the styles, as in the comparison of Xia et al. 2015, section 7.2.2. Far from all training data
// the output is the input plus the mean difference.
type GP struct {
	dofs   int
	pose   *basis
	kernel kernel
	points *mat.Dense // (points, features), scaled by the kernel
	alpha  *mat.Dense // (points, dofs + 1)
	mean   []float64  // (dofs + 1) of the outputs
	clock  clock
}

// FitGP fits one Gaussian process with a kernel shared by all outputs. Length scale, noise, the
// weight of velocities and the whitening of principal components maximise the marginal likelihood
// of at most 400 frames. The signal's variance has a closed form.
//
// Up to MaxPoints frames the regression is exact. With more frames, the points farthest from each
// other carry the projected process, to which all frames contribute (Seeger, Williams and Lawrence
// 2003; Rasmussen and Williams 2006, section 8.3.4).
func FitGP(pairs []Pair, o GPOptions) (*GP, error) {
	dofs, err := checkPairs(pairs)
	if err != nil {
		return nil, err
	}
	if o.Components < 0 || o.MaxPoints < 0 {
		return nil, fmt.Errorf("baseline: Components is %d and MaxPoints %d, want no negative number", o.Components, o.MaxPoints)
	}
	o.Components = cmp.Or(o.Components, 8)
	o.MaxPoints = cmp.Or(o.MaxPoints, 600)
	m := &GP{dofs: dofs}
	if m.pose, err = fitBasis(pairs, o.Components); err != nil {
		return nil, err
	}
	features, outputs := m.gather(pairs)
	m.mean = centre(outputs)
	variance := columnVariances(features)
	sample := stride(features, maxSample)
	m.kernel = fitKernel(sample, softened(stride(outputs, maxSample)), variance)
	scaled := m.kernel.scaled(features)
	if n, _ := scaled.Dims(); n <= o.MaxPoints {
		m.points = scaled
		m.alpha, err = exact(m.kernel, scaled, outputs)
	} else {
		m.points = farthest(scaled, o.MaxPoints)
		m.alpha, err = projected(m.kernel, m.points, scaled, outputs)
	}
	if err != nil {
		return nil, err
	}
	m.clock = fitClock(logSteps(pairs), func(i int) []float64 { return mat.Col(nil, dofs, m.predict(pairs[i].X)) })
	return m, nil
}

// gather returns the training data, (frames, 2·components) and (frames, dofs + 1).
func (m *GP) gather(pairs []Pair) (features, outputs *mat.Dense) {
	frames := countFrames(pairs)
	features = mat.NewDense(frames, 2*len(m.pose.variance), nil)
	outputs = mat.NewDense(frames, m.dofs+1, nil)
	at := 0
	for _, p := range pairs {
		f := m.pose.moving(p.X)
		for t, s := range p.Step {
			copy(features.RawRowView(at), f.RawRowView(t))
			out := outputs.RawRowView(at)
			copy(out, p.Y.RawRowView(t))
			for j, v := range p.X.RawRowView(t) {
				out[j] -= v
			}
			out[m.dofs] = math.Log(s)
			at++
		}
	}
	return features, outputs
}

// predict returns the mean of the process, (frames, dofs + 1).
func (m *GP) predict(x *mat.Dense) *mat.Dense {
	k := m.kernel.between(m.kernel.scaled(m.pose.moving(x)), m.points)
	var out mat.Dense
	out.Mul(k, m.alpha)
	r, _ := out.Dims()
	for t := range r {
		row := out.RawRowView(t)
		for j, v := range m.mean {
			row[j] += v
		}
	}
	return &out
}

// Translate predicts the mean for each frame of x, (frames, dofs), independently.
func (m *GP) Translate(x *mat.Dense) (*mat.Dense, []float64, error) {
	if err := checkInput(x, m.dofs); err != nil {
		return nil, nil, err
	}
	frames, _ := x.Dims()
	all := m.predict(x)
	y := mat.NewDense(frames, m.dofs, nil)
	for t := range frames {
		out := y.RawRowView(t)
		copy(out, all.RawRowView(t))
		for j, v := range x.RawRowView(t) {
			out[j] += v
		}
	}
	step := mat.Col(nil, m.dofs, all)
	m.clock.steps(step)
	return y, step, nil
}

// exact returns α = (R + ρI)⁻¹ Y by Cholesky. R is the kernel of the points with signal variance 1,
// ρ the relative noise variance.
func exact(k kernel, points, y *mat.Dense) (*mat.Dense, error) {
	var chol mat.Cholesky
	if !chol.Factorize(k.noisy(points)) {
		return nil, fmt.Errorf("baseline: the Gaussian process's covariance is not positive definite: thin out frames that repeat, or use fewer")
	}
	var alpha mat.Dense
	if err := chol.SolveTo(&alpha, y); failed(err) {
		return nil, fmt.Errorf("baseline: Gaussian process: %w", err)
	}
	return &alpha, nil
}

// jitter is added to the covariance of a projected process's points.
const jitter = 1e-8

// projected returns α = (Rmf Rfm + ρ Rmm)⁻¹ Rmf Y of points m and all frames f.
func projected(k kernel, points, all, y *mat.Dense) (*mat.Dense, error) {
	cross := k.between(all, points)
	n, _ := points.Dims()
	own := k.between(points, points)
	sum := mat.NewSymDense(n, nil)
	sum.SymOuterK(1, cross.T())
	for i := range n {
		for j := i; j < n; j++ {
			v := sum.At(i, j) + k.noise*own.At(i, j)
			if i == j {
				v += k.noise * jitter
			}
			sum.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	// Rounding can outweigh the smallest eigenvalues. The addition, raised until the factorization
	// succeeds, acts like noise of the points.
	scale := mat.Trace(sum) / float64(n)
	for add := 1e-14; !chol.Factorize(sum); add *= 100 {
		if !(add < 1) {
			return nil, fmt.Errorf("baseline: the Gaussian process's covariance is not positive definite: check the data for extreme values")
		}
		for i := range n {
			sum.SetSym(i, i, sum.At(i, i)+add*scale)
		}
	}
	var right, alpha mat.Dense
	right.Mul(cross.T(), y)
	if err := chol.SolveTo(&alpha, &right); failed(err) {
		return nil, fmt.Errorf("baseline: Gaussian process: %w", err)
	}
	return &alpha, nil
}
