package strnn_test

import (
	"math"
	"testing"

	"mannequin/animsys/strnn"
	"mannequin/internal/testing/teststrnn"
)

// Hands swing more about their mean after the recording; feet, hips and what was recorded stay.
func TestEnliven(t *testing.T) {
	m := teststrnn.Model(t, teststrnn.Options{})
	l, cols := m.Layout, m.Layout.Columns()
	const frames, have = 240, 60
	hand, foot := l.Pos(l.Joint("LeftHand"))+2, l.Pos(l.Joint("LeftFoot"))+2
	was := make([]float32, frames*cols)
	for f := range frames {
		swing := float32(0.2 * math.Sin(2*math.Pi*float64(f)/strnn.Rate))
		was[f*cols+hand], was[f*cols+foot] = 0.3+swing, swing
		was[f*cols+l.Pos(0)+1] = 0.95
	}
	rows := append([]float32(nil), was...)
	m.Enliven(rows, have)
	var most float64
	for f := range frames {
		for k := range cols {
			if is, at := rows[f*cols+k], was[f*cols+k]; k != hand && math.Abs(float64(is-at)) > 1e-6 || f < have && is != at {
				t.Fatalf("frame %d, column %d: %g, before %g", f, k, is, at)
			}
		}
		if f > have+60 && f < frames-60 {
			most = max(most, math.Abs(float64(rows[f*cols+hand])-0.3))
		}
	}
	if most < 0.23 || most > 0.27 {
		t.Errorf("the hand swings by %g m, before 0.2", most)
	}
}
