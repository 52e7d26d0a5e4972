package person

import (
	"mannequin/animsys/control"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/scenes/internal/yard"
	"mannequin/terrain"
)

// The plan of the course. Stairs lead up to a terrace, a gap separates it from a second one, and a ramp leads down from there. A corridor
// lies to the right, the plaza of the crowd to the left, and boxes on pedestals are near the start.
const (
	yardHalf = 20 // half the width of the yard, m

	terraceHigh = 1.19 // m
	terraceLong = 4
	terraceWide = 3
	gap         = 0.7 // m, to be jumped over
	steps       = 7
	stepDeep    = 0.32
	rampLong    = 5

	corridorX    = -6
	corridorWide = 1.3
	corridorLong = 7 // half its length, m

	boxSize      = 0.26
	pedestalHigh = 1.02
	pedestalWide = 0.22
)

var (
	startAt = m3.V(0, 0, -5)
	plazaAt = m3.V(11, 0, 0)
	boxesAt = []m3.Vec3{{X: 3, Z: -4.5}, {X: 3, Z: -3}, {X: 3, Z: -1.5}} // of the pedestals
)

// Along +Z: the stairs, the first terrace, the gap, the second terrace, the ramp.
const (
	firstAt  = steps*stepDeep + terraceLong/2.0
	secondAt = firstAt + terraceLong + gap
	rampAt   = secondAt + terraceLong/2.0 + rampLong/2.0
)

// floors returns what people walk on besides the ground.
func floors() (all []terrain.Deck) {
	for i := range steps {
		high := terraceHigh * float32(i+1) / steps
		all = append(all, terrain.Deck{At: m3.V(0, high, (float32(i)+0.5)*stepDeep), Width: terraceWide, Depth: stepDeep, Thick: high})
	}
	terrace := terrain.Deck{At: m3.V(0, terraceHigh, firstAt), Width: terraceWide, Depth: terraceLong, Thick: terraceHigh}
	all = append(all, terrace)
	terrace.At.Z = secondAt
	return append(all, terrace,
		terrain.Deck{At: m3.V(0, terraceHigh/2, rampAt), Width: terraceWide, Depth: rampLong, Rise: -terraceHigh / rampLong, Thick: terraceHigh})
}

// walls returns the walls of the yard and of the corridor.
func walls() []control.Obstacle {
	side := func(x float32) control.Obstacle {
		return yard.Wall(m3.V(x, 0, -corridorLong), m3.V(x, 0, corridorLong))
	}
	const from = corridorX - corridorWide/2 - yard.WallThick/2
	return append(yard.Walls(yardHalf), side(from), side(from+corridorWide+yard.WallThick))
}

// obstacles returns what is in the way besides terraces.
func obstacles() []control.Obstacle {
	all := walls()
	for _, p := range boxesAt {
		all = append(all, control.Box(p, 0, pedestalWide, pedestalWide))
	}
	return all
}

// still returns the blocks that do not move.
func still() (all []hud.Block) {
	for _, w := range walls() {
		all = append(all, yard.WallBlock(&w))
	}
	for _, p := range boxesAt {
		p.Y = pedestalHigh
		all = append(all, hud.Block{At: p, Width: pedestalWide, Depth: pedestalWide, Height: pedestalHigh, Colour: yard.Stone})
	}
	for _, d := range floors() {
		all = append(all, yard.DeckBlock(&d, yard.Stone))
	}
	return all
}
