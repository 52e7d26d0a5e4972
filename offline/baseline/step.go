package baseline

import "math"

// clock turns predicted logarithms of steps into steps. Models learn the
// logarithm because its exponential is above 0 whatever they predict.
type clock struct {
	low, high float64 // the training's logarithms, each an octave wider: nothing else is plausible
	smear     float64 // brings the mean step back, see fitClock
}

// logSteps is the training's target: a row for each pair.
func logSteps(pairs []Pair) [][]float64 {
	logs := make([][]float64, len(pairs))
	for i, p := range pairs {
		logs[i] = make([]float64, len(p.Step))
		for t, s := range p.Step {
			logs[i][t] = math.Log(s)
		}
	}
	return logs
}

// fitClock looks at what a model predicts for its own training data. A mean of
// logarithms is the logarithm of the geometric mean, which is below the mean:
// steps would be short by what the model cannot explain, and times, which are
// sums of steps, ever further behind. Duan's smearing factor (1983, "Smearing
// estimate: a nonparametric retransformation method") mends it; a perfect
// prediction has the factor 1.
func fitClock(logs, predicted [][]float64) clock {
	c := clock{low: math.Inf(1), high: math.Inf(-1), smear: 1}
	for _, l := range logs {
		for _, v := range l {
			c.low, c.high = min(c.low, v), max(c.high, v)
		}
	}
	c.low, c.high = c.low-math.Ln2, c.high+math.Ln2
	var want, got float64
	for i, l := range logs {
		for t, v := range l {
			want += math.Exp(v)
			got += c.step(predicted[i][t])
		}
	}
	c.smear = min(max(want/got, 0.5), 2)
	return c
}

// step is the step, in frames, of a predicted logarithm.
func (c clock) step(log float64) float64 {
	return c.smear * math.Exp(min(max(log, c.low), c.high))
}

// steps overwrites logarithms by steps.
func (c clock) steps(logs []float64) {
	for t, v := range logs {
		logs[t] = c.step(v)
	}
}
