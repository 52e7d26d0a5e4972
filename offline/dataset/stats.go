package dataset

import (
	"cmp"
	"math"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// constant is the deviation below which a column counts as constant. Rounding makes values
// differ that are one number by construction.
const constant = 1e-5

// blockRows is the fixed number of rows of a partial sum, whatever the number of workers.
const blockRows = 4096

func meanStd(x []float32, cols, workers int) (mean, std []float32) {
	rows := len(x) / cols
	blocks := (rows + blockRows - 1) / blockRows
	// sums adds up f(value, column) over the rows.
	sums := func(f func(v float64, c int) float64) []float64 {
		part := make([]float64, blocks*cols)
		_ = Parallel(workers, blocks, func(b int) error {
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

func (m *MotionSet) normalise(workers int) {
	cols := m.Layout.Columns()
	var all []float32
	for _, c := range m.Clips {
		all = append(all, c.Rows...)
	}
	m.Mean, m.Std = meanStd(all, cols, workers)
	square := 0.0
	for _, s := range m.Std[:m.Layout.Body()] {
		if s != 1 { // a constant column's deviation is 0
			square += float64(s) * float64(s)
		}
	}
	std := float32(math.Sqrt(square / float64(m.Layout.Body())))
	for i := range m.Layout.Body() {
		m.Std[i] = std
	}
	for i := range feature.MotionLen {
		c := m.Layout.Body() + i // the deviation from 0
		if m.Std[c] == 1 {
			m.Std[c] = 0
		}
		m.Std[c] = float32(math.Hypot(float64(m.Std[c]), float64(m.Mean[c])))
		if m.Mean[c] = 0; m.Std[c] < constant {
			m.Std[c] = 1
		}
	}
	for i := range m.Layout.Contacts {
		m.Mean[m.Layout.Contact(i)], m.Std[m.Layout.Contact(i)] = 0.5, 0.5
	}
}

// Parallel calls f for 0 … n−1 on workers goroutines and returns the error of the lowest index.
func Parallel(workers, n int, f func(i int) error) error {
	errs := make([]error, n)
	p := netruntime.NewPool(max(1, min(workers, n)))
	defer p.Close()
	p.Run(n, func(_, i int) { errs[i] = f(i) })
	return cmp.Or(errs...)
}
