package metrics_test

import (
	"math"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testlatent"
	"mannequin/offline/metrics"
)

// People on the shipped sliders do what they are asked, on standing feet.
func TestMeasureLatentCrowd(t *testing.T) {
	m, next := testlatent.Shipped(t)
	asks := []metrics.LatentCrowd{{Turn: 0.4, Speed: 1.2}}
	must.Do(t, metrics.MeasureLatentCrowd(m, next, asks, 2))
	a := asks[0]
	if math.Abs(a.Turned-a.Turn) > 0.1 || math.Abs(a.Went-a.Speed) > 0.15 {
		t.Errorf("asked for %g rad/s and %g m/s they turn %.2f and go %.2f", a.Turn, a.Speed, a.Turned, a.Went)
	}
	if a.Apart < 0.2 || a.Apart > 2.5 || a.Most < a.Apart || a.Most > 5 {
		t.Errorf("clips are %.2f cm apart, %.2f at most", a.Apart, a.Most)
	}
	if a.Slide <= 0 || a.Slide > 0.2 || a.Stand < 0.4 || a.Stand > 0.8 {
		t.Errorf("feet stand %.2f of the time and slide by %.3f cm a frame", a.Stand, a.Slide)
	}
	if err := metrics.MeasureLatentCrowd(testlatent.Model(t), next, asks, 1); err == nil {
		t.Error("a network of another latent space is taken")
	}
}
