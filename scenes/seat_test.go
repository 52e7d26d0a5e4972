package scenes

import (
	"testing"

	"mannequin/engine/m3"
)

// A seat turns with the focus, an overview does not; both look at the focus.
func TestSeat(t *testing.T) {
	focus := m3.V(3, 1, -2)
	for name, s := range map[string]Seat{"zero": {}, "aside": {Distance: 5, Pitch: 0.2, Aside: 0.9}, "overview": Overlook(100), "behind": Behind(60)} {
		eye, ahead := s.View(focus, 0)
		turned, _ := s.View(focus, 1)
		if d := eye.Dist(focus); !(d > 1) || !(eye.Y > focus.Y) || eye.Add(ahead.Scale(d)).Dist(focus) > 1e-4 {
			t.Errorf("%s: from %v it looks to %v", name, eye, ahead)
		}
		if moved := turned.Dist(eye) > 0.1; moved == s.Overview {
			t.Errorf("%s: turns with the focus: %v", name, moved)
		}
	}
	if a, b, c := Overlook(1).Distance, Overlook(100).Distance, Overlook(4096).Distance; !(a < b && b < c && c <= 24) {
		t.Errorf("%g, %g, %g m from more and more", a, b, c)
	}
	// At head height, 0.8 m above the hips, the line of sight passes closer to the focus than the
	// next person.
	const head, next = 0.8, 2.0
	for n, over := range map[int]bool{1: false, 60: true, 4096: true} {
		eye, _ := Behind(n).View(focus, 0)
		if got := head*focus.Flat().Dist(eye.Flat()) < next*(eye.Y-focus.Y); got != over {
			t.Errorf("one of %d is seen over the heads: %v", n, got)
		}
	}
}
