package recipes

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// windows makes batches of normalised windows.
type windows struct {
	train, heldOut *dataset.MotionSet
	key            uint64 // of the epoch's jitter; 0: none
}

// fill returns windows one below the other, (batch·Length, columns),
// and a mask that is 1 in the frames to learn from and 0 in the others.
func (w *windows) fill(t *grad.Tape, rows []int32, isHeldOut bool) (x, mask *grad.Mat, set *dataset.MotionSet) {
	set = w.train
	if isHeldOut {
		set = w.heldOut
	}
	cols := set.Layout.Columns()
	x, mask = t.Const(len(rows)*set.Length, cols), t.Const(len(rows)*set.Length, cols)
	for i, r := range rows {
		at := set.Windows[r]
		first, end := set.Window(x.Val[i*set.Length*cols:], int(at.Clip), int(at.From)+w.shift(r, set, isHeldOut))
		m := mask.Val[i*set.Length*cols:][:set.Length*cols]
		for k := range m {
			m[k] = 0
			if f := k / cols; f >= first && f < end {
				m[k] = 1
			}
		}
	}
	return x, mask, set
}

// What is done to the body's motion where it is a parameter. Recorded bodies sway
// with every step, the curves that people draw do not: it is smoothed by a
// Gaussian whose deviation is drawn between these, in frames.
const (
	smoothLeast = 10
	smoothMost  = 40
)

// given returns the columns of x that are parameters, with the body's motion
// smoothed, each window by another width that key draws; key 0 smooths all in the
// middle.
func (w *windows) given(t *grad.Tape, x *grad.Mat, set *dataset.MotionSet, columns []int, key uint64) *grad.Mat {
	out := t.Const(x.Rows, len(columns))
	body := set.Layout.Body()
	v := make([]float64, set.Length)
	for at := 0; at < x.Rows; at += set.Length {
		share := 0.5
		if key != 0 {
			share = share01(grad.Hash(key, uint64(at)))
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

// gaussian smooths v by a deviation of sigma frames; outside, v goes on as at its
// ends.
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

// shift returns by how many frames later than it says a window begins in this
// epoch: up to half of what it is learnt from, as long as that is filled.
func (w *windows) shift(r int32, set *dataset.MotionSet, isHeldOut bool) int {
	at, learnt := set.Windows[r], set.Length-2*set.Margin
	room := min(learnt/2, set.Clips[at.Clip].Frames-int(at.From)-set.Margin-learnt)
	if w.key == 0 || isHeldOut || room < 1 {
		return 0
	}
	return int(grad.Hash(w.key, uint64(r)) % uint64(room))
}

func (w *windows) name(i int32, isHeldOut bool) string {
	set := w.train
	if isHeldOut {
		set = w.heldOut
	}
	at := set.Windows[i]
	s := fmt.Sprintf("%s from frame %d", set.Clips[at.Clip].Name, at.From)
	if set.Clips[at.Clip].Mirror {
		s += " mirrored"
	}
	return s
}

// maskedMSE returns the mean of (y − want)² over what the mask keeps.
func maskedMSE(t *grad.Tape, y, want, mask *grad.Mat) *grad.Mat {
	kept := 0
	for _, v := range mask.Val {
		if v != 0 {
			kept++
		}
	}
	return t.Scale(t.SumSquares(t.Mul(t.Sub(y, want), mask)), 1/float32(max(1, kept)))
}

// share01 returns a number in [0, 1) from random bits.
func share01(bits uint64) float64 { return float64(bits>>11) / (1 << 53) }

// filters returns a convolution's weights as model files hold them, (out, in,
// width), from those that grad.Tape.Conv wants, (out, width·in).
func filters(w []float32, out, in, width int) []float32 {
	dst := make([]float32, len(w))
	for o := range out {
		for k := range width {
			for i := range in {
				dst[(o*in+i)*width+k] = w[(o*width+k)*in+i]
			}
		}
	}
	return dst
}

// motionHash identifies the frames and windows of sets.
func motionHash(sets ...*dataset.MotionSet) string {
	h := sha256.New()
	buf := make([]byte, 0, 1<<16)
	write := func(vs []float32) {
		for _, v := range vs {
			if len(buf)+4 > cap(buf) {
				h.Write(buf)
				buf = buf[:0]
			}
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		}
		h.Write(buf)
		buf = buf[:0]
	}
	for _, s := range sets {
		for _, c := range s.Clips {
			fmt.Fprintf(h, "%s %d %t\n", c.Name, c.Frames, c.Mirror)
			write(c.Rows)
		}
		write(s.Mean)
		write(s.Std)
		fmt.Fprintf(h, "%d %v", s.Length, s.Windows)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// count returns the number of values of params.
func count(params []*grad.Param) (n int) {
	for _, p := range params {
		n += len(p.Val)
	}
	return n
}

// netHash identifies a network.
func netHash(n *netruntime.Net) string {
	h := sha256.New()
	_ = n.Encode(h) // a hash takes everything
	return hex.EncodeToString(h.Sum(nil)[:16])
}
