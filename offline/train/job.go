package train

import (
	"fmt"
	"log/slog"
	"math"
	"time"

	"mannequin/netruntime/grad"
)

// Job trains one network. Zero fields are invalid unless said otherwise.
type Job struct {
	Params []*grad.Param // everything to train; holds the initial weights, and the last ones after Run

	// Loss builds the graph for the samples rows of the training set, or of
	// the held-out set, and returns the 1×1 mean loss over them. key seeds the
	// step's dropout; held-out evaluation is without dropout.
	Loss func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat

	Samples  int    // training samples, ≥ Batch
	HeldOut  int    // held-out samples, ≥ 1
	DataHash string // identifies the data; a checkpoint made from other data is refused
	Recipe   string // identifies everything else that shapes the result; likewise

	Batch    int
	Epochs   int
	Seed     uint64
	AdamW    AdamW
	Schedule WarmRestarts

	// Limit ends the run early; 0 is no limit. It counts the time spent
	// training and evaluating, over all the runs that a resumed one continues,
	// without loading data. A run ends after the last whole epoch that fits,
	// so that runs of the same limit on the same machine agree; only an epoch
	// that takes longer than expected is cut short.
	Limit time.Duration

	Checkpoint string        // path of the checkpoint file
	Every      time.Duration // how often to write it; more often at first, and at the end
	Resume     bool          // continue from Checkpoint where that exists

	// Curves is the path, without extension, of the loss curves: .csv and .png
	// are written at the end of every epoch. Empty is none.
	Curves string
	// Save is called with the best weights whenever an epoch has made new ones,
	// and at the start of a resumed run; best[i] are the values of Params[i].
	// It may be nil.
	Save func(best [][]float32, r *Report) error
	// Progress is called after every step; it may be nil.
	Progress func(p Progress)
	Log      *slog.Logger
	Now      func() time.Time
}

// Progress is the state after a step.
type Progress struct {
	Epoch, Epochs int           // 0-based epoch, and how many there are
	Step, Steps   int           // steps done of this epoch, and how many it has
	Loss          float64       // mean over the epoch's steps so far, with dropout
	HeldOut       float64       // of the last evaluation
	SamplesPerSec float64       // of this run
	Elapsed, Left time.Duration // training time over all runs, and an estimate of what remains
	Done          float64       // the share of the run that is over, 0 to 1
}

// Point is one row of the loss curves. Epoch 0 is before the first step.
type Point struct {
	Epoch   float64 `json:"epoch"`    // epochs done
	Train   float64 `json:"train"`    // mean over the epoch's steps, with dropout; 0 for epoch 0
	HeldOut float64 `json:"held_out"` // without dropout
	Rate    float64 `json:"rate"`     // learning rate at the epoch's end
	Seconds float64 `json:"seconds"`  // of training so far
}

// How a run ended.
const (
	EndEpochs      = "epochs"      // all epochs are done
	EndLimit       = "limit"       // the time limit
	EndInterrupted = "interrupted" // the context; the checkpoint is ready to resume
)

// Report is the outcome of a run. Losses are mean squared errors over
// normalised outputs.
type Report struct {
	Ended         string  `json:"ended"`
	Epochs        int     `json:"epochs"` // whole epochs done
	Steps         int64   `json:"steps"`
	Resumed       int64   `json:"resumed_at_step"`
	Seconds       float64 `json:"seconds"` // of training, over all runs
	SamplesPerSec float64 `json:"samples_per_second"`
	Initial       float64 `json:"held_out_before"` // held-out loss of the initial weights
	Train         float64 `json:"train_loss"`      // of the last epoch, with dropout
	HeldOut       float64 `json:"held_out_loss"`   // of the last weights
	Best          float64 `json:"best_held_out_loss"`
	BestEpoch     int     `json:"best_epoch"`
	Curve         []Point `json:"curve"`
}

// Validate reports the first field that is missing or out of range.
func (j *Job) Validate() error {
	bad := func(field string, got any, want string) error {
		return fmt.Errorf("train: %s is %v, want %s", field, got, want)
	}
	a := j.AdamW
	switch {
	case len(j.Params) == 0:
		return bad("Params", "empty", "the network's parameters")
	case j.Loss == nil:
		return bad("Loss", "nil", "a function")
	case j.Batch < 1:
		return bad("Batch", j.Batch, "at least 1")
	case j.Samples < j.Batch:
		return bad("Samples", j.Samples, fmt.Sprintf("at least one batch of %d", j.Batch))
	case j.Samples > math.MaxInt32 || j.HeldOut > math.MaxInt32:
		return bad("Samples", j.Samples, "less than 2³¹")
	case j.HeldOut < 1:
		return bad("HeldOut", j.HeldOut, "at least 1 sample")
	case j.Epochs < 1:
		return bad("Epochs", j.Epochs, "at least 1")
	case !(a.Rate > 0) || math.IsInf(a.Rate, 0):
		return bad("AdamW.Rate", a.Rate, "a finite value above 0")
	case !(a.Decay >= 0) || math.IsInf(a.Decay, 0):
		return bad("AdamW.Decay", a.Decay, "a finite value of at least 0")
	case !(a.Beta1 >= 0 && a.Beta1 < 1):
		return bad("AdamW.Beta1", a.Beta1, "a value in [0, 1)")
	case !(a.Beta2 >= 0 && a.Beta2 < 1):
		return bad("AdamW.Beta2", a.Beta2, "a value in [0, 1)")
	case !(a.Eps > 0):
		return bad("AdamW.Eps", a.Eps, "a value above 0")
	case j.Limit < 0:
		return bad("Limit", j.Limit, "at least 0")
	case j.Checkpoint == "":
		return bad("Checkpoint", "empty", "a path")
	case j.Every <= 0:
		return bad("Every", j.Every, "a time above 0")
	case j.Log == nil || j.Now == nil:
		return bad("Log or Now", "nil", "a logger and a clock")
	}
	return j.Schedule.Validate()
}
