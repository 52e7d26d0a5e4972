package show

import (
	"mannequin/engine/m3"
	"mannequin/scenes"
)

// The eye of the camera passes over bodies.
const (
	bodyFull, bodyEnd = 0.5, 1.6 // distance over the ground from a body up to which the eye is over it in full, and from which on it is free, m
	overBody          = 0.45     // room between the highest joint and the eye, m
	ofFocus           = 0.6      // a body this near to the focus is the one that is looked at, m
)

// over returns the least height of an eye that is not to be in a body. The camera's own character is
// left out: the player may look at it from as near as they like.
func over(eye, focus m3.Vec3, casts []scenes.Cast) float32 {
	least := eye.Y
	for i := range casts {
		c := &casts[i]
		for k := range c.Len() {
			bones := c.Of(k)
			root := bones[0].Pos
			d := root.Sub(eye).Flat().Len()
			if !(d < bodyEnd) || root.Sub(focus).Flat().Len() < ofFocus {
				continue
			}
			top := root.Y
			for _, b := range bones {
				top = max(top, b.Pos.Y)
			}
			u := m3.Clamp((bodyEnd-d)/(bodyEnd-bodyFull), 0, 1)
			least = max(least, m3.Lerp(eye.Y, top+overBody, u*u*(3-2*u)))
		}
	}
	return least
}
