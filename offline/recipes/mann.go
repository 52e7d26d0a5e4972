package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/mann"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/netruntime/vec"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// MANN is the recipe of the mode-adaptive network for quadrupeds (Zhang, Starke et al. 2018).
// Fields with a JSON name are part of the checkpoint key, in this order.
type MANN struct {
	Train, HeldOut *dataset.MANN `json:"-"`

	Experts      int                `json:"experts"`             // K: the paper has 8 and 4
	Hidden       int                `json:"hidden"`              // units of each of the motion network's two hidden layers
	GatingHidden int                `json:"gating_hidden"`       // units of each of the gating network's two hidden layers
	Keep         float32            `json:"keep"`                // dropout's retention probability, in (0, 1]
	Batch        int                `json:"batch"`               // windows per step
	Seed         uint64             `json:"seed"`                //
	AdamW        train.AdamW        `json:"adamw"`               //
	Schedule     train.WarmRestarts `json:"schedule"`            // First 0: a single cycle over all epochs
	Ticks        int                `json:"ticks,omitempty"`     // length of a window, see rollout; the paper has 1
	Change       float32            `json:"change,omitempty"`    // weight in the loss of the pose's change; the paper has none
	Skate        float32            `json:"skate,omitempty"`     // weight in the loss of the tips' sliding over the ground; the paper has none
	Bend         float32            `json:"bend,omitempty"`      // weight in the loss of how fast legs bend; the paper has none
	Recover      float32            `json:"recover,omitempty"`   // share of the steps with recovery, see there; the paper has none
	WarmUp       float64            `json:"warm_up,omitempty"`   // epochs in which the learning rate rises from 0; the paper has none
	ClipNorm     float64            `json:"clip_norm,omitempty"` // largest norm of a step's gradient; 0, as in the paper: no limit
	Follows      bool               `json:"follows,omitempty"`   // for mann.NewFollower; without a model card, which the character's file has
	Epochs       int                `json:"-"`                   //
	Start        *netruntime.Net    `json:"-"`                   // initial weights; nil: they are drawn

	RunOptions `json:"-"`
}

// DefaultMANN returns our recipe without data, for a layout with phases. It gives the best
// motion for its training time (docs/mann.md compares).
func DefaultMANN() MANN {
	m := PaperMANN()
	m.Hidden, m.Keep, m.Ticks, m.Change, m.Skate, m.Bend, m.Recover = 256, 1, 8, 0.1, 0.3, 0.1, 0.3
	m.Epochs, m.Batch, m.WarmUp, m.ClipNorm = 30, 64, 0.3, 1
	m.AdamW.Rate, m.Schedule.First = 4e-4, 0
	return m
}

// PaperMANN returns the paper's recipe without data.
func PaperMANN() MANN {
	return MANN{
		Experts: 8, Hidden: 512, GatingHidden: 32, Keep: 0.7, Ticks: 1, Epochs: 150, Batch: 32, Seed: 1,
		AdamW:    train.AdamW{Rate: 1e-4, Decay: 2.5e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
		Schedule: train.WarmRestarts{First: 10, Mult: 2, Clamp: 0.9},
	}
}

// Run trains and writes the model.
func (m *MANN) Run(ctx context.Context) (*train.Report, error) {
	if m.Skate+m.Bend+m.Recover > 0 && m.Ticks < 2 {
		return nil, errors.New("recipes: Skate, Bend and Recover need windows in which the network runs on its own poses: want two ticks or more")
	}
	layout := m.Train.Layout
	net := newMANNNet(layout.Inputs(), layout.Outputs(), m.Experts, m.Hidden, m.GatingHidden, layout.Gating())
	net.init(m.Seed)
	if m.Start != nil {
		if err := net.load(m.Start, m.Train.XMean, m.Train.XStd, m.Train.YMean, m.Train.YStd); err != nil {
			return nil, err
		}
	}
	key, err := m.recipe()
	if err != nil {
		return nil, err
	}
	training, heldOut := newRollout(m.Train, net, m.Train.Order, m.Ticks, m.Keep), newRollout(m.HeldOut, net, nil, m.Ticks, 1)
	training.asIs, heldOut.asIs = m.Follows, m.Follows
	if m.Change > 0 {
		c, err := Once(m.Ranks, func() (changes, error) { return changesOf(m.Train), nil })
		if err != nil {
			return nil, err
		}
		training.change = newChange(m.Train, m.Change, c)
	}
	if m.Skate > 0 || m.Bend > 0 {
		training.legs = newLegs(m.Train, m.Skate, m.Bend)
	}
	if m.Recover > 0 {
		starts, err := Once(m.Ranks, func() (starts, error) { return startsOf(training) })
		if err != nil {
			return nil, err
		}
		training.recovery = newRecovery(training, m.Recover, starts)
		if m.Follows {
			training.recovery.restarts(m.Train)
		}
	}
	switch {
	case training.samples() == 0:
		return nil, fmt.Errorf("recipes: the training set has no run of %d consecutive rows: train on fewer ticks or more recordings",
			m.Ticks)
	case len(heldOut.first) == 0:
		return nil, fmt.Errorf("recipes: the held-out set has no run of %d consecutive rows, so the best weights cannot be chosen: hold out a recording with a train range",
			m.Ticks)
	}
	hash, err := Once(m.Ranks, func() (string, error) { return dataHash(m.Train, m.HeldOut), nil })
	if err != nil {
		return nil, err
	}
	first := func(i int32, isHeldOut bool) (*rollout, int) { // row of a sample
		if isHeldOut {
			return heldOut, int(heldOut.first[i])
		}
		return training, training.start(i)
	}
	var firsts []int // of the step
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
			var u *rollout
			firsts = slices.Grow(firsts[:0], len(rows))[:len(rows)]
			for k, i := range rows {
				u, firsts[k] = first(i, isHeldOut)
			}
			return u.loss(t, firsts, key)
		},
		Samples: training.samples(), HeldOut: len(heldOut.first),
		Begin: func(epoch int) {
			training.epoch = grad.Hash(m.Seed, uint64(epoch))
			if r := training.recovery; r != nil {
				r.begun = m.Start != nil || 2*epoch > m.cycles().First
			}
		},
		Name: func(i int32, isHeldOut bool) string {
			u, row := first(i, isHeldOut)
			return u.name(row)
		},
		DataHash: hash, Recipe: key,
		Batch: m.Batch, Epochs: m.Epochs, Seed: m.Seed, Optimizer: m.AdamW, Schedule: m.schedule(), ClipNorm: m.ClipNorm,
	}
	return m.run(ctx, job, m.Train.Warnings, func(best trained) (*netruntime.Net, error) { return m.model(net, best) })
}

func (m *MANN) schedule() train.Schedule {
	if m.WarmUp > 0 {
		return train.WarmUp{Epochs: m.WarmUp, Then: m.cycles()}
	}
	return m.cycles()
}

// cycles returns the schedule with the length of its first cycle.
func (m *MANN) cycles() train.WarmRestarts { return wholeCycle(m.Schedule, m.Epochs) }

// recipe returns the checkpoint key.
func (m *MANN) recipe() (string, error) {
	named := *m
	named.Schedule = m.cycles()
	if m.Ticks == 1 {
		named.Ticks = 0 // the paper's training does not name it
	}
	parts := []any{fields{"network": "mann", "schema": m.Train.Layout.Hash()}, named}
	if m.Start != nil {
		parts = append(parts, fields{"start": netHash(m.Start)})
	}
	if m.Shards > 0 {
		parts = append(parts, fields{"shards": m.Shards})
	}
	if m.GradientsBF16 {
		parts = append(parts, fields{"gradients_bf16": true})
	}
	return checkpointKey(parts...)
}

// model makes the network of the model file.
func (m *MANN) model(net *mannNet, best trained) (*netruntime.Net, error) {
	set, src := m.Train, sourceOf(m.Train)
	if stride := set.Layout.Step(); stride > 1 {
		src.Name += fmt.Sprintf("-stride%d", stride)
	}
	metrics := modelMetrics{HeldOut: best.report.Best, HeldOutBefore: best.report.Initial, Epoch: best.report.BestEpoch,
		Rows: set.Rows, Visits: len(set.Order), HeldOutRows: m.HeldOut.Rows}
	described := any(m) // in a card
	if m.Follows {
		described = nil
	}
	meta, err := newMeta("mann", described, src, metrics, m.HeldOut.Clips, best)
	if err != nil {
		return nil, err
	}
	meta.Arch = "mann"
	if err := mann.Describe(&meta, set.Layout, set.Skeleton, set.RestPose()); err != nil {
		return nil, err
	}
	return netruntime.New(meta, slices.Concat(normTensors("x_", set.XMean, set.XStd), normTensors("y_", set.YMean, set.YStd),
		net.tensors(best.weights)))
}

// cardFields returns the values of the model card that are not fields of the recipe.
func (m *MANN) cardFields() fields {
	l := m.Train.Layout
	return fields{"Stride": l.Step(), "Rate": mann.Rate / l.Step(), "Layout": l, "Actions": strings.Join(l.Actions, ", "),
		"Cycle": m.cycles().First + 1}
}

// normalised reads a set's rows as the network sees them.
type normalised struct {
	*dataset.MANN
	xInv, yInv []float32 // 1/std
}

func newNormalised(set *dataset.MANN) normalised {
	inverse := func(std []float32) []float32 {
		inv := make([]float32, len(std))
		for i, v := range std {
			inv[i] = 1 / v
		}
		return inv
	}
	return normalised{set, inverse(set.XStd), inverse(set.YStd)}
}

func (n normalised) input(dst []float32, row int) {
	x := n.Input(row)
	vec.Normalize(dst[:len(x)], x, n.XMean, n.xInv)
}

func (n normalised) output(dst []float32, row int) {
	y := n.Output(row)
	vec.Normalize(dst[:len(y)], y, n.YMean, n.yInv)
}
