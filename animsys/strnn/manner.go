package strnn

import "mannequin/engine/m3"

// MannerFrames is the maximum number of frames that a manner covers.
const MannerFrames = 4 * Rate

// MannerOf writes how a person moves into dst, (2·columns): the mean and the standard deviation of
// each column of rows, (frames, columns) raw. A network that knows the manner of a motion's
// beginning cannot forget it: it sees only the last two thirds of a second.
func MannerOf(dst, rows []float32, columns int) {
	frames := len(rows) / columns
	mean, deviation := dst[:columns], dst[columns:2*columns]
	clear(dst)
	for f := range frames {
		for c, v := range rows[f*columns:][:columns] {
			mean[c] += v / float32(frames)
		}
	}
	for f := range frames {
		for c, v := range rows[f*columns:][:columns] {
			deviation[c] += (v - mean[c]) * (v - mean[c]) / float32(frames)
		}
	}
	for c, v := range deviation {
		deviation[c] = m3.Sqrt(v)
	}
}

// hold makes the codes of the manners of n motions in rows, (n, frames, columns) raw, from their
// have frames, at most the last MannerFrames of these.
func (p *Predictor) hold(rows []float32, n, have, frames int) error {
	m := p.m
	if m.manner == nil {
		return nil
	}
	cols := m.Layout.Columns()
	from := max(0, have-MannerFrames)
	for i := range n {
		MannerOf(p.moves[i*2*cols:][:2*cols], rows[(i*frames+from)*cols:(i*frames+have)*cols], cols)
	}
	p.in[0], p.out[0] = p.moves[:n*2*cols], p.codes[:n*m.Manner]
	return p.manner.RunSequences(p.out[:1], p.in[:1], n, 1)
}
