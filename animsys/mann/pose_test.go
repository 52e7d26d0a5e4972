package mann

import (
	"slices"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// A network that sinks into the ground is shown on it.
func TestDisplayedHipsStayAboveGround(t *testing.T) {
	b := NewBatch(beetleModel(), 1)
	stands := b.Model.rest[feature.BonePos+1]
	for _, h := range []float32{-0.2, 0.01, 0.2} {
		b.bonePos[0].Y = h
		b.display(0)
		pos, _ := b.Pose(0)
		if want := max(h, 0.11*stands); m3.Abs(pos[0].Y-want) > 1e-6 || b.bonePos[0].Y != h {
			t.Errorf("predicted at %g m, shown at %g, want %g", h, pos[0].Y, want)
		}
	}
}

// Jumps are pressed together below the ceiling: smoothly, in order, and as a whole, so that no bone
// turns.
func TestJumpsStayBelowTheCeiling(t *testing.T) {
	b := NewBatch(beetleModel(), 1)
	rest := b.Model.rest[feature.BonePos+1]
	show := func(h float32) (float32, []m3.Quat) {
		lift := h - b.bonePos[0].Y
		for j := range b.bonePos {
			b.bonePos[j].Y += lift
		}
		b.display(0)
		pos, rot := b.Pose(0)
		return pos[0].Y, slices.Clone(rot)
	}
	_, still := show(rest)
	const step = 0.01
	last, _ := show(b.tuning.Bend * rest)
	if m3.Abs(last-b.tuning.Bend*rest) > 1e-6 {
		t.Errorf("at the bend: shown at %g m, want %g", last, b.tuning.Bend*rest)
	}
	for share := b.tuning.Bend + step; share < 3; share += step {
		h, rot := show(share * rest)
		if !(h >= last) || h-last > step*rest*1.001 || h > b.tuning.Ceiling*rest {
			t.Fatalf("at %g of the rest height: shown at %g m after %g", share, h, last)
		}
		for j := range rot {
			if a := rot[j].Angle(still[j]); !(a < 1e-3) {
				t.Fatalf("joint %d turned by %g rad", j, a)
			}
		}
		last = h
	}
	b.tuning.Ceiling = 0
	if h, _ := show(3 * rest); m3.Abs(h-3*rest) > 1e-5 {
		t.Errorf("without a ceiling: shown at %g m, want %g", h, 3*rest)
	}
}
