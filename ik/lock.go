package ik

import (
	"fmt"
	"math/bits"

	"mannequin/engine/m3"
)

// LockOptions say when a paw stands and how it is held: it stands while, in
// most of the last six ticks, the flat pose's paw was slower than Speed and
// lower than Height. A standing paw is held where it came to stand, until it
// leaves or the flat pose's paw is Radius away; then it eases back to the flat
// pose's place.
type LockOptions struct {
	Speed    float32 // m/s; 0 turns the lock off
	Height   float32 // m
	Radius   float32 // m
	Halflife float32 // of the way back, s
}

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
	history  uint8   // bit i: the paw was slow and low i ticks ago
	held     bool
	seen     bool
}

// Held reports whether the paw is locked to the ground.
func (f *Foot) Held() bool { return f.held }

// place advances the lock by dt and returns where, seen from above, the paw
// goes whose flat pose puts it at tip.
func (f *Foot) place(tip m3.Vec3, o *LockOptions, dt float32) m3.Vec3 {
	if o.Speed == 0 {
		return tip
	}
	if !f.seen {
		*f = Foot{prev: tip, seen: true}
		return tip
	}
	v := tip.Sub(f.prev).Flat().Scale(1 / dt)
	f.prev = tip
	f.history = f.history << 1 & 0x3f
	if v.Len() < o.Speed && tip.Y < o.Height {
		f.history |= 1
	}
	stands := bits.OnesCount8(f.history) > 3
	switch {
	case f.held && stands && f.at.Sub(tip).Flat().Len() <= o.Radius:
		return f.at
	case f.held:
		// After a release by distance the paw has to earn its next hold.
		f.held, f.history = false, 0
		f.off, f.vel = f.at.Sub(tip).Flat(), v.Neg()
	default:
		f.off, f.vel = m3.DecayVec(f.off, f.vel, o.Halflife, dt)
	}
	if stands && f.history != 0 {
		f.held, f.at = true, tip.Add(f.off)
	}
	return tip.Add(f.off)
}
