package train

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"mannequin/netruntime/grad"
)

// Job trains one network. Zero fields are invalid unless their comment allows them.
type Job struct {
	// Params are all parameters of the network. They hold the initial weights before Run and the
	// last ones after it. Frozen parameters are part of checkpoints and of the best weights, but
	// only Loss may change them. Run sets Update.
	Params []*grad.Param

	// Loss builds the graph for the samples rows of the training set or of the held-out set, and
	// returns the (1, 1) mean loss over them. key seeds the step's dropout; held-out evaluation has
	// no dropout.
	Loss func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat

	Samples  int    // training samples, ≥ Batch
	HeldOut  int    // held-out samples, ≥ 1
	DataHash string // identifies the data; a checkpoint made from other data is refused
	Recipe   string // identifies all options that shape the result; a checkpoint of another recipe is refused

	Batch int
	// Shards are the equal parts of a batch whose gradients are computed by themselves, so that Ranks can share
	// them: the result depends on Shards, and not on the number of ranks. Batch is a multiple of it. Loss gets the
	// rows and a key of one shard; frozen parameters that it changes get the mean over the shards. 0: batches are whole.
	Shards int
	// GradientsBF16 rounds the gradients of shards and their sums to bfloat16, in which Ranks send them: half the
	// bytes. It needs Shards, and the result does not depend on the number of ranks either.
	GradientsBF16 bool
	Ranks         Ranks // the processes that train together, at most Shards; nil: this one alone

	Epochs int
	Seed   uint64

	Optimizer Optimizer
	Schedule  Schedule

	// The penalty L1·Σ|w| + L2·Σw² is added to the loss but not to the reported losses. ≥ 0; 0:
	// none.
	L1, L2    float64
	Penalised []*grad.Param // parameters with the penalty; nil: all of Params

	// Gradients with penalties are scaled so that their Euclidean norm over all parameters is at
	// most ClipNorm. Then each value is clamped to ±ClipValue. 0 leaves out either.
	ClipNorm, ClipValue float64

	// Patience ends the run after this number of epochs in a row without a better held-out loss. 0:
	// never.
	Patience int

	// Begin is called with the 0-based epoch before its first step, and when a run is resumed in
	// it. It sets what changes from epoch to epoch, such as the noise that Loss adds. It may be
	// nil.
	Begin func(epoch int)

	// Losses is called after every evaluation of the held-out set and returns the terms of its loss
	// by name, for the curves. It may be nil.
	Losses func() map[string]float64

	// Name says where a sample comes from, for the report of a loss that is not finite. It may be
	// nil.
	Name func(row int32, heldOut bool) string

	// Limit ends the run early; 0: no limit. It counts the time of training and evaluation, without
	// loading data, over all runs that a resumed one continues. A run ends after the last whole
	// epoch that fits, so runs with the same limit on the same machine agree. Only an epoch that
	// takes longer than expected is cut short.
	Limit time.Duration

	Checkpoint string        // path of the checkpoint file; a second run with it is refused
	Every      time.Duration // time between checkpoints; shorter at first, and one is written at the end
	Resume     bool          // continue from Checkpoint if it exists

	// Curves is the path, without extension, of the loss curves: .csv and .png are written at the
	// end of every epoch. Empty: none.
	Curves string
	// Save is called with the weights of the lowest held-out loss so far: after each epoch that beats
	// all before, where epoch 0 is the initial weights, and at the start of a resumed run. If no epoch
	// does it is called at the end, with the initial weights. best[i] are the values of Params[i]. It
	// may be nil.
	Save func(best [][]float32, r *Report) error
	// Progress is called after every step; it may be nil.
	Progress func(p Progress)
	Log      *slog.Logger
	Now      func() time.Time

	// Warnings gets the warnings of the run. It may hold warnings about the data. nil: it is made.
	Warnings *Warnings
}

// Progress is the state after a step.
type Progress struct {
	Epoch, Epochs int           // 0-based epoch, and how many there are
	Step, Steps   int           // steps done of this epoch, and how many it has
	Loss          float64       // mean over the epoch's steps so far, with dropout
	HeldOut       float64       // of the last evaluation
	SamplesPerSec float64       // of this run; a sample is one of Job.Samples: for a quadruped a window of several ticks
	Elapsed, Left time.Duration // training time over all runs, and an estimate of what remains
	Done          float64       // share of the run that is over, 0 to 1
	// Ranks is the time that each rank computes in a step, a mean of the last ones. Whatever else a step takes
	// is sending, and waiting for the slowest. Nil without Job.Ranks.
	Ranks []time.Duration
}

// Point is one row of the loss curves. Epoch 0 is before the first step.
type Point struct {
	Epoch   float64 `json:"epoch"`    // epochs done
	Train   float64 `json:"train"`    // mean over the epoch's steps, with dropout; 0 for epoch 0
	HeldOut float64 `json:"held_out"` // without dropout
	Rate    float64 `json:"rate"`     // learning rate at the epoch's end
	Seconds float64 `json:"seconds"`  // of training so far

	Losses map[string]float64 `json:"parts,omitempty"` // terms of the held-out loss, see Job.Losses
}

// How a run ended.
const (
	EndEpochs      = "epochs" // all epochs are done
	EndLimit       = "limit"  // the time limit
	EndPatience    = "no improvement"
	EndInterrupted = "interrupted" // the context; the checkpoint is ready to resume
)

// Report is the outcome of a run. Losses are mean squared errors over normalised outputs.
type Report struct {
	Ended         string  `json:"ended"`
	Epochs        int     `json:"epochs"` // whole epochs done
	Steps         int64   `json:"steps"`
	Resumed       int64   `json:"resumed_at_step"`
	Seconds       float64 `json:"seconds"`            // of training, over all runs
	SamplesPerSec float64 `json:"samples_per_second"` // as in Progress
	Initial       float64 `json:"held_out_before"`    // held-out loss of the initial weights
	Train         float64 `json:"train_loss"`         // of the last epoch, with dropout
	HeldOut       float64 `json:"held_out_loss"`      // of the last weights
	Best          float64 `json:"best_held_out_loss"`
	BestEpoch     int     `json:"best_epoch"`
	Warnings      int     `json:"warnings"` // about the data and the result
	Curve         []Point `json:"curve"`
}

// Validate reports the first field that is missing or out of range.
func (j *Job) Validate() error {
	name, twice := j.twice()
	if err := firstBad(
		check{len(j.Params) > 0, "Params", "empty", "the network's parameters"},
		check{!twice, "Params", name + " twice", "every parameter once"},
		check{j.Loss != nil, "Loss", "nil", "a function"},
		check{j.Batch >= 1, "Batch", j.Batch, "at least 1"},
		check{j.Samples >= j.Batch, "Samples", j.Samples, fmt.Sprintf("at least one batch of %d", j.Batch)},
		check{j.Samples <= math.MaxInt32, "Samples", j.Samples, "less than 2³¹"},
		check{j.HeldOut >= 1 && j.HeldOut <= math.MaxInt32, "HeldOut", j.HeldOut, "1 to 2³¹−1 samples"},
		check{j.Shards == 0 || j.Shards > 0 && j.Batch%j.Shards == 0, "Shards", j.Shards, fmt.Sprintf("a divisor of the batch of %d, or 0", j.Batch)},
		check{j.Ranks == nil || j.Shards >= j.Ranks.Count(), "Shards", j.Shards, "at least one for each rank"},
		check{!j.GradientsBF16 || j.Shards > 0, "GradientsBF16", "set without Shards", "Shards"},
		check{j.Epochs >= 1, "Epochs", j.Epochs, "at least 1"},
		check{j.Optimizer != nil, "Optimizer", "nil", "AdamW or AdaDelta"},
		check{j.Schedule != nil, "Schedule", "nil", "Constant or another one"},
		check{notNegative(j.L1), "L1", j.L1, "a finite value of at least 0"},
		check{notNegative(j.L2), "L2", j.L2, "a finite value of at least 0"},
		check{notNegative(j.ClipNorm), "ClipNorm", j.ClipNorm, "a finite value of at least 0"},
		check{notNegative(j.ClipValue), "ClipValue", j.ClipValue, "a finite value of at least 0"},
		check{j.Patience >= 0, "Patience", j.Patience, "at least 0"},
		check{j.Limit >= 0, "Limit", j.Limit, "at least 0"},
		check{j.Checkpoint != "", "Checkpoint", "empty", "a path"},
		check{j.Every > 0, "Every", j.Every, "a time above 0"},
		check{j.Log != nil && j.Now != nil, "Log or Now", "nil", "a logger and a clock"}); err != nil {
		return err
	}
	slots := j.Optimizer.Slots()
	return errors.Join(
		firstBad(check{slots >= 0 && slots <= maxSlots, "Optimizer.Slots", slots, fmt.Sprintf("0 to %d", maxSlots)}),
		j.Optimizer.Validate(), j.Schedule.Validate())
}

// twice reports whether Params holds a parameter more than once, and its name.
func (j *Job) twice() (name string, is bool) {
	for i, p := range j.Params {
		if slices.Contains(j.Params[:i], p) {
			return p.Name, true
		}
	}
	return "", false
}
