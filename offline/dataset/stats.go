package dataset

import "math"

// constant is the deviation under which a column counts as constant: rounding
// noise of values that are one number by construction.
const constant = 1e-5

// blockRows is how many rows one partial sum covers. It is fixed, so that sums
// do not depend on the number of workers.
const blockRows = 4096

// meanStd returns the mean and the standard deviation of each of x's cols
// columns.
func meanStd(x []float32, cols, workers int) (mean, std []float32) {
	rows := len(x) / cols
	blocks := (rows + blockRows - 1) / blockRows
	// sums adds up f(value, column) over the rows.
	sums := func(f func(v float64, c int) float64) []float64 {
		part := make([]float64, blocks*cols)
		_ = parallel(workers, blocks, func(b int) error {
			s := part[b*cols:][:cols]
			for r := b * blockRows; r < min((b+1)*blockRows, rows); r++ {
				for c, v := range x[r*cols:][:cols] {
					s[c] += f(float64(v), c)
				}
			}
			return nil
		})
		for b := 1; b < blocks; b++ {
			for c := range cols {
				part[c] += part[b*cols+c]
			}
		}
		return part[:cols]
	}
	n := float64(rows)
	mu := sums(func(v float64, _ int) float64 { return v })
	for c := range mu {
		mu[c] /= n
	}
	sq := sums(func(v float64, c int) float64 { return (v - mu[c]) * (v - mu[c]) })
	mean, std = make([]float32, cols), make([]float32, cols)
	for c := range cols {
		mean[c], std[c] = float32(mu[c]), float32(math.Sqrt(sq[c]/n))
		if std[c] < constant {
			std[c] = 1
		}
	}
	return mean, std
}
