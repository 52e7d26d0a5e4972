package eval

// Add adds figures, times a weight, to their sums.
func Add(sums, figures []*float64, weight float64) {
	for i, sum := range sums {
		*sum += weight * *figures[i]
	}
}

// Divide makes sums means by a total weight. A weight of 0 leaves the sums, which are 0.
func Divide(sums []*float64, weight float64) {
	for _, sum := range sums {
		if weight != 0 {
			*sum /= weight
		}
	}
}
