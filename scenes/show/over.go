package show

import (
	"mannequin/engine/m3"
	"mannequin/scenes"
)

// The camera passes over bodies.
const (
	bodyFull, bodyEnd = 0.5, 1.6 // distances over the ground: a body nearer than bodyFull has the camera above it, one farther than bodyEnd does not raise it, m
	overBody          = 0.45     // distance between the highest joint and the camera, m
	ofFocus           = 0.6      // a body this near to the focus is the one that is looked at, m
)

// over returns the least height of a camera at eye that keeps it out of bodies. The camera's own character is
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
