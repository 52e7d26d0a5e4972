package world

import (
	"cmp"

	"mannequin/animsys/matching"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// Sized returns a character of mannequin make in its own size.
func Sized(c *matching.Character) (*retarget.Character, error) {
	size, n := cmp.Or(c.Size, 1), c.Skel.Len()
	pose, from := c.Skel.Rest(), make([]int, n)
	low := pose[0].Pos.Y
	for _, x := range pose {
		low = min(low, x.Pos.Y)
	}
	own := &skel.Skeleton{Names: c.Skel.Names, Parents: c.Skel.Parents, EndSite: c.Skel.EndSite}
	rest := make([]m3.Xform, n)
	for j, o := range c.Skel.Offsets {
		from[j] = j
		pose[j].Pos.Y -= low
		rest[j] = m3.Xform{Pos: pose[j].Pos.Scale(size), Rot: m3.Ident}
		own.Offsets = append(own.Offsets, o.Scale(size))
	}
	return retarget.New(retarget.Options{Source: c.Skel, Roles: c.Roles, Pose: pose, Skel: own, Rest: rest, From: from})
}

// Extent returns the height of a character's highest joint at rest, and how far the farthest is from its middle over the
// ground, m.
func Extent(c *retarget.Character) (height, long float32) {
	middle := c.Rest[0].Pos.Flat()
	for _, x := range c.Rest {
		height, long = max(height, x.Pos.Y), max(long, x.Pos.Flat().Dist(middle))
	}
	return height, long
}
