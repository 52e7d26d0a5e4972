package manifold

import (
	"math"
	"testing"

	"mannequin/animsys/control"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/models/human"
	humanfootstep "mannequin/models/human-footstep"
	humanlocomotion "mannequin/models/human-locomotion"
)

// The feet of people who go sideways do not pass through each other, and these people take as many steps a second
// as recorded people.
func TestSidesteps(t *testing.T) {
	race.Single(t)
	m := must.Get(NewModel(must.Get(human.Open())(t)))(t)
	const frames = 600
	n := m.With(must.Get(humanfootstep.Open())(t), must.Get(humanlocomotion.Open())(t))
	l := must.Get(n.NewLocomotion(LocomotionOptions{Batch: 2, Frames: frames, Workers: 1}))(t)
	defer l.Close()
	path := must.Get(control.NewPath([]m3.Vec3{{}, {Z: 100}}, false))(t)
	for _, speed := range []float32{0.6, 1.2} {
		var courses []Trajectory
		for _, facing := range []float32{math.Pi / 2, -math.Pi / 2} {
			courses = append(courses, must.Get(AlongPath(path, frames, func(int) float32 { return speed }, func(int) float32 { return facing }))(t))
		}
		made, _, err := l.Make(courses, []Gait{{Person: 3}, {Person: 4}}, DefaultIterations, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, clip := range made {
			cols, layout := m.Layout.Columns(), m.Layout
			place := func(f int, joint string) m3.Vec3 { return vec(clip.Rows[f*cols:], layout.Pos(layout.Joint(joint))) }
			near, strides, widest, closed := 0, 0, float32(0), false
			for f := range frames {
				heel, toe := place(f, "LeftFoot"), place(f, "LeftToeBase")
				apart := float32(1)
				for u := float32(0); u <= 1; u += 0.125 {
					p := heel.Lerp(toe, u)
					apart = min(apart, p.Dist(p.OnSegment(place(f, "RightFoot"), place(f, "RightToeBase"))))
				}
				if apart < 0.06 {
					near++
				}
				gap := heel.X - place(f, "RightFoot").X
				widest = max(widest, gap)
				if gap < 0.3 && !closed {
					closed = true
				} else if gap > 0.4 && closed {
					closed = false
					strides++
				}
			}
			if near > 0 {
				t.Errorf("%g m/s, person %d: feet are within 6 cm in %d of %d frames", speed, i+3, near, frames)
			}
			want := float64(asidePace + asidePaceBySpeed*speed)
			if pace := float64(strides) * Rate / frames; math.Abs(pace/want-1) > 0.2 {
				t.Errorf("%g m/s, person %d: %.2g strides a second, want %.2g", speed, i+3, pace, want)
			}
			if widest > 0.95 {
				t.Errorf("%g m/s, person %d: ankles are %.2g m apart", speed, i+3, widest)
			}
		}
	}
}

// The correction changes no bit of motions that go forward, backward or diagonally.
func TestAsideAlone(t *testing.T) {
	for _, c := range []struct {
		x, z float32
		want float64
	}{{0, 1, 0}, {0, -1, 0}, {1, 1, 0}, {-1, -1, 0}, {1.2, 0, 1}, {-0.6, 0.05, 1}, {0.05, 0, 0}, {0, 0, 0}} {
		body := []float32{c.x, c.z, 0}
		if got := aside(body); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("a body that goes by %g, %g goes aside by %g, want %g", c.x, c.z, got, c.want)
		}
		if got := asideSteps(0.01, body); (got != 0.01) != (c.want > 0) {
			t.Errorf("%g, %g: steps advance by %g", c.x, c.z, got)
		}
	}
}
