package registration

import "math"

// Bounds of a gait cycle, s, and the least correlation of a take with itself a cycle later.
const (
	shortCycle  = 0.35
	longCycle   = 2.5
	cycleLike   = 0.55 // if an action is known to repeat
	surelyCycle = 0.75 // if that is to be found out
)

// period returns the lag in frames after which the take is most like itself, and the correlation
// there; 0 without such a peak. Left and right are different columns: a step is no cycle.
func (f *features) period() (frames int, alike float64) {
	lo, hi := int(shortCycle*f.fps), int(longCycle*f.fps)
	hi = min(hi, f.frames*4/5)
	if hi <= lo+1 {
		return 0, 0
	}
	r := make([]float64, hi+1)
	top := 0.0
	for lag := lo - 1; lag <= hi; lag++ {
		r[lag] = f.correlation(lag)
	}
	peak := func(lag int) bool { return r[lag] > r[lag-1] && r[lag] >= r[lag+1] }
	for lag := lo; lag < hi; lag++ {
		if peak(lag) {
			top = max(top, r[lag])
		}
	}
	for lag := lo; lag < hi; lag++ { // the first good peak: later ones are two cycles, or three
		if peak(lag) && r[lag] > 0 && r[lag] >= 0.85*top {
			return lag, r[lag]
		}
	}
	return 0, 0
}

// correlation returns the correlation of the take with itself lag frames later.
func (f *features) correlation(lag int) float64 {
	ab, aa, bb := 0.0, 0.0, 0.0
	for i := range f.frames - lag {
		x, y := f.rows[i*f.cols:][:f.cols], f.rows[(i+lag)*f.cols:][:f.cols]
		for k, w := range f.weight {
			ab += w * x[k] * y[k]
			aa += w * x[k] * x[k]
			bb += w * y[k] * y[k]
		}
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// cycle returns a cycle of the take: the n frames that begin where the take is most like
// itself n frames later. The difference between its ends is spread over all of it.
func (f *features) cycle(n int) *template {
	from, least := 0, math.Inf(1)
	for s := 0; s+n < f.frames; s++ {
		sum := 0.0
		for k, w := range f.weight {
			d := f.rows[s*f.cols+k] - f.rows[(s+n)*f.cols+k]
			sum += w * d * d
		}
		if sum < least {
			from, least = s, sum
		}
	}
	t := &template{frames: n, cyclic: true, rows: make([]float64, n*f.cols)}
	for i := range n {
		share := float64(i)/float64(n) - 0.5
		for k := range f.cols {
			gap := f.rows[(from+n)*f.cols+k] - f.rows[from*f.cols+k]
			t.rows[i*f.cols+k] = f.rows[(from+i)*f.cols+k] - share*gap
		}
	}
	return t
}
