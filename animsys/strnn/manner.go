package strnn

import (
	"math"

	"mannequin/engine/m3"
)

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

// hold keeps the manners of n motions in rows, (n, frames, columns) raw, from their have frames, at
// most the last MannerFrames of these, and makes their codes.
func (p *Predictor) hold(rows []float32, n, have, frames int) error {
	m := p.m
	if p.moves == nil {
		return nil
	}
	cols := m.Layout.Columns()
	from := max(0, have-MannerFrames)
	for i := range n {
		MannerOf(p.moves[i*2*cols:][:2*cols], rows[(i*frames+from)*cols:(i*frames+have)*cols], cols)
	}
	if m.manner == nil {
		return nil
	}
	p.in[0], p.out[0] = p.moves[:n*2*cols], p.codes[:n*m.Manner]
	return p.manner.RunSequences(p.out[:1], p.in[:1], n, 1)
}

// mannerBody is the weight of the body's motion and contacts beside that of joints in the distance
// of manners. There are few of them, but they say most.
const mannerBody = 4

// mannerSlide is the weight of the slide of standing feet beside the distance of manners.
const mannerSlide = 30

// choose copies one of each motion's futures that were tried to next, (n, Predict, columns): that
// with which the frames seen, (n, Encode, columns), are most like the manner it is held to, and, with cleanup, standing feet slide little. What the
// frames before at in rows, (n, frames, columns), lack of that manner counts again: most futures are
// a little slower than the past.
func (p *Predictor) choose(next, seen, rows []float32, n, at, frames int) {
	m := p.m
	cols, body := m.Layout.Columns(), m.Layout.Body()
	encode, predict := m.Encode*cols, m.Predict*cols
	for i := range n {
		copy(p.span, seen[i*encode:][:encode])
		MannerOf(p.want, rows[(i*frames+max(0, at-MannerFrames))*cols:(i*frames+at)*cols], cols)
		for k, v := range p.moves[i*2*cols:][:2*cols] {
			p.want[k] = 2*v - p.want[k]
		}
		least := float32(math.MaxFloat32)
		for s := range p.draws {
			future := p.tried[(i*p.draws+s)*predict:][:predict]
			copy(p.span[encode:], future)
			MannerOf(p.now, p.span, cols)
			off := float32(0)
			for k, v := range p.now {
				d := (v - p.want[k]) / m.deviation[k%cols]
				if d *= d; k%cols >= body {
					d *= mannerBody
				}
				off += d
			}
			if p.cleanup != nil {
				off += mannerSlide * p.cleanup.slide(future, seen[i*encode:][:encode])
			}
			if off < least || s == 0 { // the first one, if none is finite
				least = off
				copy(next[i*predict:][:predict], future)
			}
		}
	}
}
