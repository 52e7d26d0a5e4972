package ik

import (
	"fmt"
	"math/bits"

	"mannequin/engine/m3"
)

// LockOptions say when a paw stands and how it is held: it stands while, in
// most of the last six ticks, the flat pose's paw was slower than Speed over the
// ground and lower than Height. A standing paw is held where it came to stand,
// until it leaves, the flat pose's paw is Radius away, or that paw is three
// times as fast as Speed; then it eases back to the flat pose's place.
type LockOptions struct {
	Speed    float32 // m/s; 0 turns the lock off
	Height   float32 // m
	Radius   float32 // m, for a leg at full length; less as it folds
	Halflife float32 // of the way back, s
}

// leaves is the multiple of Speed at which a paw is let go at once: waiting for
// most of the ticks to agree would tear at the leg.
const leaves = 3

func (o *LockOptions) validate() error {
	if !(o.Speed >= 0) || !(o.Height >= 0) || !(o.Radius >= 0) || !(o.Halflife >= 0) {
		return fmt.Errorf("ik: Quadruped.Lock is %+v: want nothing below 0", *o)
	}
	return nil
}

// Foot is what the lock remembers of one paw. The zero Foot has seen nothing
// yet; set it for agents that are new or were moved.
type Foot struct {
	prev     m3.Vec3 // the flat pose's tip at the last tick
	at       m3.Vec3 // where a held paw is held; its height means nothing
	off, vel m3.Vec3 // what remains between the paw and the flat pose's, m and m/s
	sink     float32 // how far the body sank for this paw, easing back, m
	history  uint8   // bit i: the paw was slow and low i ticks ago
	held     bool
	seen     bool
}

// Held reports whether the paw is locked to the ground.
func (f *Foot) Held() bool { return f.held }

// velocity notes where the flat pose has the tip now and returns its velocity
// since the last tick, m/s; zero for a new foot.
func (f *Foot) velocity(tip m3.Vec3, dt float32) m3.Vec3 {
	if !f.seen {
		*f = Foot{prev: tip, seen: true}
	}
	v := tip.Sub(f.prev).Scale(1 / dt)
	f.prev = tip
	return v
}

// place advances the lock by dt and returns where, seen from above, the paw
// goes whose flat pose has it at tip with velocity v; room is the share of its
// length that the leg uses there.
func (f *Foot) place(tip, v m3.Vec3, o *LockOptions, room, dt float32) m3.Vec3 {
	v = v.Flat()
	if o.Speed == 0 {
		return tip
	}
	f.history = f.history << 1 & 0x3f
	if v.Len() < o.Speed && tip.Y < o.Height {
		f.history |= 1
	}
	stands := bits.OnesCount8(f.history) > 3
	switch {
	case f.held && stands && v.Len() < leaves*o.Speed && f.at.Sub(tip).Flat().Len() <= o.Radius*room:
		return f.at
	case f.held:
		f.held = false
		f.off, f.vel = f.at.Sub(tip).Flat(), v.Neg()
		// A paw let go by distance has to earn its next hold.
		f.history, stands = 0, false
	default:
		f.off, f.vel = m3.DecayVec(f.off, f.vel, o.Halflife, dt)
	}
	if stands {
		f.held, f.at = true, tip.Add(f.off)
	}
	return tip.Add(f.off)
}
