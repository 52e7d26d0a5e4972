package recipes

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// windows makes batches of normalised windows from two sets of recordings.
type windows struct {
	train, heldOut *dataset.MotionSet
	tempo          Tempo
	key            uint64 // of the epoch's jitter and tempo; 0: neither
}

// Tempo says how windows are played in training. Recordings have one step frequency at each speed,
// and hardly anybody who walks backward: played otherwise they have more.
type Tempo struct {
	Stretch float64 `json:"stretch"` // largest change of the speed, as a share
	Reverse float64 `json:"reverse"` // share of the windows that are played backward
}

// check reports the first field that is out of range.
func (o Tempo) check() error {
	switch {
	case !(o.Stretch >= 0 && o.Stretch < 1):
		return fmt.Errorf("recipes: Stretch is %g, want at least 0 and below 1", o.Stretch)
	case !(o.Reverse >= 0 && o.Reverse <= 1):
		return fmt.Errorf("recipes: Reverse is %g, want a share from 0 to 1", o.Reverse)
	}
	return nil
}

// set returns the training set or the held-out set.
func (w *windows) set(isHeldOut bool) *dataset.MotionSet {
	if isHeldOut {
		return w.heldOut
	}
	return w.train
}

// fill returns windows below each other, (batch·Length, columns), and a mask of the same shape
// that is 1 in the frames to learn from and 0 in their margins.
func (w *windows) fill(t *grad.Tape, rows []int32, isHeldOut bool) (x, mask *grad.Mat, set *dataset.MotionSet) {
	set = w.set(isHeldOut)
	cols := set.Layout.Columns()
	x, mask = t.Const(len(rows)*set.Length, cols), t.Const(len(rows)*set.Length, cols)
	for i, r := range rows {
		begin, step := w.play(r, isHeldOut)
		first, end := set.Window(x.Val[i*set.Length*cols:], int(set.Windows[r].Clip), begin, step)
		m := mask.Val[i*set.Length*cols:][:set.Length*cols]
		clear(m)
		for k := max(first, 0) * cols; k < min(end, set.Length)*cols; k++ {
			m[k] = 1
		}
	}
	return x, mask, set
}

// Range of the deviation, in frames, of the Gaussian that smooths the body's motion if it is
// a parameter. Recorded bodies sway with every step; curves that people draw do not.
const (
	smoothLeast = 10
	smoothMost  = 40
)

// given returns the columns of x that are the parameters of a network. The body's motion is
// smoothed; key draws the width for each window. Held-out windows have the middle width.
func (w *windows) given(t *grad.Tape, x *grad.Mat, set *dataset.MotionSet, columns []int, isHeldOut bool, key uint64) *grad.Mat {
	out := t.Const(x.Rows, len(columns))
	body := set.Layout.Body()
	v := make([]float64, set.Length)
	for at := 0; at < x.Rows; at += set.Length {
		share := 0.5
		if !isHeldOut {
			share = share01(grad.Hash(grad.Hash(key, 1<<32), uint64(at)))
		}
		for i, c := range columns {
			for f := range v {
				v[f] = float64(x.Val[(at+f)*x.Cols+c])
			}
			if c >= body && c < body+feature.MotionLen {
				gaussian(v, smoothLeast+share*(smoothMost-smoothLeast))
			}
			for f := range v {
				out.Val[(at+f)*len(columns)+i] = float32(v[f])
			}
		}
	}
	return out
}

// gaussian smooths v by a deviation of sigma frames. Beyond its ends v keeps its first and last
// value.
func gaussian(v []float64, sigma float64) {
	r := int(3 * sigma)
	if r < 1 {
		return
	}
	w := make([]float64, r+1)
	for i := range w {
		w[i] = math.Exp(-0.5 * float64(i*i) / (sigma * sigma))
	}
	src := slices.Clone(v)
	for f := range v {
		sum, weight := src[f], 1.0
		for i := 1; i <= r; i++ {
			sum += w[i] * (src[max(0, f-i)] + src[min(len(v)-1, f+i)])
			weight += 2 * w[i]
		}
		v[f] = sum / weight
	}
}

// start returns the first frame of a window in this epoch. The epoch's jitter moves it by up to
// half of the frames to learn from, as long as the recording fills them.
func (w *windows) start(r int32, isHeldOut bool) int {
	set := w.set(isHeldOut)
	at, inner := set.Windows[r], set.Length-2*set.Margin
	room := min(inner/2, set.Clips[at.Clip].Frames-int(at.From)-set.Margin-inner)
	if w.key == 0 || isHeldOut || room < 1 {
		return int(at.From)
	}
	return int(at.From) + int(grad.Hash(w.key, uint64(r))%uint64(room))
}

// play returns which frames a window shows in this epoch: frame f of it is the clip's begin + f·step.
func (w *windows) play(r int32, isHeldOut bool) (begin, step float64) {
	begin, step = float64(w.start(r, isHeldOut)), w.speed(r, isHeldOut, w.tempo.Stretch)
	if w.key != 0 && !isHeldOut && share01(grad.Hash(w.key, uint64(r)+1<<35)) < w.tempo.Reverse {
		begin, step = begin+step*float64(w.train.Length-1), -step
	}
	return begin, step
}

// speed returns how much faster than recorded a window is played in this epoch, by at most the
// share stretch.
func (w *windows) speed(r int32, isHeldOut bool, stretch float64) float64 {
	if w.key == 0 || isHeldOut {
		return 1
	}
	return 1 + stretch*(2*share01(grad.Hash(w.key, uint64(r)+1<<34))-1)
}

// name says which recording window i comes from.
func (w *windows) name(i int32, isHeldOut bool) string {
	set := w.set(isHeldOut)
	at := set.Windows[i]
	s := fmt.Sprintf("%s from frame %d", set.Clips[at.Clip].Name, at.From)
	if set.Clips[at.Clip].Mirror {
		s += " mirrored"
	}
	return s
}

// nearest returns the frame nearest to a time in frames, in 0 to frames−1.
func nearest(at float64, frames int) int {
	return min(max(int(math.Floor(at+0.5)), 0), frames-1)
}

// maskedMSE returns the mean of (y − want)² over the values whose mask is not 0.
func maskedMSE(t *grad.Tape, y, want, mask *grad.Mat) *grad.Mat {
	kept := 0
	for _, v := range mask.Val {
		if v != 0 {
			kept++
		}
	}
	return t.Scale(t.SumSquares(t.Mul(t.Sub(y, want), mask)), 1/float32(max(1, kept)))
}

// dropout returns the retention probability: keep in training, 1 in evaluation.
func dropout(keep float32, isHeldOut bool) float32 {
	if isHeldOut {
		return 1
	}
	return keep
}

// pick returns the values of v at the indices.
func pick(v []float32, indices []int) (out []float32) {
	for _, i := range indices {
		out = append(out, v[i])
	}
	return out
}

// share01 returns a number in [0, 1) from random bits.
func share01(bits uint64) float64 { return float64(bits>>11) / (1 << 53) }

// normal returns a value of the standard normal distribution from random bits (Box and Muller).
func normal(a, b uint64) float64 {
	return math.Sqrt(-2*math.Log(1-share01(a))) * math.Cos(2*math.Pi*share01(b))
}

// uniform draws dst from ±bound.
func uniform(dst []float32, bound float64, key uint64) {
	for i := range dst {
		dst[i] = float32(bound * (2*share01(grad.Hash(key, uint64(i))) - 1))
	}
}

// count returns the number of values of params.
func count(params []*grad.Param) (n int) {
	for _, p := range params {
		n += len(p.Val)
	}
	return n
}

// hasher identifies data by a hash of its numbers and texts.
type hasher struct {
	hash.Hash
	buf []byte
}

func newHasher() *hasher { return &hasher{Hash: sha256.New()} }

// floats adds the values.
func (h *hasher) floats(values ...[]float32) {
	for _, vs := range values {
		for len(vs) > 0 {
			n := min(len(vs), 1<<14)
			h.buf = h.buf[:0]
			for _, v := range vs[:n] {
				h.buf = binary.LittleEndian.AppendUint32(h.buf, math.Float32bits(v))
			}
			h.Write(h.buf)
			vs = vs[n:]
		}
	}
}

func (h *hasher) sum() string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// motionHash identifies the frames and the windows of sets.
func motionHash(sets ...*dataset.MotionSet) string {
	h := newHasher()
	for _, s := range sets {
		for _, c := range s.Clips {
			fmt.Fprintf(h, "%s %d %t\n", c.Name, c.Frames, c.Mirror)
			h.floats(c.Rows)
		}
		h.floats(s.Mean, s.Std)
		fmt.Fprintf(h, "%d %v", s.Length, s.Windows)
	}
	return h.sum()
}

// dataHash identifies the rows of sets and the order in which an epoch visits them.
func dataHash(sets ...*dataset.MANN) string {
	h := newHasher()
	for _, s := range sets {
		h.floats(s.X, s.Y, s.XMean, s.XStd, s.YMean, s.YStd)
		fmt.Fprintf(h, "%d %v", s.Rows, s.Order)
	}
	return h.sum()
}

// netHash identifies a network.
func netHash(n *netruntime.Net) string {
	h := newHasher()
	_ = n.Encode(h) // a hash never fails to write
	return h.sum()
}
