package mann

import (
	"fmt"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/skel"
	"mannequin/offline/chart"
	"mannequin/offline/eval/figure"
	"mannequin/offline/metrics"
)

// footfallStrip is a gait in the footfall picture.
type footfallStrip struct{ recorded, raw, shown *skel.Clip }

// plots writes the pictures, if there is a folder for them.
func (e *evaluation) plots() error {
	if e.album == nil {
		return nil
	}
	if err := e.plotFootfalls(); err != nil {
		return err
	}
	if e.rollout.Model != nil && metrics.Experts(e.rollout.Model.Net) > 1 {
		if err := e.plotGating(); err != nil {
			return err
		}
	}
	e.report.Plots = e.album.Paths
	return nil
}

// plotFootfalls draws the paper's Fig. 2 for the recordings and the network.
func (e *evaluation) plotFootfalls() error {
	var strips []metrics.Strip
	for i, g := range e.report.Gaits {
		if g.Name == metrics.Turn {
			continue
		}
		s := e.stretches[i]
		strip := func(how string, speed float64, clip *skel.Clip, fall metrics.Footfall) {
			strips = append(strips, metrics.Strip{Title: fmt.Sprintf("%s, %s at %.1f m/s", g.Name, how, speed), Clip: clip, Fall: fall})
		}
		strip("recorded", g.Truth.Speed, s.recorded, g.Recorded)
		strip("raw", g.Model.Raw.Speed, s.raw, g.Raw)
		strip("shown", g.Model.Shown.Speed, s.shown, g.Shown)
	}
	img, err := metrics.FootfallPicture(strips)
	if err != nil {
		return err
	}
	return e.album.Add("footfall.png", func(path string) error { return figure.WritePNG(path, img) })
}

// plotGating draws the paper's Fig. 9: the experts' weights over time, a chart for each mode. A gait is
// shown for two steady seconds, an action from its command.
func (e *evaluation) plotGating() error {
	const lead, gait, action = 3 * mann.Rate, 2 * mann.Rate, 4 * mann.Rate
	modes := metrics.Modes(e.rollout)
	takes, err := metrics.Perform(e.rollout, modes, lead, action+1)
	if err != nil {
		return err
	}
	charts := make([]chart.Chart, len(modes))
	for i, m := range modes {
		first, n, title := lead, action, m.Name+", commanded at 0 s"
		if m.Goal.Action == control.Idle || m.Goal.Action == control.Move {
			first, n, title = lead+action-gait, gait, m.Name
		}
		t := takes[i]
		charts[i] = chart.Chart{Title: title, YLabel: "weight", YRange: [2]float64{0, 1}, Height: 150, Series: make([]chart.Series, t.Experts)}
		for k := range t.Experts {
			s := &charts[i].Series[k]
			if i == 0 {
				s.Name = fmt.Sprintf("expert %d", k+1)
			}
			for f := range n + 1 {
				s.X, s.Y = append(s.X, float64(f)/mann.Rate), append(s.Y, float64(t.Gating[(first+f)*t.Experts+k]))
			}
		}
	}
	charts[len(charts)-1].XLabel = "seconds"
	return e.album.Add("gating.png", func(path string) error { return chart.Stack(path, charts...) })
}
