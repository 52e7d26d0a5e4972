package main

import (
	"fmt"

	"mannequin/offline/metrics"
)

// evalBar is a figure and the bar that it has to reach.
type evalBar struct {
	Measure string   `json:"measure"`
	Value   *float64 `json:"value"` // nil is never
	Bar     float64  `json:"bar"`
	Least   bool     `json:"least"` // the bar is the least that passes, else the most
	Pass    bool     `json:"pass"`
}

// The bars that are not the paper's own figures.
const (
	barSkateShown, barSkateRaw = 1.00, 1.10 // shares of the recordings'
	barBend                    = 0.95
	barLow                     = 0.75
	barSpeed                   = 0.10     // share off the command
	barWeight, barPose         = 0.5, 1.5 // seconds
	barJerk                    = 2        // multiples of the recordings' 99.9 percentile
)

// bars compares the report's figures with their bars.
func (r *evalReport) bars() []evalBar {
	var out []evalBar
	most := func(measure string, v *float64, bar float64) {
		out = append(out, evalBar{measure, v, bar, false, v != nil && *v <= bar})
	}
	least := func(measure string, v, bar float64) {
		out = append(out, evalBar{measure, &v, bar, true, v >= bar})
	}
	for _, g := range r.Gaits {
		if g.PaperModel == nil || g.Truth.Frames == 0 {
			continue
		}
		shown, raw := g.Model.Shown.Skate/g.Truth.Skate, g.Model.Raw.Skate/g.Truth.Skate
		most("skate ÷ recorded, "+g.Name+", shown", &shown, barSkateShown)
		most("skate ÷ recorded, "+g.Name+", raw", &raw, barSkateRaw)
		least("leg angle update ÷ recorded, "+g.Name+", shown", g.Model.Shown.Stiffness/g.Truth.Stiffness, barBend)
		least("leg angle update ÷ recorded, "+g.Name+", raw", g.Model.Raw.Stiffness/g.Truth.Stiffness, barBend)
	}
	for _, g := range r.Gaits {
		if g.Truth.Low > 0 {
			// Without these, a dog that hovers would pass the bars on skate.
			least("time of paws under 2.5 cm ÷ recorded, "+g.Name+", shown", g.Model.Shown.Low/g.Truth.Low, barLow)
			least("time of paws under 2.5 cm ÷ recorded, "+g.Name+", raw", g.Model.Raw.Low/g.Truth.Low, barLow)
		}
	}
	for _, p := range r.Paths {
		if p.Paper != nil {
			best := p.Paper.Best()
			most("distance from the "+p.Path+", cm", &p.DistanceCM, best.DistanceCM)
			most("angle off the "+p.Path+", °", &p.AngleDeg, best.AngleDeg)
		}
	}
	for _, g := range r.Gaits {
		if g.Name == "turn" || g.Recorded.Strides == 0 {
			continue
		}
		for _, f := range []struct {
			name string
			fall metrics.Footfall
		}{{"shown", g.Shown}, {"raw", g.Raw}} {
			same := 0.0
			if f.fall.Gait == g.Recorded.Gait {
				same = 1
			}
			least(fmt.Sprintf("%s by footfall a %s as recorded, %s (is: %s)", g.Name, g.Recorded.Gait, f.name, f.fall.Gait), same, 1)
		}
	}
	worst := map[float64]*metrics.SpeedHeld{}
	for i, s := range r.Speeds {
		if w := worst[s.Command]; w == nil || s.Off() > w.Off() {
			worst[s.Command] = &r.Speeds[i]
		}
	}
	for _, command := range metrics.GaitSpeeds {
		if w := worst[float64(command)]; w != nil {
			off := w.Off()
			most(fmt.Sprintf("speed off the command of %.1f m/s, worst start (from %.1f m/s)", command, w.From), &off, barSpeed)
		}
	}
	for i, command := range metrics.GaitSpeeds {
		starts, same := 0, 0.0
		for _, s := range r.Speeds {
			if s.Command == float64(command) {
				starts++
				if i < len(r.Gaits) && s.Gait == r.Gaits[i].Recorded.Gait {
					same++
				}
			}
		}
		if starts > 0 && i < len(r.Gaits) && r.Gaits[i].Recorded.Strides > 0 {
			least(fmt.Sprintf("of %d starts toward %.1f m/s become a %s as recorded", starts, command, r.Gaits[i].Recorded.Gait), same, float64(starts))
		}
	}
	for _, l := range r.Latencies {
		if (l.Action == "jump") == (l.From == "idle") {
			continue // who stands has to gather speed for a jump, who goes to stop for the others
		}
		most(fmt.Sprintf("%s from %s: 90 %% of the weight, s", l.Action, l.From), l.Weight, barWeight)
		most(fmt.Sprintf("%s from %s: pose reached, s", l.Action, l.From), l.Pose, barPose)
	}
	var harsh *metrics.Transition
	for i, t := range r.Transitions.Changes {
		if harsh == nil || t.Shown.Jerk > harsh.Shown.Jerk {
			harsh = &r.Transitions.Changes[i]
		}
	}
	if harsh != nil {
		over := harsh.Shown.Over(r.Transitions.Recorded).Jerk
		most(fmt.Sprintf("largest jerk of a change ÷ recorded (%s to %s)", harsh.From, harsh.To), &over, barJerk)
	}
	return out
}
