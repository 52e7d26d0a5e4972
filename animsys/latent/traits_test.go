package latent

import (
	"math"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/testing/must"
)

// Traits of a synthetic clip are those that it was made with: the body moves on a circle, the ankles
// swing and the trunk leans.
func TestTraits(t *testing.T) {
	l := feature.Human()
	cols := l.Columns()
	const yaw, speed, swing, steps = 0.5, 1.2, 0.6, 2.2 // rad/s, m/s, m, 1/s
	rows := make([]float32, Frames*cols)
	set := func(f int, joint string, axis int, v float64) {
		rows[f*cols+l.Pos(l.Joint(joint))+axis] = float32(v)
	}
	for f := range Frames {
		rows[f*cols+l.Body()+feature.MotionZ] = speed
		rows[f*cols+l.Body()+feature.MotionYaw] = yaw
		ahead := swing / 2 * math.Cos(math.Pi*steps*float64(f)/Rate+0.3)
		set(f, "LeftFoot", 2, 0.05+ahead)
		set(f, "RightFoot", 2, -ahead)
		set(f, "Hips", 1, 0.9)
		set(f, "Neck1", 1, 1.4)
		set(f, "Neck1", 0, 0.5*math.Tan(3*math.Pi/180))
		set(f, "Neck1", 2, 0.5*math.Tan(-5*math.Pi/180))
	}
	want := map[string][2]float64{ // with tolerance
		"turn": {yaw * 180 / math.Pi, 0.01}, "step": {speed / steps, 0.02}, "lead": {swing*math.Cos(0.3) + 0.05, 1e-3},
		"lean": {3, 0.01}, "bend": {-5, 0.01},
	}
	traits := must.Get(Traits(l))(t)
	if len(traits) != len(want) {
		t.Errorf("%d traits, want %d", len(traits), len(want))
	}
	for _, q := range traits {
		if w := want[q.Name]; !(math.Abs(q.Measure(rows)-w[0]) <= w[1]) {
			t.Errorf("%s is %g %s, want %g", q.Name, q.Measure(rows), q.Unit, w[0])
		}
	}
	if _, err := Traits(&feature.Motion{Joints: []string{"Hips"}}); err == nil {
		t.Error("a layout without feet accepted")
	}
}
