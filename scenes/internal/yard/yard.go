// Package yard holds what scenes with walls and floors have in common: the walls around a yard, and the blocks that show walls and floors.
package yard

import (
	"mannequin/animsys/control"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// Sizes of a wall, m.
const (
	WallHigh  = 1.1
	WallThick = 0.25
)

// Colours of blocks.
var (
	Stone = [3]float32{0.30, 0.28, 0.25}
	Brick = [3]float32{0.34, 0.20, 0.14}
	Wood  = [3]float32{0.36, 0.24, 0.12}
)

// Walls returns the four walls around a square yard in the middle of the ground, whose sides are twice as long as half, m.
func Walls(half float32) []control.Obstacle {
	corner := func(x, z float32) m3.Vec3 { return m3.V(x*half, 0, z*half) }
	return []control.Obstacle{
		Wall(corner(-1, -1), corner(1, -1)), Wall(corner(1, -1), corner(1, 1)),
		Wall(corner(1, 1), corner(-1, 1)), Wall(corner(-1, 1), corner(-1, -1)),
	}
}

// Wall returns a wall between two points of the ground.
func Wall(from, to m3.Vec3) control.Obstacle { return control.Wall(from, to, WallThick) }

// WallBlock returns the block that shows a wall. It is longer than the wall by half its thickness at each end, which fills corners.
func WallBlock(w *control.Obstacle) hud.Block {
	at := w.At
	at.Y = WallHigh
	return hud.Block{At: at, Yaw: w.Yaw, Width: WallThick, Depth: w.Depth + WallThick, Height: WallHigh, Colour: Brick}
}

// DeckBlock returns the block that shows a floor.
func DeckBlock(d *terrain.Deck, colour [3]float32) hud.Block {
	return hud.Block{At: d.At, Yaw: d.Yaw, Width: d.Width, Depth: d.Depth, Rise: d.Rise, Height: d.Thick, Colour: colour}
}
