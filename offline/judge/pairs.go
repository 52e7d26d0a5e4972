package judge

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Excerpt is a stretch of a motion whose frames are almost all of one kind.
type Excerpt struct {
	Motion   *Motion
	From, To int // frames
	Kind     Kind
	Speed    float64 // mean, m/s
	Yaw      float32 // where the body faces at the start, radians
}

// mostly is the share of an excerpt's frames that have its kind.
const mostly = 0.9

// Excerpts returns the excerpts of the given number of frames, one after another.
func Excerpts(m *Motion, frames int) (out []Excerpt) {
	b := newBody(m)
	for from := 0; from+frames <= b.n; from += frames {
		var counts [Back + 1]int
		for f := from; f < from+frames; f++ {
			for k := range counts {
				if b.kinds[f].has(Kind(k)) {
					counts[k]++
				}
			}
		}
		for k, n := range counts {
			if float64(n) >= mostly*float64(frames) {
				out = append(out, Excerpt{m, from, from + frames, Kind(k), b.meanSpeed(from, from+frames), b.yaw[from]})
			}
		}
	}
	return out
}

// Pair is a made excerpt and a recorded one of its kind at about its speed.
type Pair struct {
	Made, Recorded Excerpt
	Left           bool // the recorded one is on the left
}

// Pairs draws at most n pairs, each excerpt at most once.
func Pairs(made, recorded []Excerpt, n int, seed uint64) (out []Pair) {
	rng := rand.New(rand.NewPCG(seed, 0))
	made, recorded = slices.Clone(made), slices.Clone(recorded)
	rng.Shuffle(len(made), func(i, j int) { made[i], made[j] = made[j], made[i] })
	rng.Shuffle(len(recorded), func(i, j int) { recorded[i], recorded[j] = recorded[j], recorded[i] })
	for _, m := range made {
		best := -1
		for i, r := range recorded {
			if r.Kind == m.Kind && (best < 0 || math.Abs(r.Speed-m.Speed) < math.Abs(recorded[best].Speed-m.Speed)) {
				best = i
			}
		}
		if best < 0 || len(out) == n {
			continue
		}
		out = append(out, Pair{m, recorded[best], rng.IntN(2) == 0})
		recorded = slices.Delete(recorded, best, best+1)
	}
	return out
}

// Interval returns the 95 % confidence interval of a share of which right of n are right, after
// Clopper and Pearson 1934.
func Interval(right, n int) (low, high float64) {
	low, high = 0, 1
	if right > 0 {
		low = distuv.Beta{Alpha: float64(right), Beta: float64(n - right + 1)}.Quantile(0.025)
	}
	if right < n {
		high = distuv.Beta{Alpha: float64(right + 1), Beta: float64(n - right)}.Quantile(0.975)
	}
	return low, high
}
