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
// Ground that moves sideways or turns does not carry agents. Give its passengers a crowd of their
// own in the space of the deck, and move their bones along when you draw them.
//
// Ground has one height at each place. Where it has several (a bridge and the road below it),
// choose the one that agents walk on. Steps are fine: feet look ahead and clear them. Ground that
// is not finite, for instance NaN beyond the border, is no ground: an agent that touches it keeps
// the pose for flat ground in that tick.
type Ground interface {
	// Height returns the height of the ground at (x, z), m.
	Height(x, z float32) float32
	// Normal returns the ground's upward unit normal at (x, z). It should change gradually: soles
	// and knees follow it.
	Normal(x, z float32) m3.Vec3
}

// Level is flat ground of this height, m.
type Level float32

// Height returns the level's height everywhere.
func (l Level) Height(x, z float32) float32 { return float32(l) }

// Normal returns up everywhere.
func (Level) Normal(x, z float32) m3.Vec3 { return m3.Up }
