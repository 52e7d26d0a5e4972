package scenes

// Clothes returns the colour that person i wears, linear RGB.
func Clothes(i int, seed uint64) [3]float32 {
	return clothes[(uint64(i)*7+seed)%uint64(len(clothes))]
}

var clothes = [...][3]float32{
	{0.45, 0.07, 0.06}, {0.06, 0.16, 0.42}, {0.75, 0.72, 0.66}, {0.08, 0.28, 0.12}, {0.62, 0.42, 0.06},
	{0.20, 0.20, 0.22}, {0.35, 0.10, 0.30}, {0.10, 0.36, 0.40}, {0.70, 0.28, 0.10}, {0.30, 0.45, 0.65}, {0.50, 0.45, 0.30},
}
