package dataset

import (
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
)

// Slow walks, which backward in time are walks backward.
const (
	reverseWindow  = fps / 2     // frames on either side of the present that are looked at
	reverseSlowest = 0.1         // m/s
	reverseFastest = 0.8         // m/s
	reverseTurn    = math.Pi / 2 // most turn within the window, radians
	reverseAhead   = 0.8         // least share of the way that goes where the root faces
	reverseHips    = 0.93        // least height of the hips, share of the usual
	reverseEdge    = fps * 3 / 4 // frames of starting and stopping that a walk may bring along
	reverseLeast   = fps         // frames of the shortest walk
)

// reversed returns r backward in time, its rows those slow walks
// forward that r has among its own, with their starts from idle and their stops.
// Dogs hardly ever back up in recordings; what planted paws and folding limbs do
// while they walk is the same either way.
func (r recording) reversed(sk *skel.Skeleton, layout *feature.MANN, unit float32) (recording, error) {
	at, err := joinJoints(layout, r.clip.Skel)
	if err != nil {
		return recording{}, err
	}
	actions := len(layout.Actions)
	t, err := newTrack(sk, r.clip, at, unit, r.weights, actions, layout.Step())
	if err != nil {
		return recording{}, err
	}
	idle, move := slices.Index(layout.Actions, "idle"), slices.Index(layout.Actions, "move")
	weight := func(f, action int) float32 {
		if action < 0 {
			return 0
		}
		return r.weights[f*actions+action]
	}
	// Who gets up steps ahead; backward in time that is sitting down, which a walk
	// backward must not lead to.
	upright := reverseHips * t.usualHeight(func(f int) bool { return weight(f, move)+weight(f, idle) > 0.99 })
	rows := make([]bool, t.n)
	for _, f := range r.labels.rowFrames(layout.Step()) {
		rows[f] = t.pos[f*t.joints].Y >= upright
	}
	walk := make([]bool, t.n)
	for f := reverseWindow; f < t.n-reverseWindow; f++ {
		walk[f] = rows[f] && weight(f, move) > 0.99 && t.walksAhead(f)
	}
	var ranges []Range
	for from := 0; from < t.n; from++ {
		if !walk[from] {
			continue
		}
		to := from
		for to+1 < t.n && walk[to+1] {
			to++
		}
		next := to
		calm := func(f int) bool {
			return f >= 1 && f < t.n-1 && rows[f] && weight(f, move)+weight(f, idle) > 0.99 && t.speed(f-reverseWindow) < reverseFastest
		}
		if to-from+1 >= reverseLeast {
			for k := 0; k < reverseEdge && calm(from-1); k++ {
				from--
			}
			for k := 0; k < reverseEdge && calm(to+1); k++ {
				to++
			}
			ranges = append(ranges, Range{t.n - 1 - to, t.n - 1 - from})
		}
		from = next
	}
	slices.Reverse(ranges)
	back := recording{name: r.name + " reversed", clip: skel.NewClip(r.clip.Skel, r.clip.FPS, t.n),
		labels: Labels{Frames: t.n, Train: ranges}, weights: make([]float32, len(r.weights))}
	for f := range t.n {
		k := t.n - 1 - f
		pos, rot := r.clip.Frame(k)
		p, q := back.clip.Frame(f)
		copy(p, pos)
		copy(q, rot)
		copy(back.weights[f*actions:][:actions], r.weights[k*actions:])
	}
	return back, nil
}

// walksAhead reports whether the root goes slowly, more or less to where it
// faces, around frame f.
func (t *track) walksAhead(f int) bool {
	a, b, here := t.roots[f-reverseWindow], t.roots[f+reverseWindow], t.roots[f]
	left, forward := here.in(b.px-a.px, b.pz-a.pz)
	way := t.speed(f - reverseWindow)
	turn := math.Acos(max(-1, min(1, a.fx*b.fx+a.fz*b.fz)))
	return way >= reverseSlowest && way <= reverseFastest && turn <= reverseTurn &&
		forward >= reverseAhead*math.Hypot(left, forward) && math.Hypot(left, forward) >= reverseAhead*way
}

// usualHeight returns the median height of joint 0 in the frames that keep tells.
func (t *track) usualHeight(keep func(int) bool) float32 {
	var heights []float32
	for f := range t.n {
		if keep(f) {
			heights = append(heights, t.pos[f*t.joints].Y)
		}
	}
	if len(heights) == 0 {
		return 0
	}
	slices.Sort(heights)
	return heights[len(heights)/2]
}
