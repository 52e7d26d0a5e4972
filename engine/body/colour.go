package body

import "mannequin/engine/m3"

// Colour returns approximately the stage's colour of a coat under a tint, without the grain of fur
// and cloth: linear red, green and blue, 0…1.
func (c Cover) Colour(coat [4]float32, tint [3]float32) [3]float32 {
	over := func(under, colour [3]float32, share float32) [3]float32 {
		for k := range under {
			under[k] = m3.Lerp(under[k], colour[k], m3.Clamp(share, 0, 1))
		}
		return under
	}
	// ramp rises from 0 at from to 1 at to.
	ramp := func(x, from, to float32) float32 { return m3.Clamp((x-from)/(to-from), 0, 1) }
	switch c {
	case Paint:
		return [3]float32{coat[0], coat[1], coat[2]}
	case Clothes:
		out := over(tint, [3]float32{0.055, 0.075, 0.125}, ramp(coat[1], 0.45, 0.55))
		out = over(out, over([3]float32{0.045, 0.043, 0.045}, [3]float32{0.62, 0.60, 0.56}, ramp(coat[2], 1.45, 1.55)), ramp(coat[2], 0.45, 0.55))
		skin := over([3]float32{0.50, 0.30, 0.20}, [3]float32{0.40, 0.16, 0.11}, coat[0]-1)
		skin = over(skin, [3]float32{0.08, 0.03, 0.02}, coat[0]-2)
		out = over(out, skin, ramp(coat[0], 0.45, 0.55))
		return over(out, over([3]float32{0.06, 0.035, 0.018}, [3]float32{0.02, 0.014, 0.01}, ramp(coat[3], 1.45, 1.55)), ramp(coat[3], 0.45, 0.55))
	}
	light := over(tint, [3]float32{0.80, 0.72, 0.60}, 0.82)
	out := over(tint, light, ramp(coat[0], 0.30, 0.70))
	dark := [3]float32{0.42 * out[0], 0.42 * out[1], 0.42 * out[2]}
	out = over(out, dark, 0.75*ramp(coat[1], 0, 0.45))
	return over(out, [3]float32{0.018, 0.018, 0.018}, ramp(coat[1], 0.6, 0.8))
}
