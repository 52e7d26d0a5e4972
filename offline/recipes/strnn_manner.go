package recipes

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// Manners of training windows. Held-out ones, and those of mannerPast of the training windows, are
// of the frames up to the last one seen, as at run time. Others cover what follows, too: that
// teaches the network to lead a person to a manner. Some windows have none, so that the network
// works without one.
const (
	mannerNone = 0.15
	mannerPast = 0.35
)

// known returns x beside the codes of manners, which may be nil.
func known(t *grad.Tape, x, codes *grad.Mat) *grad.Mat {
	if x == nil || codes == nil {
		return x
	}
	return t.Concat(x, codes)
}

// codes returns the codes of the manners of windows, (batch, Manner); nil: there are none.
func (l *strnnLoss) codes(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
	m := l.m
	if m.Manner == 0 {
		return nil
	}
	set := l.batch.set(isHeldOut)
	cols := set.Layout.Columns()
	x, mask := t.Const(len(rows), 2*cols), t.Const(len(rows), m.Manner)
	for i, r := range rows {
		clip, start := &set.Clips[set.Windows[r].Clip], l.batch.start(r, isHeldOut)
		from, to := max(0, start+2*(m.Encode-strnn.MannerFrames)), start+2*m.Encode
		keep, speed := float32(1), 1.0
		if !isHeldOut {
			k := grad.Hash(key, uint64(r)+1<<46)
			share := func(n uint64) float64 { return share01(grad.Hash(k, n)) }
			length := 2 * (m.Encode + int(share(1)*float64(strnn.MannerFrames-m.Encode)))
			switch u := share(0); {
			case u < mannerNone:
				keep = 0
			case u < mannerNone+mannerPast:
				from = max(0, to-length)
			default: // around the window
				from = max(0, start-int(share(2)*float64(length)))
				to = min(clip.Frames, from+max(length, start-from+m.Train.Length))
			}
			speed = l.batch.speed(r, isHeldOut, m.Stretch)
		}
		mannerAt(x.Val[i*2*cols:][:2*cols], clip.Rows[from*cols:to*cols], set.Layout, speed)
		for k := range 2 * cols {
			v := &x.Val[i*2*cols+k]
			*v = (*v - l.manners[0][k]) / l.manners[1][k]
		}
		for k := range m.Manner {
			mask.Val[i*m.Manner+k] = keep
		}
	}
	return t.Mul(l.net.code(t, x), mask)
}

// mannerAt is strnn.MannerOf for frames at dataset.Rate, played at a speed. A mean over twice as
// many frames is the same, and so is a deviation.
func mannerAt(dst, rows []float32, l *feature.Motion, speed float64) {
	cols, body := l.Columns(), l.Body()
	strnn.MannerOf(dst, rows, cols)
	for k := body; k < body+feature.MotionLen; k++ {
		dst[k] *= float32(speed)
		dst[cols+k] *= float32(speed)
	}
}

// mannerNorm returns mean and deviation of the manners of a set's windows.
func mannerNorm(set *dataset.MotionSet) (norm [2][]float32) {
	cols := set.Layout.Columns()
	manner, sum, power := make([]float32, 2*cols), make([]float64, 2*cols), make([]float64, 2*cols)
	for _, w := range set.Windows {
		clip := &set.Clips[w.Clip]
		strnn.MannerOf(manner, clip.Rows[int(w.From)*cols:min(int(w.From)+2*strnn.MannerFrames, clip.Frames)*cols], cols)
		for k, v := range manner {
			sum[k] += float64(v)
			power[k] += float64(v) * float64(v)
		}
	}
	n := float64(len(set.Windows))
	for k := range sum {
		mean := sum[k] / n
		norm[0] = append(norm[0], float32(mean))
		norm[1] = append(norm[1], float32(max(mannerLeast, math.Sqrt(max(0, power[k]/n-mean*mean)))))
	}
	return norm
}

// mannerLeast is the smallest deviation of a manner's value, m, m/s or rad/s.
const mannerLeast = 1e-3
