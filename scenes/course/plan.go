package course

import (
	"math"

	"mannequin/animsys/control"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/scenes/internal/yard"
	"mannequin/terrain"
)

// The plan of the course. A ramp leads to a terrace; a platform goes from there to another one, whose
// stairs lead down. A corridor lies to the right.
const (
	riders = 2 // people on the platform

	yardHalf     = 14 // half the width of the yard, m
	corridorX    = -11.5
	corridorWide = 1.9
	corridorLong = 11 // half its length, m

	terraceHigh   = 1.2
	platformSwing = 2.55 // m
	platformRate  = 0.4  // rad/s
	steps         = 7
	stepDeep      = 0.32
)

var (
	startAt = m3.V(5, 0, -0.5)

	ramp     = terrain.Deck{At: m3.V(5, terraceHigh/2, 4), Width: 2.4, Depth: 5, Rise: terraceHigh / 5, Thick: terraceHigh}
	terrace  = terrain.Deck{At: m3.V(5, terraceHigh, 8.5), Width: 4, Depth: 4, Thick: terraceHigh}
	farther  = terrain.Deck{At: m3.V(-6.3, terraceHigh, 8.5), Width: 4, Depth: 4, Thick: terraceHigh}
	platform = terrain.Deck{At: m3.V(-0.65, terraceHigh, 8.5), Width: 2.2, Depth: 2.6, Thick: 0.25}
	pillars  = []m3.Vec3{{X: 1.5, Z: 3}, {X: -2.5, Z: 2}, {X: -1, Z: -4}}
)

// stair returns step i of the stairs, from the top.
func stair(i int) terrain.Deck {
	high := terraceHigh * float32(steps-i) / (steps + 1)
	return terrain.Deck{At: m3.V(farther.At.X, high, farther.At.Z-farther.Depth/2-stepDeep*(float32(i)+0.5)), Width: 2.4, Depth: stepDeep, Thick: high}
}

// swing returns how far the platform is from its middle, m. It waits at the terraces.
func swing(seconds float32) float32 {
	const begins, waits = 7.4, 1.6 // s; 1.6: for a quarter of the time at each terrace
	return platformSwing * m3.Sin(math.Pi/2*m3.Clamp(waits*m3.Sin(platformRate*(seconds+begins)), -1, 1))
}

// allFloors returns what agents walk on besides the ground; the platform comes first.
func allFloors() []terrain.Deck {
	all := []terrain.Deck{platform, ramp, terrace, farther}
	for i := range steps {
		all = append(all, stair(i))
	}
	return all
}

// walls returns the walls of the yard and of the corridor.
func walls() []control.Obstacle {
	inner := float32(corridorX + corridorWide/2)
	return append(yard.Walls(yardHalf),
		yard.Wall(m3.V(inner, 0, -corridorLong), m3.V(inner, 0, corridorLong)),
		yard.Wall(m3.V(inner-corridorWide, 0, -corridorLong), m3.V(inner-corridorWide, 0, corridorLong)),
		yard.Wall(m3.V(7, 0, -6), m3.V(2, 0, -9)))
}

// obstacles returns what is in the way besides terraces.
func obstacles() []control.Obstacle {
	all := walls()
	for _, p := range pillars {
		all = append(all, control.Pillar(p, 0.4))
	}
	return all
}

// Yard returns what stands still in the course: floors besides the level ground, walls and pillars, and the blocks that
// show them. start is a place in front of the ramp, which is ahead along +Z.
func Yard() (floors []terrain.Deck, obstructs []control.Obstacle, blocks []hud.Block, start m3.Vec3) {
	return allFloors()[1:], obstacles(), still(), startAt
}

// still returns the blocks that do not move.
func still() (all []hud.Block) {
	for _, w := range walls() {
		all = append(all, yard.WallBlock(&w))
	}
	for _, p := range pillars {
		const sides = 4 // blocks that make a pillar of eight sides
		for i := range sides {
			p.Y = 1.6 + 0.002*float32(i)
			all = append(all, hud.Block{At: p, Yaw: float32(i) * math.Pi / sides, Width: 0.31, Depth: 0.76, Height: p.Y, Colour: yard.Stone})
		}
	}
	for _, d := range allFloors()[1:] {
		all = append(all, yard.DeckBlock(&d, yard.Stone))
	}
	return all
}
