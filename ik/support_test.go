package ik

import (
	"testing"

	"mannequin/engine/m3"
)

// A foot that supports the body does so until nobody asks for it, and not in a fall or on its way to another place.
func TestSupportEnds(t *testing.T) {
	const dt = 1.0 / 60
	lock := DefaultHuman().Lock
	lock.Support = 0.35
	at := m3.V(0, TipHeight, 0)
	for what, c := range map[string]struct {
		change func(f *Foot, o *FootLock)
		stays  bool
	}{
		"it goes on":     {func(*Foot, *FootLock) {}, true},
		"a fall":         {func(f *Foot, _ *FootLock) { f.falls = true }, false},
		"a step":         {func(f *Foot, _ *FootLock) { f.steps = true }, false},
		"no contacts":    {func(f *Foot, _ *FootLock) { f.given = false }, false},
		"no Support":     {func(_ *Foot, o *FootLock) { o.Support = 0 }, false},
		"nothing at all": {func(f *Foot, o *FootLock) { f.given, o.Support = false, 0 }, false},
	} {
		o := lock
		f := Foot{seen: true, given: true, givenContact: true, comes: true, height: 0.03, prev: at, path: limiter{out: at, seen: 2}}
		free, v := m3.V(0, 0.04, 0), m3.V(0, 0, 3) // the pose's foot runs away
		f.lock(free, v, &o, 3, 1, dt)
		if !f.supports || !f.contact || !f.locked {
			t.Fatalf("%s: no support: %+v", what, f)
		}
		c.change(&f, &o)
		for range 30 {
			free = free.Add(v.Scale(dt))
			f.lock(free, v, &o, 3, 1, dt)
		}
		if f.supports != c.stays || f.locked != c.stays {
			t.Errorf("%s: supports %t, locked %t, want %t", what, f.supports, f.locked, c.stays)
		}
		if f.contact && (f.falls || f.steps) {
			t.Errorf("%s: it has contact", what)
		}
	}
}
