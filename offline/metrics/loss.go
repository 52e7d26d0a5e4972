package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mannequin/offline/dataset"
)

// Loss is the error of predictions in one kind of output.
type Loss struct {
	Kind string  `json:"kind"`
	MSE  float64 `json:"mse"` // mean squared error in deviations of the training set
	RMS  float64 `json:"rms"` // root mean squared error in Unit
	Unit string  `json:"unit,omitempty"`
	Cols int     `json:"columns"`
}

// kindUnits lists the kinds of output in the order of the report.
var kindUnits = [][2]string{
	{"trajectory position", "m"}, {"trajectory direction", ""}, {"trajectory velocity", "m/s"},
	{"bone position", "m"}, {"bone forward", ""}, {"bone up", ""}, {"bone velocity", "m/s"}, {"tip phase", ""},
	{"root x", "m/s"}, {"root yaw", "°/s"}, {"root z", "m/s"},
}

// lossRows is the largest batch that Losses passes to predict.
const lossRows = 256

// Losses compares predictions with the outputs of set's rows, at least one: over all columns (kind
// "all", no RMS) and per kind. predict writes raw outputs for raw inputs of at most maxRows rows.
func Losses(set *dataset.MANN, maxRows int, predict func(y, x []float32, rows int) error) ([]Loss, error) {
	if set.Rows == 0 {
		return nil, errors.New("metrics: there are no rows to compare predictions with")
	}
	inputs, outputs := set.Layout.Inputs(), set.Layout.Outputs()
	batch := min(lossRows, maxRows)
	y := make([]float32, batch*outputs)
	sq := make([]float64, outputs) // summed squared error per column
	for r := 0; r < set.Rows; r += batch {
		n := min(batch, set.Rows-r)
		if err := predict(y[:n*outputs], set.X[r*inputs:(r+n)*inputs], n); err != nil {
			return nil, err
		}
		for i, want := range set.Y[r*outputs : (r+n)*outputs] {
			d := float64(y[i]) - float64(want)
			sq[i%outputs] += d * d
		}
	}
	all := Loss{Kind: "all"}
	out := make([]Loss, 1+len(kindUnits))
	for _, s := range set.Layout.OutputSpans() {
		k := kindOf(s.Name)
		if k < 0 {
			return nil, fmt.Errorf("metrics: output %q is of no known kind", s.Name)
		}
		l := &out[1+k]
		for c := s.Start; c < s.Start+s.Len; c++ {
			mse, std := sq[c]/float64(set.Rows), float64(set.YStd[c])
			l.RMS += mse
			l.MSE += mse / (std * std)
		}
		l.Cols += s.Len
	}
	for k, ku := range kindUnits {
		l := &out[1+k]
		if l.Cols == 0 {
			continue // not in the layout
		}
		l.Kind, l.Unit = ku[0], ku[1]
		all.MSE += l.MSE
		all.Cols += l.Cols
		l.MSE /= float64(l.Cols)
		l.RMS = math.Sqrt(l.RMS / float64(l.Cols))
	}
	all.MSE /= float64(all.Cols)
	out[0] = all
	return slices.DeleteFunc(out, func(l Loss) bool { return l.Cols == 0 }), nil
}

// kindOf returns the index into kindUnits of an output span's kind, or −1.
func kindOf(span string) int {
	what, value, _ := strings.Cut(span, ".")
	switch {
	case strings.HasPrefix(what, "future["):
		what = "trajectory"
	case value == "phase":
		what = "tip"
	case what != "root":
		what = "bone"
	}
	return slices.IndexFunc(kindUnits, func(ku [2]string) bool { return ku[0] == what+" "+value })
}
