package registration

import (
	"fmt"
	"math"
	"slices"
)

const (
	perSecond = 30      // columns of the warp's search
	fine      = 12      // steps of a search column at slope 1: slopes are multiples of 1/12
	bendCost  = 1       // of a change of the slope's logarithm, squared, in columns
	restCost  = 0.02    // of the slope's logarithm itself, squared
	openCost  = 0.3     // of the template's time before a take begins or after it ends, in columns
	longHold  = 2       // s by which takes may begin sooner than a template, and end later
	maxStates = 1 << 26 // bytes of back pointers
)

// warper finds the warps of takes onto a template.
type warper struct {
	maxSlope float64 // frames of the template per frame of the take, and of the take per frame of the template
	smooth   float64 // s
}

// slopes returns the steps per search column that are tried, ascending, about 10 % apart.
func (w *warper) slopes() []int {
	lo, hi := int(math.Ceil(fine/w.maxSlope)), int(math.Floor(fine*w.maxSlope))
	out := []int{fine}
	for s := fine; s > lo; {
		s = max(lo, min(s-1, int(math.Round(float64(s)/1.1))))
		out = append(out, s)
	}
	for s := fine; s < hi; {
		s = min(hi, max(s+1, int(math.Round(float64(s)*1.1))))
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// grid is the layout of a search.
type grid struct {
	stride  int // frames of the take per column
	sub     int // bins per frame of the template
	columns int
	hold    int // frames of the template's hold
	bins    int
}

// layout chooses a grid that fits into memory: long motions are searched in coarser columns.
func (w *warper) layout(take *features, t *template, levels int) (grid, error) {
	for _, g := range []grid{{1, 12, 0, 0, 0}, {2, 6, 0, 0, 0}, {3, 4, 0, 0, 0}, {4, 3, 0, 0, 0}, {6, 2, 0, 0, 0}, {12, 1, 0, 0, 0}} {
		if float64(g.stride+1) <= take.fps/perSecond+0.5 && g.stride < 12 {
			continue
		}
		g.columns = (take.frames-1)/g.stride + 1
		if !t.cyclic {
			g.hold = min(t.frames, take.frames, t.hold)
		}
		g.bins = (t.frames+2*g.hold-1)*g.sub + 1
		if t.cyclic {
			g.bins = t.frames * g.sub
		}
		if g.bins*g.columns*levels <= maxStates {
			return g, nil
		}
	}
	return grid{}, fmt.Errorf("%d frames onto a timeline of %d are too many to search: cut the clip", take.frames, t.frames)
}

// path returns the template frame of each search column of the take, by dynamic programming over
// position and slope. Of all strictly increasing paths, with any start and end, it has the least
// sum of feature distances and bending. The take's features are first scaled and offset by gain and
// offset (columns). On a cyclic template the result goes on past its period.
func (w *warper) path(take *features, t *template, gain, offset []float64) ([]float64, grid, error) {
	slopes := w.slopes()
	g, err := w.layout(take, t, len(slopes))
	if err != nil {
		return nil, g, err
	}
	S, B := len(slopes), g.bins
	logs := make([]float64, S)
	for s, k := range slopes {
		logs[s] = math.Log(float64(k) / fine)
	}
	now, next := make([]float64, S*B), make([]float64, S*B)
	from := make([]int8, g.columns*S*B) // (columns, slopes, bins) change of slope on the way here, by the bin that it left
	cost := make([]float64, B)
	none := slices.Repeat([]float64{math.Inf(1)}, B)
	open := 0.0 // per bin
	if !t.cyclic {
		open = openCost / fine
	}
	for c := range g.columns {
		w.distances(cost, take, t, gain, offset, c*g.stride, g)
		if c == 0 {
			for s := range S {
				for b, v := range cost {
					now[s*B+b] = v + open*float64(max(b-g.hold*g.sub, 0))
				}
			}
			continue
		}
		for s := range S {
			// In an action that is done once the distance counts for the frames of both.
			// Otherwise a take would linger at a pose that is like the template's, such as
			// standing, and never reach the rest of it.
			k, both := slopes[s], 1.0
			if !t.cyclic {
				both = (1 + float64(k)/fine) / 2
			}
			step := relaxation{below: none, same: now[s*B:][:B], above: none, both: both, rest: restCost * logs[s] * logs[s]}
			if s > 0 {
				step.below, step.bendBelow = now[(s-1)*B:][:B], bend(logs[s]-logs[s-1])
			}
			if s+1 < S {
				step.above, step.bendAbove = now[(s+1)*B:][:B], bend(logs[s+1]-logs[s])
			}
			dst, back := next[s*B:][:B], from[(c*S+s)*B:][:B]
			if !t.cyclic {
				fillInf(dst[:min(k, B)])
				step.run(dst, cost, back, 0, k, B-k)
				continue
			}
			for at := 0; at < B; { // runs of bins that do not wrap around
				to := (at + k) % B
				n := min(B-at, B-to)
				step.run(dst, cost, back, at, to, n)
				at += n
			}
		}
		now, next = next, now
	}
	end := 0
	for s := range S {
		for b := range B {
			if now[s*B+b] += open * float64(max(B-1-g.hold*g.sub-b, 0)); now[s*B+b] < now[end] {
				end = s*B + b
			}
		}
	}
	if math.IsInf(now[end], 1) {
		return nil, g, fmt.Errorf("%d frames do not fit on a timeline of %d with slopes up to %g", take.frames, t.frames, w.maxSlope)
	}
	out := make([]float64, g.columns)
	s, at := end/B, end%B
	turns := 0
	for c := g.columns - 1; c >= 0; c-- {
		out[c] = float64(at+turns*B)/float64(g.sub) - float64(g.hold)
		if c == 0 {
			break
		}
		for at -= slopes[s]; at < 0; at += B {
			turns--
		}
		s += int(from[(c*S+s)*B+at])
	}
	if t.cyclic { // begin in the first cycle
		first := math.Floor(out[0]/float64(t.frames)) * float64(t.frames)
		for c := range out {
			out[c] -= first
		}
	}
	return out, g, nil
}

// bend is the cost of a change of the slope's logarithm.
func bend(d float64) float64 { return bendCost * d * d }

func fillInf(v []float64) {
	for i := range v {
		v[i] = math.Inf(1)
	}
}

// relaxation advances the costs of all bins with one slope and its neighbours by a step.
type relaxation struct {
	below, same, above   []float64 // (bins) costs so far, by the slope so far
	bendBelow, bendAbove float64
	both, rest           float64 // factor of the distance; added cost
}

// run advances n bins from at on to those from to on.
func (r *relaxation) run(dst, cost []float64, back []int8, at, to, n int) {
	if n <= 0 {
		return
	}
	below, same, above := r.below[at:][:n], r.same[at:][:n], r.above[at:][:n]
	dst, cost, back = dst[to:][:n], cost[to:][:n], back[at:][:n]
	for i, v := range same {
		if u := below[i] + r.bendBelow; u < v {
			v, back[i] = u, -1
		}
		if u := above[i] + r.bendAbove; u < v {
			v, back[i] = u, 1
		}
		dst[i] = v + r.both*cost[i] + r.rest
	}
}

// distances fills dst, per bin, with the weighted mean squared distance of frame f of the take from
// the template, which is held before it begins and after it ends.
func (w *warper) distances(dst []float64, take *features, t *template, gain, offset []float64, f int, g grid) {
	n := take.cols
	x := make([]float64, n)
	for k := range x {
		x[k] = gain[k]*take.rows[f*n+k] + offset[k]
	}
	at := func(p int) float64 {
		p -= g.hold
		if t.cyclic {
			p %= t.frames
		} else {
			p = min(max(p, 0), t.frames-1)
		}
		sum := 0.0
		for k, r := range t.rows[p*n:][:n] {
			sum += take.weight[k] * (x[k] - r) * (x[k] - r)
		}
		return sum
	}
	a := at(0)
	for from := 0; from < len(dst); from += g.sub {
		b := at(from/g.sub + 1)
		for i := range min(g.sub, len(dst)-from) {
			dst[from+i] = a + (b-a)*float64(i)/float64(g.sub)
		}
		a = b
	}
}

// times returns the smooth curve through a path, per frame of the take, by penalised least
// squares (Whittaker). If that overshoots, so that slopes leave their bounds, it is the path
// with its slopes averaged over as long a time: means of slopes are within bounds.
func (w *warper) times(path []float64, g grid, frames int, fps float64) []float64 {
	cut := w.smooth * fps / (2 * math.Pi)
	out := whittaker(path, g.stride, frames, math.Pow(cut, 4)/float64(g.stride))
	if !bounded(out, 1/w.maxSlope*(1-1e-9), w.maxSlope*(1+1e-9)) {
		averaged(out, path, g.stride, cut)
	}
	return out
}

// averaged fills dst with a curve whose slopes are the path's, averaged by a Gaussian of the
// given deviation in frames, and whose mean is the path's.
func averaged(dst, path []float64, stride int, deviation float64) {
	last := len(path) - 2
	reach := int(math.Ceil(3 * deviation))
	dst[0] = 0
	for f := 1; f < len(dst); f++ {
		sum, weight := 0.0, 0.0
		for k := max(f-reach, 1); k <= min(f+reach, len(dst)-1); k++ {
			x := float64(k-f) / deviation
			h := math.Exp(-x * x / 2)
			c := min((k-1)/stride, last)
			sum += h * (path[c+1] - path[c]) / float64(stride)
			weight += h
		}
		dst[f] = dst[f-1] + sum/weight
	}
	off := 0.0
	for c, p := range path {
		off += (p - dst[c*stride]) / float64(len(path))
	}
	for f := range dst {
		dst[f] += off
	}
}

func bounded(v []float64, lo, hi float64) bool {
	for i := 1; i < len(v); i++ {
		if d := v[i] - v[i-1]; !(d >= lo && d <= hi) {
			return false
		}
	}
	return true
}

// whittaker returns the n values t that minimise Σ (t[i·stride] − y[i])² + stiff ·
// Σ (second differences of t)².
func whittaker(y []float64, stride, n int, stiff float64) []float64 {
	if len(y) == 1 || n < 3 { // there is nothing to bend
		out := make([]float64, n)
		slope := 1.0
		if len(y) > 1 {
			slope = (y[1] - y[0]) / float64(stride)
		}
		for i := range out {
			out[i] = y[0] + slope*float64(i)
		}
		return out
	}
	// The matrix is symmetric with two diagonals to either side: LDLᵀ in place.
	d0, d1, d2, t := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n - 2 {
		for k, v := range [3]float64{1, -2, 1} {
			d0[i+k] += stiff * v * v
		}
		d1[i] -= 2 * stiff
		d1[i+1] -= 2 * stiff
		d2[i] += stiff
	}
	base := y[0] // near 0 there are more digits
	for i, v := range y {
		d0[i*stride]++
		t[i*stride] = v - base
	}
	for i := range n {
		if i+1 < n {
			l := d1[i] / d0[i]
			d0[i+1] -= l * d1[i]
			if i+2 < n {
				d1[i+1] -= l * d2[i]
			}
			t[i+1] -= l * t[i]
			d1[i] = l
		}
		if i+2 < n {
			l := d2[i] / d0[i]
			d0[i+2] -= l * d2[i]
			t[i+2] -= l * t[i]
			d2[i] = l
		}
	}
	for i := n - 1; i >= 0; i-- {
		t[i] /= d0[i]
		if i+1 < n {
			t[i] -= d1[i] * t[i+1]
		}
		if i+2 < n {
			t[i] -= d2[i] * t[i+2]
		}
	}
	for i := range t {
		t[i] += base
	}
	return t
}
