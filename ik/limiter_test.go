package ik

import (
	"testing"

	"mannequin/engine/m3"
)

// A gentle signal passes to the bit; a step is taken with the acceleration that is allowed, then
// eased into; and it arrives.
func TestLimiter(t *testing.T) {
	const dt, accel = 1. / 60, 20
	var g limiter
	for i := range 60 {
		in := m3.V(0, 0.1*m3.Sin(8*float32(i)*dt), float32(i)) // 6.4 m/s²
		if out := g.next(in, accel, 0.05, dt); out != in {
			t.Fatalf("tick %d: %v became %v", i, in, out)
		}
	}
	g = limiter{}
	var y [3]float32
	for i := range 60 {
		in := m3.Vec3{}
		if i > 10 {
			in.Y = 0.12
		}
		out := g.next(in, accel, 0.05, dt)
		y = [3]float32{y[1], y[2], out.Y}
		if a := (y[2] - 2*y[1] + y[0]) / (dt * dt); m3.Abs(a) > accel*1.01 {
			t.Errorf("tick %d: %g m/s²", i, a)
		}
		if out.Y > 0.13 {
			t.Errorf("tick %d: %g m, beyond the step", i, out.Y)
		}
	}
	if m3.Abs(y[2]-0.12) > 1e-3 {
		t.Errorf("a second later it is at %g m", y[2])
	}
}

// However fast a paw comes down, it stops on the ground, no harder than maxLandingDecel; recorded
// landings pass as they are.
func TestBrake(t *testing.T) {
	const dt = 1. / 60
	for _, v := range []float32{0.5, 2, 5, 9} {
		f := Foot{height: 0.3}
		h := f.height
		var y [3]float32
		for i := range 60 {
			h = max(h-v*dt, TipHeight)
			out := f.brake(h, dt)
			y = [3]float32{y[1], y[2], out}
			if i < 2 {
				continue // until then it was at rest
			}
			if a := (y[2] - 2*y[1] + y[0]) / (dt * dt); a > maxLandingDecel*1.15 {
				t.Errorf("at %g m/s, tick %d: %g m/s²", v, i, a)
			}
		}
		if y[2] != TipHeight {
			t.Errorf("at %g m/s: it stops at %g m", v, y[2])
		}
	}
	// A forepaw at a canter of 3.8 m/s (D1_010_KAN01_001, frame 440 on).
	f := Foot{height: 0.192}
	for _, h := range []float32{0.147, 0.098, 0.048, 0.024, 0.023, 0.02} {
		if out := f.brake(h-0.02+TipHeight, dt); out-(h-0.02+TipHeight) > 0.012 {
			t.Errorf("at %g m the paw is held up at %g", h-0.02+TipHeight, out)
		}
	}
}

// A tip that its bone keeps from where its bound lets it go is brought nearer by the paw joint,
// both keep their bones, and what they go on from is where they are.
func TestYield(t *testing.T) {
	tree, err := NewTree([]int16{-1, 0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	s := &Legged{Rig: &Rig{Tree: tree}, DT: 1. / 60}
	for _, short := range []float32{0.06, yieldDistance / 2} {
		m := []m3.Xform{{Pos: m3.V(0, 0.6, 0), Rot: m3.Ident}, {Pos: m3.V(0, 0.4, 0), Rot: m3.Ident},
			{Pos: m3.V(0.2, 0.3, 0), Rot: m3.Ident}, {Pos: m3.V(0.3, 0.3, 0), Rot: m3.Ident}}
		was := append([]m3.Xform(nil), m...)
		var f Foot
		f.ankle.out, f.tip.out = m[2].Pos, m[3].Pos
		to := m[3].Pos.Add(m3.V(-short, 0, 0))
		before := to.Dist(m[3].Pos)
		s.yield(m, Leg{0, 1, 2, 3}, &f, was[2].Pos, was[3].Pos, to)
		if short < yieldDistance {
			if m[2] != was[2] || m[3] != was[3] {
				t.Error("a tip that is where it should be moves the paw")
			}
			continue
		}
		if after := to.Dist(m[3].Pos); !(after < 0.9*before) {
			t.Errorf("the tip is %g m off, was %g", after, before)
		}
		for j := 1; j < 4; j++ {
			if got, want := m[j].Pos.Dist(m[j-1].Pos), was[j].Pos.Dist(was[j-1].Pos); m3.Abs(got-want) > 1e-5 {
				t.Errorf("bone %d is %g long, was %g", j, got, want)
			}
		}
		if f.ankle.out != m[2].Pos || f.tip.out != m[3].Pos || f.tip.offset != m[3].Pos.Sub(was[3].Pos) {
			t.Error("the bounds go on from elsewhere")
		}
	}
}

// What moves goes on as fast where steps of the solver become shorter or longer.
func TestPace(t *testing.T) {
	const slow, fast, speed = 4.0 / 60, 1.0 / 60, 3
	var b Body
	var f Foot
	at := m3.Vec3{}
	step := func(dt float32) (off float32) {
		at.Z += speed * dt
		for _, l := range [...]*limiter{&b.ground[4], &b.head[2], &b.tail[1], &f.path, &f.knee, &f.ankle, &f.tip} {
			off = max(off, l.next(at, maxTailAccel, footEaseHalflife, dt).Dist(at))
		}
		return off
	}
	for range 3 {
		step(slow)
	}
	b.Pace(fast / slow)
	f.Pace(fast / slow)
	for i := range 3 {
		if off := step(fast); off > 1e-5 {
			t.Fatalf("in short step %d it is %g m off", i, off)
		}
	}
	b.Pace(slow / fast)
	f.Pace(slow / fast)
	if off := step(slow); off > 1e-5 {
		t.Fatalf("in a long step it is %g m off", off)
	}
}
