package recipes

import (
	"errors"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/netruntime/grad"
	"mannequin/netruntime/vec"
	"mannequin/offline/dataset"
)

// recovery makes the windows of some steps begin with a pose to which the network itself has run,
// and trains it to return to the recorded motion. In recordings, bodies, heads and paws are always
// where the trajectory expects them, so a network only learns to keep them there: a head that looks
// the wrong way never turns back, and hips that have sunk while the dog backs up stay low. A pose
// that is merely displaced would be inconsistent with its other values, so the network runs on it
// for a while first: it strays.
//
// One window in five begins in a turn, from the mirror image of its pose; one in any motion, from
// the pose of another row; one in any motion, from its own pose; two in motion that does not go
// ahead, which is rare. By then the phases of the legs differ from the recorded ones. If legs had
// to return to the recorded phases, they would learn to keep still, so they do not count. Only in
// the last kind do they count, because there legs that keep still would never start again. The
// target of a window is the recorded row nearby whose phases are most similar.
//
// With [recovery.restarts], legs count in all windows before which they nearly stopped while the recorded ones swing: a
// network that glides learns to step again.
type recovery struct {
	starts
	share float32 // of the steps
	begun bool    // the network moves well enough to stray
	legs  []bool  // by column of the pose: it belongs to the legs' bones and phases
	tips  []int   // joints, of windows in which legs that stopped count; nil: there are none

	rows  []int
	asked []bool    // by row: legs count, too
	x     []float32 // (rows, inputs) normalised, while straying
	own   []float32 // (pose) raw
	off   []float32 // (rows, pose) raw, distance of the pose from the recorded one at the start of the windows

	swung, swings []float32 // by row: how fast tips went beside the body at the end of the straying, and the recorded ones; sums
	recorded      []float32 // (inputs) normalised
}

// Kinds of windows.
const (
	recoverTurn  = iota // in a turn, with the mirror image of the pose
	recoverOther        // in any motion, with the pose of another row
	recoverOwn          // in any motion, with their own pose
	recoverRare         // in motion that does not go ahead
)

const (
	phaseRange = 25  // frames before and after among which phases are compared
	easing     = 12  // half-life of the distance, in frames: 0.2 s
	goes       = 0.9 // least weight of the action move
	turnSin    = 0.4 // sine of the smallest turn in the next second: 24°
	aheadCos   = 0.7 // cosine of the largest angle between facing and velocity of motion ahead: 45°
	rareSpeed  = 0.1 // m/s: slower motion goes nowhere

	swingFrames  = 15  // at the end of the straying, in which swings are compared
	stoppedShare = 0.5 // of the recorded swing, below which legs have nearly stopped
	leastSwing   = 0.2 // m/s: recorded tips that are slower beside the body in the mean stand
)

// strayFrames are the lengths, in frames, for which the network strays. Some faults show at once,
// in a turn, others only after seconds of the same motion.
var strayFrames = [...]int{20, 60, 180}

// left returns the share of a distance that remains after a number of ticks of stride frames, and
// its change per second in the last of them.
func left(ticks, stride int) (share, rate float32) {
	at := func(k int) float64 { return math.Exp2(-float64(k*stride) / easing) }
	return float32(at(ticks)), float32((at(ticks) - at(ticks-1)) * mann.Rate / float64(stride))
}

// starts are where a set's windows with recovery can begin.
type starts struct {
	From   [len(strayFrames)][4][]int32 // rows from which windows start to stray, by length and kind, as often as an epoch visits them
	Strays []int                        // lengths in ticks, as far as the recordings are long enough
}

func startsOf(u *rollout) (s starts, err error) {
	set, l := u.set.MANN, u.set.Layout
	if !l.Phases {
		return s, errors.New("recipes: recovery needs phases of stepping in the layout: train with Recover 0 (--recover 0)")
	}
	strays := make([]int, len(strayFrames))
	for i, f := range strayFrames {
		strays[i] = f / l.Step()
	}
	for _, row := range set.Order {
		r := int(row)
		kinds := kindsOf(set, r)
		for i, straying := range strays {
			if !u.follows(r-straying-1, 1+straying+u.ticks) { // the root's motion is needed in the row before
				break
			}
			for kind, is := range kinds {
				if is {
					s.From[i][kind] = append(s.From[i][kind], row)
				}
			}
		}
	}
	for i := range s.From {
		if len(s.From[i][recoverTurn]) == 0 || len(s.From[i][recoverOwn]) == 0 {
			break // the recordings are too short
		}
		s.Strays = strays[:i+1]
	}
	if len(s.Strays) == 0 {
		return s, errors.New("recipes: recovery needs recordings that move and recordings that turn by 24° in a second, and there are none: train with Recover 0 (--recover 0)")
	}
	return s, nil
}

func newRecovery(u *rollout, share float32, from starts) *recovery {
	l := u.set.Layout
	return &recovery{starts: from, share: share, legs: legColumns(u.set.MANN), own: make([]float32, l.PoseLen()), recorded: make([]float32, l.Inputs())}
}

// kindsOf reports which kinds of windows can begin at row r.
func kindsOf(set *dataset.MANN, r int) (is [4]bool) {
	l, x := set.Layout, set.Input(r)
	dir := x[l.InSample(feature.TrajSamples-1)+feature.SampleDir:]
	is[recoverTurn] = dir[1] < 0 || math.Abs(float64(dir[0])) > turnSin
	if move := slices.Index(l.Actions, "move"); move >= 0 && x[l.InActions(feature.TrajNow)+move] > goes {
		is[recoverOther], is[recoverOwn] = true, true
		v := x[l.InSample(feature.TrajNow)+feature.SampleVel:]
		speed := float32(math.Hypot(float64(v[0]), float64(v[1])))
		is[recoverRare] = speed > rareSpeed && v[1] < aheadCos*speed
	}
	return is
}

// legColumns reports which columns of the pose belong to legs: the bones below the body, and the
// phases.
func legColumns(set *dataset.MANN) []bool {
	l := set.Layout
	of := make([]bool, l.PoseLen())
	for _, leg := range legsOf(set) {
		for _, j := range leg {
			for k := range feature.BoneChannels {
				of[j*feature.BoneChannels+k] = true
			}
		}
	}
	for k := len(l.Joints) * feature.BoneChannels; k < len(of); k++ {
		of[k] = true
	}
	return of
}

// zeros returns n zeros, in the memory of v if it suffices.
func zeros(v []float32, n int) []float32 {
	v = slices.Grow(v[:0], n)[:n]
	clear(v)
	return v
}

// takes reports whether the step with this key has windows with recovery.
func (c *recovery) takes(key uint64) bool {
	return c.begun && float32(grad.Hash(key, 3000)>>40)/(1<<24) < c.share
}

// begin returns the first rows of windows, one for each sample, and their inputs.
func (c *recovery) begin(t *grad.Tape, u *rollout, samples []int, key uint64) (rows []int, x *grad.Mat) {
	n, in, values := len(samples), u.net.inputs, len(c.own)
	c.rows, c.asked = c.rows[:0], c.asked[:0]
	c.x, c.off = slices.Grow(c.x[:0], n*in)[:n*in], slices.Grow(c.off[:0], n*values)[:n*values]
	straying := c.Strays[c.stray(key)]
	c.swung, c.swings = zeros(c.swung, n), zeros(c.swings, n)
	ticks := swingFrames / u.set.Layout.Step()
	for i, sample := range samples {
		r, pose, kind := c.draw(u, sample, key)
		c.rows, c.asked = append(c.rows, r), append(c.asked, kind == recoverRare)
		u.posed(c.x[i*in:][:in], r, pose)
	}
	for tick := range straying {
		t.Reset()
		x := t.Const(n, in)
		copy(x.Val, c.x)
		y, _ := u.net.forward(t, x, 1, 0)
		next, _, _ := u.next(t, x, y, u.pose(t, y), c.rows, tick)
		copy(c.x, u.input(t, x, y, next, c.rows, tick).Val)
		for i := range n {
			pose := c.x[i*in+u.before:][:values]
			u.bound(pose)
			if tick >= straying-ticks {
				u.set.input(c.recorded, c.rows[i]+tick+1)
				c.swung[i], c.swings[i] = c.swung[i]+c.swing(u, pose), c.swings[i]+c.swing(u, c.recorded[u.before:])
			}
		}
	}
	t.Reset()
	x = t.Const(n, in)
	mean, std := u.set.XMean[u.before:], u.set.XStd[u.before:]
	for i := range c.rows {
		own := c.x[i*in+u.before:][:values]
		for k, v := range own {
			c.own[k] = v*std[k] + mean[k]
		}
		r := u.nearestPhases(c.rows[i]+straying, c.own)
		c.rows[i] = r
		if c.swung[i] < stoppedShare*c.swings[i] && c.swings[i] > leastSwing*float32(ticks*len(c.tips)) {
			c.asked[i] = true
		}
		row := x.Val[i*in:][:in]
		u.set.input(row, r)
		copy(row[u.before:], own)
		for k, v := range u.set.Input(r)[u.before:] {
			c.off[i*values+k] = c.own[k] - v
		}
	}
	return c.rows, x
}

// stray returns the index of the length for the step with this key: the first in every other step.
func (c *recovery) stray(key uint64) int {
	return min(max(int(grad.Hash(key, 3005)%4)-1, 0), len(c.Strays)-1)
}

// draw returns the row from which the window of a sample starts to stray, the row whose pose it
// takes, and its kind.
func (c *recovery) draw(u *rollout, sample int, key uint64) (r, pose, kind int) {
	stray := c.stray(key)
	key = grad.Hash(key, uint64(sample))
	kind = min(int(grad.Hash(key, 3001)%uint64(len(c.From[0])+1)), recoverRare)
	if len(c.From[stray][kind]) == 0 {
		kind = recoverOwn // all motion goes ahead
	}
	from := func(salt uint64) int {
		rows := c.From[stray][kind]
		return int(rows[grad.Hash(key, salt)%uint64(len(rows))]) - c.Strays[stray]
	}
	r = from(3002)
	switch kind {
	case recoverTurn:
		return r, (r + u.set.Rows/2) % u.set.Rows, kind // the mirror image
	case recoverOther:
		return r, from(3003), kind
	}
	return r, r, kind
}

// bound changes a pose, normalised as an input, as the controller does: axes get unit length, and
// the amplitude of phases is bounded.
func (u *rollout) bound(pose []float32) {
	mean, std, inv := u.set.XMean[u.before:], u.set.XStd[u.before:], u.set.xInv[u.before:]
	scale := func(from, n int, share func(length float32) float32) {
		var squares float32
		for k := from; k < from+n; k++ {
			v := pose[k]*std[k] + mean[k]
			squares += v * v
		}
		by := share(m3.Sqrt(squares))
		for k := from; k < from+n; k++ {
			pose[k] = ((pose[k]*std[k]+mean[k])*by - mean[k]) * inv[k]
		}
	}
	bones := len(u.set.Layout.Joints) * feature.BoneChannels
	for k := 0; k < bones; k += feature.BoneChannels {
		for _, axis := range [...]int{feature.BoneForward, feature.BoneUp} {
			scale(k+axis, 3, func(l float32) float32 { return 1 / max(l, 1e-6) })
		}
	}
	for k := bones; k < len(pose); k += feature.PhaseLen {
		scale(k, feature.PhaseLen, func(l float32) float32 { return min(1, mann.MaxPhase/max(l, 1e-6)) })
	}
}

// posed writes the normalised input row r with the pose of another row.
func (u *rollout) posed(dst []float32, r, pose int) {
	u.set.input(dst, pose)
	n := u.before
	vec.Normalize(dst[:n], u.set.Input(r)[:n], u.set.XMean[:n], u.set.xInv[:n])
}

// nearestPhases returns the row around r whose phases are most similar to those of the pose: the
// row with the largest product, in which both angles and amplitudes count.
func (u *rollout) nearestPhases(r int, pose []float32) int {
	bones := len(u.set.Layout.Joints) * feature.BoneChannels
	product := func(k int) (p float32) {
		for c, v := range u.set.Input(k)[u.before+bones:] {
			p += v * pose[bones+c]
		}
		return p
	}
	best, most := r, product(r)
	reach := phaseRange / u.set.Layout.Step()
	for k := r - reach; k <= r+reach; k++ {
		if u.follows(min(k, r), max(k, r)-min(k, r)+1) && u.follows(k-1, 1+u.ticks) {
			if p := product(k); p > most {
				best, most = k, p
			}
		}
	}
	return best
}

// restarts makes legs count in all windows before which they nearly stopped.
func (c *recovery) restarts(set *dataset.MANN) {
	for _, leg := range legsOf(set) {
		c.tips = append(c.tips, leg[0])
	}
}

// swing returns the speed of all tips beside the body, in a pose that is normalised as an input.
func (c *recovery) swing(u *rollout, pose []float32) (sum float32) {
	mean, std := u.set.XMean[u.before:], u.set.XStd[u.before:]
	for _, j := range c.tips {
		var squares float32
		for k := feature.BoneVel; k < feature.BoneVel+3; k++ {
			a, b := j*feature.BoneChannels+k, k
			v := pose[a]*std[a] + mean[a] - pose[b]*std[b] - mean[b]
			squares += v * v
		}
		sum += m3.Sqrt(squares)
	}
	return sum
}

// goal changes the wanted outputs of a tick, normalised, from the recorded pose to one that is
// still returning to it.
func (c *recovery) goal(want, y []float32, u *rollout, tick int) {
	share, rate := left(tick+1, u.set.Layout.Step())
	const vel = feature.BoneVel - feature.BonePos
	bones, inv := len(u.set.Layout.Joints)*feature.BoneChannels, u.set.yInv[u.columns[0]:]
	for i := range c.rows {
		w, off := want[i*u.net.outputs+u.columns[0]:], c.off[i*len(c.own):][:len(c.own)]
		for k := range off {
			switch {
			case c.legs[k] && !c.asked[i]:
				w[k] = y[i*u.net.outputs+u.columns[0]+k]
			case k < bones && k%feature.BoneChannels >= feature.BoneVel:
				w[k] += rate * off[k-vel] * inv[k]
			default:
				w[k] += share * off[k] * inv[k]
			}
		}
	}
}
