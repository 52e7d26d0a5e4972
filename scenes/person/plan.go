package person

import (
	"mannequin/animsys/control"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// The plan of the course. Stairs lead up to a terrace, a gap separates it from a second one, and a ramp leads down from there. A corridor
// lies to the right, the plaza of the crowd to the left, and boxes on pedestals are near the start.
const (
	yard      = 20 // half the width of the yard, m
	wallHigh  = 1.1
	wallThick = 0.25

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

	stone = [3]float32{0.30, 0.28, 0.25}
	brick = [3]float32{0.34, 0.20, 0.14}
	wood  = [3]float32{0.36, 0.24, 0.12}
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
	corner := func(x, z float32) m3.Vec3 { return m3.V(x*yard, 0, z*yard) }
	side := func(x float32) control.Obstacle {
		return control.Wall(m3.V(x, 0, -corridorLong), m3.V(x, 0, corridorLong), wallThick)
	}
	const from = corridorX - corridorWide/2 - wallThick/2
	return []control.Obstacle{
		control.Wall(corner(-1, -1), corner(1, -1), wallThick), control.Wall(corner(1, -1), corner(1, 1), wallThick),
		control.Wall(corner(1, 1), corner(-1, 1), wallThick), control.Wall(corner(-1, 1), corner(-1, -1), wallThick),
		side(from), side(from + corridorWide + wallThick),
	}
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
		at := w.At
		at.Y = wallHigh
		all = append(all, hud.Block{At: at, Yaw: w.Yaw, Width: wallThick, Depth: w.Depth + wallThick, Height: wallHigh, Colour: brick})
	}
	for _, p := range boxesAt {
		p.Y = pedestalHigh
		all = append(all, hud.Block{At: p, Width: pedestalWide, Depth: pedestalWide, Height: pedestalHigh, Colour: stone})
	}
	for _, d := range floors() {
		all = append(all, hud.Block{At: d.At, Yaw: d.Yaw, Width: d.Width, Depth: d.Depth, Rise: d.Rise, Height: d.Thick, Colour: stone})
	}
	return all
}
