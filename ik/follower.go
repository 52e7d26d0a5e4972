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
