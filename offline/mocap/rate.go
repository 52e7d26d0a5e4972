package mocap

import (
	"fmt"
	"math"
)

// Rates of recordings are within these, in frames per second.
const leastRate, mostRate = 5, 1000

// usualRates are the frame rates that files have as a rule.
var usualRates = []float64{24, 25, 30, 48, 50, 60, 72, 90, 100, 120, 144, 240}

// likelyRate returns the frame rate that a file with an improbable frame time probably has, and why. It
// returns 0 for a probable one.
func likelyRate(frameTime float64) (fps float64, why string) {
	if r := tidyRate(frameTime); r >= leastRate && r <= mostRate {
		return 0, ""
	}
	near := func(r float64) float64 { // the usual rate within 5 %
		best := r
		for _, u := range usualRates {
			if miss := math.Abs(math.Log(u / r)); miss < 0.05 && (best == r || miss < math.Abs(math.Log(best/r))) {
				best = u
			}
		}
		return best
	}
	for _, u := range usualRates {
		if frameTime == u {
			return u, "as a rate in place of a time"
		}
	}
	for _, of := range []struct {
		seconds float64
		name    string
	}{{1e-3, "milliseconds"}, {1e-6, "microseconds"}} {
		if r := 1 / (frameTime * of.seconds); r >= 10 && r <= 250 {
			return near(r), "in " + of.name
		}
	}
	return 30, "as in many files"
}

// doubtRate notes a frame rate that is improbable.
func (b *Recording) doubtRate(path string) {
	if b.Clip.Frames < 2 {
		return
	}
	likely, why := likelyRate(b.FrameTime)
	if likely == 0 {
		return
	}
	b.doubt = fmt.Errorf("%s: a Frame Time of %g s, which is %.3g frames per second, is improbable: %s it is %.4g frames per second; --frame-rate sets the rate", path, b.FrameTime, b.Clip.FPS, why, likely)
	b.LikelyFPS = likely
	b.Notes = append(b.Notes, b.doubt.Error())
}

// CheckRate returns an error if the frame rate is improbable: who resamples the motion would make it much
// too long or too short. OpenOptions.FrameRate sets a rate.
func (b *Recording) CheckRate() error { return b.doubt }
