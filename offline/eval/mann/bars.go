// Package mann measures mode-adaptive networks of quadrupeds (Zhang, Starke et al. 2018).
package mann

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mannequin/offline/eval"
	"mannequin/offline/metrics"
)

// The bars that are not the paper's own figures.
const (
	barSkateShown, barSkateRaw = 1.00, 1.10 // shares of the recordings'
	barBend                    = 0.95
	barLow, barTremble         = 0.75, 1.00
	barInGait                  = 0.90       // share of the frames
	barPitch                   = 30         // degrees
	barLook                    = 45         // degrees
	barPathSpeed               = 0.60       // share of the requested speed, because corners are slower
	barSetOff                  = 2.0        // seconds
	barSpeed                   = 0.10       // share of the command
	barWay                     = 0.20       // share of the request
	barHips, barSteps          = 0.90, 0.50 // shares of the recorded walk's
	barWeight, barPose         = 0.5, 1.5
	barJerk                    = 2 // multiples of the recordings' 99.9 percentile
)

// bars compares the report's figures with their bars.
func (r *Report) bars() eval.Bars {
	var b eval.Bars
	for _, g := range r.Gaits {
		if g.Truth.Frames > 0 {
			g.bars(&b)
		}
	}
	for _, g := range r.Gaits {
		if g.Name != metrics.Turn && g.Recorded.Strides > 0 {
			for _, f := range []struct{ name, gait string }{{"shown", g.Shown.Gait}, {"raw", g.Raw.Gait}} {
				b.Least("footfall as recorded, "+f.name, fmt.Sprintf("%s (a %s)", g.Name, f.gait), share(f.gait == g.Recorded.Gait), 1)
			}
		}
	}
	for _, p := range r.Paths {
		if p.Paper != nil {
			b.Most("distance from the path, cm", p.Path, p.DistanceCM, p.Paper.Best().DistanceCM)
			b.Most("angle off the path, °", p.Path, p.AngleDeg, p.Paper.Best().AngleDeg)
			// A dog that stands on the path would pass these.
			b.Least("speed on the path ÷ asked for", p.Path, eval.Over(p.Speed, float64(pathSpeed)), barPathSpeed)
			b.Most("seconds to set off", p.Path, eval.OrNaN(p.SetOff), barSetOff)
		}
	}
	r.speedBars(&b)
	for _, w := range r.Ways {
		walk := r.Gaits[0].Truth
		b.Most("off what is asked for, share", w.Name, w.Off(), barWay)
		b.Most("skate ÷ the recorded walk's, shown", w.Name, eval.Over(w.Shown.Skate, walk.Skate), barSkateShown)
		b.Least("height of the hips ÷ the recorded walk's, shown", w.Name, eval.Over(w.Shown.Hips, walk.Hips), barHips)
		// The foot lock makes still legs step, so the network's own pose is measured.
		b.Least("leg angle update ÷ the recorded walk's, raw", w.Name, eval.Over(w.Raw.Stiffness, walk.Stiffness), barSteps)
	}
	r.lookBars(&b)
	r.changeBars(&b)
	b.Most("times the watchdog put a dog back", "all drives", float64(r.Restored), 0)
	return b.Sorted()
}

// share returns 1 if so, otherwise 0.
func share(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

// bars adds the bars of Tables 2 and 3, and bars that dogs miss if they hover, tremble or do not go.
func (g *Gait) bars(b *eval.Bars) {
	kinds := []struct {
		name  string
		made  metrics.Motion
		skate float64
	}{
		{"shown", g.Model.Shown, barSkateShown},
		{"raw", g.Model.Raw, barSkateRaw},
		{"matched, shown", g.Matched.Shown, barSkateShown},
		{"matched, raw", g.Matched.Raw, barSkateRaw},
	}
	for _, k := range kinds {
		if g.PaperModel != nil && k.made.Frames > 0 {
			b.Most("skate ÷ recorded, "+k.name, g.Name, eval.Over(k.made.Skate, g.Truth.Skate), k.skate)
			b.Least("leg angle update ÷ recorded, "+k.name, g.Name, eval.Over(k.made.Stiffness, g.Truth.Stiffness), barBend)
		}
	}
	b.Least("share of frames in the gait's speed and turn", g.Name, g.Model.InGait, barInGait)
	for _, k := range kinds[:2] {
		b.Least("time of paws under 2.5 cm ÷ recorded, "+k.name, g.Name, eval.Over(k.made.Low, g.Truth.Low), barLow)
		b.Most("mean jerk ÷ recorded, "+k.name, g.Name, eval.Over(k.made.Jerk, g.Truth.Jerk), barTremble)
	}
}

// lookBars ask for heads that look like recorded ones: neither at the sky nor at the ground, and into
// turns.
func (r *Report) lookBars(b *eval.Bars) {
	up := func(of string, m, truth metrics.Motion) {
		b.Most("head off the recorded up or down, °", of, math.Abs(m.Pitch-truth.Pitch), barPitch)
	}
	for _, g := range r.Gaits {
		if g.Truth.Frames > 0 {
			up(g.Name, g.Model.Shown, g.Truth)
		}
	}
	for _, w := range r.Ways {
		up(w.Name, w.Shown, r.Gaits[0].Truth)
	}
	for _, g := range r.Gaits {
		if g.Name != metrics.Turn || g.Truth.Frames == 0 {
			continue
		}
		turn := func(of string, m metrics.Motion) {
			b.Most("head off the recorded in turns, °", of, math.Abs(m.Look-g.Truth.Look), barLook)
		}
		turn("constant", g.Model.Shown)
		if g.Matched.Shown.Frames > 0 {
			turn("matched", g.Matched.Shown)
		}
		for _, w := range r.Ways {
			if w.Unit == metrics.DegreesPerSecond {
				turn(w.Name, w.Shown)
			}
		}
	}
}

// speedBars are the bars of held speeds, by command.
func (r *Report) speedBars(b *eval.Bars) {
	for i, v := range metrics.GaitSpeeds {
		var starts []metrics.SpeedHeld
		for _, s := range r.Speeds {
			if s.Command == float64(v) {
				starts = append(starts, s)
			}
		}
		if len(starts) == 0 {
			continue
		}
		worst := slices.MaxFunc(starts, func(a, b metrics.SpeedHeld) int { return cmp.Compare(a.Off(), b.Off()) })
		b.Most("speed off the command, share, worst start", fmt.Sprintf("%.1f m/s (from %.1f)", v, worst.From), worst.Off(), barSpeed)
		if i >= len(r.Gaits) || r.Gaits[i].Recorded.Strides == 0 {
			continue
		}
		gait, same := r.Gaits[i].Recorded.Gait, 0.0
		for _, s := range starts {
			same += share(s.Gait == gait) / float64(len(starts))
		}
		b.Least("share of starts that come to the recorded footfall", fmt.Sprintf("%.1f m/s (a %s)", v, gait), same, 1)
	}
}

// changeBars are the bars of actions and of changes between them.
func (r *Report) changeBars(b *eval.Bars) {
	for _, l := range r.Latencies {
		// A standing dog has to gather speed for a jump, and a moving one to stop for the others.
		if (l.Action == "jump") == (l.From == "idle") {
			continue
		}
		b.Most("seconds to 90 % of the weight", l.Action+" from "+l.From, eval.OrNaN(l.Weight), barWeight)
		b.Most("seconds to the pose", l.Action+" from "+l.From, eval.OrNaN(l.Pose), barPose)
	}
	if changes := r.Transitions.Changes; len(changes) > 0 {
		harsh := slices.MaxFunc(changes, func(a, b metrics.Transition) int { return cmp.Compare(a.Shown.Jerk, b.Shown.Jerk) })
		b.Most("largest jerk of a change ÷ recorded", harsh.From+" to "+harsh.To, harsh.Shown.Over(r.Transitions.Recorded).Jerk, barJerk)
	}
}
