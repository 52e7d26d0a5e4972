package recipes

import (
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// legs adds to the loss what is seen of legs at once and weighs little among all
// columns: how fast tips slide over the ground while they stand, and how fast
// joints bend, which a mean over what may come next makes too little of.
type legs struct {
	skate, bend float32 // weights in the loss
	rate        float32 // of the rows, per second
	bendUnit    float64 // radians a row

	tips       []int    // of the places, x and z of each tip
	axes       affine   // the pose from normalised input to its own unit
	own, other [3][]int // per axis component: columns of the pose, of a joint's axis and its parent's
}

// What an error counts in: speeds of tips in 0.15 m/s and the recorded speed, so
// that standing tips count most (see dataset.Stands); rates of bend in 2.4 radians
// per second, 2.3° a tick.
const (
	slideUnit = 0.15
	bendUnit  = 0.04 // with a stride of 1
)

// rate returns the rows of a set per second of motion.
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

// legsOf returns the joints of each leg, from the tip up to where it begins.
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

// slideLoss returns the mean squared error of the tips' velocities over the ground,
// each in slideUnit and the recorded speed. Places before and after are seen from
// the root of the rows' own frames, m; set holds what was recorded.
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

// bendLoss returns the mean squared error of how fast the legs' joints bend in the
// step from x's pose to pose, both normalised as inputs, in bendUnit.
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

// folds returns, per joint of the legs, how its forward and up axes lie to its
// parent's: four cosines.
func (g *legs) folds(t *grad.Tape, pose *grad.Mat) *grad.Mat {
	raw := t.Affine(pose, g.axes.scale, g.axes.shift)
	var sum *grad.Mat
	for k := range 3 {
		m := t.Mul(t.Gather(raw, g.own[k]), t.Gather(raw, g.other[k]))
		if sum == nil {
			sum = m
		} else {
			sum = t.Add(sum, m)
		}
	}
	return sum
}
