package recipes

import (
	"fmt"

	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// rollout builds the loss of windows of consecutive rows of one set. At the first tick of a
// window the network sees the recorded pose. At the others it sees the pose that the controller
// makes of the network's own prediction, except that axes are not brought to unit length.
// The future trajectory is then bent from the predicted one toward the recorded one, or, of who
// follows a simulated body, it is the recorded one. The root's
// past and the actions stay as recorded. The mean squared error over all ticks teaches the
// network to correct its own errors, which it meets at run time. One tick is the paper's training.
type rollout struct {
	set      normalised
	net      *mannNet
	ticks    int
	keep     float32
	asIs     bool      // the future is what is recorded
	legs     *legs     // nil: the loss has no terms for sliding and bending
	change   *change   // nil: the loss has no term for the pose's change
	recovery *recovery // nil: all windows begin as recorded

	first []int32 // first rows of the windows
	epoch uint64  // seeds the choice of windows in this epoch
	key   uint64  // of the last step

	toInput affine // from the output's pose to the input's
	places  places
	future  future
	terms   []grad.Term
	columns [2]int // of the pose in the output
	before  int    // columns of the input before the pose
}

// affine is v·scale + shift, per column.
type affine struct{ scale, shift []float32 }

func (a *affine) add(scale, shift float32) {
	a.scale, a.shift = append(a.scale, scale), append(a.shift, shift)
}

// newRollout returns the windows of set that begin in the rows of order. If order is nil,
// windows without overlap cover the whole set.
func newRollout(set *dataset.MANN, net *mannNet, order []int32, ticks int, keep float32) *rollout {
	l := set.Layout
	u := &rollout{set: newNormalised(set), net: net, ticks: ticks, keep: keep,
		columns: [2]int{l.OutBone(0), l.OutRoot()}, before: l.InBone(0), places: newPlaces(set), future: newFuture(set)}
	for c := range l.PoseLen() {
		in, out := u.before+c, u.columns[0]+c
		u.toInput.add(set.YStd[out]/set.XStd[in], (set.YMean[out]-set.XMean[in])/set.XStd[in])
	}
	if order != nil {
		for _, r := range order {
			if u.whole(int(r)) {
				u.first = append(u.first, r)
			}
		}
		return u
	}
	for r := 0; r < set.Rows; r++ {
		if u.whole(r) {
			u.first = append(u.first, int32(r))
			r += ticks - 1
		}
	}
	return u
}

// whole reports whether a window can begin in row r. Windows of several ticks also need the
// root's motion in the row before.
func (u *rollout) whole(r int) bool {
	if u.ticks > 1 {
		return u.follows(r-1, u.ticks+1)
	}
	return u.follows(r, 1)
}

// follows reports whether n rows, beginning with first, are consecutive frames of a recording.
func (u *rollout) follows(first, n int) bool {
	s, last := u.set.MANN, first+n-1
	half := s.Rows / 2
	return first >= 0 && last < s.Rows && (last < half) == (first < half) &&
		s.Clip[last] == s.Clip[first] && int(s.Frame[last]-s.Frame[first]) == (last-first)*s.Layout.Step()
}

// samples returns the number of windows in an epoch. Windows overlap: an epoch takes one in
// ticks of them, so it sees each row as often as with single ticks.
func (u *rollout) samples() int { return len(u.first) / u.ticks }

// start returns the first row of sample i in this epoch.
func (u *rollout) start(i int32) int {
	k := int(i) * u.ticks
	if u.ticks > 1 {
		k += int(grad.Hash(u.epoch, uint64(i)) % uint64(u.ticks))
	}
	return int(u.first[k])
}

// name says which frames the window of the last step came from, if its sample begins in row.
func (u *rollout) name(row int) string {
	frame := func(r int) string { return fmt.Sprintf("frame %d of %s", u.set.Frame[r], u.set.Clips[u.set.Clip[r]]) }
	if u.recovery == nil || !u.recovery.takes(u.key) {
		return frame(row)
	}
	r, pose, _ := u.recovery.draw(u, row, u.key)
	return fmt.Sprintf("%s with the pose of %s, %d ticks later", frame(r), frame(pose), u.recovery.Strays[u.recovery.stray(u.key)])
}

// loss returns the mean squared error of the windows that begin in rows.
func (u *rollout) loss(t *grad.Tape, rows []int, key uint64) *grad.Mat {
	n := u.net
	var x *grad.Mat
	u.key = key
	recovers := u.recovery != nil && u.recovery.takes(key)
	if recovers {
		rows, x = u.recovery.begin(t, u, rows, key)
	} else {
		x = u.recorded(t, rows, 0)
	}
	u.terms = u.terms[:0]
	share := 1 / float32(u.ticks)
	for tick := range u.ticks {
		dropout := key
		if tick > 0 {
			dropout = grad.Hash(key, uint64(100+tick))
		}
		y, _ := n.forward(t, x, u.keep, dropout)
		pose := u.pose(t, y)
		want := t.Const(len(rows), n.outputs)
		for i, r := range rows {
			u.set.output(want.Val[i*n.outputs:], r+tick)
		}
		if recovers {
			u.recovery.goal(want.Val, y.Val, u, tick)
		}
		u.terms = append(u.terms, grad.Term{Loss: t.MSE(y, want), Weight: share})
		if c := u.change; c != nil && !recovers {
			u.terms = append(u.terms, grad.Term{Loss: u.changeLoss(t, x, pose, rows, tick), Weight: share * c.weight})
		}
		if tick+1 == u.ticks && (u.legs == nil || recovers) {
			break
		}
		next, before, after := u.next(t, x, y, pose, rows, tick)
		if g := u.legs; g != nil && !recovers {
			if g.skate > 0 {
				u.terms = append(u.terms, grad.Term{Loss: g.slideLoss(t, before, after, u.set.MANN, rows, tick), Weight: share * g.skate})
			}
			if g.bend > 0 {
				bend := g.bendLoss(t, t.Columns(x, u.before, x.Cols), pose, u.set.MANN, rows, tick)
				u.terms = append(u.terms, grad.Term{Loss: bend, Weight: share * g.bend})
			}
		}
		if tick+1 == u.ticks {
			break
		}
		x = u.input(t, x, y, next, rows, tick)
	}
	if len(u.terms) == 1 {
		return u.terms[0].Loss
	}
	return t.WeightedSum(u.terms...)
}

// recorded returns the inputs at a tick of the windows that begin in rows, as recorded.
func (u *rollout) recorded(t *grad.Tape, rows []int, tick int) *grad.Mat {
	n := u.net.inputs
	x := t.Const(len(rows), n)
	for i, r := range rows {
		u.set.input(x.Val[i*n:][:n], r+tick)
	}
	return x
}

// input returns the input of the next tick, with next as its pose.
func (u *rollout) input(t *grad.Tape, x, y, next *grad.Mat, rows []int, tick int) *grad.Mat {
	return t.Concat(u.steer(t, x, y, u.recorded(t, rows, tick+1), rows, tick), next)
}

// pose returns the pose in the outputs y, normalised as in an input.
func (u *rollout) pose(t *grad.Tape, y *grad.Mat) *grad.Mat {
	return t.Affine(t.Columns(y, u.columns[0], u.columns[1]), u.toInput.scale, u.toInput.shift)
}
