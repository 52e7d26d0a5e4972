package ik

import "mannequin/engine/m3"

// Ground is what feet stand on. A game fulfils it with its own terrain, bridges and platforms;
// terrain.Field and [Level] are two that come with the library.
//
// Both methods take a place in world space, m, and are called many times for each agent and tick,
// from several goroutines at once. They must not allocate, and must return the same for the same
// place during one tick.
//
// Ground may move up and down between ticks, as a lift does. A locked foot keeps its place in the
// plane and takes the height that Height returns there in this tick. Feet and body follow exactly
// while the ground accelerates by less than 5 m/s²; after a harder push they overshoot. Agents that
// update less often take the height of their last update, and frozen ones keep theirs.
//
// Ground that moves sideways carries agents if it is a [MovingGround], and turns them if it is a
// [TurningGround]. Ground that has several heights at one place, as a bridge and the road below it
// have, is a [Floors]; terrain.Decks is both.
//
// Steps are fine: feet look ahead and clear them. Ground that is not finite, for instance NaN beyond
// the border, is no ground: an agent that touches it keeps the pose for flat ground in that tick.
type Ground interface {
	// Height returns the height of the ground at (x, z), m.
	Height(x, z float32) float32
	// Normal returns the ground's upward unit normal at (x, z). It should change gradually: soles
	// and knees follow it.
	Normal(x, z float32) m3.Vec3
}

// Floors is a Ground with several heights at some places.
type Floors interface {
	Ground
	// HeightFrom and NormalFrom return the height, m, and the upward unit normal of the floor at (x, z) on
	// which an agent stands that stood at height y near there.
	HeightFrom(x, z, y float32) float32
	NormalFrom(x, z, y float32) m3.Vec3
}

// MovingGround is a Ground that moves sideways in places, and takes along who stands there.
type MovingGround interface {
	Ground
	// Moved returns how far the ground on which an agent stood at p, world space, has moved since the last
	// tick, m.
	Moved(p m3.Vec3) m3.Vec3
}

// TurningGround is a MovingGround that turns in places, and turns who stands there.
type TurningGround interface {
	MovingGround
	// Turned returns by how much the ground on which an agent stood at p, world space, has turned about the
	// vertical since the last tick, rad. Moved says how far that has moved the place p.
	Turned(p m3.Vec3) float32
}

// Level is flat ground of this height, m.
type Level float32

// Height returns the level's height everywhere.
func (l Level) Height(x, z float32) float32 { return float32(l) }

// Normal returns up everywhere.
func (Level) Normal(x, z float32) m3.Vec3 { return m3.Up }
