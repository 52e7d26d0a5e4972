package ik

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
)

// FootLock decides when a foot has contact and how it is held in place.
//
// A foot gains contact when it is lower than Height and slower than On while it slows down, or
// slower than Off. It loses contact when it has risen by Rise, or is faster and has risen by Hold. Without Support, a contact
// that the caller gives ends early when the foot is faster than Off and has risen by Rise. A foot in contact
// is locked to the ground until the flat pose's foot is Radius away. Then, and when it loses contact,
// it eases back to the flat pose's place, with a small step if that still slides on. Nobody hurries
// under a body that stands: such a step may take longer.
//
// With Support, contacts that the caller gives say only which feet are to carry the body. If none does, the lower one of these
// comes down where it is, and stays until the other foot carries the body.
type FootLock struct {
	On, Off  float32 // speed limits for contact, m/s, in space; 0.8 and 0.5; an On of 0 turns the lock off
	Pace     float32 // how much both grow with the body's speed over the ground, a share of that speed; 0.08
	Height   float32 // greatest height over the flat ground at which contact begins, m; 0.045, people 0.06
	Rise     float32 // height over the lowest point of the stance at which contact ends, m; 0.03
	Hold     float32 // height over the same below which a locked foot keeps its contact however fast it is, m; 0, people 0.015
	Clear    float32 // least height over the ground of feet that move over it without contact, m; 0, people 0.035
	Radius   float32 // greatest distance of a locked foot from the flat pose's, m, for a stretched leg; 0.1, people 0.15
	Halflife float32 // half-life of the way back over the ground, s; 0.06, people 0.1
	Step     float32 // half-life of the way back of a foot that hardly moves in the flat pose, s; 0 is Halflife, people 0.15
	Press    float32 // half-life of the way down to the ground and up again, s; 0.02, people 0.04
	Support  float32 // how far over the ground a foot may be from its hip and still carry a body on two legs, as a share of the leg's length; 0: it need not
	Heel     float32 // how far a standing foot behind its hip turns up about its tip, so that its leg reaches it, rad; 0: the body sinks for it
	Roll     float32 // speed above which the toe of a standing foot comes down and rises with the flat pose's, m/s: it rolls over heel and toe; 0: it does not
}

func (o *FootLock) validate() error {
	for _, v := range [...]float32{o.On, o.Off, o.Pace, o.Height, o.Rise, o.Hold, o.Clear, o.Radius, o.Halflife, o.Step, o.Press, o.Support, o.Heel, o.Roll} {
		if !(v >= 0) {
			return fmt.Errorf("ik: Legged.Lock is %+v: want no value below 0", *o)
		}
	}
	return nil
}

const (
	// firstContactHeight is the height below which a foot is taken to stand in its first tick, m.
	firstContactHeight = 0.045
	// releaseLag is the share of the flat pose's velocity that a released foot lacks. With all of
	// it, the foot would stay too far behind for its leg.
	releaseLag = 0.5
	// restSpeed is the speed below which a foot rests at any height, m/s.
	restSpeed = 0.15
	// stepHeight is the height of the catch-up step, as a share of the distance still to go.
	stepHeight = 0.6
	// slowStepHeight is the height of a step of half-life Step, as a share of its whole distance.
	slowStepHeight = 0.3
	// A foot without contact that is slower than clearNoneSpeed need not clear the ground, one faster than
	// clearFullSpeed clears it in full, m/s.
	clearNoneSpeed, clearFullSpeed = 0.3, 1.2
	// A foot that carries the body alone stays until it is aloneRoom times as far away as another, and then steps at a share of
	// aloneLift as high: a body would float.
	aloneRoom, aloneLift = 2, 0.4
	// A foot comes down to support the body if it is lower than supportHeight, m, and slower than supportSpeed over the ground, m/s: a quick
	// one would stop dead in its swing.
	supportHeight, supportSpeed = 0.06, 1.5
	// A leg that lacks more than heelReach of what it uses freely turns its foot up for heelShare of that; the body sinks for the rest. More, or
	// sooner, jerks. The foot is behind its hip from heelBehind of the leg's length on. It turns with heelHalflife, s.
	heelReach, heelShare, heelBehind, heelHalflife = 1.01, 0.7, 0.3, 0.045
	// bendFullSine is the sine of the knee's angle above which its plane is taken over at once.
	bendFullSine = 0.5
	// maxLandingDecel is how hard a foot brakes before the ground, m/s². Recorded dogs brake no
	// harder.
	maxLandingDecel = 100
)

// Foot is the solver's memory of one foot. Set it to the zero Foot for an agent that is new or was
// moved.
type Foot struct {
	seen         bool
	alone        bool    // of two feet, it alone may carry the body
	supports     bool    // no foot carried the body: this one came down where it was, and stays until the other one carries it
	comes        bool    // it is to do so, if it is slow
	prev         m3.Vec3 // the flat pose's tip at the last tick
	speed        float32 // of the flat pose's tip, m/s
	low          float32 // lowest height of this stance, m
	contact      bool    // in the flat pose
	leaving      bool    // has lost contact, and has not come down or rested since
	falls        bool    // the body falls: no foot has contact
	steps        bool    // a Step takes it elsewhere: likewise
	given        bool    // the caller gives the contact: givenContact
	givenContact bool
	catchesUp    bool // with contact, it was too far from the flat pose's, and steps to it

	locked      bool
	atLock      bool    // locked, and in its place
	moves       bool    // locked, and its leg has moved it from its place in this tick
	pulled      bool    // and in the one before, too far
	lockPos     m3.Vec3 // place of the lock; its height means nothing
	away        float32 // from its place at the last tick, m; far if it was not locked
	offset, vel m3.Vec3 // between the foot and where it should be, m and m/s
	press       spring  // how far it is lowered, m
	height      float32 // over the terrain, at the last tick, m
	climb       float32 // change of height, m/s

	slope  m3.Vec3 // of the ground under the sole, eased: x and z of the normal over its y
	target m3.Vec3 // of the last tick, world space
	path   limiter // the target's way through the world
	bend   m3.Vec3 // normal of the plane of the leg, in the upper joint's frame
	swing  spring  // how far the knee is swung out of the ground, rad
	heel   spring  // how far the foot is turned up about its tip, rad
	knee   limiter // the joints' ways through the world
	ankle  limiter
	tip    limiter
	toes   limiter // of their end
}

// Contact reports whether the foot is on the ground in the flat pose.
func (f *Foot) Contact() bool { return f.contact }

// Stands reports whether the foot is on the ground as it is shown: it has contact, does not take the small step that
// catches up with the flat pose, and is not pulled from its place by a leg that is too short.
func (f *Foot) Stands() bool { return f.contact && !f.catchesUp && !f.pulled }

// Locked reports whether the foot is locked to the ground and in its place. A foot that is still
// coming down, or that its leg cannot bring there, is not.
func (f *Foot) Locked() bool { return f.atLock }

// rest notes how far the foot is from the place of its lock.
func (f *Foot) rest(away, dt float32) {
	const pull = 0.1 // m/s, from its place
	if !f.locked {
		f.atLock, f.moves, f.pulled, f.away = false, false, false, math.MaxFloat32
		return
	}
	moved := f.moves
	f.moves, f.away = away-f.away > pull*dt, away
	f.atLock = away < lockTolerance
	f.pulled = !f.atLock && (f.pulled || moved && f.moves)
}

// Target returns the target of the tip in the last run, world space, m: on the terrain or above it.
// The tip misses it if the leg cannot follow, or only with a jerk. The target of a zero Foot is
// zero.
func (f *Foot) Target() m3.Vec3 { return f.target }

// observe takes in the flat pose's tip and returns its velocity, m/s; zero for a new foot.
func (f *Foot) observe(tip m3.Vec3, dt float32) m3.Vec3 {
	if !f.seen {
		*f = Foot{prev: tip, seen: true, alone: f.alone, given: f.given, givenContact: f.givenContact, height: max(tip.Y, TipHeight)}
		if tip.Y < firstContactHeight {
			f.height, f.press.x = TipHeight, tip.Y-TipHeight
		}
	}
	v := tip.Sub(f.prev).Scale(1 / dt)
	f.prev = tip
	return v
}

// bendPlane moves the unit normal of the leg's plane by a share toward bend, and returns it.
func (f *Foot) bendPlane(bend m3.Vec3, share float32) m3.Vec3 {
	to := bend.Normalize(f.bend)
	if f.bend == (m3.Vec3{}) {
		f.bend = to
	} else {
		turn := m3.Ident.Slerp(m3.Between(f.bend, to), share)
		f.bend = turn.Rotate(f.bend).Normalize(to)
	}
	return f.bend
}

// detectContact finds out whether the flat pose's tip, at height h with velocity v, has contact
// under a body that moves at pace, m/s.
func (f *Foot) detectContact(h float32, v m3.Vec3, pace float32, o *FootLock) {
	now := v.Len()
	if f.falls || f.steps {
		f.contact, f.leaving, f.speed = false, false, now
		return
	}
	if f.given && o.Support == 0 {
		if !f.contact {
			f.low = h
		}
		f.low = min(f.low, h)
		// Contacts of people are given until the foot is fast. By then it may be far off the ground:
		// held down, it would stretch the leg and pull the body down, and then snap after the pose.
		risen := now > o.Off && h > f.low+o.Rise
		f.leaving = f.givenContact && (f.leaving || f.contact && risen)
		f.contact, f.speed = f.givenContact && !f.leaving, now
		return
	}
	if o.Roll > 0 && f.contact && v.Y < 0 {
		now = v.Flat().Len() // a toe that comes down after the heel does not leave
	}
	speed, height := o.Off, o.Height
	if f.contact {
		f.low = min(f.low, h)
		height = f.low + o.Rise
	} else {
		f.low = h
	}
	// A foot that comes down stops within a tick or two.
	if now < f.speed {
		speed = o.On
	}
	f.speed = now
	contact := now < speed+o.Pace*pace && h < height
	// A foot that a new pose takes elsewhere over the ground has not left it.
	contact = contact || f.locked && f.contact && h < f.low+o.Hold
	// After losing contact a foot must come down or rest before it gains contact again.
	f.leaving = v.Y >= 0 && now > restSpeed && (f.leaving || f.contact && !contact)
	f.contact = contact && !f.leaving
}

// pressDown returns the height over the terrain of a foot at height h with velocity v in the flat
// pose. Recorded and generated feet stand at −1 to 4 cm over the flat ground: a foot is lowered by
// that much while it stands, and raised again as it leaves. Where a pose follows another one, feet move over the ground
// without rising: they are raised by Clear.
func (f *Foot) pressDown(h float32, v m3.Vec3, slow float32, o *FootLock, dt float32) float32 {
	var drop float32
	switch {
	case f.contact && (f.locked || slow == 0 && v.Len() < restSpeed):
		drop = h - TipHeight
		if o.Roll > 0 && v.Y > o.Roll {
			drop = min(drop, f.press.x)
		}
	case f.contact:
		// A foot that starts at rest moves by at most 2 ln 2 ÷ e of its way in a half-life.
		lift := m3.Lerp(stepHeight*f.offset.Flat().Len(), slowStepHeight*math.E/(2*math.Ln2)*o.Step*f.vel.Flat().Len(), slow)
		if f.alone {
			lift *= aloneLift
		}
		drop = h - TipHeight - lift
	default:
		drop = min(h-TipHeight-o.Clear*rise(v.Flat().Len(), clearNoneSpeed, clearFullSpeed), 0)
	}
	f.press.x, f.press.v = m3.Spring(f.press.x, f.press.v, drop, o.Press, dt)
	return max(h-f.press.x, minTipHeight)
}

// brake returns the height y over the terrain, or a greater one if the foot would come down too
// fast to stop on the ground.
func (f *Foot) brake(y, dt float32) float32 {
	// After a step of s, stopping by b a tick takes s²/2b + s/2 in all.
	b, room := maxLandingDecel*dt*dt, max(f.height-TipHeight, 0)
	most := m3.Sqrt(b*b/4+2*b*room) - b/2
	y = max(y, f.height-most)
	f.height, f.climb = y, (y-f.height)/dt
	return y
}

// support lets a foot come down where it comes to rest, which is at a place over the ground with velocity v.
func (f *Foot) support(at, v m3.Vec3, o *FootLock) {
	f.supports, f.locked, f.catchesUp = true, true, false
	on := v.Scale(o.Press / (4 * math.Ln2)) // the spring leads on by a few millimetres more, and back
	f.lockPos = at.Add(on)
	f.offset, f.vel = on.Neg(), v
	f.offset.Y, f.vel.Y = max(f.height-TipHeight, 0), f.climb
}

// lock advances the foot lock by dt. It returns the place of a foot that is at free with velocity v
// in the flat pose: x and z, and the height over the terrain. The body moves at pace, m/s; room is
// the share of Radius that the leg allows.
func (f *Foot) lock(free, v m3.Vec3, o *FootLock, pace, room, dt float32) m3.Vec3 {
	if o.On == 0 {
		free.Y = f.brake(max(free.Y, minTipHeight), dt)
		return free
	}
	flat := free.Y
	f.detectContact(flat, v, pace, o)
	if v := f.path.step.Scale(1 / dt).Flat(); f.comes && v.Len() < supportSpeed {
		f.support(f.path.out, v, o)
	}
	f.comes = false
	if f.supports = f.supports && f.given && o.Support > 0 && !f.falls && !f.steps; f.supports {
		f.contact, f.leaving = true, false
	}
	f.catchesUp = f.catchesUp && f.contact
	var slow float32 // how slowly the foot may step
	if f.contact && o.Step > 0 {
		slow = 1 - m3.Clamp(v.Len()/restSpeed-1, 0, 1)
	}
	free.Y = f.pressDown(free.Y, v, slow, o, dt)
	y, vy := m3.Spring(f.offset.Y, f.vel.Y, 0, o.Press, dt)
	halflife := m3.Lerp(o.Halflife, o.Step, slow)
	if f.supports {
		halflife = o.Press
	}
	f.offset, f.vel = m3.DecayVec(f.offset, f.vel, halflife, dt)
	f.offset.Y, f.vel.Y = y, vy
	if f.alone {
		room *= aloneRoom
	}
	switch {
	case f.locked && (!f.contact || !f.supports && f.lockPos.Sub(free).Flat().Len() > o.Radius*room):
		// The visible foot stays where it is and takes up the flat pose's speed.
		f.locked, f.catchesUp = false, f.contact
		shown := f.lockPos
		shown.Y = f.height
		f.offset, f.vel = shown.Sub(free), v.Scale(-releaseLag)
	case f.locked && o.Roll > 0 && m3.Abs(v.Y) > o.Roll && (v.Y > 0 || flat < TipHeight+f.offset.Y):
		// The toe comes down as the foot rolls over its heel, and rises with it as it rolls off. Held above the flat
		// pose's, it would lift the heel; held down, it would skim the ground once it is released.
		f.offset.Y, f.vel.Y = max(flat-TipHeight, 0), v.Y
		if v.Y > 0 {
			f.offset.Y = min(f.offset.Y, f.height-TipHeight+v.Y*dt)
		}
	case !f.locked && f.contact && f.offset.Flat().Len() < o.Radius/4 && slow*f.vel.Flat().Len() < restSpeed:
		f.locked, f.catchesUp = true, false
		f.lockPos = free.Add(f.offset)
		f.offset, f.vel = m3.Vec3{}, m3.Vec3{}
		f.offset.Y, f.vel.Y = m3.Spring(f.height-TipHeight, f.climb, 0, o.Press, dt)
	}
	to := free.Add(f.offset)
	if f.locked {
		to = f.lockPos.Flat().Add(m3.V(f.offset.X, TipHeight+f.offset.Y, f.offset.Z))
	}
	to.Y = f.brake(max(to.Y, minTipHeight), dt)
	return to
}
