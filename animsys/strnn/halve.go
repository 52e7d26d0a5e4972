package strnn

import "mannequin/animsys/feature"

// Halve writes every second frame of a motion at twice Rate, rows (2·n, columns) raw,
// into dst, (n, columns): the body's motion is the mean of both frames'.
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

// Double writes a motion at twice Rate, (2·n, columns) raw, into dst, from its frames,
// rows (n, columns): between two frames joints go straight, and the last pose is held.
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
