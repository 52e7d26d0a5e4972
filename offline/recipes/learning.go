package recipes

import (
	"context"
	"encoding/json"
	"errors"

	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// Learning is how a network of motion in windows learns: what its recipes have in
// common.
type Learning struct {
	Train, HeldOut *dataset.MotionSet

	Jitter   bool               // windows begin elsewhere in every epoch, up to half a window later
	Epochs   int                //
	Batch    int                // windows
	Seed     uint64             //
	AdamW    train.AdamW        // Decay 0 is Adam
	AdaDelta *train.AdaDelta    // if any, in place of AdamW
	Schedule train.WarmRestarts // First 0 is a single cycle over all epochs
	Steps    int                // above 0, in place of Schedule: equal parts of the epochs, each with a tenth of the rate of the one before
	Stages   train.Stages       // if any, in place of Steps and Schedule
	ClipNorm float64            // greatest norm of a step's gradient; 0 is none

	Running
}

// learnt is the part of a recipe's name that follows from Learning.
type learnt struct {
	ClipNorm float64         `json:"clip_norm"`
	Window   int             `json:"window"`
	Batch    int             `json:"batch"`
	Seed     uint64          `json:"seed"`
	AdamW    train.AdamW     `json:"adamw"`
	AdaDelta *train.AdaDelta `json:"adadelta,omitempty"`
	Schedule train.Schedule  `json:"schedule"`
}

func (l *Learning) learnt() learnt {
	return learnt{l.ClipNorm, l.Train.Length, l.Batch, l.Seed, l.AdamW, l.AdaDelta, l.schedule()}
}

// schedule returns the one of Stages, Steps or Schedule, or where both are zero one cosine
// over all epochs.
func (l *Learning) schedule() train.Schedule {
	if len(l.Stages) > 0 {
		return l.Stages
	}
	if l.Steps > 0 {
		return train.StepDecay{Every: (l.Epochs + l.Steps - 1) / l.Steps, Factor: 0.1}
	}
	s := l.Schedule
	if s.Mult == 0 {
		s.Mult, s.Clamp = 1, 0.97
	}
	if s.First == 0 {
		s.First = max(1, l.Epochs-1) // a cycle has an epoch more than its cosine
	}
	return s
}

// windows returns what makes batches of the sets.
func (l *Learning) windows() *windows { return &windows{train: l.Train, heldOut: l.HeldOut} }

var errNoneHeldOut = errors.New("recipes: nothing is held out, by which the best weights are chosen: hold out a recording")

// learn runs the job, whose parameters, loss and penalties are given, on windows
// of the sets. recipe names everything but the data that shapes the result; model
// makes the network of a model file from the best weights.
func (l *Learning) learn(ctx context.Context, w *windows, recipe any, job *train.Job,
	model func(best [][]float32, r *train.Report, recipe, hash string) (*netruntime.Net, error)) (*train.Report, error) {
	if len(l.HeldOut.Windows) == 0 {
		return nil, errNoneHeldOut
	}
	name, err := json.Marshal(recipe)
	if err != nil {
		return nil, err
	}
	job.Samples, job.HeldOut = len(l.Train.Windows), len(l.HeldOut.Windows)
	begin := job.Begin
	job.Name, job.Begin = w.name, func(epoch int) {
		if l.Jitter {
			w.key = grad.Hash(l.Seed, uint64(epoch)+1<<32)
		}
		if begin != nil {
			begin(epoch)
		}
	}
	job.DataHash, job.Recipe = motionHash(l.Train, l.HeldOut), string(name)
	job.Batch, job.Epochs, job.Seed, job.Optimizer, job.Schedule, job.ClipNorm = l.Batch, l.Epochs, l.Seed, l.AdamW, l.schedule(), l.ClipNorm
	if l.AdaDelta != nil {
		job.Optimizer = *l.AdaDelta
	}
	job.Save = func(best [][]float32, r *train.Report) error {
		n, err := model(best, r, job.Recipe, job.DataHash)
		if err != nil {
			return err
		}
		return l.save(n)
	}
	pool := grad.NewPool(l.Threads)
	defer pool.Close()
	return l.run(ctx, job, pool)
}
