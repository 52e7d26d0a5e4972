package strnn

import (
	"fmt"

	"mannequin/animsys/feature"
)

// Halve writes every second frame of a motion at twice Rate, rows (2·n, columns) raw,
// into dst, (n, columns): the body's motion is the mean of both frames'.
func Halve(dst, rows []float32, l *feature.Motion) {
	cols, body := l.Columns(), l.Body()
	for f := range len(dst) / cols {
		to, a, b := dst[f*cols:][:cols], rows[2*f*cols:][:cols], rows[(2*f+1)*cols:][:cols]
		copy(to, a)
		for k := body; k < body+feature.MotionLen; k++ {
			to[k] = (a[k] + b[k]) / 2
		}
	}
}

// Extend makes n motions of have frames each frames long, rows (n, frames, columns) raw,
// of which the first have, at least Encode, are given: by as many as Predict at a time,
// each from the last Encode frames, in an open loop.
func (p *Predictor) Extend(rows []float32, n, have, frames int) error {
	m := p.m
	cols := m.Layout.Columns()
	if n < 0 || n > p.batch || have < m.Encode || frames < have || len(rows) != n*frames*cols {
		return fmt.Errorf("strnn: %d motions of %d values in all, of %d frames to go on from to %d: want up to %d motions, from at least %d frames, to no fewer", n, len(rows), have, frames, p.batch, m.Encode)
	}
	seen, next := p.seen[:n*m.Encode*cols], p.next[:n*m.Predict*cols]
	for at := have; at < frames; at += m.Predict {
		for i := range n {
			copy(seen[i*m.Encode*cols:][:m.Encode*cols], rows[(i*frames+at-m.Encode)*cols:])
		}
		if err := p.Predict(next, seen, n); err != nil {
			return err
		}
		k := min(m.Predict, frames-at) * cols
		for i := range n {
			copy(rows[(i*frames+at)*cols:][:k], next[i*m.Predict*cols:][:k])
		}
	}
	return nil
}
