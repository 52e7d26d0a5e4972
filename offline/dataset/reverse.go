package dataset

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/skel"
)

// Limits of the slow walks that are reversed in time.
const (
	reverseWindow  = fps / 2     // frames on either side of the present that are examined
	reverseSlowest = 0.1         // m/s
	reverseFastest = 0.8         // m/s
	reverseTurn    = math.Pi / 2 // most turn within the window, radians
	reverseAhead   = 0.8         // least share of the path along the facing
	reverseHips    = 0.93        // least height of the hips, share of the usual
	reverseEdge    = fps * 3 / 4 // frames of starting and stopping that are kept with a walk
	reverseLeast   = fps         // frames of the shortest walk
)

// withReversed returns recs, and after them those recordings backward in time that have slow walks.
func withReversed(recs []recording, sk *skel.Skeleton, opt Options) ([]recording, error) {
	back := make([]recording, len(recs))
	err := Parallel(opt.Workers, len(recs), func(i int) (err error) {
		if back[i], err = recs[i].reversed(sk, opt.Layout, opt.Unit); err != nil {
			return fmt.Errorf("dataset: %s: %w", recs[i].name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	back = slices.DeleteFunc(back, func(r recording) bool { return len(r.labels.Train) == 0 })
	return append(recs, back...), nil
}

// reversed returns r backward in time. Its rows are the slow walks forward among r's rows,
// with their starts from idle and their stops. Dogs hardly ever back up in recordings, and
// planted paws and folding limbs move the same way in both directions.
func (r recording) reversed(sk *skel.Skeleton, layout *feature.MANN, unit float32) (recording, error) {
	t, err := r.track(sk, layout, unit)
	if err != nil {
		return recording{}, err
	}
	actions := len(layout.Actions)
	idle, move := slices.Index(layout.Actions, "idle"), slices.Index(layout.Actions, "move")
	weight := func(f, action int) float32 {
		if action < 0 {
			return 0
		}
		return r.weights[f*actions+action]
	}
	// A dog that gets up steps ahead. Reversed, that would be sitting down after a walk back.
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

// walksAhead reports whether the root moves slowly and roughly along its facing around frame f.
func (t *track) walksAhead(f int) bool {
	a, b, here := t.roots[f-reverseWindow], t.roots[f+reverseWindow], t.roots[f]
	left, forward := here.in(b.px-a.px, b.pz-a.pz)
	way := t.speed(f - reverseWindow)
	turn := math.Acos(max(-1, min(1, a.fx*b.fx+a.fz*b.fz)))
	return way >= reverseSlowest && way <= reverseFastest && turn <= reverseTurn &&
		forward >= reverseAhead*math.Hypot(left, forward) && math.Hypot(left, forward) >= reverseAhead*way
}

// usualHeight returns the median height of joint 0 in the frames that keep accepts.
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
	return median(heights)
}
