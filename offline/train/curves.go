package train

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mannequin/internal/atomicfile"
	"mannequin/offline/chart"
)

// WriteCurves writes the loss curves to path.csv, one row per epoch, and to path.png. If the points
// have terms of the loss, it plots them in path.parts.png.
func WriteCurves(path string, points []Point) error {
	if err := atomicfile.Write(path+".csv", func(w io.Writer) error {
		_, err := io.WriteString(w, curvesCSV(points))
		return err
	}); err != nil {
		return err
	}
	train, heldOut := chart.Series{Name: "training, with dropout"}, chart.Series{Name: "held out"}
	for _, p := range points {
		if p.Epoch > 0 {
			train.X, train.Y = append(train.X, p.Epoch), append(train.Y, p.Train)
		}
		heldOut.X, heldOut.Y = append(heldOut.X, p.Epoch), append(heldOut.Y, p.HeldOut)
	}
	if err := (chart.Chart{Title: "Loss", XLabel: "epoch", YLabel: "mean squared error of normalised outputs", LogY: true,
		Series: []chart.Series{train, heldOut}}).Save(path + ".png"); err != nil {
		return err
	}
	var terms []chart.Series
	for _, name := range lossNames(points) {
		s := chart.Series{Name: name}
		for _, p := range points {
			if v, ok := p.Losses[name]; ok && v > 0 { // the axis is logarithmic
				s.X, s.Y = append(s.X, p.Epoch), append(s.Y, v)
			}
		}
		terms = append(terms, s)
	}
	if terms == nil {
		return nil
	}
	return chart.Chart{Title: "Terms of the held-out loss", XLabel: "epoch", LogY: true, Series: terms}.Save(path + ".parts.png")
}

// lossNames returns the sorted names of the points' terms of the loss.
func lossNames(points []Point) []string {
	names := map[string]bool{}
	for _, p := range points {
		for name := range p.Losses {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func curvesCSV(points []Point) string {
	var w strings.Builder
	names := lossNames(points)
	fmt.Fprintln(&w, strings.Join(append([]string{"epoch,train_loss,held_out_loss,learning_rate,seconds"}, names...), ","))
	for _, p := range points {
		train := ""
		if p.Epoch > 0 {
			train = fmt.Sprintf("%.6g", p.Train)
		}
		fmt.Fprintf(&w, "%.4g,%s,%.6g,%.4g,%.1f", p.Epoch, train, p.HeldOut, p.Rate, p.Seconds)
		for _, name := range names {
			fmt.Fprintf(&w, ",%.6g", p.Losses[name])
		}
		fmt.Fprintln(&w)
	}
	return w.String()
}
