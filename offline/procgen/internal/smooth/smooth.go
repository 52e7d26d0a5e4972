// Package smooth has the smooth functions that procedural motion is made of.
package smooth

import (
	"math"
	"math/rand/v2"
)

// Tau is a full turn in radians.
const Tau = 2 * math.Pi

// Step rises from 0 to 1 over [0, 1]. Two derivatives are zero at both ends.
func Step(u float64) float64 {
	u = min(max(u, 0), 1)
	return u * u * u * (10 + u*(6*u-15))
}

// Noise is a number that wanders smoothly with about unit deviation: the sum of three sines.
type Noise struct{ w, p [3]float64 }

// NewNoise returns noise that wanders about rate times per second.
func NewNoise(rng *rand.Rand, rate float64) Noise {
	var n Noise
	for i := range n.w {
		n.w[i] = Tau * rate * (0.5 + 0.45*float64(i) + 0.3*rng.Float64())
		n.p[i] = Tau * rng.Float64()
	}
	return n
}

// At returns the value at time t, in seconds.
func (n *Noise) At(t float64) float64 {
	var s float64
	for i := range n.w {
		s += math.Sin(n.w[i]*t + n.p[i])
	}
	return s * math.Sqrt(2.0/3)
}

// UpperBound returns a smooth upper bound of x: the maximum over half frames to either side, averaged
// three times over windows that add up to the same width.
func UpperBound(x []float64, half int) []float64 {
	n := len(x)
	top := make([]float64, n)
	for i := range x {
		top[i] = x[i]
		for k := max(0, i-half); k <= min(n-1, i+half); k++ {
			top[i] = max(top[i], x[k])
		}
	}
	for _, r := range []int{half / 2, half / 4, half - half/2 - half/4} {
		mean := make([]float64, n)
		for i := range top {
			for k := i - r; k <= i+r; k++ {
				mean[i] += top[min(max(k, 0), n-1)]
			}
			mean[i] /= float64(2*r + 1)
		}
		top = mean
	}
	return top
}
