package metrics

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
)

// Beginnings of different people vary more together than each alone.
func TestRolloutsBegin(t *testing.T) {
	l := feature.Human()
	cols := l.Columns()
	const n, frames, prefix = 2, 100, 60
	rows := make([]float32, n*frames*cols)
	for i := range n {
		for f := range frames {
			rows[(i*frames+f)*cols] = 2*float32(i) - 1
			if f >= prefix {
				rows[(i*frames+f)*cols] = 9
			}
		}
	}
	r := MeasureRollouts(rows, l, n, prefix, 20)
	if got := r.AllBegun.Variance[0]; math.Abs(got-1) > 1e-6 || r.Begun[0].Variance[0] > 1e-6 || r.All.Variance[0] > 1e-6 {
		t.Errorf("beginnings at ±1 vary by %g, each by %g, ends at one place by %g", got, r.Begun[0].Variance[0], r.All.Variance[0])
	}
}
