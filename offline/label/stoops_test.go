package label

import (
	"slices"
	"testing"

	"mannequin/engine/m3"
)

// A crouch of a second is a landing or a hard stop; one of two seconds is a stance, and so is a whole clip.
func TestStoops(t *testing.T) {
	const fps = 60
	s := &Stance{hips: 1}
	actions := slices.Concat(slices.Repeat([]string{Idle}, 30), slices.Repeat([]string{Crouch}, fps), slices.Repeat([]string{Jump}, 30), slices.Repeat([]string{Crouch}, 2*fps))
	p := make([]posture, len(actions))
	for f := range p {
		p[f].feet = make([]m3.Vec3, 2)
		if f > 60 && f < 120 {
			p[f].at.Z = float32(f) / fps
		}
	}
	s.stoops(actions, p, fps)
	if actions[40] != Idle || actions[75] != Move || actions[100] != Jump || actions[130] != Crouch {
		t.Errorf("%q", []string{actions[40], actions[75], actions[100], actions[130]})
	}
	whole := slices.Repeat([]string{Crouch}, fps)
	if s.stoops(whole, p, fps); whole[0] != Crouch {
		t.Errorf("a clip that crouches: %q", whole[0])
	}
}
