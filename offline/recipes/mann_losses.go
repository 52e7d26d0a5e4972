package recipes

import (
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// change is the loss term for the pose's change from tick to tick. It is normalised by the
// changes' own mean and deviation, which are smaller than the poses'.
type change struct {
	changes
	weight    float32 // in the loss
	fromInput affine  // from differences of the input's pose to changes, both normalised
}

// changes are the mean and the deviation of a set's changes, per column of the pose.
type changes struct{ Mean, Std []float32 }

// leastChange bounds the deviation of a change from below, in deviations of the changing value.
// The dog's median is 0.08, its minimum 0.014.
const leastChange = 0.005

// changesOf measures the changes in the rows of set.
func changesOf(set *dataset.MANN) (u changes) {
	l := set.Layout
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
		// Columns that hardly ever change must not dominate the loss.
		std = max(std, leastChange*float64(set.YStd[out]))
		u.Mean, u.Std = append(u.Mean, float32(mean)), append(u.Std, float32(std))
	}
	return u
}

func newChange(set *dataset.MANN, weight float32, of changes) *change {
	u := &change{changes: of, weight: weight}
	for c := range set.Layout.PoseLen() {
		u.fromInput.add(set.XStd[set.Layout.InBone(0)+c]/u.Std[c], -u.Mean[c]/u.Std[c])
	}
	return u
}

// changeLoss returns the mean squared error of the change from the pose in x to pose.
func (u *rollout) changeLoss(t *grad.Tape, x, pose *grad.Mat, rows []int, tick int) *grad.Mat {
	c := u.change
	by := t.Affine(t.Sub(pose, t.Columns(x, u.before, x.Cols)), c.fromInput.scale, c.fromInput.shift)
	want := t.Const(len(rows), by.Cols)
	for i, r := range rows {
		in, out := u.set.Input(r + tick)[u.before:], u.set.Output(r + tick)[u.columns[0]:u.columns[1]]
		for k, v := range out {
			want.Val[i*by.Cols+k] = (v - in[k] - c.Mean[k]) / c.Std[k]
		}
	}
	return t.MSE(by, want)
}

// legs holds the loss terms for faults of legs that people see at once but that weigh little
// among all columns. One is how fast tips slide over the ground while they stand. The other is
// how fast joints bend, which is too slow in a mean over all possible next poses.
type legs struct {
	skate, bend float32 // weights in the loss
	rate        float32 // rows per second
	bendUnit    float64 // radians per row

	tips       []int    // x and z of each tip, among the positions
	axes       affine   // from the normalised pose to raw values
	own, other [3][]int // per axis component: columns of the pose, for a joint's axis and its parent's
}

// Units of the errors. An error in a tip's speed is divided by slideUnit plus the recorded speed,
// so standing tips count most (see dataset.Stands).
const (
	slideUnit = 0.15 // m/s
	bendUnit  = 0.04 // radians per row with a stride of 1: 2.4 rad/s
)

// rate returns the number of rows per second of motion.
func rate(set *dataset.MANN) float32 { return mann.Rate / float32(set.Layout.Step()) }

func newLegs(set *dataset.MANN, skate, bend float32) *legs {
	l, sk := set.Layout, set.Skeleton
	g := &legs{skate: skate, bend: bend, rate: rate(set), bendUnit: bendUnit * float64(l.Step())}
	for c := range l.PoseLen() {
		g.axes.add(set.XStd[l.InBone(0)+c], set.XMean[l.InBone(0)+c])
	}
	for _, leg := range legsOf(set) {
		g.tips = append(g.tips, 3*leg[0], 3*leg[0]+2)
		for _, j := range leg[1:] {
			for _, a := range []int{feature.BoneForward, feature.BoneUp} {
				for _, b := range []int{feature.BoneForward, feature.BoneUp} {
					for k := range 3 {
						g.own[k] = append(g.own[k], j*feature.BoneChannels+a+k)
						g.other[k] = append(g.other[k], int(sk.Parents[j])*feature.BoneChannels+b+k)
					}
				}
			}
		}
	}
	return g
}

// legsOf returns the joints of each leg, from the tip upward.
func legsOf(set *dataset.MANN) (legs [][]int) {
	l, sk := set.Layout, set.Skeleton
	children := make([]int, sk.Len())
	for _, parent := range sk.Parents {
		if parent >= 0 {
			children[parent]++
		}
	}
	for _, name := range l.Tips {
		leg := []int{slices.Index(l.Joints, name)}
		for j := int(sk.Parents[leg[0]]); j >= 0 && sk.Parents[j] >= 0 && children[j] == 1; j = int(sk.Parents[j]) {
			leg = append(leg, j)
		}
		legs = append(legs, leg)
	}
	return legs
}

// slideLoss returns the mean squared error of the tips' velocities over the ground, in their
// units. before and after are positions in metres relative to the root of the rows' own frames;
// set holds the recorded ones.
func (g *legs) slideLoss(t *grad.Tape, before, after *grad.Mat, set *dataset.MANN, rows []int, tick int) *grad.Mat {
	n := len(g.tips)
	weight, want := t.Const(len(rows), n), t.Const(len(rows), n)
	for i, r := range rows {
		y := set.Output(r + tick)
		for k := 0; k < n; k += 2 {
			v := y[set.Layout.OutBone(g.tips[k]/3)+feature.BoneVel:]
			w := float32(1 / (slideUnit + math.Hypot(float64(v[0]), float64(v[2]))))
			at := i*n + k
			weight.Val[at], weight.Val[at+1] = w, w
			want.Val[at], want.Val[at+1] = w*v[0], w*v[2]
		}
	}
	way := t.Gather(t.Sub(after, before), g.tips)
	return t.MSE(t.Mul(t.Scale(way, g.rate), weight), want)
}

// bendLoss returns the mean squared error, in bendUnit, of how fast the legs' joints bend in the
// step from the pose x to pose, both normalised as inputs.
func (g *legs) bendLoss(t *grad.Tape, x, pose *grad.Mat, set *dataset.MANN, rows []int, tick int) *grad.Mat {
	rate := t.Norm(t.Sub(g.folds(t, pose), g.folds(t, x)), 4)
	want := t.Const(len(rows), rate.Cols)
	l := set.Layout
	for i, r := range rows {
		in, out := set.Input(r + tick)[l.InBone(0):], set.Output(r + tick)[l.OutBone(0):]
		fold := func(v []float32, d int) (s float64) {
			for k := range 3 {
				s += float64(v[g.own[k][d]]) * float64(v[g.other[k][d]])
			}
			return s
		}
		for j := range rate.Cols {
			var sum float64
			for d := 4 * j; d < 4*j+4; d++ {
				e := fold(out, d) - fold(in, d)
				sum += e * e
			}
			want.Val[i*rate.Cols+j] = float32(math.Sqrt(sum) / g.bendUnit)
		}
	}
	return t.MSE(t.Scale(rate, float32(1/g.bendUnit)), want)
}

// folds returns four cosines for each joint of the legs: between its own forward and up axes and
// its parent's.
func (g *legs) folds(t *grad.Tape, pose *grad.Mat) *grad.Mat {
	raw := t.Affine(pose, g.axes.scale, g.axes.shift)
	product := func(k int) *grad.Mat { return t.Mul(t.Gather(raw, g.own[k]), t.Gather(raw, g.other[k])) }
	return t.Add(t.Add(product(0), product(1)), product(2))
}
