package baseline

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// GlobalAROptions are the options of [FitGlobalAR].
type GlobalAROptions struct {
	Lambda     float64 // λ ≥ 0 of the ridge; 0: 0.1
	Components int     // principal components of the input's pose, from which steps are predicted; 0: 8
}

// GlobalAR is one autoregression for all times:
//
//	y(t) = a x(t-1) + b y(t-1) + c x(t) + d
//
// for each degree of freedom: equation 2 of Xia et al. 2015 with constant parameters.
type GlobalAR struct {
	beta  [][4]float64 // (dofs) a, b, c, d: of x(t-1), y(t-1), x(t) and 1
	pose  *basis
	steps []float64 // (components + 1) for the logarithm of steps, the constant last
	clock clock
}

// FitGlobalAR fits by ridge regression, Σ(y - uᵀβ)² + λ‖β‖², over all frames of all pairs except
// the first frames. An autoregression that is fitted one step ahead diverges on its own output if
// |b| is 1 or more. Then b is clamped and the other parameters are fitted to that. Steps are a
// ridge regression of their logarithms on the input's pose.
func FitGlobalAR(pairs []Pair, o GlobalAROptions) (*GlobalAR, error) {
	dofs, err := checkPairs(pairs)
	if err != nil {
		return nil, err
	}
	if !(o.Lambda >= 0) || o.Components < 0 {
		return nil, fmt.Errorf("baseline: Lambda is %v and Components %d, want no negative number", o.Lambda, o.Components)
	}
	o.Lambda = cmp.Or(o.Lambda, 0.1)
	o.Components = cmp.Or(o.Components, 8)
	m := &GlobalAR{beta: make([][4]float64, dofs)}
	for d := range dofs {
		if m.beta[d], err = fitAR(pairs, d, o.Lambda); err != nil {
			return nil, err
		}
	}
	if m.pose, err = fitBasis(pairs, o.Components); err != nil {
		return nil, err
	}
	logs := logSteps(pairs)
	r := newTriangle(len(m.pose.variance) + 2)
	var scores []*mat.Dense
	for i, p := range pairs {
		s := m.pose.scores(p.X)
		scores = append(scores, s)
		for t, v := range logs[i] {
			row := r.row()
			n := copy(row, s.RawRowView(t))
			row[n], row[n+1] = 1, v
		}
	}
	if m.steps, err = ridge(r, o.Lambda); err != nil {
		return nil, err
	}
	m.clock = fitClock(logs, func(i int) []float64 { return m.stepLogs(scores[i]) })
	return m, nil
}

// maxFeedback is the largest |b|: at 120 frames per second it decays to a third in 17 seconds.
const maxFeedback = 0.9995

// fitAR returns β of degree of freedom d.
func fitAR(pairs []Pair, d int, lambda float64) (beta [4]float64, err error) {
	free := newTriangle(5) // u, y
	for _, p := range pairs {
		for t := 1; t < len(p.Step); t++ {
			copy(free.row(), []float64{p.X.At(t-1, d), p.Y.At(t-1, d), p.X.At(t, d), 1, p.Y.At(t, d)})
		}
	}
	theta, err := ridge(free, lambda)
	if err != nil {
		return beta, err
	}
	copy(beta[:], theta)
	if beta[1] <= maxFeedback && beta[1] >= -maxFeedback {
		return beta, nil
	}
	beta[1] = min(max(beta[1], -maxFeedback), maxFeedback)
	bound := newTriangle(4)
	for _, p := range pairs {
		for t := 1; t < len(p.Step); t++ {
			copy(bound.row(), []float64{p.X.At(t-1, d), p.X.At(t, d), 1, p.Y.At(t, d) - beta[1]*p.Y.At(t-1, d)})
		}
	}
	if theta, err = ridge(bound, lambda); err != nil {
		return beta, err
	}
	beta[0], beta[2], beta[3] = theta[0], theta[1], theta[2]
	return beta, nil
}

// Translate runs the autoregressions on x, (frames, dofs), and on their own output. Before the
// first frame both input and output are the input's first frame.
func (m *GlobalAR) Translate(x *mat.Dense) (*mat.Dense, []float64, error) {
	if err := checkInput(x, len(m.beta)); err != nil {
		return nil, nil, err
	}
	frames, dofs := x.Dims()
	y := mat.NewDense(frames, dofs, nil)
	before, last := x.RawRowView(0), x.RawRowView(0)
	for t := range frames {
		now, out := x.RawRowView(t), y.RawRowView(t)
		for d, b := range m.beta {
			out[d] = b[0]*before[d] + b[1]*last[d] + b[2]*now[d] + b[3]
		}
		before, last = now, out
	}
	step := m.stepLogs(m.pose.scores(x))
	m.clock.steps(step)
	return y, step, nil
}

func (m *GlobalAR) stepLogs(scores *mat.Dense) []float64 {
	frames, n := scores.Dims()
	logs := make([]float64, frames)
	for t := range logs {
		logs[t] = m.steps[n]
		for j, v := range scores.RawRowView(t) {
			logs[t] += m.steps[j] * v
		}
	}
	return logs
}

// ridge minimises Σ(y - uᵀθ)² + λ‖θ‖² over the rows (u, y) of r, with the penalty as rows of √λ.
func ridge(r *triangle, lambda float64) ([]float64, error) {
	n := r.n - 1
	both := newTriangle(r.n)
	both.add(r, 0)
	root := math.Sqrt(lambda)
	for i := range n {
		both.row()[i] = root
	}
	full := both.r()
	var theta mat.VecDense
	left := mat.NewTriDense(n, mat.Upper, nil)
	for i := range n {
		for j := i; j < n; j++ {
			left.SetTri(i, j, full.At(i, j))
		}
	}
	if err := theta.SolveVec(left, full.Slice(0, n, n, n+1).(*mat.Dense).ColView(0)); failed(err) {
		return nil, fmt.Errorf("baseline: ridge regression: %w", err)
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = theta.AtVec(i)
		if out[i]-out[i] != 0 {
			return nil, fmt.Errorf("baseline: ridge regression has no finite solution with λ = %v: raise Lambda", lambda)
		}
	}
	return out, nil
}
