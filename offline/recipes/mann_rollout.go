package recipes

import (
	"fmt"
	"math"

	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// rollout builds the loss of windows of consecutive rows on one set: at a
// window's first tick the network sees the recorded pose, at the others the one
// that the controller makes of what it predicted (only that axes keep the length
// that they were predicted with), and a future trajectory bent
// from the predicted one toward the recorded; the root's past and the actions
// stay the recorded ones. The mean squared error over all ticks then teaches it
// to come back from its own errors, which is what it meets at run time. One tick
// is the paper's training.
type rollout struct {
	set      normalised
	net      *mannNet
	ticks    int
	keep     float32
	legs     *legs     // nil: their sliding and bending counts as everything does
	change   *change   // nil: the error of the pose's change does not count
	recovery *recovery // nil: all windows begin as recorded

	first []int32 // windows' first rows
	epoch uint64  // seeds which of them the present epoch visits
	key   uint64  // of the last step

	toInput affine // from the output's pose to the input's
	places  places
	future  future
	terms   []grad.Term
	columns [2]int // of the pose in the output
	before  int    // columns of the input before the pose
}

// affine is v·scale + shift per column of the pose.
type affine struct{ scale, shift []float32 }

func (a *affine) add(scale, shift float32) {
	a.scale, a.shift = append(a.scale, scale), append(a.shift, shift)
}

// change says how the pose's change from tick to tick is trained for, normalised
// by the changes' own mean and deviation, which are small beside the poses'.
type change struct {
	weight    float32   // of the changes' error in the loss, beside the error of all outputs
	mean, std []float32 // of the changes, per column of the pose
	fromInput affine    // from differences of the input's pose to changes, both normalised
}

// leastChange is the least deviation of a change that is reckoned with, in
// deviations of what changes: the dog has 0.08 in the median and at least 0.014.
const leastChange = 0.005

// newChange takes the changes' statistics from the rows of set.
func newChange(set *dataset.MANN, weight float32) *change {
	l := set.Layout
	u := &change{weight: weight}
	for c := range l.PoseLen() {
		in, out := l.InBone(0)+c, l.OutBone(0)+c
		var sum, squares float64
		for r := range set.Rows {
			d := float64(set.Output(r)[out] - set.Input(r)[in])
			sum, squares = sum+d, squares+d*d
		}
		n := float64(set.Rows)
		mean := sum / n
		std := math.Sqrt(max(squares/n-mean*mean, 0))
		// What hardly ever changes must not count for more than all the rest.
		std = max(std, leastChange*float64(set.YStd[out]))
		u.mean, u.std = append(u.mean, float32(mean)), append(u.std, float32(std))
		u.fromInput.add(set.XStd[in]/u.std[c], -u.mean[c]/u.std[c])
	}
	return u
}

// newRollout returns the windows of set that begin in the rows of order, or,
// where order is nil, the windows that follow each other through all of set.
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

// whole reports whether a window begins in row r. Where poses go on they need
// the motion of the root in the row before.
func (u *rollout) whole(r int) bool {
	if u.ticks > 1 {
		return u.follows(r-1, u.ticks+1)
	}
	return u.follows(r, 1)
}

// follows reports whether n rows from first on lead from one to the next.
func (u *rollout) follows(first, n int) bool {
	s, last := u.set.MANN, first+n-1
	half := s.Rows / 2
	return first >= 0 && last < s.Rows && (last < half) == (first < half) && s.Clip[last] == s.Clip[first] && int(s.Frame[last]-s.Frame[first]) == (last-first)*s.Layout.Step()
}

// samples returns the windows of an epoch. Windows overlap; one in ticks makes
// an epoch see each row as often as with single ticks.
func (u *rollout) samples() int { return len(u.first) / u.ticks }

// start returns the first row of sample i of the present epoch.
func (u *rollout) start(i int32) int {
	k := int(i) * u.ticks
	if u.ticks > 1 {
		k += int(grad.Hash(u.epoch, uint64(i)) % uint64(u.ticks))
	}
	return int(u.first[k])
}

// name says where the window comes from that the last step made of the sample that
// begins in row.
func (u *rollout) name(row int) string {
	frame := func(r int) string { return fmt.Sprintf("frame %d of %s", u.set.Frame[r], u.set.Clips[u.set.Clip[r]]) }
	if u.recovery == nil || !u.recovery.takes(u.key) {
		return frame(row)
	}
	r, pose, _ := u.recovery.draw(u, row, u.key)
	return fmt.Sprintf("%s with the pose of %s, %d ticks on", frame(r), frame(pose), u.recovery.strays[u.recovery.stray(u.key)])
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
		x = u.begin(t, rows)
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
				u.terms = append(u.terms, grad.Term{Loss: g.bendLoss(t, t.Columns(x, u.before, x.Cols), pose, u.set.MANN, rows, tick), Weight: share * g.bend})
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

// begin returns the windows' first inputs, as recorded.
func (u *rollout) begin(t *grad.Tape, rows []int) *grad.Mat {
	n := u.net.inputs
	x := t.Const(len(rows), n)
	for i, r := range rows {
		u.set.input(x.Val[i*n:][:n], r)
	}
	return x
}

// input returns the input of the tick that follows, with next as its pose.
func (u *rollout) input(t *grad.Tape, x, y, next *grad.Mat, rows []int, tick int) *grad.Mat {
	recorded := t.Const(len(rows), u.net.inputs)
	for i, r := range rows {
		u.set.input(recorded.Val[i*u.net.inputs:], r+tick+1)
	}
	return t.Concat(u.steer(t, x, y, recorded, rows, tick), next)
}

// pose returns the pose of the outputs y, normalised as an input's.
func (u *rollout) pose(t *grad.Tape, y *grad.Mat) *grad.Mat {
	return t.Affine(t.Columns(y, u.columns[0], u.columns[1]), u.toInput.scale, u.toInput.shift)
}

// changeLoss returns the mean squared error of the change from the pose in x to
// pose.
func (u *rollout) changeLoss(t *grad.Tape, x, pose *grad.Mat, rows []int, tick int) *grad.Mat {
	c := u.change
	by := t.Affine(t.Sub(pose, t.Columns(x, u.before, x.Cols)), c.fromInput.scale, c.fromInput.shift)
	want := t.Const(len(rows), by.Cols)
	for i, r := range rows {
		in, out := u.set.Input(r + tick)[u.before:], u.set.Output(r + tick)[u.columns[0]:u.columns[1]]
		for k, v := range out {
			want.Val[i*by.Cols+k] = (v - in[k] - c.mean[k]) / c.std[k]
		}
	}
	return t.MSE(by, want)
}
