package train

import (
	"fmt"
	"io"

	"mannequin/internal/atomicfile"
	"mannequin/offline/chart"
)

// WriteCurves writes the loss curves to path.csv, one row per epoch, and
// path.png.
func WriteCurves(path string, points []Point) error {
	if err := atomicfile.Write(path+".csv", func(w io.Writer) error { return curvesCSV(w, points) }); err != nil {
		return err
	}
	train, heldOut := chart.Series{Name: "training, with dropout"}, chart.Series{Name: "held out"}
	for _, p := range points {
		if p.Epoch > 0 {
			train.X, train.Y = append(train.X, p.Epoch), append(train.Y, p.Train)
		}
		heldOut.X, heldOut.Y = append(heldOut.X, p.Epoch), append(heldOut.Y, p.HeldOut)
	}
	return chart.Chart{Title: "Loss", XLabel: "epoch", YLabel: "mean squared error of normalised outputs", LogY: true,
		Series: []chart.Series{train, heldOut}}.Save(path + ".png")
}

func curvesCSV(w io.Writer, points []Point) error {
	if _, err := fmt.Fprintln(w, "epoch,train_loss,held_out_loss,learning_rate,seconds"); err != nil {
		return err
	}
	for _, p := range points {
		train := ""
		if p.Epoch > 0 {
			train = fmt.Sprintf("%.6g", p.Train)
		}
		if _, err := fmt.Fprintf(w, "%.4g,%s,%.6g,%.4g,%.1f\n", p.Epoch, train, p.HeldOut, p.Rate, p.Seconds); err != nil {
			return err
		}
	}
	return nil
}
