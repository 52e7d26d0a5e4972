package main

import (
	"fmt"
	"math"
	"strings"

	"mannequin/offline/metrics"
)

// evalBar is a figure and the bar that it has to reach.
type evalBar struct {
	Measure string   `json:"measure"`
	Of      string   `json:"of"`    // what it is measured of
	Value   *float64 `json:"value"` // nil is never
	Bar     float64  `json:"bar"`
	Least   bool     `json:"least"` // the bar is the least that passes, else the most
	Pass    bool     `json:"pass"`
}

// The bars that are not the paper's own figures.
const (
	barSkateShown, barSkateRaw = 1.00, 1.10 // shares of the recordings'
	barBend                    = 0.95
	barLow, barTremble         = 0.75, 1.00
	barInGait                  = 0.90       // share of the frames
	barPitch                   = 30         // degrees
	barLook                    = 45         // degrees
	barPathSpeed               = 0.60       // share of what is asked for: corners take their time
	barSetOff                  = 2.0        // seconds
	barSpeed                   = 0.10       // share off the command
	barWay                     = 0.20       // share off what is asked for
	barHips, barSteps          = 0.90, 0.50 // shares of the recorded walk's
	barWeight, barPose         = 0.5, 1.5
	barJerk                    = 2 // multiples of the recordings' 99.9 percentile
)

// evalBars collects bars.
type evalBars []evalBar

func (b *evalBars) most(measure, of string, v *float64, bar float64) {
	*b = append(*b, evalBar{measure, of, v, bar, false, v != nil && *v <= bar})
}

func (b *evalBars) least(measure, of string, v *float64, bar float64) {
	*b = append(*b, evalBar{measure, of, v, bar, true, v != nil && *v >= bar})
}

// over returns v as a share of truth, nil if there is none.
func over(v, truth float64) *float64 {
	if truth == 0 {
		return nil
	}
	v /= truth
	return &v
}

// bars compares the report's figures with their bars.
func (r *evalReport) bars() evalBars {
	var b evalBars
	r.motionBars(&b)
	r.footfallBars(&b)
	r.pathBars(&b)
	r.speedBars(&b)
	for _, w := range r.Ways {
		off := w.Off()
		b.most("off what is asked for, share", w.Name, &off, barWay)
	}
	for _, w := range r.Ways {
		b.most("skate ÷ the recorded walk's, shown", w.Name, over(w.Shown.Skate, r.Gaits[0].Truth.Skate), barSkateShown)
	}
	for _, w := range r.Ways {
		b.least("height of the hips ÷ the recorded walk's, shown", w.Name, over(w.Shown.Hips, r.Gaits[0].Truth.Hips), barHips)
	}
	// A character that is carried along on still legs is made to step by its foot
	// lock: the network's own pose tells.
	for _, w := range r.Ways {
		b.least("leg angle update ÷ the recorded walk's, raw", w.Name, over(w.Raw.Stiffness, r.Gaits[0].Truth.Stiffness), barSteps)
	}
	r.lookBars(&b)
	r.changeBars(&b)
	restored := float64(r.Restored)
	b.most("times the watchdog put a dog back", "all drives", &restored, 0)
	return b
}

// pathBars are those of Table 4, and those without which a dog that stands on the
// path would pass them.
func (r *evalReport) pathBars(b *evalBars) {
	for _, bar := range []func(evalPath){
		func(p evalPath) {
			b.most("distance from the path, cm", p.Path, &p.DistanceCM, p.Paper.Best().DistanceCM)
		},
		func(p evalPath) { b.most("angle off the path, °", p.Path, &p.AngleDeg, p.Paper.Best().AngleDeg) },
		func(p evalPath) {
			b.least("speed on the path ÷ asked for", p.Path, over(p.Speed, float64(pathSpeed)), barPathSpeed)
		},
		func(p evalPath) { b.most("seconds to set off", p.Path, p.SetOff, barSetOff) },
	} {
		for _, p := range r.Paths {
			if p.Paper != nil {
				bar(p)
			}
		}
	}
}

// motionBars are those of Tables 2 and 3, and those without which a dog that
// hovers, trembles or does not go would pass them.
func (r *evalReport) motionBars(b *evalBars) {
	kinds := []struct {
		name  string
		made  func(evalGait) metrics.Motion
		skate float64
	}{
		{"shown", func(g evalGait) metrics.Motion { return g.Model.Shown }, barSkateShown},
		{"raw", func(g evalGait) metrics.Motion { return g.Model.Raw }, barSkateRaw},
		{"matched, shown", func(g evalGait) metrics.Motion { return g.Matched.Shown }, barSkateShown},
		{"matched, raw", func(g evalGait) metrics.Motion { return g.Matched.Raw }, barSkateRaw},
	}
	paper := r.gaits(func(g evalGait) bool { return g.PaperModel != nil })
	for _, k := range kinds {
		for _, g := range paper {
			if m := k.made(g); m.Frames > 0 {
				b.most("skate ÷ recorded, "+k.name, g.Name, over(m.Skate, g.Truth.Skate), k.skate)
			}
		}
	}
	for _, k := range kinds {
		for _, g := range paper {
			if m := k.made(g); m.Frames > 0 {
				b.least("leg angle update ÷ recorded, "+k.name, g.Name, over(m.Stiffness, g.Truth.Stiffness), barBend)
			}
		}
	}
	all := r.gaits(func(evalGait) bool { return true })
	for _, g := range all {
		b.least("share of frames in the gait's speed and turn", g.Name, &g.Model.InGait, barInGait)
	}
	for _, k := range kinds[:2] {
		for _, g := range all {
			b.least("time of paws under 2.5 cm ÷ recorded, "+k.name, g.Name, over(k.made(g).Low, g.Truth.Low), barLow)
		}
	}
	for _, k := range kinds[:2] {
		for _, g := range all {
			b.most("mean jerk ÷ recorded, "+k.name, g.Name, over(k.made(g).Jerk, g.Truth.Jerk), barTremble)
		}
	}
}

// lookBars ask for heads that look where recorded ones do: neither at the sky nor
// at the ground, and into turns.
func (r *evalReport) lookBars(b *evalBars) {
	up := func(of string, m, truth metrics.Motion) {
		off := math.Abs(m.Pitch - truth.Pitch)
		b.most("head off the recorded up or down, °", of, &off, barPitch)
	}
	for _, g := range r.gaits(func(evalGait) bool { return true }) {
		up(g.Name, g.Model.Shown, g.Truth)
	}
	for _, w := range r.Ways {
		up(w.Name, w.Shown, r.Gaits[0].Truth)
	}
	const measure = "head off the recorded in turns, °"
	for _, g := range r.gaits(func(g evalGait) bool { return g.Name == metrics.Turn }) {
		bar := func(of string, m metrics.Motion) {
			off := math.Abs(m.Look - g.Truth.Look)
			b.most(measure, of, &off, barLook)
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

// gaits returns those that the recordings have and that want tells.
func (r *evalReport) gaits(want func(evalGait) bool) (out []evalGait) {
	for _, g := range r.Gaits {
		if g.Truth.Frames > 0 && want(g) {
			out = append(out, g)
		}
	}
	return out
}

// footfallBars ask for the gait that recorded dogs have at a speed.
func (r *evalReport) footfallBars(b *evalBars) {
	for _, k := range []struct {
		name string
		fall func(evalGait) metrics.Footfall
	}{{"shown", func(g evalGait) metrics.Footfall { return g.Shown }}, {"raw", func(g evalGait) metrics.Footfall { return g.Raw }}} {
		for _, g := range r.Gaits {
			if g.Name == metrics.Turn || g.Recorded.Strides == 0 {
				continue
			}
			same := 0.0
			if k.fall(g).Gait == g.Recorded.Gait {
				same = 1
			}
			b.least("footfall as recorded, "+k.name, fmt.Sprintf("%s (a %s)", g.Name, k.fall(g).Gait), &same, 1)
		}
	}
}

// speedBars are those of the speeds held, by command.
func (r *evalReport) speedBars(b *evalBars) {
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
			b.most("speed off the command, share, worst start", fmt.Sprintf("%.1f m/s (from %.1f)", v, worst.From), &off, barSpeed)
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
		b.least("share of starts that come to the recorded footfall", fmt.Sprintf("%.1f m/s (a %s)", v, r.Gaits[i].Recorded.Gait), &same, 1)
	}
}

// changeBars are those of actions and of changes between them.
func (r *evalReport) changeBars(b *evalBars) {
	var asked []metrics.Latency
	for _, l := range r.Latencies {
		// Who stands has to gather speed for a jump, who goes to stop for the others.
		if (l.Action == "jump") != (l.From == "idle") {
			asked = append(asked, l)
		}
	}
	for _, l := range asked {
		b.most("seconds to 90 % of the weight", l.Action+" from "+l.From, l.Weight, barWeight)
	}
	for _, l := range asked {
		b.most("seconds to the pose", l.Action+" from "+l.From, l.Pose, barPose)
	}
	var harsh *metrics.Transition
	for i, t := range r.Transitions.Changes {
		if harsh == nil || t.Shown.Jerk > harsh.Shown.Jerk {
			harsh = &r.Transitions.Changes[i]
		}
	}
	if harsh != nil {
		over := harsh.Shown.Over(r.Transitions.Recorded).Jerk
		b.most("largest jerk of a change ÷ recorded", harsh.From+" to "+harsh.To, &over, barJerk)
	}
}

// barRows is the report on one screen: a row per measure, with all that it is
// measured of; * marks what misses its bar.
func (b evalBars) rows() []string {
	var rows []string
	for i := 0; i < len(b); {
		first, same := i, true
		for ; i < len(b) && b[i].Measure == b[first].Measure; i++ {
			same = same && b[i].Bar == b[first].Bar
		}
		sign, bar := "≤", ""
		if b[first].Least {
			sign = "≥"
		}
		if same {
			bar = fmt.Sprintf("%s %.2f", sign, b[first].Bar)
		}
		var of []string
		for _, v := range b[first:i] {
			text := v.Of + " " + orNever("%.2f", v.Value)
			if !same {
				text += fmt.Sprintf(" %s %.2f", sign, v.Bar)
			}
			if !v.Pass {
				text = "*" + text
			}
			of = append(of, text)
		}
		rows = append(rows, cells(b[first].Measure, bar, strings.Join(of, "   ")))
	}
	return rows
}

// sorted returns the bars with those of a measure beside each other.
func (b evalBars) sorted() (out evalBars) {
	done := map[string]bool{}
	for _, first := range b {
		for _, v := range b {
			if v.Measure == first.Measure && !done[v.Measure] {
				out = append(out, v)
			}
		}
		done[first.Measure] = true
	}
	return out
}

// missed counts the bars that are.
func (b evalBars) missed() (n int) {
	for _, v := range b {
		if !v.Pass {
			n++
		}
	}
	return n
}
