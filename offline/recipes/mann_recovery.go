package recipes

import (
	"errors"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/internal/kernel"
	"mannequin/netruntime/grad"
)

// recovery lets all windows of some steps begin with a body that is not where it
// belongs, above all with a head that looks out of the turn or at the sky. In
// recordings both are always where the trajectory has them, and a network learns no
// more than to carry them on: once it looks the wrong way, it looks so for good.
// Shoulders and legs would tell it a body that was only put there, so the whole pose
// is another, and the network itself has run it for a while. Half of the windows
// begin in turns, from the mirror image of the pose, the others wherever recordings
// move, from the pose of another such row. Only the body counts, legs have other
// phases; it eases back to the recorded one.
type recovery struct {
	share   float32 // of the steps
	turns   []int32 // first rows of windows in turns
	moves   []int32 // and of those in any motion
	columns []int   // of the pose that count: places, then axes
	places  int     // how many of them are places
	counted []bool  // by column of the output

	rows []int
	x    []float32 // where the windows begin, (rows, inputs) normalised
	off  []float32 // the body's distance from the recorded one there, (rows, columns) raw
}

const (
	straying = 20  // ticks that the network runs the other pose
	easing   = 12  // ticks in which half of the distance is made good: 0.2 s
	goes     = 0.9 // least weight of the action move
	turnSin  = 0.4 // sine of the least turn in the second ahead, 24°
)

// left returns the share of a distance that is left after so many ticks, and the
// rate at which it changes per second in the last of them.
func left(ticks int) (share, rate float32) {
	at := func(k int) float64 { return math.Exp2(-float64(k) / easing) }
	return float32(at(ticks)), float32((at(ticks) - at(ticks-1)) * mann.Rate)
}

func newRecovery(u *rollout, share float32) (*recovery, error) {
	set, l := u.set.MANN, u.set.Layout
	c := &recovery{share: share, counted: make([]bool, l.Outputs())}
	ahead := l.InSample(feature.TrajSamples-1) + feature.SampleDir
	move := l.InActions(feature.TrajNow) + slices.Index(l.Actions, "move")
	for r := straying + 1; r < set.Rows; r++ {
		if !u.follows(r-straying-1, 1+straying+u.ticks) { // the root's motion is needed in the row before
			continue
		}
		x := set.Input(r)
		if dir := x[ahead:]; dir[1] < 0 || math.Abs(float64(dir[0])) > turnSin {
			c.turns = append(c.turns, int32(r))
		}
		if move >= l.InActions(feature.TrajNow) && x[move] > goes {
			c.moves = append(c.moves, int32(r))
		}
	}
	if len(c.turns) == 0 || len(c.moves) == 0 {
		return nil, errors.New("recipes: recovery needs recordings that move and that turn by 24° in a second, and there are none: train with Recover 0 (--recover 0)")
	}
	ofLeg := make([]bool, len(l.Joints))
	for _, leg := range legsOf(set) {
		for _, j := range leg {
			ofLeg[j] = true
		}
	}
	add := func(from, to int) {
		for j := 1; j < len(l.Joints); j++ {
			for k := from; k < to && !ofLeg[j]; k++ {
				at := j*feature.BoneChannels + k
				c.columns = append(c.columns, at)
				c.counted[u.columns[0]+at] = true
			}
		}
	}
	add(feature.BonePos, feature.BonePos+3)
	c.places = len(c.columns)
	for _, at := range c.columns {
		c.counted[u.columns[0]+at+feature.BoneVel-feature.BonePos] = true
	}
	add(feature.BoneForward, feature.BoneVel)
	return c, nil
}

// takes reports whether the step with this key has such windows.
func (c *recovery) takes(key uint64) bool {
	return float32(grad.Hash(key, 3000)>>40)/(1<<24) < c.share
}

// begin returns n windows' first rows, and their inputs.
func (c *recovery) begin(t *grad.Tape, u *rollout, n int, key uint64) (rows []int, x *grad.Mat) {
	in := u.net.inputs
	c.rows, c.x, c.off = c.rows[:0], slices.Grow(c.x[:0], n*in)[:n*in], slices.Grow(c.off[:0], n*len(c.columns))[:n*len(c.columns)]
	for i := range n {
		draw := func(rows []int32, from int) int {
			return int(rows[grad.Hash(key, uint64(from+i))%uint64(len(rows))]) - straying
		}
		r := draw(c.turns, 3001)
		pose := (r + u.set.Rows/2) % u.set.Rows // the mirror image
		if i%2 == 1 {
			r, pose = draw(c.moves, 3001), draw(c.moves, 4001)
		}
		c.rows = append(c.rows, r)
		u.posed(c.x[i*in:][:in], r, pose)
	}
	for tick := range straying {
		t.Reset()
		x := t.Const(n, in)
		copy(x.Val, c.x)
		last, _ := u.net.forward(t, x, 1, 0)
		y, pose := u.pose(t, x, last)
		next, _, _ := u.next(t, x, y, pose, c.rows, tick)
		copy(c.x, u.input(t, x, y, next, c.rows, tick).Val)
	}
	t.Reset()
	x = t.Const(n, in)
	copy(x.Val, c.x)
	for i := range c.rows {
		c.rows[i] += straying
		own, recorded := c.x[i*in+u.before:], u.set.Input(c.rows[i])[u.before:]
		mean, std := u.set.XMean[u.before:], u.set.XStd[u.before:]
		off := c.off[i*len(c.columns):]
		for k, at := range c.columns {
			off[k] = own[at]*std[at] + mean[at] - recorded[at]
			if root := at % feature.BoneChannels; k < c.places {
				off[k] -= own[root]*std[root] + mean[root] - recorded[root]
			}
		}
	}
	return c.rows, x
}

// posed writes the normalised input row r with the pose of another row.
func (u *rollout) posed(dst []float32, r, pose int) {
	u.set.input(dst, pose)
	n := u.before
	kernel.Normalize(dst[:n], u.set.Input(r)[:n], u.set.XMean[:n], u.set.xInv[:n])
}

// goal changes what is wanted of the normalised outputs y in a tick from the
// recorded ones to the body on its way back, seen from the network's own joint 0,
// and to y itself in all other columns, which then do not count.
func (c *recovery) goal(want, y []float32, u *rollout, tick int) {
	share, rate := left(tick + 1)
	std, inv, outputs := u.set.YStd, u.set.yInv, u.net.outputs
	const vel = feature.BoneVel - feature.BonePos
	for i := range c.rows {
		w, have := want[i*outputs:][:outputs], y[i*outputs:][:outputs]
		off := c.off[i*len(c.columns):]
		for k, col := range c.columns {
			at := u.columns[0] + col
			w[at] += off[k] * share * inv[at]
			if k < c.places {
				root := u.columns[0] + col%feature.BoneChannels
				w[at] += (have[root] - w[root]) * std[root] * inv[at]
				w[at+vel] += (off[k]*rate + (have[root+vel]-w[root+vel])*std[root+vel]) * inv[at+vel]
			}
		}
		for at, counted := range c.counted {
			if !counted {
				w[at] = have[at]
			}
		}
	}
}
