package judge

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// quantile returns the p-quantile of values, which it sorts.
func quantile(p float64, v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return stat.Quantile(p, stat.LinInterp, v, nil)
}

func median(v []float64) float64 { return quantile(0.5, v) }
func p90(v []float64) float64    { return quantile(0.9, v) }
func p99(v []float64) float64    { return quantile(0.99, v) }
func p999(v []float64) float64   { return quantile(0.999, v) }
func mean(v []float64) float64   { return stat.Mean(v, nil) }

// over10 returns the share of values over 10.
func over10(v []float64) float64 {
	n := 0
	for _, x := range v {
		if x > 10 {
			n++
		}
	}
	return float64(n) / float64(len(v))
}

func rootMean(v []float64) float64 { return math.Sqrt(mean(v)) }
func rate(v []float64) float64     { return 1 / mean(v) }

// measure is a row of the table.
type measure struct {
	name, unit string
	kinds      []Kind
	feed       feed
	of         func([]float64) float64
	least      int     // of values
	less       bool    // less than recorded is no fault
	nothing    float64 // up to which a value counts as none, if less
}

// fewest is the least number of frames of a kind to measure it.
const fewest = 2 * Rate

var (
	moving = []Kind{Walk, Run, Diagonal, Side, Back, Bend}
	ahead  = []Kind{Walk, Run}
	all    = []Kind{Stand, Slow, Walk, Run, Diagonal, Side, Back}
)

// measures returns the table.
func measures() []measure {
	frames, events, windows, strides := fewest, 3, 3, 6
	m := []measure{
		{"planted toe, median", "cm/s", append([]Kind{Stand, Slow}, moving...), feedToe, median, frames, true, 0.5},
		{"planted toe, 90th percentile", "cm/s", moving, feedToe, p90, frames, true, 0.5},
		{"planted toe over 10 cm/s", "share", append([]Kind{Stand, Slow}, moving...), feedToe, over10, frames, true, 0.002},
		{"both feet over 3 cm up", "share", []Kind{Walk, Diagonal, Side, Back}, feedFlight, mean, frames, true, 0.01},
		{"both feet over 3 cm up", "share", []Kind{Run}, feedFlight, mean, frames, false, 0},
		{"jerk, median", "m/s³", all, feedJerk, median, frames, false, 0},
		{"jerk, 99th percentile", "m/s³", all, feedJerk, p99, frames, false, 0},
		{"jerk, 99.9th percentile", "m/s³", ahead, feedJerk, p999, frames, false, 0},
	}
	for _, j := range jerks {
		m = append(m, measure{"jerk of " + j.of + ", 99th percentile", "m/s³", ahead, j.feed, p99, frames, false, 0})
	}
	m = append(m, []measure{
		{"knee bend, mean", "°", append(all, Bend), feedKnee, mean, frames, false, 0},
		{"knees straighter than 2°", "share", []Kind{Stand, Walk, Run, Stop}, feedStraight, mean, frames, true, 0.002},
		{"elbow bend, mean", "°", []Kind{Stand, Walk, Run, Diagonal, Bend}, feedElbow, mean, frames, false, 0},
		{"arm swing", "cm", ahead, feedSwing, mean, windows, false, 0},
		{"arms opposed to legs", "correlation", ahead, feedOpposed, mean, 1, false, 0},
		{"bounce of the hips", "cm", ahead, feedBounce, mean, windows, false, 0},
		{"hips aside of their path", "cm", []Kind{Straight}, feedSway, median, windows, false, 0},
		{"hips fore and aft", "cm", []Kind{Straight}, feedSurge, median, windows, false, 0},
		{"swing of the trunk's lean", "° SD", ahead, feedLean, mean, windows, false, 0},
		{"tilt of the trunk", "° SD", ahead, feedTilt, mean, windows, false, 0},
		{"twist of the shoulders", "° SD", ahead, feedTwist, mean, windows, false, 0},
		{"hand within 14 cm of the spine", "share", []Kind{Stand, Walk, Run}, feedTorso, mean, frames, true, 0.002},
		{"knees cross", "share", []Kind{Walk, Run, Diagonal, Side, Back}, feedCross, mean, frames, true, 0.002},
		{"feet within 6 cm", "share", []Kind{Slow, Walk, Run, Diagonal, Side, Back}, feedFeet, mean, frames, true, 0.002},
		{"toe over 2 cm under the floor", "share", []Kind{Stand, Walk, Run}, feedSunk, mean, frames, true, 0.01},
		{"left and right knee differ", "°", []Kind{Stand, Walk, Run}, feedKneeSide, mean, 1, true, 0.5},
		{"left and right step differ", "s", []Kind{Walk, Run, Diagonal}, feedStepSide, mean, 1, true, 0.005},
		{"life of who stands", "cm", []Kind{Stand}, feedLife, median, windows, false, 0},
		{"stride to stride, at one phase", "cm", ahead, feedStride, mean, strides, false, 0},
		{"stride time, variation", "share", ahead, feedTimes, rootMean, strides, false, 0},
		{"stopping, 0.9 to 0.25 m/s", "s", []Kind{Stop}, feedStopping, median, events, false, 0},
		{"starting, 0.25 to 0.9 m/s", "s", []Kind{Stop}, feedStarting, median, events, false, 0},
		{"hips dip in stops and starts", "cm", []Kind{Stop}, feedDip, median, events, true, 0.5},
		{"largest knee bend in them", "°", []Kind{Stop}, feedDeepest, median, events, false, 0},
	}...)
	for r, from := range stepSpeeds {
		of, name := []Kind{Walk, Diagonal}, fmt.Sprintf("steps at %g m/s and more", from)
		if from >= 1.9 {
			of = []Kind{Run}
		}
		if r+1 < len(stepSpeeds) {
			name = fmt.Sprintf("steps at %g to %g m/s", from, stepSpeeds[r+1])
		}
		m = append(m, measure{name, "1/s", of, feedSteps + feed(r), rate, strides, false, 0})
	}
	return m
}

// value returns the measure in a kind, and NaN if there are too few values.
func (m *measure) value(s *series, k Kind) float64 {
	v := s.values[k][m.feed]
	if len(v) < max(m.least, 1) {
		return math.NaN()
	}
	return m.of(v)
}
