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

// Steps have an edge and a foot; hills have neither.
func TestStepsHaveEdges(t *testing.T) {
	drawn := func(h HeightFunc) (lo, hi float32) {
		g := newGround()
		g.height = h
		g.move(m3.Vec3{})
		for i := groundVertex - 1; i < len(g.vertices); i += groundVertex {
			lo, hi = min(lo, g.vertices[i]), max(hi, g.vertices[i])
		}
		return lo, hi
	}
	steps := func(_, z float32) float32 { return 0.12 * float32(math.Floor(float64(z/1.5))) }
	if lo, hi := drawn(steps); lo > -0.5 || hi < 0.5 {
		t.Errorf("steps have a sharpness of %.2f to %.2f", lo, hi)
	}
	if lo, hi := drawn(func(x, z float32) float32 { return 0.6 * m3.Sin(0.45*x) * m3.Cos(0.45*z) }); lo != 0 || hi != 0 {
		t.Errorf("hills have a sharpness of %.2f to %.2f", lo, hi)
	}
}
