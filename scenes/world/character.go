package world

import "mannequin/animsys/retarget"

// Extent returns the height of a character's highest joint at rest, and how far the farthest is from its middle over the
// ground, m.
func Extent(c *retarget.Character) (height, long float32) {
	middle := c.Rest[0].Pos.Flat()
	for _, x := range c.Rest {
		height, long = max(height, x.Pos.Y), max(long, x.Pos.Flat().Dist(middle))
	}
	return height, long
}
