package ik

import (
	"testing"

	"mannequin/engine/m3"
)

// A standing paw whose flat pose drifts slowly is held as far as the leg has
// room: up to Radius at full length, less when it is folded.
func TestHoldHasRoom(t *testing.T) {
	lock := DefaultQuadruped().Lock
	for _, room := range []float32{1, 0.5, 0.2} {
		var f Foot
		var far float32
		tip := m3.V(0, 0.01, 0)
		v := m3.V(0.1, 0, 0)
		for range 120 {
			tip = tip.Add(v.Scale(1. / 60))
			at := f.place(tip, f.see(tip, 1./60), &lock, 0.1, room, 1./60)
			far = max(far, at.Sub(tip).Flat().Len())
		}
		if want := lock.Radius * room; far > want+0.008 || far < want {
			t.Errorf("with %g of the leg's length in use the paw stayed %g m behind, want %g", room, far, want)
		}
	}
}
