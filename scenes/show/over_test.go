package show

import (
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/scenes"
)

// The camera rises smoothly over a body that walks through it. Bodies far away, and the body that the
// camera looks at, do not raise it.
func TestOver(t *testing.T) {
	sk := &skel.Skeleton{Names: []string{"Hips", "Head"}, Parents: []int16{-1, 0}, Offsets: []m3.Vec3{{}, {Y: 0.6}}}
	casts := []scenes.Cast{{Skel: sk}}
	body := func(x float32) []m3.Xform { return []m3.Xform{{Pos: m3.V(x, 1, 0)}, {Pos: m3.V(x, 1.6, 0)}} }
	eye, focus, last := m3.V(0, 1.4, 0), m3.V(0, 1, 5), float32(1.4)
	for x := float32(-3); x < 3; x += 0.02 {
		casts[0].Bones, casts[0].Tint = body(x), make([][3]float32, 1)
		y := over(eye, focus, casts)
		if m3.Abs(x) > bodyEnd && y != eye.Y || m3.Abs(x) < bodyFull && y < 2 {
			t.Errorf("a body is at x = %.2f m: the camera has a height of %.2f m", x, y)
		}
		if m3.Abs(y-last) > 0.03 {
			t.Errorf("a body is at x = %.2f m: the camera jumps from a height of %.2f m to %.2f m", x, last, y)
		}
		last = y
	}
	casts[0].Bones = body(0.1)
	if y := over(eye, m3.V(0.2, 1, 0), casts); y != eye.Y {
		t.Errorf("before the body that it looks at, the camera has a height of %g m", y)
	}
}
