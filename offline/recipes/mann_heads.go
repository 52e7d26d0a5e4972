package recipes

import (
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// heads lets windows begin with the head and back of another frame, from where they ease
// back to the recorded one. In recordings the head is always where the dog wants
// to look, and a network learns no more than to carry it on; then, in turns, what
// the body turns by is taken off until the dog looks back over its shoulder. Only
// where heads are at times not where they belong does it learn to bring them there.
type heads struct {
	share  float32
	pose   []int // columns of the pose that differ between two heads: places, then axes
	base   []int // of each, the column of the hips' place, which is no part of the difference; −1 of axes
	places int   // how many of them are places
	off    []float32
}

// easing is the half-life of the way back, in ticks: 0.1 s.
const easing = 6

// left returns the share of a head's difference that is left after so many ticks.
func left(ticks int) float64 { return math.Exp2(-float64(ticks) / easing) }

func newHeads(l *feature.MANN, share float32) (*heads, error) {
	h := &heads{share: share}
	// The back bends with the head: left as it was, it would tell where the head
	// has been.
	var at []int // where the bones begin in the pose
	for _, name := range []string{"Hips", "Spine", "Spine1", "Neck", "Head", "HeadSite"} {
		j := slices.Index(l.Joints, name)
		if j < 0 {
			return nil, fmt.Errorf("recipes: heads of other frames: there is no joint %q", name)
		}
		at = append(at, j*feature.BoneChannels)
	}
	for _, bone := range at[1:] {
		for k := feature.BonePos; k < feature.BonePos+3; k++ {
			h.pose, h.base = append(h.pose, bone+k), append(h.base, at[0]+k)
		}
	}
	h.places = len(h.pose)
	for _, bone := range at[1:] {
		for k := feature.BoneForward; k < feature.BoneVel; k++ {
			h.pose, h.base = append(h.pose, bone+k), append(h.base, -1)
		}
	}
	return h, nil
}

// begin draws the heads of a step's windows and puts them into the normalised
// inputs x, a row of so many values per window; first are the windows' rows.
func (h *heads) begin(x []float32, inputs int, u *rollout, first []int, key uint64) {
	n := len(h.pose)
	h.off = append(h.off[:0], make([]float32, len(first)*n)...)
	for i, r := range first {
		other, ok := h.draw(u, r, grad.Hash(key, uint64(3000+i)))
		if !ok {
			continue
		}
		a, b := u.set.Input(other)[u.before:], u.set.Input(r)[u.before:]
		for k, c := range h.pose {
			d := a[c] - b[c]
			if base := h.base[k]; base >= 0 {
				d -= a[base] - b[base]
			}
			h.off[i*n+k] = d
			x[i*inputs+u.before+c] += d * u.set.xInv[u.before+c]
		}
	}
}

// draw returns the row whose head the window of row r begins with, if it is
// another: one on its feet, as the window's.
func (h *heads) draw(u *rollout, r int, key uint64) (other int, ok bool) {
	if uniform := float32(key>>40) / (1 << 24); uniform >= h.share || !onFeet(u.set.MANN, r) {
		return 0, false
	}
	for i := range uint64(8) {
		if other = int(u.first[grad.Hash(key, i)%uint64(len(u.first))]); onFeet(u.set.MANN, other) {
			return other, true
		}
	}
	return 0, false
}

// onFeet reports whether row r is of an animal that stands or goes.
func onFeet(set *dataset.MANN, r int) bool {
	l := set.Layout
	act := set.Input(r)[l.InActions(feature.TrajNow):]
	var w float32
	for k, name := range l.Actions {
		if name == "idle" || name == "move" {
			w += act[k]
		}
	}
	return w > 0.99
}

// want adds to what is wanted of the outputs in a tick, normalised, what is left
// of the differences: places and axes, and the velocity at which places ease back.
func (h *heads) want(y []float32, outputs int, u *rollout, tick int) {
	d := float32(left(tick + 1))
	n, at := len(h.pose), u.columns[0]
	for i := range len(h.off) / n {
		row := y[i*outputs:]
		for k, off := range h.off[i*n:][:n] {
			c := at + h.pose[k]
			row[c] += off * d * u.set.yInv[c]
			if k < h.places {
				v := c + feature.BoneVel - feature.BonePos
				row[v] += off * easeRate(tick+1) * u.set.yInv[v]
			}
		}
	}
}

// easeRate is the velocity, per second, of a difference of 1 in the step that ends
// after so many ticks.
func easeRate(ticks int) float32 { return float32(mann.Rate * (left(ticks) - left(ticks-1))) }

// change adds the same to the wanted change of the pose, from std, the changes'
// deviations by column of the pose.
func (h *heads) change(want []float32, cols int, std []float32, tick int) {
	d := float32(left(tick+1) - left(tick))
	n := len(h.pose)
	for i := range len(h.off) / n {
		for k, off := range h.off[i*n:][:n] {
			c := h.pose[k]
			want[i*cols+c] += off * d / std[c]
			if k < h.places {
				v := c + feature.BoneVel - feature.BonePos
				rate := easeRate(tick + 1)
				if tick > 0 {
					rate -= easeRate(tick)
				}
				want[i*cols+v] += off * rate / std[v]
			}
		}
	}
}
