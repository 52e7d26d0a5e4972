package recipes

import (
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// rollout builds the loss of windows of consecutive rows on one set: at a
// window's first tick the network sees the recorded pose, at the others the one
// that it predicted, while trajectory and actions stay the recorded ones. The
// mean squared error over all ticks then teaches it to come back from its own
// errors, which is what it meets at run time. One tick is the paper's training.
type rollout struct {
	set   normalised
	net   *mannNet
	ticks int
	noise float32 // deviation of what is added to the first pose, in its own deviations
	keep  float32

	first        []int32 // windows' first rows
	epoch        uint64  // seeds which of them the present epoch visits
	scale, shift []float32
	terms        []grad.Term
	bones        [2]int // columns of the pose in the output
	trajectory   int    // columns of the input before the pose
}

// newRollout returns the windows of set that begin in the rows of order, or,
// where order is nil, the windows that follow each other through all of set.
func newRollout(set *dataset.MANN, net *mannNet, order []int32, ticks int, noise, keep float32) *rollout {
	l := set.Layout
	u := &rollout{set: newNormalised(set), net: net, ticks: ticks, noise: noise, keep: keep,
		bones: [2]int{l.OutBone(0), l.OutRoot()}, trajectory: l.InBone(0), terms: make([]grad.Term, ticks)}
	for c := range len(l.Joints) * feature.BoneChannels {
		in, out := u.trajectory+c, u.bones[0]+c
		u.scale = append(u.scale, set.YStd[out]/set.XStd[in])
		u.shift = append(u.shift, (set.YMean[out]-set.XMean[in])/set.XStd[in])
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

// whole reports whether a window begins in row r.
func (u *rollout) whole(r int) bool {
	s, last := u.set.MANN, r+u.ticks-1
	half := s.Rows / 2
	return last < s.Rows && (last < half) == (r < half) && s.Clip[last] == s.Clip[r] && int(s.Frame[last]-s.Frame[r]) == u.ticks-1
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

// name says where the window that begins in row comes from.
func (u *rollout) name(row int) string {
	return fmt.Sprintf("frame %d of %s", u.set.Frame[row], u.set.Clips[u.set.Clip[row]])
}

// loss returns the mean squared error of the windows that begin in rows.
func (u *rollout) loss(t *grad.Tape, rows []int, key uint64) *grad.Mat {
	n := u.net
	x := t.Const(len(rows), n.inputs)
	for i, r := range rows {
		row := x.Val[i*n.inputs:][:n.inputs]
		u.set.input(row, r)
		if u.noise > 0 {
			disturb(row[u.trajectory:], u.noise, grad.Hash(key, uint64(1000+i)))
		}
	}
	for tick := range u.ticks {
		dropout := key
		if tick > 0 {
			dropout = grad.Hash(key, uint64(100+tick))
		}
		y, _ := n.forward(t, x, u.keep, dropout)
		want := t.Const(len(rows), n.outputs)
		for i, r := range rows {
			u.set.output(want.Val[i*n.outputs:], r+tick)
		}
		u.terms[tick] = grad.Term{Loss: t.MSE(y, want), Weight: 1 / float32(u.ticks)}
		if tick+1 == u.ticks {
			break
		}
		recorded := t.Const(len(rows), n.inputs)
		for i, r := range rows {
			u.set.input(recorded.Val[i*n.inputs:], r+tick+1)
		}
		x = t.Concat(t.Columns(recorded, 0, u.trajectory), t.Affine(t.Columns(y, u.bones[0], u.bones[1]), u.scale, u.shift))
	}
	if u.ticks == 1 {
		return u.terms[0].Loss
	}
	return t.WeightedSum(u.terms...)
}

// disturb adds normal noise of the given deviation to v.
func disturb(v []float32, deviation float32, key uint64) {
	uniform := func(i int) float64 { return (float64(grad.Hash(key, uint64(i))>>11) + 0.5) / (1 << 53) }
	for i := range v { // Box and Muller
		v[i] += deviation * float32(math.Sqrt(-2*math.Log(uniform(2*i)))*math.Cos(2*math.Pi*uniform(2*i+1)))
	}
}

// load takes the weights of a trained network of the same form and data.
func (n *mannNet) load(from *netruntime.Net, set *dataset.MANN) error {
	get := func(name string, want int) ([]float32, error) {
		t, ok := from.Tensor(name)
		if !ok || len(t.Data) != want {
			return nil, fmt.Errorf("recipes: the network to start from has %d values in %q, want %d: train one of the same layout, experts and hidden units", len(t.Data), name, want)
		}
		return t.Data, nil
	}
	for name, want := range map[string][]float32{"x_mean": set.XMean, "x_std": set.XStd, "y_mean": set.YMean, "y_std": set.YStd} {
		have, err := get(name, len(want))
		if err != nil {
			return err
		}
		for i, v := range want {
			if math.Abs(float64(have[i]-v)) > 1e-3*(math.Abs(float64(v))+1e-3) {
				return fmt.Errorf("recipes: the network to start from was trained on other data: %s[%d] is %g, here %g", name, i, have[i], v)
			}
		}
	}
	for i, p := range n.params() {
		d, err := get(p.Name, len(p.Val))
		if err != nil {
			return err
		}
		if l := i - 6; l >= 0 && l%2 == 0 {
			n.setExperts(l/2, d)
		} else {
			copy(p.Val, d)
		}
	}
	return nil
}

// setExperts is the inverse of expertTensor.
func (n *mannNet) setExperts(l int, w []float32) {
	in, out := n.motionOut[l], n.motionOut[l+1]
	for k := range n.experts {
		dst, src := n.expertW[l].Val[k*in*out:][:in*out], w[k*in*out:][:in*out]
		for i := range in {
			for o := range out {
				dst[i*out+o] = src[o*in+i]
			}
		}
	}
}
