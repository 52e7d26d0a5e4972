package recipes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// Footstep is the recipe of the network that predicts when feet stand from the motion of a body
// over the ground: two convolutions from three channels to the duty angle of each contact and the
// pace of stepping (Holden, Saito and Komura 2016, sec. 6.3, eq. 9).
type Footstep struct {
	Hidden int     `json:"hidden"`           // channels of the first layer; the authors' release has 64
	Widths [2]int  `json:"widths"`           // of the filters in frames; the release has 65 and 45
	Keep   float32 `json:"keep"`             // dropout's retention probability, of each layer's input, in (0, 1]
	Manner int     `json:"manner,omitempty"` // values that say how the person moves, further inputs, as in Synth

	Tempo
	Training `json:"-"`
}

// DefaultFootstep returns our recipe without data.
func DefaultFootstep() Footstep {
	return Footstep{Hidden: 64, Widths: [2]int{65, 45}, Keep: 1, Manner: 6, Tempo: Tempo{Stretch: 0.15, Reverse: 0.1}, Training: Training{
		Jitter: true, Epochs: 40, Batch: 8, Seed: 1, AdamW: train.Adam(1e-3),
	}}
}

// stepTargets are the targets of a set of recordings: duty angles and the pace. NaN is unknown.
type stepTargets struct {
	clips     [][]float32 // (frames, columns) of each clip
	mean, std []float32   // (columns)
}

func newStepTargets(set *dataset.MotionSet) *stepTargets {
	s := &stepTargets{}
	for c := range set.Clips {
		s.clips = append(s.clips, set.Footsteps(c))
	}
	return s
}

// normalise measures the mean and the deviation of each column.
func (s *stepTargets) normalise(cols int) {
	s.mean, s.std = make([]float32, cols), make([]float32, cols)
	for i := range cols {
		var n, sum, square float64
		for _, c := range s.clips {
			for at := i; at < len(c); at += cols {
				if v := float64(c[at]); v == v {
					n, sum, square = n+1, sum+v, square+v*v
				}
			}
		}
		mean := sum / n
		s.mean[i], s.std[i] = float32(mean), float32(math.Sqrt(max(1e-6, square/n-mean*mean)))
	}
}

// fill returns the normalised targets of the windows rows, and a mask of the known ones in frames
// whose mask is 1.
func (s *stepTargets) fill(t *grad.Tape, w *windows, rows []int32, isHeldOut bool, mask *grad.Mat) (y, known *grad.Mat) {
	set, cols := w.set(isHeldOut), len(s.mean)
	y, known = t.Const(len(rows)*set.Length, cols), t.Const(len(rows)*set.Length, cols)
	for i, r := range rows {
		begin, step := w.play(r, isHeldOut)
		clip := s.clips[set.Windows[r].Clip]
		for f := range set.Length {
			src := clip[nearest(begin+float64(f)*step, len(clip)/cols)*cols:][:cols]
			for k, v := range src {
				if k == cols-1 { // the pace: who is played faster steps as much faster
					v *= float32(math.Abs(step))
				}
				at := (i*set.Length+f)*cols + k
				y.Val[at], known.Val[at] = (v-s.mean[k])/s.std[k], mask.Val[(i*set.Length+f)*mask.Cols]
				if v != v {
					y.Val[at], known.Val[at] = 0, 0
				}
			}
		}
	}
	return y, known
}

// Run trains and writes the model.
func (m *Footstep) Run(ctx context.Context) (*train.Report, error) {
	layout := m.Train.Layout
	if len(layout.Contacts) == 0 {
		return nil, errors.New("recipes: the frames have no contacts, which the network is to predict")
	}
	columns := make([]int, feature.MotionLen)
	for i := range columns {
		columns[i] = layout.Body() + i
	}
	if m.Manner < 0 {
		return nil, fmt.Errorf("recipes: a manner of %d values, want 0 or more", m.Manner)
	}
	if err := m.Tempo.check(); err != nil {
		return nil, err
	}
	how, err := newManners(m.Manner, m.Train, m.HeldOut)
	if err != nil {
		return nil, err
	}
	outs := len(layout.Contacts) + 1
	net := newConvNet([]int{len(columns) + m.Manner, m.Hidden, outs}, m.Widths[:], m.Seed)
	targets, heldOut := newStepTargets(m.Train), newStepTargets(m.HeldOut)
	targets.normalise(outs)
	heldOut.mean, heldOut.std = targets.mean, targets.std
	batch := m.windows()
	batch.tempo = m.Tempo
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
			x, mask, set := batch.fill(t, rows, isHeldOut)
			given := batch.given(t, x, set, columns, isHeldOut, key)
			var target, known *grad.Mat
			if isHeldOut {
				target, known = heldOut.fill(t, batch, rows, isHeldOut, mask)
			} else {
				target, known = targets.fill(t, batch, rows, isHeldOut, mask)
			}
			given = how.beside(t, given, batch, rows, isHeldOut)
			return maskedMSE(t, net.forward(t, given, set.Length, dropout(m.Keep, isHeldOut), key), target, known)
		},
	}
	return m.train(ctx, batch, m.recipe(), job, func(best trained) (*netruntime.Net, error) { return m.model(net, how, columns, targets, best) })
}

// recipe returns the beginning of the checkpoint key.
func (m *Footstep) recipe() []any {
	return []any{fields{"network": "footstep", "schema": m.Train.Layout.Hash()}, m, fields{"jitter": m.Jitter}}
}

// model makes the network of the model file: the body's raw motion in, duty angles and pace out.
func (m *Footstep) model(net convNet, how *manners, columns []int, targets *stepTargets, best trained) (*netruntime.Net, error) {
	lags, err := json.Marshal(m.Train.StepLags())
	if err != nil {
		return nil, err
	}
	meta, err := m.meta("footstep", "human-footstep", best, pipeline(len(columns)+m.Manner, nil, net.nodes("normalised", "relu", "")...), m)
	if err != nil {
		return nil, err
	}
	meta.Extra[manifold.KeyLags] = string(lags)
	if err := manifold.Describe(&meta, m.Train.Layout, m.Train.Skeleton); err != nil {
		return nil, err
	}
	mean, std := how.stats(pick(m.Train.Mean, columns), pick(m.Train.Std, columns))
	return netruntime.New(meta, slices.Concat(normTensors("normalised.", mean, std),
		normTensors("y.", targets.mean, targets.std), net.tensors(best.weights)))
}
