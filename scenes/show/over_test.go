package show

import (
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/scenes"
)

// An eye that somebody walks through goes over them, without a jump, and is not moved by those who are
// far or looked at.
func TestOver(t *testing.T) {
	sk := &skel.Skeleton{Names: []string{"Hips", "Head"}, Parents: []int16{-1, 0}, Offsets: []m3.Vec3{{}, {Y: 0.6}}}
	casts := []scenes.Cast{{Skel: sk}}
	body := func(x float32) []m3.Xform { return []m3.Xform{{Pos: m3.V(x, 1, 0)}, {Pos: m3.V(x, 1.6, 0)}} }
	eye, focus, last := m3.V(0, 1.4, 0), m3.V(0, 1, 5), float32(1.4)
	for x := float32(-3); x < 3; x += 0.02 {
		casts[0].Bones, casts[0].Tint = body(x), make([][3]float32, 1)
		y := over(eye, focus, casts)
		if m3.Abs(x) > bodyEnd && y != eye.Y || m3.Abs(x) < bodyFull && y < 2 {
			t.Errorf("beside somebody %.2f m away the eye is at %.2f m", x, y)
		}
		if m3.Abs(y-last) > 0.03 {
			t.Errorf("at %.2f m the eye jumps from %.2f to %.2f m", x, last, y)
		}
		last = y
	}
	casts[0].Bones = body(0.1)
	if y := over(eye, m3.V(0.2, 1, 0), casts); y != eye.Y {
		t.Errorf("before who is looked at the eye is at %g m", y)
	}
}
