package recipes

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// steer returns the trajectory and the actions of the controller's next input, with the recorded
// ones as the player's wish. It averages the future of x and the predicted one and bends the
// result toward the recorded one, more strongly the farther ahead (see mann.Batch).
func (u *rollout) steer(t *grad.Tape, x, y, recorded *grad.Mat, rows []int, tick int) *grad.Mat {
	f := &u.future
	before := t.Columns(recorded, 0, u.before)
	if u.asIs {
		return before
	}
	bent := t.Concat(u.advance(t, x, y, recorded, rows, tick), t.Affine(t.Gather(y, f.predicted), f.toInput.scale, f.toInput.shift))
	return t.Add(t.Affine(before, f.recorded, nil), t.Affine(t.Gather(bent, f.merge), f.share, nil))
}

// advance returns the positions of the future trajectory. They are the mean of the predicted
// positions and of x's positions moved by the predicted velocities, bent toward the recorded ones
// step by step. The controller does so at every point; this does it at the samples, with even steps
// between them.
func (u *rollout) advance(t *grad.Tape, x, y, recorded *grad.Mat, rows []int, tick int) *grad.Mat {
	f := &u.future
	raw := func(m *grad.Mat) *grad.Mat { return t.Affine(t.Gather(m, f.pos), f.fromInput.scale, f.fromInput.shift) }
	drawn := t.Add(u.moved(t, raw(x), 2, rows, tick), t.Affine(t.Gather(y, f.velocities), f.toWay.scale, f.toWay.shift))
	predicted := t.Affine(t.Gather(y, f.places), f.toPlace.scale, f.toPlace.shift)
	wish := raw(recorded)
	off := t.Sub(t.Scale(t.Add(drawn, predicted), 0.5), wish)
	steps := t.Affine(t.Sub(off, later(t, off, 1)), f.stepShare, nil)
	for k := 1; k < feature.TrajFuture-1; k *= 2 { // running sums
		steps = t.Add(steps, later(t, steps, k))
	}
	return t.Affine(t.Add(wish, steps), f.toPos.scale, f.toPos.shift)
}

// later returns a matrix of samples (x, z) moved by k samples, with zeros first.
func later(t *grad.Tape, m *grad.Mat, k int) *grad.Mat {
	cols, keep := make([]int, m.Cols), make([]float32, m.Cols)
	for c := range cols {
		if c >= 2*k {
			cols[c], keep[c] = c-2*k, 1
		}
	}
	return t.Affine(t.Gather(m, cols), keep, nil)
}

// future holds the columns and weights with which the future trajectory enters the next input.
type future struct {
	// Positions: columns of the input, of the output and of the output's velocities; conversions
	// to metres and back; the remaining share of a step's distance from the wished step.
	pos, places, velocities          []int
	fromInput, toPlace, toWay, toPos affine
	stepShare                        []float32

	// Directions and velocities: columns of the output, and the conversion to the input.
	predicted []int
	toInput   affine

	// For each column of the input before the pose: the share of the recorded value; the index of
	// the value that is mixed in, among positions, directions and velocities; the share of that.
	recorded, share []float32
	merge           []int
}

func newFuture(set *dataset.MANN) (f future) {
	l, tuning := set.Layout, mann.DefaultTuning()
	n := l.InBone(0)
	f.merge, f.recorded, f.share = make([]int, n), make([]float32, n), make([]float32, n)
	for c := range n {
		f.recorded[c] = 1
	}
	const samples, perSample = feature.TrajFuture - 1, feature.TrajStep
	left := func(w float64, e float32) float64 { return math.Pow(1-w, float64(e)) }
	for s := 1; s <= samples; s++ {
		var mean float64 // over the points since the sample before
		for i := range perSample {
			mean += left(float64((s-1)*perSample+i+1)/(samples*perSample), tuning.BlendPos) / perSample
		}
		for k := range 2 {
			in, out, vel := l.InSample(feature.TrajNow+s)+k, l.OutSample(s)+k, l.OutSample(s)+feature.SampleVel+k
			f.merge[in], f.recorded[in], f.share[in] = len(f.pos), 0, 1
			f.pos, f.places, f.velocities = append(f.pos, in), append(f.places, out), append(f.velocities, vel)
			f.fromInput.add(set.XStd[in], set.XMean[in])
			f.toPlace.add(set.YStd[out], set.YMean[out])
			f.toWay.add(set.YStd[vel]/rate(set), set.YMean[vel]/rate(set))
			f.toPos.add(1/set.XStd[in], -set.XMean[in]/set.XStd[in])
			f.stepShare = append(f.stepShare, float32(mean))
		}
	}
	for s := 1; s <= samples; s++ {
		for k := feature.SampleDir; k < feature.SampleOut; k++ {
			e := tuning.BlendDir
			if k >= feature.SampleVel {
				e = tuning.BlendVel
			}
			in, out := l.InSample(feature.TrajNow+s)+k, l.OutSample(s)+k
			f.share[in] = float32(left(float64(s)/samples, e))
			f.recorded[in] = 1 - f.share[in]
			f.merge[in] = len(f.pos) + len(f.predicted)
			f.predicted = append(f.predicted, out)
			f.toInput.add(set.YStd[out]/set.XStd[in], (set.YMean[out]-set.XMean[in])/set.XStd[in])
		}
	}
	return f
}

// next returns the pose of the controller's next input after the network has made y of x; pose is
// y's pose, normalised as an input. Positions are the mean of the predicted ones and of x's
// positions moved by the predicted velocities (see mann.Batch). before and after are the positions
// in metres relative to the root of the row's own frame.
func (u *rollout) next(t *grad.Tape, x, y, pose *grad.Mat, rows []int, tick int) (next, before, after *grad.Mat) {
	p := &u.places
	before = t.Affine(t.Gather(t.Columns(x, u.before, x.Cols), p.cols), p.fromInput.scale, p.fromInput.shift)
	before = u.moved(t, before, 3, rows, tick-1) // the bones of x are relative to the root of the row before
	way := t.Affine(t.Gather(t.Columns(y, u.columns[0], u.columns[1]), p.velocities), p.toWay.scale, p.toWay.shift)
	predicted := t.Affine(t.Gather(pose, p.cols), p.fromInput.scale, p.fromInput.shift)
	after = t.Scale(t.Add(t.Add(before, way), predicted), 0.5)
	return t.Gather(t.Concat(t.Affine(after, p.toInput.scale, p.toInput.shift), pose), p.merge), before, after
}

// places holds the columns of the bones' positions in the pose, and the conversions of positions
// and velocities to metres and back.
type places struct {
	cols, velocities, merge   []int
	fromInput, toInput, toWay affine
}

func newPlaces(set *dataset.MANN) (p places) {
	l := set.Layout
	for b := range l.Joints {
		for k := range 3 {
			c := b*feature.BoneChannels + feature.BonePos + k
			in, v := l.InBone(0)+c, l.OutBone(b)+feature.BoneVel+k
			p.cols = append(p.cols, c)
			p.velocities = append(p.velocities, v-l.OutBone(0))
			p.fromInput.add(set.XStd[in], set.XMean[in])
			p.toInput.add(1/set.XStd[in], -set.XMean[in]/set.XStd[in])
			p.toWay.add(set.YStd[v]/rate(set), set.YMean[v]/rate(set))
		}
	}
	for c := range l.PoseLen() {
		k := c % feature.BoneChannels
		if c < len(l.Joints)*feature.BoneChannels && k < feature.BonePos+3 {
			p.merge = append(p.merge, c/feature.BoneChannels*3+k)
		} else {
			p.merge = append(p.merge, len(p.cols)+c)
		}
	}
	return p
}

// moved converts positions from the root's space in one frame to its space in the next. The first
// frame is on rows after each of rows. A position is width values: x and z, or x, y and z.
func (u *rollout) moved(t *grad.Tape, at *grad.Mat, width int, rows []int, on int) *grad.Mat {
	n := at.Cols
	cos, sin, shift := t.Const(len(rows), n), t.Const(len(rows), n), t.Const(len(rows), n)
	swapped, rate := make([]int, n), rate(u.set.MANN)
	for k := 0; k < n; k += width {
		x, z := k, k+width-1
		for c := x; c <= z; c++ {
			swapped[c] = x + z - c
		}
		for i, r := range rows {
			m := u.set.Output(r + on)[u.columns[1]:]
			dx, dz := float64(m[feature.RootX]/rate), float64(m[feature.RootZ]/rate)
			s, c := math.Sincos(float64(m[feature.RootYaw]) / float64(rate) * math.Pi / 180)
			row := i * n
			if y := row + k + 1; width == 3 {
				cos.Val[y], sin.Val[y], shift.Val[y] = 1, 0, 0
			}
			cos.Val[row+x], cos.Val[row+z] = float32(c), float32(c)
			sin.Val[row+x], sin.Val[row+z] = float32(-s), float32(s)
			shift.Val[row+x], shift.Val[row+z] = float32(dz*s-dx*c), float32(-dx*s-dz*c)
		}
	}
	return t.Add(t.Add(t.Mul(at, cos), t.Mul(t.Gather(at, swapped), sin)), shift)
}
