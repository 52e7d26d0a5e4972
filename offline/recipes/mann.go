package recipes

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/netruntime/vec"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// MANN is the recipe of the mode-adaptive network for quadrupeds (Zhang, Starke
// et al. 2018). The fields below Data shape the result, and a checkpoint of
// other values is refused.
type MANN struct {
	Train, HeldOut *dataset.MANN

	Experts      int                // K: the paper has 8 and 4
	Hidden       int                // width of the motion network's two hidden layers
	GatingHidden int                // width of the gating network's
	Keep         float32            // dropout's retention probability, in (0, 1]
	Ticks        int                // that the network runs on its own poses in a sample: see rollout; the paper has 1
	Change       float32            // weight in the loss of the error in the pose's normalised change; the paper has none
	Skate        float32            // weight in the loss of the tips' sliding over the ground; the paper has none
	Bend         float32            // weight in the loss of how fast legs bend; the paper has none
	Recover      float32            // share of the steps that ask back from where the network has run to, see recovery, from the middle of the rate's first cycle on, with Start always; the paper has none
	WarmUp       float64            // epochs in which the learning rate rises from 0; the paper has none
	ClipNorm     float64            // greatest norm of a step's gradient; 0, as in the paper, is none
	Start        *netruntime.Net    // weights to begin with; nil draws them
	Epochs       int                //
	Batch        int                //
	Seed         uint64             //
	AdamW        train.AdamW        //
	Schedule     train.WarmRestarts // First 0 is a single cycle over all epochs

	Running
}

// DefaultMANN returns our recipe without data, for a layout with phases: what
// moves best for its time (docs/mann.md has the comparison).
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
		return nil, errors.New("recipes: sliding, bending and recovery count where the network goes on from its own pose: two ticks or more")
	}
	layout := m.Train.Layout
	net := newMANNNet(layout.Inputs(), layout.Outputs(), m.Experts, m.Hidden, m.GatingHidden, layout.Gating())
	net.init(m.Seed)
	if m.Start != nil {
		if err := net.load(m.Start, m.Train.XMean, m.Train.XStd, m.Train.YMean, m.Train.YStd); err != nil {
			return nil, err
		}
	}
	pool := grad.NewPool(m.Threads)
	defer pool.Close()
	recipe, err := m.recipe()
	if err != nil {
		return nil, err
	}
	hash := dataHash(m.Train, m.HeldOut)
	trained := newRollout(m.Train, net, m.Train.Order, m.Ticks, m.Keep)
	if m.Change > 0 {
		trained.change = newChange(m.Train, m.Change)
	}
	if m.Skate > 0 || m.Bend > 0 {
		trained.legs = newLegs(m.Train, m.Skate, m.Bend)
	}
	if m.Recover > 0 {
		if trained.recovery, err = newRecovery(trained, m.Recover); err != nil {
			return nil, err
		}
	}
	heldOut := newRollout(m.HeldOut, net, nil, m.Ticks, 1)
	switch {
	case trained.samples() == 0:
		return nil, fmt.Errorf("recipes: no %d rows to train on follow each other: train on fewer ticks or more recordings", m.Ticks)
	case len(heldOut.first) == 0:
		return nil, fmt.Errorf("recipes: no %d rows that follow each other are held out, by which the best weights are chosen: hold out a recording with a train range", m.Ticks)
	}
	var first []int // rows of the step
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, isHeldOut bool, key uint64) *grad.Mat {
			first = first[:0]
			for _, i := range rows {
				if isHeldOut {
					first = append(first, int(heldOut.first[i]))
				} else {
					first = append(first, trained.start(i))
				}
			}
			if isHeldOut {
				return heldOut.loss(t, first, key)
			}
			return trained.loss(t, first, key)
		},
		Samples: trained.samples(), HeldOut: len(heldOut.first),
		Begin: func(epoch int) {
			trained.epoch = grad.Hash(m.Seed, uint64(epoch))
			if r := trained.recovery; r != nil {
				r.begun = m.Start != nil || 2*epoch > m.cycles().First
			}
		},
		Name: func(i int32, isHeldOut bool) string {
			if isHeldOut {
				return heldOut.name(int(heldOut.first[i]))
			}
			return trained.name(trained.start(i))
		},
		DataHash: hash, Recipe: recipe,
		Batch: m.Batch, Epochs: m.Epochs, Seed: m.Seed, Optimizer: m.AdamW, Schedule: m.schedule(),
		ClipNorm: m.ClipNorm,
		Save: func(best [][]float32, r *train.Report) error {
			return m.write(net, best, r, recipe, hash)
		},
	}
	return m.run(ctx, job, pool)
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

func (m *MANN) schedule() train.Schedule {
	if m.WarmUp > 0 {
		return train.WarmUp{Epochs: m.WarmUp, Then: m.cycles()}
	}
	return m.cycles()
}

// cycles returns the schedule with the length of its first cycle.
func (m *MANN) cycles() train.WarmRestarts {
	s := m.Schedule
	if s.First == 0 {
		s.First = max(1, m.Epochs-1) // a cycle has an epoch more than its cosine
	}
	return s
}

// recipe names everything but the data that shapes the result.
func (m *MANN) recipe() (string, error) {
	var ticks int // the paper's training has no name for it
	if m.Ticks > 1 {
		ticks = m.Ticks
	}
	var start string
	if m.Start != nil {
		start = netHash(m.Start)
	}
	b, err := json.Marshal(struct {
		Network      string             `json:"network"`
		Schema       string             `json:"schema"`
		Experts      int                `json:"experts"`
		Hidden       int                `json:"hidden"`
		GatingHidden int                `json:"gating_hidden"`
		Keep         float32            `json:"keep"`
		Batch        int                `json:"batch"`
		Seed         uint64             `json:"seed"`
		AdamW        train.AdamW        `json:"adamw"`
		Schedule     train.WarmRestarts `json:"schedule"`
		Ticks        int                `json:"ticks,omitempty"`
		Change       float32            `json:"change,omitempty"`
		Skate        float32            `json:"skate,omitempty"`
		Bend         float32            `json:"bend,omitempty"`
		Recover      float32            `json:"recover,omitempty"`
		WarmUp       float64            `json:"warm_up,omitempty"`
		ClipNorm     float64            `json:"clip_norm,omitempty"`
		Start        string             `json:"start,omitempty"`
	}{"mann", m.Train.Layout.Hash(), m.Experts, m.Hidden, m.GatingHidden, m.Keep, m.Batch, m.Seed, m.AdamW, m.cycles(), ticks, m.Change, m.Skate, m.Bend, m.Recover, m.WarmUp, m.ClipNorm, start})
	return string(b), err
}

// dataHash identifies the rows and the order in which an epoch visits them.
func dataHash(sets ...*dataset.MANN) string {
	h := sha256.New()
	buf := make([]byte, 0, 1<<16)
	flush := func() { h.Write(buf); buf = buf[:0] }
	for _, s := range sets {
		for _, f := range [][]float32{s.X, s.Y, s.XMean, s.XStd, s.YMean, s.YStd} {
			for _, v := range f {
				if len(buf)+4 > cap(buf) {
					flush()
				}
				buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
			}
			flush()
		}
		fmt.Fprintf(h, "%d %v", s.Rows, s.Order)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
