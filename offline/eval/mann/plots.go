package mann

import (
	"fmt"
	"os"
	"path/filepath"

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
	if e.opt.Plots == "" {
		return nil
	}
	if err := os.MkdirAll(e.opt.Plots, 0o755); err != nil {
		return err
	}
	if err := e.plotFootfalls(); err != nil {
		return err
	}
	if metrics.Experts(e.rollout.Model.Net) < 2 {
		return nil
	}
	return e.plotGating()
}

// plotFootfalls draws the paper's Fig. 2 for the recordings and the network.
func (e *evaluation) plotFootfalls() error {
	var strips []metrics.Strip
	for i, g := range e.report.Gaits {
		if g.Name == "turn" {
			continue
		}
		s := e.stretches[i]
		strips = append(strips,
			metrics.Strip{Title: fmt.Sprintf("%s, recorded at %.1f m/s", g.Name, g.Truth.Speed), Clip: s.recorded, Fall: g.Recorded},
			metrics.Strip{Title: fmt.Sprintf("%s, raw at %.1f m/s", g.Name, g.Model.Raw.Speed), Clip: s.raw, Fall: g.Raw},
			metrics.Strip{Title: fmt.Sprintf("%s, shown at %.1f m/s", g.Name, g.Model.Shown.Speed), Clip: s.shown, Fall: g.Shown})
	}
	img, err := metrics.FootfallPicture(strips)
	if err != nil {
		return err
	}
	path := filepath.Join(e.opt.Plots, "footfall.png")
	e.report.Plots = append(e.report.Plots, path)
	return figure.WritePNG(path, img)
}

// plotGating draws the paper's Fig. 9: the experts' weights over time, a chart for each mode. A gait is
// shown for two steady seconds, an action from its command.
func (e *evaluation) plotGating() error {
	const lead, gait, action = 3 * mann.Rate, 2 * mann.Rate, 4 * mann.Rate
	modes := metrics.Modes(e.rollout.Model)
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
	path := filepath.Join(e.opt.Plots, "gating.png")
	e.report.Plots = append(e.report.Plots, path)
	return chart.Stack(path, charts...)
}
