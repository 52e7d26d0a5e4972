package mann

import (
	"fmt"
	"io"
	"strings"

	"mannequin/animsys/mann"
	"mannequin/offline/eval"
	"mannequin/offline/metrics"
)

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	t := eval.NewTables(w)
	r.printLosses(t)
	t.Section("Skate, cm per frame (Table 2); matched: asked for what the recordings do", motionHeads)
	r.printMotion(t, func(m *metrics.Motion) float64 { return m.Skate }, func(m *metrics.Motion) float64 { return m.BackSkate }, "%.3f")
	t.Section("Leg angle update, degrees per frame (Table 3)", motionHeads)
	r.printMotion(t, func(m *metrics.Motion) float64 { return m.Stiffness }, func(m *metrics.Motion) float64 { return m.BackStiffness }, "%.2f")
	r.printChecks(t)
	r.printPaths(t)
	r.printFootfalls(t)
	r.printSpeeds(t, "Speed in m/s, third and fourth second after the command, by command and what went before",
		func(s metrics.SpeedHeld) string { return fmt.Sprintf("%.2f", s.Speed) })
	r.printSpeeds(t, "The same commands, third to sixth second: gait by footfall, shown skate ÷ recorded",
		func(s metrics.SpeedHeld) string { return fmt.Sprintf("%s %.2f", s.Gait, r.skateOver(s)) })
	r.printWays(t)
	r.printLatencies(t)
	r.printTransitions(t)
	if r.Experts != nil {
		r.printExperts(t)
	}
	return t.InShort(r.Model, r.Bars, "; the hour on hills: make golden")
}

func (r *Report) printLosses(t *eval.Tables) {
	if len(r.HeldOut.Losses) == 0 {
		return
	}
	t.Section(fmt.Sprintf("%s on %d rows held out: %s", r.Model, r.HeldOut.Rows, strings.Join(r.HeldOut.Recordings, ", ")), "output\tloss\tRMS error")
	for _, l := range r.HeldOut.Losses {
		rms := ""
		if l.Kind != "all" {
			rms = strings.TrimSpace(fmt.Sprintf("%.3g %s", l.RMS, l.Unit))
		}
		t.Row("%s\t%.4f\t%s", l.Kind, l.MSE, rms)
	}
}

// motionHeads are the heads of Tables 2 and 3.
const motionHeads = "gait\tlegs\trecorded\traw\tratio\tshown\tratio\tmatched raw\tratio\tmatched shown\tratio\tpaper's MANN8\tspeed m/s"

// printMotion prints Table 2 or 3. all and back return the figure of all legs and of the hind legs.
func (r *Report) printMotion(t *eval.Tables, all, back func(*metrics.Motion) float64, format string) {
	for _, g := range r.Gaits {
		row := func(legs string, f func(*metrics.Motion) float64, speed string) {
			out := []string{g.Name, legs, fmt.Sprintf(format, f(&g.Truth))}
			for _, m := range []*metrics.Motion{&g.Model.Raw, &g.Model.Shown, &g.Matched.Raw, &g.Matched.Shown} {
				if m.Frames == 0 || g.Truth.Frames == 0 {
					out = append(out, "–", "–")
					continue
				}
				out = append(out, fmt.Sprintf(format, f(m)), fmt.Sprintf("%.2f", f(m)/f(&g.Truth)))
			}
			paper := "–"
			if g.PaperModel != nil {
				paper = fmt.Sprintf("%.2f/%.2f = %.2f", f(g.PaperModel), f(g.PaperTruth), f(g.PaperModel)/f(g.PaperTruth))
			}
			t.Cells(append(out, paper, speed)...)
		}
		row("all", all, fmt.Sprintf("%.2f (%.2f)", g.Model.Raw.Speed, g.Truth.Speed))
		row("back", back, "")
	}
}

// printChecks prints the amount of compared motion, and what would flatter skate and leg angles: dogs
// that do something else, paws that glide above the height at which they count, limbs that tremble.
func (r *Report) printChecks(t *eval.Tables) {
	t.Section("Beside them: share of the frames made that are in the gait's speed and turn, share of time for which paws are under 2.5 cm, the joints' mean jerk in m/s³",
		"gait\trecorded s\tin the gait\tlow recorded\traw\tshown\tjerk recorded\traw\tratio\tshown\tratio\thead recorded\traw\tshown")
	for _, g := range r.Gaits {
		truth, raw, shown := g.Truth, g.Model.Raw, g.Model.Shown
		head := "\t\t"
		if g.Name == metrics.Turn {
			head = fmt.Sprintf("%.0f°\t%.0f°\t%.0f°", truth.Look, raw.Look, shown.Look)
		}
		t.Row("%s\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%.0f\t%.2f\t%.0f\t%.2f\t%s",
			g.Name, float64(truth.Frames)/mann.Rate, g.Model.InGait, truth.Low, raw.Low, shown.Low,
			truth.Jerk, raw.Jerk, raw.Jerk/truth.Jerk, shown.Jerk, shown.Jerk/truth.Jerk, head)
	}
}

func (r *Report) printPaths(t *eval.Tables) {
	t.Section("Following paths: distance cm, angle ° (Table 4); meander beside the paper's custom path",
		"path\tdistance\tangle\tat m/s\tsets off s\tvNN\t\tPFNN\t\tMANN\t")
	for _, p := range r.Paths {
		paper := ""
		if p.Paper != nil {
			for _, f := range []metrics.Follow{p.Paper.VNN, p.Paper.PFNN, p.Paper.MANN} {
				paper += fmt.Sprintf("\t%.2f\t%.2f", f.DistanceCM, f.AngleDeg)
			}
		}
		t.Row("%s\t%.2f\t%.2f\t%.2f\t%s%s", p.Path, p.DistanceCM, p.AngleDeg, p.Speed, eval.OrNever("%.2f", eval.OrNaN(p.SetOff)), paper)
	}
}

func (r *Report) printFootfalls(t *eval.Tables) {
	t.Section("Footfalls: duty factor, and phase in strides after the left hind paw, per paw",
		"gait\tmotion\tis a\tstrides\tper s\tduty "+strings.Join(metrics.PawNames[:], ", ")+"\tphase")
	for _, g := range r.Gaits {
		for _, f := range []struct {
			name string
			fall metrics.Footfall
		}{{"recorded", g.Recorded}, {"raw", g.Raw}, {"shown", g.Shown}} {
			var duty, phase []string
			for p := range f.fall.Duty {
				duty, phase = append(duty, fmt.Sprintf("%.2f", f.fall.Duty[p])), append(phase, fmt.Sprintf("%.2f", f.fall.Phase[p]))
			}
			t.Row("%s\t%s\t%s\t%d\t%.2f\t%s\t%s", g.Name, f.name, f.fall.Gait, f.fall.Strides, f.fall.Rate, strings.Join(duty, " "), strings.Join(phase, " "))
		}
	}
}

// printSpeeds prints a row for each command and a column for each command before it.
func (r *Report) printSpeeds(t *eval.Tables, title string, cell func(metrics.SpeedHeld) string) {
	heads := "command\tfrom stand"
	for _, from := range metrics.GaitSpeeds {
		heads += fmt.Sprintf("\tfrom %.1f", from)
	}
	t.Section(title, heads)
	for _, to := range metrics.GaitSpeeds {
		out := []string{fmt.Sprintf("%.1f", to)}
		for _, from := range append([]float32{0}, metrics.GaitSpeeds[:]...) {
			text := ""
			for _, s := range r.Speeds {
				if s.From == float64(from) && s.Command == float64(to) {
					text = cell(s)
				}
			}
			out = append(out, text)
		}
		t.Cells(out...)
	}
}

// skateOver returns the skate of s as a share of the recordings' at its command.
func (r *Report) skateOver(s metrics.SpeedHeld) float64 {
	for i, v := range metrics.GaitSpeeds {
		if s.Command == float64(v) && i < len(r.Gaits) {
			return s.Skate / r.Gaits[i].Truth.Skate
		}
	}
	return 0
}

func (r *Report) printWays(t *eval.Tables) {
	t.Section("Other ways to go: what is asked for, what is done, skate in cm per frame ÷ that of the recorded walk; height of the hips and leg angle update, too",
		"way\tasked\tdoes\traw\tratio\tshown\tratio\thips\tlegs, raw\thead")
	for _, w := range r.Ways {
		head := ""
		if w.Unit == metrics.DegreesPerSecond {
			head = fmt.Sprintf("%.0f°", w.Shown.Look)
		}
		walk := r.Gaits[0].Truth
		over := func(v, truth float64) string { return eval.OrNever("%.2f", eval.Over(v, truth)) }
		t.Row("%s\t%.1f %s\t%.2f\t%.3f\t%s\t%.3f\t%s\t%s\t%s\t%s", w.Name, w.Asked, w.Unit, w.Does,
			w.Raw.Skate, over(w.Raw.Skate, walk.Skate), w.Shown.Skate, over(w.Shown.Skate, walk.Skate),
			over(w.Shown.Hips, walk.Hips), over(w.Raw.Stiffness, walk.Stiffness), head)
	}
}

func (r *Report) printLatencies(t *eval.Tables) {
	t.Section("Seconds from command to action, and back to idle's pose",
		"action\tfrom\t90 % of the weight\tpose\tback to idle\tgap at command\tleast\twithin the data cm")
	seconds := func(v *float64) string { return eval.OrNever("%.2f", eval.OrNaN(v)) }
	for _, l := range r.Latencies {
		t.Row("%s\t%s\t%s\t%s\t%s\t%.1f\t%.1f\t%.1f", l.Action, l.From, seconds(l.Weight), seconds(l.Pose), seconds(l.Back),
			100*l.Begin, 100*l.Least, 100*l.Spread)
	}
}

func (r *Report) printTransitions(t *eval.Tables) {
	var names []string
	at := map[[2]string]string{}
	for _, c := range r.Transitions.Changes {
		if len(names) == 0 || names[len(names)-1] != c.From {
			names = append(names, c.From)
		}
		at[[2]string{c.From, c.To}] = fmt.Sprintf("%.1f", c.Shown.Over(r.Transitions.Recorded).Jerk)
	}
	t.Section(fmt.Sprintf("Changes: the largest jerk of a joint ÷ the recordings' 99.9 percentile (%.0f m/s³), from row to column", r.Transitions.Recorded.Jerk),
		"\t"+strings.Join(names, "\t"))
	for _, from := range names {
		out := []string{from}
		for _, to := range names {
			out = append(out, at[[2]string{from, to}])
		}
		t.Cells(out...)
	}
}

func (r *Report) printExperts(t *eval.Tables) {
	heads := "ability\twhole"
	for k := range r.Experts.Without {
		heads += fmt.Sprintf("\t−%d", k+1)
	}
	t.Section(fmt.Sprintf("Abilities without each expert, as shares of the whole network's (Table 5); * vanishes: below %g", r.Experts.Vanishes), heads)
	for i, a := range r.Experts.Whole {
		out := []string{a.Name, fmt.Sprintf("%.2f %s", a.Value, a.Unit)}
		for _, less := range r.Experts.Without {
			share, format := less[i].Value/max(a.Value, 1e-6), "%.2f"
			if share < r.Experts.Vanishes {
				format = "*%.2f"
			}
			out = append(out, fmt.Sprintf(format, share))
		}
		t.Cells(out...)
	}
}
