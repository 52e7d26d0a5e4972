package ik

import (
	"testing"

	"mannequin/engine/m3"
)

// A standing paw whose flat pose drifts slowly is held as far as the leg has room: up to Radius at
// full length, less when it is folded.
func TestHoldHasRoom(t *testing.T) {
	lock := DefaultDog().Lock
	for _, room := range []float32{1, 0.5, 0.2} {
		var f Foot
		var far float32
		tip := m3.V(0, 0.01, 0)
		v := m3.V(0.1, 0, 0)
		for range 120 {
			tip = tip.Add(v.Scale(1. / 60))
			at := f.lock(tip, f.observe(tip, 1./60), &lock, 0.1, room, 1./60)
			far = max(far, at.Sub(tip).Flat().Len())
		}
		if want := lock.Radius * room; far > want+0.008 || far < want {
			t.Errorf("with %g of the leg's length in use the paw stayed %g m behind, want %g", room, far, want)
		}
	}
}

// A paw whose flat pose slides on without end does not slide with it: it is held, and steps after
// it.
func TestStepsAfterASlide(t *testing.T) {
	lock := DefaultDog().Lock
	const dt, speed = 1. / 60, 0.3
	var f Foot
	tip := m3.V(0, 0.01, 0)
	var before m3.Vec3
	var slid, steps float32
	for i := range 300 {
		tip.X += speed * dt
		held := f.locked
		at := f.lock(tip, f.observe(tip, dt), &lock, speed, 1, dt)
		if i == 0 {
			before = at
		}
		if held && !f.locked {
			steps++
		}
		// The paper's measure: in full on the ground, nothing above 2.5 cm.
		if at.Y < 0.025 {
			slid += (at.X - before.X) * (2 - m3.Pow(2, at.Y/0.025))
		}
		before = at
	}
	if steps < 5 || slid > 0.35*speed*300*dt {
		t.Errorf("on a way of %g m it makes %g steps and slides %g m", speed*300*dt, steps, slid)
	}
}

// A paw comes down to the ground in one go: where it is taken for standing it neither stops in the
// air nor falls.
func TestLandsInOneGo(t *testing.T) {
	lock := DefaultDog().Lock
	const dt = 1. / 60
	for _, v := range []float32{0.3, 0.6, 1} {
		var f Foot
		tip := m3.V(0, 0.15, 0)
		y := []float32{0.15}
		for range 60 {
			// The flat pose's paw lands at 2 cm, with a half-life of 0.05 s.
			tip.Y -= min(v*dt, 0.2*(tip.Y-0.02))
			y = append(y, f.lock(tip, f.observe(tip, dt), &lock, 0, 1, dt).Y)
		}
		if m3.Abs(y[60]-TipHeight) > 1e-3 || !f.locked {
			t.Fatalf("at %g m/s: after a second it is at %g m, held: %v", v, y[60], f.locked)
		}
		for i := 2; i < 60 && y[i] > TipHeight+0.003; i++ {
			if a, b := y[i-1]-y[i], y[i]-y[i+1]; b > a+0.013 || y[i] > TipHeight+0.006 && a < 0.3*min(v*dt, 0.2*(y[i]-TipHeight)) {
				t.Errorf("at %g m/s, tick %d: it sinks by %.1f mm and then by %.1f", v, i, 1000*a, 1000*b)
			}
		}
	}
}

// A foot that lags behind a flat pose that stands steps after it without haste, and low.
func TestSlowStep(t *testing.T) {
	step := func(slow float32) (seconds, height float32) {
		o := DefaultHuman().Lock
		o.Step = slow
		f := Foot{}
		const dt = 1.0 / 60
		at := m3.V(0, 0.02, 0)
		begin := -1
		for tick := range 600 {
			if at.X < 0.16 {
				at.X += 0.1 * dt // the flat pose slides
			}
			was := f.locked
			v := f.observe(at, dt)
			to := f.lock(at, v, &o, 0, 1, dt)
			if was && !f.locked && begin < 0 {
				begin = tick
			}
			if begin >= 0 {
				height = max(height, to.Y)
				if f.locked {
					return float32(tick-begin) * dt, height
				}
			}
		}
		t.Fatal("the foot is never locked again")
		return 0, 0
	}
	fast, _ := step(0)
	slow, height := step(DefaultHuman().Lock.Step)
	if !(slow > 1.5*fast && slow > 0.25) {
		t.Errorf("the step takes %g s, in a hurry %g", slow, fast)
	}
	if !(height > 0.02 && height < 0.06) {
		t.Errorf("the foot rises to %g m", height)
	}
}

// A contact that is given ends early for a foot that leaves the ground, and does not begin again in
// the air. A foot that only rises, or only slides, keeps it.
func TestGivenContactEnds(t *testing.T) {
	const dt = 1.0 / 60
	for _, c := range []struct {
		name      string
		ahead, up float32 // m/s
		ends      bool
	}{{"leaves", 0.5, 0.4, true}, {"rises slowly", 0, 0.2, false}, {"slides", 0.6, 0, false}} {
		o := DefaultHuman().Lock
		o.Radius = 1
		var f Foot
		at := m3.V(0, 0.02, 0)
		ended := false
		for tick := range 30 {
			if tick >= 10 {
				at = at.Add(m3.V(0, c.up, c.ahead).Scale(dt))
			}
			v := f.observe(at, dt)
			f.given, f.givenContact = true, true
			f.lock(at, v, &o, 0, 1, dt)
			if ended = ended || tick > 1 && !f.contact; ended && f.contact {
				t.Errorf("a foot that %s has contact again in the air", c.name)
			}
		}
		if ended != c.ends {
			t.Errorf("the contact of a foot that %s ends: %v", c.name, ended)
		}
	}
}

// rolling returns the lock of people whose feet roll.
func rolling() FootLock {
	o := DefaultHuman().Lock
	o.Roll = 0.2
	return o
}

// A toe that comes down fast after its heel stays locked, and is not held above the flat pose's, which would lift the heel.
func TestToeComesDown(t *testing.T) {
	const dt = 1.0 / 60
	lands := func(o FootLock) (locks int, above float32) {
		var f Foot
		tip := m3.V(0, 0.09, 0)
		was := false
		for tick := range 60 {
			v := float32(0.3) // m/s, down
			if tip.Y < 0.055 && tick > 3 {
				v = 1.1 // the sole slaps down
			}
			tip.Y = max(tip.Y-v*dt, 0.01)
			at := f.lock(tip, f.observe(tip, dt), &o, 0, 1, dt)
			if f.locked && !was {
				locks++
			}
			if was = f.locked; was {
				above = max(above, at.Y-max(tip.Y, TipHeight))
			}
		}
		return locks, above
	}
	if locks, above := lands(rolling()); locks != 1 || above > 1e-3 {
		t.Errorf("it is locked %d times, and %.1f mm above the flat pose's", locks, 1000*above)
	}
	if locks, above := lands(DefaultHuman().Lock); locks == 1 && above <= 1e-3 {
		t.Errorf("so it is without rolling: %d, %g", locks, above)
	}
}

// A toe that rolls off the ground rises with the flat pose's from the first tick, so it does not skim the ground afterwards.
func TestToeRollsOff(t *testing.T) {
	const dt = 1.0 / 60
	leaves := func(o FootLock) (rises, lags float32) {
		var f Foot
		tip := m3.V(0, 0.01, 0)
		for range 60 {
			f.lock(tip, f.observe(tip, dt), &o, 0, 1, dt)
		}
		for tick := range 12 {
			tip.Y += 0.45 * dt // slower than the lock's limit, so that it holds
			if tick >= 6 {
				tip.X += 2 * dt
			}
			at := f.lock(tip, f.observe(tip, dt), &o, 0, 1, dt)
			if tick == 3 {
				rises = at.Y - TipHeight
			}
			if tick == 7 {
				lags = tip.Y - at.Y
			}
		}
		return rises, lags
	}
	rises, lags := leaves(rolling())
	held, behind := leaves(DefaultHuman().Lock)
	if rises < 0.02 || lags > 0.01 {
		t.Errorf("after four ticks of 7.5 mm it has risen by %.1f mm; it is %.1f mm lower than the flat pose's as it leaves", 1000*rises, 1000*lags)
	}
	if held > 0.01 || behind < 0.011 {
		t.Errorf("so it is without rolling: %g, %g", held, behind)
	}
}

// A new pose may take a foot elsewhere without raising it. The foot stays where it stood for as long as its leg allows, and then steps there.
func TestTakenElsewhere(t *testing.T) {
	move := func(hold, clear float32) (stayed int, slid, away float32) {
		o := DefaultHuman().Lock
		o.Hold, o.Clear = hold, clear
		f, at := Foot{}, m3.V(0, 0.01, 0)
		const dt, ticks = 1. / 60, 16
		var before m3.Vec3
		for tick := range 90 {
			at.X = 0.4 * ease(float32(tick-10)/ticks) // at up to 2.2 m/s
			to := f.lock(at, f.observe(at, dt), &o, 0, 1, dt)
			if to.X < 0.005 && tick >= 10 {
				stayed++
			}
			if tick > 0 && to.Y < TipHeight+0.025 { // as above
				slid += (to.X - before.X) * (2 - m3.Pow(2, to.Y/(TipHeight+0.025)))
			}
			before = to
		}
		return stayed, slid, before.Dist(m3.V(0.4, TipHeight, 0))
	}
	lock := DefaultHuman().Lock
	stayed, slid, away := move(lock.Hold, lock.Clear)
	if stayed < 6 || slid > 0.12 || away > lock.Radius/4 {
		t.Errorf("it stays for %d ticks, slides by %.3f m and ends %.3f m away", stayed, slid, away)
	}
	if stayed, _, _ := move(0, lock.Clear); stayed > 4 {
		t.Errorf("without Hold it stays for %d ticks", stayed)
	}
	if _, slid, _ := move(lock.Hold, 0); slid < 0.2 {
		t.Errorf("without Clear it slides by %.3f m", slid)
	}
}
