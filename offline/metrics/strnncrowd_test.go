package metrics_test

import (
	"math"
	"testing"

	"mannequin/animsys/strnn"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/teststrnn"
	"mannequin/offline/metrics"
)

// People on predicted motion do what they are asked, and their figures are of a made-up network's motion.
func TestMeasureSTRNNCrowd(t *testing.T) {
	asks := []metrics.STRNNCrowd{{Speed: 1.2, Turn: 0.4}, {}}
	must.Do(t, metrics.MeasureSTRNNCrowd(teststrnn.Model(t, teststrnn.Options{Guide: true}), asks, strnn.StreamOptions{}, 2))
	for _, a := range asks {
		if math.Abs(a.Turned-a.Turn) > 0.05 || math.Abs(a.Went-a.Speed) > 0.06 {
			t.Errorf("asked for %g m/s and %g rad/s they go %.2f and turn %.2f", a.Speed, a.Turn, a.Went, a.Turned)
		}
		if a.Lost != 0 || !(a.Border > 0) || !(a.Within > 0) || a.Slide < 0 || a.Slide > 1 || a.Stand < 0 || a.Stand > 1 || a.Glide < 0 || a.Glide > 10 {
			t.Errorf("%+v", a)
		}
	}
	if err := metrics.MeasureSTRNNCrowd(teststrnn.Model(t, teststrnn.Options{}), asks, strnn.StreamOptions{}, 1); err == nil {
		t.Error("a network without a guide is taken")
	}
}
