package label

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Group finds groups of points that are alike, at most some, and returns the point in the middle of each, the largest group first.
// There are as many as it takes for points to be nearer than apart to the middle of their group, in the root of the mean
// square. It is k-means with one centre more at a time (MacQueen 1967), drawn as k-means++ does; equal points give equal groups.
func Group(points [][]float32, most int, apart float64) (middles []int) {
	if len(points) == 0 || most < 1 {
		return nil
	}
	g := &groups{points: points, of: make([]int, len(points)), away: make([]float64, len(points))}
	r := rand.New(rand.NewPCG(1, 2))
	g.centres = [][]float64{g.mean(-1)}
	for g.settle(); g.spread() > apart && len(g.centres) < most; g.settle() {
		var sum float64
		for _, d := range g.away {
			sum += d
		}
		at, draw := 0, r.Float64()*sum
		for i, d := range g.away {
			if draw -= d; draw <= 0 && d > 0 {
				at = i
				break
			}
		}
		c := make([]float64, len(points[at]))
		for k, v := range points[at] {
			c[k] = float64(v)
		}
		g.centres = append(g.centres, c)
	}
	size := map[int]int{}
	for c := range g.centres {
		best := -1
		for i, of := range g.of {
			if of == c && (best < 0 || g.away[i] < g.away[best]) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		middles = append(middles, best)
		for _, of := range g.of {
			if of == c {
				size[best]++
			}
		}
	}
	slices.SortFunc(middles, func(a, b int) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	return middles
}

type groups struct {
	points  [][]float32
	centres [][]float64
	of      []int     // (points) the nearest centre
	away    []float64 // (points) square of the distance to it
}

// mean returns the middle of a group; −1 is all points.
func (g *groups) mean(group int) []float64 {
	sum, n := make([]float64, len(g.points[0])), 0.0
	for i, p := range g.points {
		if group < 0 || g.of[i] == group {
			n++
			for k, v := range p {
				sum[k] += float64(v)
			}
		}
	}
	if n == 0 {
		return nil
	}
	for k := range sum {
		sum[k] /= n
	}
	return sum
}

// settle moves centres to the middles of their groups until no point changes its own.
func (g *groups) settle() {
	const rounds = 30
	for range rounds {
		changed := false
		for i, p := range g.points {
			best, least := 0, math.Inf(1)
			for c, centre := range g.centres {
				if d := square(p, centre); d < least {
					best, least = c, d
				}
			}
			changed = changed || best != g.of[i]
			g.of[i], g.away[i] = best, least
		}
		if !changed {
			return
		}
		for c := range g.centres {
			if m := g.mean(c); m != nil {
				g.centres[c] = m
			}
		}
	}
}

// spread returns the root of the mean square of the distances.
func (g *groups) spread() float64 {
	var sum float64
	for _, d := range g.away {
		sum += d
	}
	return math.Sqrt(sum / float64(len(g.away)))
}

func square(p []float32, centre []float64) (sum float64) {
	for k, v := range p {
		e := float64(v) - centre[k]
		sum += e * e
	}
	return sum
}
