package strnn

import "mannequin/animsys/feature"

// HalveRate converts motion from twice Rate to Rate: every second frame of rows, (2·n, columns)
// raw, into dst, (n, columns). The body's motion is the mean of both frames'.
func HalveRate(dst, rows []float32, l *feature.Motion) {
	cols, body := l.Columns(), l.Body()
	for f := range len(dst) / cols {
		to, a, b := dst[f*cols:][:cols], rows[2*f*cols:][:cols], rows[(2*f+1)*cols:][:cols]
		copy(to, a)
		for k := body; k < body+feature.MotionLen; k++ {
			to[k] = (a[k] + b[k]) / 2
		}
	}
}

// DoubleRate converts motion from Rate to twice Rate: rows, (n, columns) raw, into dst, (2·n,
// columns). Joints between two frames are interpolated linearly; the last pose is held.
func DoubleRate(dst, rows []float32, l *feature.Motion) {
	cols, body := l.Columns(), l.Body()
	n := len(rows) / cols
	for f := range n {
		a, b := rows[f*cols:][:cols], rows[min(f+1, n-1)*cols:][:cols]
		copy(dst[2*f*cols:], a)
		between := dst[(2*f+1)*cols:][:cols]
		copy(between, a)
		for k := range body {
			between[k] = (a[k] + b[k]) / 2
		}
	}
}
