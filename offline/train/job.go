package train

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"mannequin/internal/kernel"
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
	Every      time.Duration // how often to write it; it is also written at the end
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

// run is a Job in progress.
type run struct {
	*Job
	tape    *grad.Tape
	pool    *kernel.Pool
	state   *state
	perm    []int32 // the epoch's order of samples
	rows    []int32
	steps   int   // per epoch
	resumed int64 // steps and time that earlier runs did
	before  time.Duration
	since   time.Time // when Elapsed was last brought up to date
	saved   time.Time
}

// Run trains until the epochs or the limit are over or ctx is done. In every
// case it leaves a checkpoint that Resume continues from, and returns the
// report. An error means that the run could not go on: a checkpoint that does
// not fit, a file that cannot be written, a loss that is not finite.
func (j *Job) Run(ctx context.Context, pool *kernel.Pool) (*Report, error) {
	if err := j.Validate(); err != nil {
		return nil, err
	}
	r := &run{Job: j, pool: pool, tape: grad.NewTape(pool), steps: j.Samples / j.Batch, state: newState(j.Params)}
	if err := r.load(); err != nil {
		return nil, err
	}
	r.resumed, r.before = r.state.Total, r.state.Elapsed
	r.since, r.saved = j.Now(), j.Now()
	s := r.state
	switch {
	case len(s.History) == 0:
		if err := r.evaluate(0); err != nil {
			return nil, err
		}
	case s.BestEpoch > 0:
		if err := r.save(s.best, r.report()); err != nil {
			return nil, err
		}
	}
	s.Ended = ""
	for s.Epoch < j.Epochs {
		if s.Step == 0 && r.epochOverLimit() {
			s.Ended = EndLimit
			break
		}
		ended, err := r.epoch(ctx)
		if err != nil {
			return nil, err
		}
		if ended != "" {
			s.Ended = ended
			break
		}
	}
	if s.Ended == "" {
		s.Ended = EndEpochs
	}
	r.tick()
	if err := s.write(j); err != nil {
		return nil, err
	}
	return r.finish()
}

// epochOverLimit reports whether one more epoch, if it takes as long as the
// last one, would end more than it is worth beyond the limit.
func (r *run) epochOverLimit() bool {
	if r.Limit == 0 {
		return false
	}
	r.tick()
	if r.state.Elapsed >= r.Limit {
		return true
	}
	h := r.state.History
	if len(h) < 2 {
		return false
	}
	last := h[len(h)-1].Seconds - h[len(h)-2].Seconds
	return r.state.Elapsed.Seconds()+last > r.Limit.Seconds()
}

// tick brings the elapsed time up to date.
func (r *run) tick() {
	now := r.Now()
	r.state.Elapsed += now.Sub(r.since)
	r.since = now
}

// epoch does the rest of the current epoch, and says why the run ends if it
// does.
func (r *run) epoch(ctx context.Context) (ended string, err error) {
	s := r.state
	r.shuffle(s.Epoch)
	for s.Step < r.steps {
		if ctx.Err() != nil {
			return EndInterrupted, nil
		}
		if err := r.step(); err != nil {
			return "", err
		}
		r.tick()
		if r.Progress != nil {
			r.Progress(r.progress())
		}
		if s.Step == r.steps {
			break // the epoch's end follows, also when its time is over
		}
		if r.since.Sub(r.saved) >= r.Every {
			// A full disk is no reason to lose the run: the last checkpoint
			// stays, and the next one may succeed.
			if err := s.write(r.Job); err != nil {
				r.Log.Warn("no checkpoint written", "error", err)
			}
			r.saved = r.since
		}
		if r.Limit > 0 && s.Elapsed >= r.Limit {
			return EndLimit, nil
		}
	}
	train := s.Sum / float64(r.steps)
	s.Epoch, s.Step, s.Sum = s.Epoch+1, 0, 0
	return "", r.evaluate(train)
}

func (r *run) progress() Progress {
	s := r.state
	own := s.Elapsed - r.before // of this run, which did s.Total−r.resumed steps
	perStep := own.Seconds() / float64(max(1, s.Total-r.resumed))
	left := perStep * float64(int64(r.Epochs)*int64(r.steps)-s.Total)
	if r.Limit > 0 {
		left = min(left, (r.Limit - s.Elapsed).Seconds())
	}
	left = max(left, 0)
	return Progress{
		Epoch: s.Epoch, Epochs: r.Epochs, Step: s.Step, Steps: r.steps,
		Loss: s.Sum / float64(s.Step), HeldOut: s.History[len(s.History)-1].HeldOut,
		SamplesPerSec: float64(r.Batch) / max(perStep, 1e-9),
		Elapsed:       s.Elapsed, Left: time.Duration(left * float64(time.Second)),
		Done: s.Elapsed.Seconds() / max(s.Elapsed.Seconds()+left, 1e-9),
	}
}

// step does one optimiser step.
func (r *run) step() error {
	s := r.state
	r.rows = append(r.rows[:0], r.perm[s.Step*r.Batch:(s.Step+1)*r.Batch]...)
	r.tape.Reset()
	loss := r.Loss(r.tape, r.rows, false, grad.Hash(grad.Hash(r.Seed, 1), uint64(s.Total)))
	r.tape.Backward(loss)
	l := float64(loss.Val[0])
	if math.IsNaN(l) || math.IsInf(l, 0) {
		return fmt.Errorf("train: the loss became %v in epoch %d, step %d: the data holds values that are not finite, or the learning rate is too high", l, s.Epoch+1, s.Step+1)
	}
	s.Sum += l
	m := r.Schedule.At(s.Epoch, float64(s.Step)/float64(r.steps))
	_, length := r.Schedule.Cycle(s.Epoch)
	decay := r.AdamW.Decay * math.Sqrt(float64(r.Batch)/(float64(r.Samples)*float64(length)))
	s.Step++
	s.Total++
	r.update(m*r.AdamW.Rate, m*decay)
	return nil
}

// shuffle makes the order of epoch's samples, from the seed and the epoch
// alone.
func (r *run) shuffle(epoch int) {
	if r.perm == nil {
		r.perm = make([]int32, r.Samples)
	}
	key := grad.Hash(grad.Hash(r.Seed, 2), uint64(epoch))
	for i := range r.perm {
		k := int(grad.Hash(key, uint64(i)) % uint64(i+1))
		r.perm[i] = r.perm[k]
		r.perm[k] = int32(i)
	}
}

// heldOut returns the mean loss over the held-out set.
func (r *run) heldOut() (float64, error) {
	const batch = 256
	var sum float64
	for at := 0; at < r.HeldOut; at += batch {
		r.rows = r.rows[:0]
		for i := at; i < min(at+batch, r.HeldOut); i++ {
			r.rows = append(r.rows, int32(i))
		}
		r.tape.Reset()
		sum += float64(r.Loss(r.tape, r.rows, true, 0).Val[0]) * float64(len(r.rows))
	}
	if l := sum / float64(r.HeldOut); !math.IsNaN(l) && !math.IsInf(l, 0) {
		return l, nil
	}
	return 0, errors.New("train: the held-out loss is not finite: the data holds values that are not finite, or the learning rate is too high")
}

// evaluate ends an epoch: a point on the curve, and the weights if they are
// the best so far.
func (r *run) evaluate(train float64) error {
	s := r.state
	l, err := r.heldOut()
	if err != nil {
		return err
	}
	r.tick()
	rate := r.AdamW.Rate * r.Schedule.At(max(0, s.Epoch-1), float64(min(1, s.Epoch)))
	s.History = append(s.History, Point{Epoch: float64(s.Epoch), Train: train, HeldOut: l, Rate: rate, Seconds: s.Elapsed.Seconds()})
	r.Log.Info("epoch", "done", s.Epoch, "of", r.Epochs, "train", train, "held_out", l, "seconds", math.Round(s.Elapsed.Seconds()))
	if r.Curves != "" && s.Epoch > 0 {
		if err := WriteCurves(r.Curves, s.History); err != nil {
			return err
		}
	}
	if s.Epoch > 0 && (s.BestEpoch == 0 || l < s.Best) {
		s.keep(l)
		return r.save(s.best, r.report())
	}
	return nil
}

func (r *run) save(best [][]float32, rep *Report) error {
	if r.Save == nil {
		return nil
	}
	return r.Save(best, rep)
}

func (r *run) report() *Report {
	s := r.state
	last := s.History[len(s.History)-1]
	return &Report{
		Ended: s.Ended, Epochs: s.Epoch, Steps: s.Total, Resumed: r.resumed, Seconds: s.Elapsed.Seconds(),
		SamplesPerSec: float64(s.Total) * float64(r.Batch) / max(s.Elapsed.Seconds(), 1e-9),
		Initial:       s.History[0].HeldOut, Train: last.Train, HeldOut: last.HeldOut, Best: s.Best, BestEpoch: s.BestEpoch, Curve: s.History,
	}
}

// finish makes the report. A run whose limit fell into an epoch is evaluated
// once more; that point is not part of the checkpoint, so that a continued
// run is none the wiser.
func (r *run) finish() (*Report, error) {
	s := r.state
	rep := r.report()
	if s.Ended != EndLimit || s.Step == 0 {
		return rep, nil
	}
	l, err := r.heldOut()
	if err != nil {
		return nil, err
	}
	rep.Train, rep.HeldOut = s.Sum/float64(s.Step), l
	part := float64(s.Step) / float64(r.steps)
	rep.Curve = append(slices.Clone(s.History), Point{Epoch: float64(s.Epoch) + part, Train: rep.Train, HeldOut: l,
		Rate: r.AdamW.Rate * r.Schedule.At(s.Epoch, part), Seconds: s.Elapsed.Seconds()})
	if r.Curves != "" {
		if err := WriteCurves(r.Curves, rep.Curve); err != nil {
			return nil, err
		}
	}
	if s.BestEpoch == 0 || l < s.Best {
		rep.Best, rep.BestEpoch = l, s.Epoch+1
		now := make([][]float32, len(r.Params))
		for i, p := range r.Params {
			now[i] = p.Val
		}
		return rep, r.save(now, rep)
	}
	return rep, nil
}
