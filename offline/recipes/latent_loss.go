package recipes

import (
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/latent"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
)

// latentLoss computes the loss of a latentNet.
type latentLoss struct {
	m      *Latent
	net    *latentNet
	batch  *windows
	path   [2]*grad.Param
	traits *traitTargets
	ramp   float64    // weight of the divergence in this epoch
	sums   [3]float64 // of the held-out loss: error, divergence, number of clips
	raw    []float32  // a clip
}

func newLatentLoss(m *Latent, net *latentNet) (*latentLoss, error) {
	traits, err := newTraitTargets(m.Train)
	if err != nil {
		return nil, err
	}
	if m.Traits > 0 && len(traits.of) > m.Values {
		return nil, fmt.Errorf("recipes: %d latent values for %d traits, want at least one each", m.Values, len(traits.of))
	}
	return &latentLoss{m: m, net: net, batch: m.windows(), path: pathWeights(m.Train), traits: traits}, nil
}

// full returns the final weight of the divergence in nats.
func (l *latentLoss) full() float64 {
	return l.m.KL / float64(latent.Frames*l.m.Train.Layout.Columns())
}

// begin sets the weight of the divergence of an epoch.
func (l *latentLoss) begin(epoch int) {
	l.ramp = l.full() / (1 + math.Exp(-steepness*((float64(epoch)+0.5)/float64(l.m.Epochs)-l.m.Ramp)))
}

// loss is train.Job.Loss.
func (l *latentLoss) loss(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
	m, keep, weight := l.m, l.m.Keep, l.ramp
	if isHeldOut {
		keep, weight = 1, l.full() // the same in all epochs, or the first epoch would be the best
	}
	x, want := l.clips(t, rows, isHeldOut)
	mean, logVar := l.net.encode(t, x, keep, key)
	y := l.net.decode(t, sample(t, mean, logVar, grad.Hash(key, 1<<32)))
	given := func(x *grad.Mat) *grad.Mat { return t.Frames(x, latent.Padded, 0, latent.Frames) }
	miss := t.Sub(given(y), given(x))
	square, kl := t.Mean(t.Mul(miss, miss)), divergence(t, mean, logVar)
	if isHeldOut {
		n := float64(len(rows))
		l.sums = [3]float64{l.sums[0] + n*float64(square.Val[0]), l.sums[1] + n*float64(kl.Val[0]), l.sums[2] + n}
	}
	terms := []grad.Term{{Loss: square, Weight: 1}, {Loss: kl, Weight: float32(weight)}}
	if m.Path > 0 {
		body := m.Train.Layout.Body()
		steps := t.Reshape(t.Columns(miss, body, body+feature.MotionLen), len(rows), latent.Frames*feature.MotionLen)
		off := t.Dense(steps, l.path[0], l.path[1])
		terms = append(terms, grad.Term{Loss: t.SumSquares(off), Weight: float32(m.Path) / float32(len(miss.Val))})
	}
	if m.Traits > 0 {
		terms = append(terms, grad.Term{Loss: t.MSE(t.Columns(mean, 0, want.Cols), want), Weight: float32(m.Traits)})
	}
	return t.WeightedSum(terms...)
}

// losses returns the terms of the held-out loss since the last call, and the mean magnitude of the
// weights.
func (l *latentLoss) losses() map[string]float64 {
	n := max(1, l.sums[2])
	losses := map[string]float64{"squared error": l.sums[0] / n, "divergence in nats": l.sums[1] / n}
	sum := 0.0
	for _, p := range l.net.weights() {
		for _, v := range p.Val {
			sum += math.Abs(float64(v))
		}
	}
	losses["mean magnitude of weights"] = sum / float64(count(l.net.weights()))
	l.sums = [3]float64{}
	return losses
}

// clips returns a batch of whole clips, (batch·Padded, columns) normalised and padded with their
// last frame, and their traits, (batch, traits) in deviations. In training, clips are varied.
func (l *latentLoss) clips(t *grad.Tape, rows []int32, isHeldOut bool) (x, traits *grad.Mat) {
	set := l.batch.set(isHeldOut)
	cols, seen := set.Layout.Columns(), len(l.traits.of)
	x, traits = t.Const(len(rows)*latent.Padded, cols), t.Const(len(rows), seen)
	for i, r := range rows {
		at := set.Windows[r]
		from := l.batch.start(r, isHeldOut)
		l.raw = append(l.raw[:0], set.Clips[at.Clip].Rows[from*cols:][:latent.Frames*cols]...)
		if l.batch.key != 0 && !isHeldOut {
			l.m.vary(l.raw, set, &set.Clips[at.Clip], from, grad.Hash(l.batch.key, uint64(r)+1<<33))
		}
		for k, trait := range l.traits.of {
			traits.Val[i*seen+k] = float32((trait.Measure(l.raw) - l.traits.mean[k]) / l.traits.std[k])
		}
		for f := range latent.Padded {
			row := l.raw[min(f, latent.Frames-1)*cols:][:cols]
			for k, v := range row {
				x.Val[(i*latent.Padded+f)*cols+k] = (v - set.Mean[k]) / set.Std[k]
			}
		}
	}
	return x, traits
}

// vary changes a clip with raw rows, which begins at frame from of the recording clip. It is played
// up to Stretch faster or slower and turns by another amount, normally distributed with deviation
// Bend in rad/s. Few recordings turn, so a network would otherwise guess the turn from the person
// who walks. key draws both.
func (m *Latent) vary(rows []float32, set *dataset.MotionSet, clip *dataset.MotionClip, from int, key uint64) {
	cols, body := set.Layout.Columns(), set.Layout.Body()
	by := 1 + m.Stretch*(2*share01(grad.Hash(key, 0))-1)
	by = min(by, float64(clip.Frames-1-from)/(latent.Frames-1)) // the recording must be long enough
	bend := m.Bend * normal(grad.Hash(key, 1), grad.Hash(key, 2))
	for f := range latent.Frames {
		at := float64(from) + by*float64(f)
		g := min(int(at), clip.Frames-1)
		s := float32(at - float64(g))
		a, b := clip.Rows[g*cols:][:cols], clip.Rows[min(g+1, clip.Frames-1)*cols:][:cols]
		row := rows[f*cols:][:cols]
		for k := range row {
			row[k] = a[k] + s*(b[k]-a[k])
			if k >= body && k < body+feature.MotionLen {
				row[k] *= float32(by)
			}
		}
		for i := range set.Layout.Contacts {
			c := set.Layout.Contact(i)
			row[c] = float32(math.Round(float64(row[c])))
		}
		row[body+feature.MotionYaw] += float32(bend)
	}
}

// pathWeights returns the weights of a dense layer that sums the body's motion, (Frames·MotionLen)
// normalised as in set. The result is the position after each frame, as if the body never turned,
// in deviations of positions; a radian counts as a metre.
func pathWeights(set *dataset.MotionSet) [2]*grad.Param {
	n, body := latent.Frames*feature.MotionLen, set.Layout.Body()
	w, b := grad.NewParam("path.weight", n, n), grad.NewParam("path.bias", 1, n)
	for i := range n {
		for k := i % feature.MotionLen; k <= i; k += feature.MotionLen {
			w.Val[i*n+k] = set.Std[body+k%feature.MotionLen] / dataset.Rate / set.Std[0]
		}
	}
	w.Frozen, b.Frozen = true, true
	return [2]*grad.Param{w, b}
}

// traitTargets are traits with their mean and deviation over a set.
type traitTargets struct {
	of        []latent.Trait
	mean, std []float64
}

func newTraitTargets(set *dataset.MotionSet) (*traitTargets, error) {
	of, err := latent.Traits(set.Layout)
	if err != nil {
		return nil, err
	}
	v := &traitTargets{of: of, mean: make([]float64, len(of)), std: make([]float64, len(of))}
	n, cols := float64(len(set.Windows)), set.Layout.Columns()
	for k, trait := range of {
		square := 0.0
		for _, w := range set.Windows {
			x := trait.Measure(set.Clips[w.Clip].Rows[int(w.From)*cols:])
			v.mean[k] += x / n
			square += x * x / n
		}
		if v.std[k] = math.Sqrt(max(0, square-v.mean[k]*v.mean[k])); v.std[k] < 1e-6 {
			v.std[k] = 1 // all clips have the same
		}
	}
	return v, nil
}
