// Package mann measures mode-adaptive networks of quadrupeds (Zhang, Starke et al. 2018).
package mann

import (
	"fmt"
	"math"

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
	r.motionBars(&b)
	r.footfallBars(&b)
	r.pathBars(&b)
	r.speedBars(&b)
	for _, w := range r.Ways {
		off := w.Off()
		b.Most("off what is asked for, share", w.Name, &off, barWay)
	}
	for _, w := range r.Ways {
		b.Most("skate ÷ the recorded walk's, shown", w.Name, eval.Over(w.Shown.Skate, r.Gaits[0].Truth.Skate), barSkateShown)
	}
	for _, w := range r.Ways {
		b.Least("height of the hips ÷ the recorded walk's, shown", w.Name, eval.Over(w.Shown.Hips, r.Gaits[0].Truth.Hips), barHips)
	}
	// The foot lock makes a character step whose legs do not move, so the network's own pose counts.
	for _, w := range r.Ways {
		b.Least("leg angle update ÷ the recorded walk's, raw", w.Name, eval.Over(w.Raw.Stiffness, r.Gaits[0].Truth.Stiffness), barSteps)
	}
	r.lookBars(&b)
	r.changeBars(&b)
	restored := float64(r.Restored)
	b.Most("times the watchdog put a dog back", "all drives", &restored, 0)
	return b
}

// pathBars adds the bars of Table 4, and bars that a dog which stands on the path would miss.
func (r *Report) pathBars(b *eval.Bars) {
	for _, bar := range []func(Path){
		func(p Path) {
			b.Most("distance from the path, cm", p.Path, &p.DistanceCM, p.Paper.Best().DistanceCM)
		},
		func(p Path) { b.Most("angle off the path, °", p.Path, &p.AngleDeg, p.Paper.Best().AngleDeg) },
		func(p Path) {
			b.Least("speed on the path ÷ asked for", p.Path, eval.Over(p.Speed, float64(pathSpeed)), barPathSpeed)
		},
		func(p Path) { b.Most("seconds to set off", p.Path, p.SetOff, barSetOff) },
	} {
		for _, p := range r.Paths {
			if p.Paper != nil {
				bar(p)
			}
		}
	}
}

// motionBars adds the bars of Tables 2 and 3, and bars that a dog which hovers, trembles or stands
// still would miss.
func (r *Report) motionBars(b *eval.Bars) {
	kinds := []struct {
		name  string
		made  func(Gait) metrics.Motion
		skate float64
	}{
		{"shown", func(g Gait) metrics.Motion { return g.Model.Shown }, barSkateShown},
		{"raw", func(g Gait) metrics.Motion { return g.Model.Raw }, barSkateRaw},
		{"matched, shown", func(g Gait) metrics.Motion { return g.Matched.Shown }, barSkateShown},
		{"matched, raw", func(g Gait) metrics.Motion { return g.Matched.Raw }, barSkateRaw},
	}
	paper := r.gaits(func(g Gait) bool { return g.PaperModel != nil })
	for _, k := range kinds {
		for _, g := range paper {
			if m := k.made(g); m.Frames > 0 {
				b.Most("skate ÷ recorded, "+k.name, g.Name, eval.Over(m.Skate, g.Truth.Skate), k.skate)
			}
		}
	}
	for _, k := range kinds {
		for _, g := range paper {
			if m := k.made(g); m.Frames > 0 {
				b.Least("leg angle update ÷ recorded, "+k.name, g.Name, eval.Over(m.Stiffness, g.Truth.Stiffness), barBend)
			}
		}
	}
	all := r.gaits(func(Gait) bool { return true })
	for _, g := range all {
		b.Least("share of frames in the gait's speed and turn", g.Name, &g.Model.InGait, barInGait)
	}
	for _, k := range kinds[:2] {
		for _, g := range all {
			b.Least("time of paws under 2.5 cm ÷ recorded, "+k.name, g.Name, eval.Over(k.made(g).Low, g.Truth.Low), barLow)
		}
	}
	for _, k := range kinds[:2] {
		for _, g := range all {
			b.Most("mean jerk ÷ recorded, "+k.name, g.Name, eval.Over(k.made(g).Jerk, g.Truth.Jerk), barTremble)
		}
	}
}

// lookBars adds the bars of the head: it looks neither at the sky nor at the ground, and into turns.
func (r *Report) lookBars(b *eval.Bars) {
	up := func(of string, m, truth metrics.Motion) {
		off := math.Abs(m.Pitch - truth.Pitch)
		b.Most("head off the recorded up or down, °", of, &off, barPitch)
	}
	for _, g := range r.gaits(func(Gait) bool { return true }) {
		up(g.Name, g.Model.Shown, g.Truth)
	}
	for _, w := range r.Ways {
		up(w.Name, w.Shown, r.Gaits[0].Truth)
	}
	const measure = "head off the recorded in turns, °"
	for _, g := range r.gaits(func(g Gait) bool { return g.Name == metrics.Turn }) {
		bar := func(of string, m metrics.Motion) {
			off := math.Abs(m.Look - g.Truth.Look)
			b.Most(measure, of, &off, barLook)
		}
		bar("constant", g.Model.Shown)
		if g.Matched.Shown.Frames > 0 {
			bar("matched", g.Matched.Shown)
		}
		for _, w := range r.Ways {
			if w.Unit == metrics.DegreesPerSecond {
				bar(w.Name, w.Shown)
			}
		}
	}
}

// gaits returns the recorded gaits that want accepts.
func (r *Report) gaits(want func(Gait) bool) (out []Gait) {
	for _, g := range r.Gaits {
		if g.Truth.Frames > 0 && want(g) {
			out = append(out, g)
		}
	}
	return out
}

// footfallBars adds the bars of the recorded gait at each speed.
func (r *Report) footfallBars(b *eval.Bars) {
	for _, k := range []struct {
		name string
		fall func(Gait) metrics.Footfall
	}{{"shown", func(g Gait) metrics.Footfall { return g.Shown }}, {"raw", func(g Gait) metrics.Footfall { return g.Raw }}} {
		for _, g := range r.Gaits {
			if g.Name == metrics.Turn || g.Recorded.Strides == 0 {
				continue
			}
			same := 0.0
			if k.fall(g).Gait == g.Recorded.Gait {
				same = 1
			}
			b.Least("footfall as recorded, "+k.name, fmt.Sprintf("%s (a %s)", g.Name, k.fall(g).Gait), &same, 1)
		}
	}
}

// speedBars adds the bars of speeds, by command.
func (r *Report) speedBars(b *eval.Bars) {
	by := map[float64][]metrics.SpeedHeld{}
	for _, s := range r.Speeds {
		by[s.Command] = append(by[s.Command], s)
	}
	for _, v := range metrics.GaitSpeeds {
		var worst metrics.SpeedHeld
		for _, s := range by[float64(v)] {
			if worst.Command == 0 || s.Off() > worst.Off() {
				worst = s
			}
		}
		if worst.Command > 0 {
			off := worst.Off()
			b.Most("speed off the command, share, worst start", fmt.Sprintf("%.1f m/s (from %.1f)", v, worst.From), &off, barSpeed)
		}
	}
	for i, v := range metrics.GaitSpeeds {
		starts := by[float64(v)]
		if len(starts) == 0 || i >= len(r.Gaits) || r.Gaits[i].Recorded.Strides == 0 {
			continue
		}
		same := 0.0
		for _, s := range starts {
			if s.Gait == r.Gaits[i].Recorded.Gait {
				same += 1 / float64(len(starts))
			}
		}
		b.Least("share of starts that come to the recorded footfall", fmt.Sprintf("%.1f m/s (a %s)", v, r.Gaits[i].Recorded.Gait), &same, 1)
	}
}

// changeBars adds the bars of actions and transitions.
func (r *Report) changeBars(b *eval.Bars) {
	var asked []metrics.Latency
	for _, l := range r.Latencies {
		// A jump needs speed and the other actions a standing dog, so the change takes longer.
		if (l.Action == "jump") != (l.From == "idle") {
			asked = append(asked, l)
		}
	}
	for _, l := range asked {
		b.Most("seconds to 90 % of the weight", l.Action+" from "+l.From, l.Weight, barWeight)
	}
	for _, l := range asked {
		b.Most("seconds to the pose", l.Action+" from "+l.From, l.Pose, barPose)
	}
	var harsh *metrics.Transition
	for i, t := range r.Transitions.Changes {
		if harsh == nil || t.Shown.Jerk > harsh.Shown.Jerk {
			harsh = &r.Transitions.Changes[i]
		}
	}
	if harsh != nil {
		over := harsh.Shown.Over(r.Transitions.Recorded).Jerk
		b.Most("largest jerk of a change ÷ recorded", harsh.From+" to "+harsh.To, &over, barJerk)
	}
}
