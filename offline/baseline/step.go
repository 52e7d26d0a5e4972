package baseline

import "math"

// clock turns predicted logarithms of steps into steps, which are above 0 for any prediction.
type clock struct {
	low, high float64 // the plausible range: the training logarithms and an octave more
	smear     float64 // restores the mean step, see fitClock
}

// logSteps returns the training target: a row for each pair.
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

// fitClock compares predictions for the training data with the truth. The mean of logarithms gives
// the geometric mean, which is below the mean. Steps would be too short, and times, their sums,
// would fall behind. Duan's smearing factor (1983, "Smearing estimate: a nonparametric
// retransformation method") corrects this; it is 1 for a perfect prediction.
func fitClock(logs [][]float64, predict func(pair int) []float64) clock {
	c := clock{low: math.Inf(1), high: math.Inf(-1), smear: 1}
	for _, l := range logs {
		for _, v := range l {
			c.low, c.high = min(c.low, v), max(c.high, v)
		}
	}
	c.low, c.high = c.low-math.Ln2, c.high+math.Ln2
	var want, got float64
	for i, l := range logs {
		predicted := predict(i)
		for t, v := range l {
			want += math.Exp(v)
			got += c.step(predicted[t])
		}
	}
	c.smear = min(max(want/got, 0.5), 2)
	return c
}

// step returns the step, in frames, of a predicted logarithm.
func (c clock) step(log float64) float64 {
	return c.smear * math.Exp(min(max(log, c.low), c.high))
}

func (c clock) steps(logs []float64) {
	for t, v := range logs {
		logs[t] = c.step(v)
	}
}
