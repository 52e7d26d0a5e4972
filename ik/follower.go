package ik

import "mannequin/engine/m3"

// follower eases a target in and out, and over when it jumps. The zero follower has no target.
type follower struct {
	weight, speed float32 // of the target, 0 to 1, and its change per second
	goal          m3.Vec3 // the last target
	off, rate     m3.Vec3 // from goal to what is shown, and its change per second
	on            bool    // there is a goal
}

// minWeight is the weight below which a target that is not wanted is dropped.
const minWeight = 1e-4

// aim takes over a goal. A change of more than jump becomes an offset, to be eased over.
func (f *follower) aim(goal m3.Vec3, jump float32) {
	if d := f.goal.Sub(goal); f.on && f.weight > minWeight && d.Len() > jump {
		f.off = f.off.Add(d)
	}
	f.goal, f.on = goal, true
}

// step moves the weight toward want and lets the offset decay, with these half-lives, s. It reports
// whether there is still a goal.
func (f *follower) step(want, weightHalflife, offsetHalflife, dt float32) bool {
	f.weight, f.speed = m3.Spring(f.weight, f.speed, want, weightHalflife, dt)
	if f.weight < minWeight && want == 0 {
		*f = follower{}
		return false
	}
	f.off, f.rate = m3.DecayVec(f.off, f.rate, offsetHalflife, dt)
	return f.on
}

// share returns the weight, from 0 to 1.
func (f *follower) share() float32 { return m3.Clamp(f.weight, 0, 1) }

// rise returns 0 for x up to lo and 1 from hi on, with a smooth passage between.
func rise(x, lo, hi float32) float32 { return ease((x - lo) / max(hi-lo, tiny)) }

// timed is a follower that can arrive at its target at a time, (Within).
type timed struct {
	follower
	within, gone float32 // of Within, s
	began, rate0 float32 // the share when it began, and its change per second
	from         m3.Vec3 // the place from which it began, seen from goal, if it had one
}

// aim takes over a goal. A change of more than jump is gone over in the time of Within that begins in this
// tick, or eased over.
func (s *timed) aim(goal m3.Vec3, jump float32) {
	if d := s.goal.Sub(goal); s.within > 0 && s.gone == 0 && s.on && d.Len() > jump {
		s.from, s.goal = s.from.Add(d), goal
	}
	s.follower.aim(goal, jump)
}

// place returns the goal, or a place on the way from the one before.
func (s *timed) place() m3.Vec3 { return s.goal.Add(s.off).Add(s.from.Scale(1 - s.passed())) }

// passed returns how much of a way from rest to rest has been gone, 0 to 1.
func (s *timed) passed() float32 {
	if !(s.within > 0) {
		return 1
	}
	u := s.gone / s.within
	return u * u * u * (10 + u*(6*u-15))
}

// Within begins a way of that duration, s; see [HandState.Within].
func (s *timed) Within(seconds float32) {
	if !(seconds > 0) || !m3.Finite(seconds) {
		s.settle()
		return
	}
	p, v := s.progress()
	s.off, s.from = s.off.Add(s.from.Scale(1-s.passed())), m3.Vec3{}
	s.began, s.rate0 = s.weight*p, s.speed*p+s.weight*v
	s.within, s.gone, s.weight, s.speed = seconds, 0, 1, 0
}

// Left returns how much of the time of Within is left, s; ok is false without such a time.
func (s *timed) Left() (seconds float32, ok bool) { return s.within - s.gone, s.within > 0 }

// progress returns how far the way has been gone in its time, 0 to 1, and the change per second: the
// polynomial of the least jerk from the share and the change with which it began.
func (s *timed) progress() (x, v float32) {
	if !(s.within > 0) {
		return 1, 0
	}
	u, d, w := s.gone/s.within, 1-s.began, s.rate0*s.within
	c3, c4, c5 := 10*d-6*w, 8*w-15*d, 6*d-3*w
	x = s.began + u*(w+u*u*(c3+u*(c4+u*c5)))
	v = (w + u*u*(3*c3+u*(4*c4+u*5*c5))) / s.within
	return x, v
}

// settle ends the time where it is.
func (s *timed) settle() {
	x, v := s.progress()
	s.off, s.from = s.off.Add(s.from.Scale(1-s.passed())), m3.Vec3{}
	s.speed, s.weight = s.speed*x+s.weight*v, s.weight*x
	s.within, s.gone = 0, 0
}

// share returns how far it is on the way to its target, 0 to 1.
func (s *timed) share() float32 {
	x, _ := s.progress()
	return m3.Clamp(s.weight*x, 0, 1)
}
