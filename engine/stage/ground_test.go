package stage

import (
	"math"
	"testing"

	"mannequin/engine/m3"
)

// No sky shows through the ground, even with one sample per pixel and where rings meet.
func TestGroundIsClosed(t *testing.T) {
	s, err := Open(Options{Width: 640, Height: 360, Offscreen: true, Samples: 1})
	if err != nil {
		t.Skip(err)
	}
	defer s.Close()
	hills := func(x, z float32) float32 { return 0.7*m3.Sin(0.35*x)*m3.Cos(0.3*z) + 0.01*x }
	s.SetGround(hills)
	s.lighting.fog = 1e6 // which hides the difference
	holes := 0
	for i := range 6 {
		focus := m3.V(0.37*float32(i), 0, -0.61*float32(i))
		yaw := 2 * math.Pi * float32(i) / 6
		eye := focus.Add(m3.V(4*m3.Sin(yaw), 2.2, 4*m3.Cos(yaw)))
		s.Camera.Place(eye, focus.Add(m3.V(-8*m3.Sin(yaw), 0.4, -8*m3.Cos(yaw))))
		img := shoot(t, s, View{Focus: focus})
		for x := range img.Rect.Dx() {
			under := false // the sky
			for y := range img.Rect.Dy() {
				c := img.RGBAAt(x, y)
				sky := c.B > 150
				if under && sky {
					holes++
				}
				under = under || !sky
			}
		}
	}
	if holes > 0 {
		t.Errorf("%d pixels below the horizon are as light as the sky", holes)
	}
}
