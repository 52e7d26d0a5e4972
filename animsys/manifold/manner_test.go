package manifold

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/feature"
)

// People differ, a person stays the same, and what windows at different frames see is one motion.
func TestManners(t *testing.T) {
	const values, frames = 5, 2000
	of := func(person uint32, first, n int) []float32 {
		v := make([]float32, n*values)
		writeManners(v, values, 0, person, first)
		return v
	}
	if slices.ContainsFunc(of(0, 0, frames), func(v float32) bool { return v != 0 }) {
		t.Error("nobody has a manner")
	}
	one := of(1, 0, frames)
	if !slices.Equal(of(1, 700, 200), one[700*values:900*values]) {
		t.Error("a window from frame 700 on has other values than one from frame 0 on")
	}
	var square, step, most float64
	const people = 200
	for p := range uint32(people) {
		v := of(p+1, 0, frames)
		for i := values; i < len(v); i++ {
			square += float64(v[i]*v[i]) / people / float64(len(v))
			step = max(step, math.Abs(float64(v[i]-v[i-values])))
			most = max(most, math.Abs(float64(v[i])))
		}
	}
	if square < 0.3 || square > 1 || most > mannerMost || step > 0.15 {
		t.Errorf("values have a variance of %.2f, are up to %.2f and change by up to %.3f a frame", square, most, step)
	}
}

// A body that sways about a curve is found to sway so, whatever slow error the network makes, and
// moves so afterwards.
func TestSway(t *testing.T) {
	const frames, cols, at = 600, 5, 1
	body, rows := make([]float32, frames*feature.MotionLen), make([]float32, frames*cols)
	aside := func(f int) float64 { return 0.02 * math.Sin(2*math.Pi*float64(f)/60) } // m
	ahead := func(f int) float64 { return 0.01 * math.Cos(2*math.Pi*float64(f)/30) }
	for f := range frames {
		body[f*feature.MotionLen+feature.MotionZ], body[f*feature.MotionLen+feature.MotionYaw] = 1.5, 0.2
		row := rows[f*cols+at:]
		row[feature.MotionX] = float32(Rate*(aside(f+1)-aside(f))) + 0.05 // drifts aside
		row[feature.MotionZ] = float32(Rate*(ahead(f+1)-ahead(f))) + 1.4
		row[feature.MotionYaw] = 0.25
	}
	of, line := make([]sway, frames), newSwayLine(frames)
	line.find(of, rows, cols, at, body)
	for f := 90; f < frames-90; f++ {
		if dx, dz := math.Abs(float64(of[f].x)-aside(f)), math.Abs(float64(of[f].z)-ahead(f)); dx > 0.003 || dz > 0.001 || math.Abs(float64(of[f].yaw)) > 0.001 {
			t.Fatalf("frame %d sways by %+v, want %.4f and %.4f m", f, of[f], aside(f), ahead(f))
		}
	}
	moved := make([]float32, len(body))
	addSway(moved, body, of)
	curve, here := feature.Place{}, of[0].on(feature.Place{})
	for f := range frames {
		if d := here.Pos.Dist(of[f].on(curve).Pos); d > 1e-3 {
			t.Fatalf("frame %d: the body is %.4f m from where it sways to", f, d)
		}
		curve, here = curve.Advance(body[f*feature.MotionLen:], 1.0/Rate), here.Advance(moved[f*feature.MotionLen:], 1.0/Rate)
	}
}
