package ik

import (
	"fmt"

	"mannequin/engine/m3"
)

// LockOptions say when a paw stands and how it is held. A paw comes to stand as
// soon as the flat pose's is lower than Height and slower than On while it slows
// down, or than Off; it stands until that is faster or has risen by Rise. A
// standing paw is held where it came to stand, on the ground, until the flat
// pose's is Radius away; then, as when it leaves, it eases back to the flat
// pose's place, with a little step if that still slides on.
type LockOptions struct {
	On, Off  float32 // m/s, in space; On 0 turns the lock off
	Pace     float32 // what both grow by with the body's speed over the ground, a share of that
	Height   float32 // m
	Rise     float32 // above the lowest of this stance, m
	Radius   float32 // m, for a leg at full length; less as it folds, none for one that is folded up
	Halflife float32 // of the way back over the ground, s
	Press    float32 // of the way down to the ground and up again, s
}

func (o *LockOptions) validate() error {
	if !(o.On >= 0) || !(o.Off >= 0) || !(o.Pace >= 0) || !(o.Height >= 0) || !(o.Rise >= 0) || !(o.Radius >= 0) || !(o.Halflife >= 0) || !(o.Press >= 0) {
		return fmt.Errorf("ik: Legged.Lock is %+v: want nothing below 0", *o)
	}
	return nil
}

const (
	// highest is how high over the flat ground a new paw is taken for standing, m.
	highest = 0.045
	// lag is the share of the flat pose's velocity that a paw lacks when it is let
	// go: with all of it, it would stay too far behind for its leg.
	lag = 0.5
	// rests is how slow a paw is that stands at any height, m/s.
	rests = 0.15
	// A standing paw that is off its place and does not rest goes there in a step
	// as high as the share hops of what is still to go.
	hops = 0.6
	// bends is the sine of the angle at which a leg tells its plane at once.
	bends = 0.5
	// brakes is how hard a paw stops before the ground, m/s²: recorded dogs' come
	// down no harder.
	brakes = 100
)

// Foot is what the solver remembers of one paw. The zero Foot has seen nothing
// yet; set it for agents that are new or were moved.
type Foot struct {
	prev     m3.Vec3 // the flat pose's tip at the last tick
	at       m3.Vec3 // where a held paw is held; its height means nothing
	off, vel m3.Vec3 // what remains between the paw and where it should be, m and m/s
	lean     m3.Vec3 // the ground's slope under the sole, eased: x and z of the normal over its y
	shown    glide   // where the paw goes in the world
	goal     m3.Vec3 // where it was sent at the last tick, world space
	y, climb float32 // the height over the terrain that it was sent to at the last tick, m, and its change, m/s
	drop     spring  // how far it is lowered now, m
	bend     m3.Vec3 // normal of the plane in which the leg bends, in its upper joint's frame
	knee     glide   // where its knee or elbow went in the world,
	wrist    glide   // its hock or wrist,
	tip      glide   // and its tip
	swing    spring  // how far the knee or elbow is swung out of the ground, rad
	speed    float32 // of the flat pose's tip, m/s
	low      float32 // the lowest that this was while it stands, m
	stands   bool    // on the ground, after the flat pose
	left     bool    // the ground, and has not come down or rested since
	held     bool
	touches  bool // held, and there
	seen     bool
	told     bool // whether somebody knows that the flat pose has it on the ground,
	tells    bool // and what
}

// Stands reports whether the flat pose has the paw on the ground.
func (f *Foot) Stands() bool { return f.stands }

// Held reports whether the paw is locked to the ground: held in its place, and
// there. A paw that is still coming down, or that its leg does not take to its
// place, is not.
func (f *Foot) Held() bool { return f.touches }

// Target returns where the last run sent the tip, in world space, m: on the terrain, or
// over it. The tip is elsewhere where its leg cannot follow, or only with a jerk. A foot
// that has seen nothing has none, and it is zero.
func (f *Foot) Target() m3.Vec3 { return f.goal }

// see notes where the flat pose has the tip now and returns its velocity since
// the last tick, m/s; zero for a new foot.
func (f *Foot) see(tip m3.Vec3, dt float32) m3.Vec3 {
	if !f.seen {
		*f = Foot{prev: tip, seen: true, told: f.told, tells: f.tells, y: max(tip.Y, plant)}
		if tip.Y < highest {
			f.y, f.drop.x = plant, tip.Y-plant
		}
	}
	v := tip.Sub(f.prev).Scale(1 / dt)
	f.prev = tip
	return v
}

// turn brings the normal of the plane in which the leg bends nearer to bend, whose
// length is the sine of the angle that the leg makes, and returns it.
func (f *Foot) turn(bend m3.Vec3) m3.Vec3 {
	sin := bend.Len()
	switch to := bend.Normalize(f.bend); {
	case f.bend == m3.Vec3{}:
		f.bend = to
	default:
		f.bend = m3.Ident.Slerp(m3.Between(f.bend, to), min(sin/bends, 1)).Rotate(f.bend).Normalize(to)
	}
	return f.bend
}

// land tells from the flat pose's tip at height h with velocity v whether the
// paw stands under a body that moves at pace, m/s.
func (f *Foot) land(h float32, v m3.Vec3, pace float32, o *LockOptions) {
	if f.told {
		f.stands, f.left, f.speed, f.low = f.tells, false, v.Len(), h
		return
	}
	speed, height := o.Off, o.Height
	if f.stands {
		f.low = min(f.low, h)
		height = f.low + o.Rise
	} else {
		f.low = h
	}
	// A paw that comes down stops within a tick or two.
	now := v.Len()
	if now < f.speed {
		speed = o.On
	}
	f.speed = now
	stands := now < speed+o.Pace*pace && h < height
	// A paw that has left does not land before it comes down or rests.
	f.left = v.Y >= 0 && now > rests && (f.left || f.stands && !stands)
	f.stands = stands && !f.left
}

// lower returns the height over the terrain for a paw that the flat pose has at
// height h with velocity v. Recorded and generated paws stand at −1 to 4 cm over
// the flat ground: a paw is lowered by that where it stands, and raised again as
// it leaves.
func (f *Foot) lower(h float32, v m3.Vec3, o *LockOptions, dt float32) float32 {
	var drop float32
	switch {
	case f.stands && (f.held || v.Len() < rests):
		drop = h - plant
	case f.stands:
		drop = h - plant - hops*f.off.Flat().Len()
	}
	f.drop.x, f.drop.v = m3.Spring(f.drop.x, f.drop.v, drop, o.Press, dt)
	return max(h-f.drop.x, lowest)
}

// brake returns the height y over the terrain that is asked for, or a greater one
// where the paw comes down too fast to stop on the ground.
func (f *Foot) brake(y, dt float32) float32 {
	// After a step of s, stopping by b a tick takes s²/2b + s/2 in all.
	b, room := brakes*dt*dt, max(f.y-plant, 0)
	most := m3.Sqrt(b*b/4+2*b*room) - b/2
	y = max(y, f.y-most)
	f.y, f.climb = y, (y-f.y)/dt
	return y
}

// place advances the lock by dt and returns where the paw goes whose flat pose
// has it at free with velocity v: seen from above, with its height over the
// terrain. The body moves at pace, m/s; room is the share of Radius that the leg
// leaves the paw.
func (f *Foot) place(free, v m3.Vec3, o *LockOptions, pace, room, dt float32) m3.Vec3 {
	if o.On == 0 {
		free.Y = f.brake(max(free.Y, lowest), dt)
		return free
	}
	f.land(free.Y, v, pace, o)
	free.Y = f.lower(free.Y, v, o, dt)
	y, vy := m3.Spring(f.off.Y, f.vel.Y, 0, o.Press, dt)
	f.off, f.vel = m3.DecayVec(f.off, f.vel, o.Halflife, dt)
	f.off.Y, f.vel.Y = y, vy
	switch {
	case f.held && (!f.stands || f.at.Sub(free).Flat().Len() > o.Radius*room):
		// What is shown stays where it is and takes up the flat pose's speed.
		f.held = false
		shown := f.at
		shown.Y = f.y
		f.off, f.vel = shown.Sub(free), v.Scale(-lag)
	case !f.held && f.stands && f.off.Flat().Len() < o.Radius/4:
		f.held = true
		f.at = free.Add(f.off)
		f.off, f.vel = m3.Vec3{}, m3.Vec3{}
		f.off.Y, f.vel.Y = m3.Spring(f.y-plant, f.climb, 0, o.Press, dt)
	}
	to := free.Add(f.off)
	if f.held {
		to = m3.V(f.at.X, plant+f.off.Y, f.at.Z)
	}
	to.Y = f.brake(max(to.Y, lowest), dt)
	return to
}
