package scenes

// Coat returns the colour of dog number, linear RGB. Consecutive numbers differ clearly: their
// bits are mixed well.
func Coat(number uint64) [3]float32 {
	h := number * 0x9e3779b97f4a7c15
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return Shade(coats[(h^h>>32)>>29&7], h)
}

var coats = [...][3]float32{
	{0.33, 0.17, 0.07}, {0.58, 0.38, 0.19}, {0.07, 0.06, 0.06}, {0.72, 0.62, 0.48},
	{0.20, 0.11, 0.06}, {0.45, 0.42, 0.38}, {0.62, 0.26, 0.10}, {0.85, 0.80, 0.72},
}

// Clothes returns the colour of person i's clothes, linear RGB. No two are exactly equal.
func Clothes(i int, seed uint64) [3]float32 {
	return Shade(clothes[(uint64(i)*7+seed)%uint64(len(clothes))], uint64(i)+seed<<32)
}

var clothes = [...][3]float32{
	{0.45, 0.07, 0.06}, {0.06, 0.16, 0.42}, {0.75, 0.72, 0.66}, {0.08, 0.28, 0.12}, {0.62, 0.42, 0.06},
	{0.20, 0.20, 0.22}, {0.35, 0.10, 0.30}, {0.10, 0.36, 0.40}, {0.70, 0.28, 0.10}, {0.30, 0.45, 0.65}, {0.50, 0.45, 0.30},
}

// Shade returns colour with each channel changed by up to a sixth, as number decides. The bits of
// number need not be mixed.
func Shade(colour [3]float32, number uint64) [3]float32 {
	for k := range colour {
		number = (number + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
		number ^= number >> 31
		colour[k] *= 1 + (float32(number>>40)/(1<<24)-0.5)/3
	}
	return colour
}
