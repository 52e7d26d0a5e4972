package train

import (
	"log/slog"
	"slices"
)

// Warnings logs what may spoil a training or its result: the first warnings of each kind, and in the
// end the number of the others.
type Warnings struct {
	log   *slog.Logger
	kinds []string // in the order of their first warnings
	count map[string]int
}

// Kinds of warnings that Run adds.
const (
	WarnLoss   = "loss"   // a loss explodes
	WarnResult = "result" // the best weights are the initial ones
)

// mostWarnings is the number of warnings of a kind that are logged.
const mostWarnings = 5

// NewWarnings returns a list without warnings.
func NewWarnings(log *slog.Logger) *Warnings { return &Warnings{log: log, count: map[string]int{}} }

// Add adds a warning. args are as for slog.
func (w *Warnings) Add(kind, message string, args ...any) {
	if w.count[kind]++; w.count[kind] == 1 {
		w.kinds = append(w.kinds, kind)
	}
	if w.count[kind] <= mostWarnings {
		w.log.Warn(message, args...)
	}
}

// Count returns the number of warnings so far.
func (w *Warnings) Count() (n int) {
	for _, c := range w.count {
		n += c
	}
	return n
}

// end logs how many warnings of each kind were not logged.
func (w *Warnings) end() {
	for _, kind := range w.kinds {
		if n := w.count[kind] - mostWarnings; n > 0 {
			w.log.Warn("more warnings of this kind", "kind", kind, "more", n)
		}
	}
}

// A step's loss explodes if it is stepFactor times the median of the last recentSteps. A held-out loss
// explodes if it is heldOutFactor times the best one. Losses that a good run is known to have vary far
// less.
const (
	stepFactor    = 100
	heldOutFactor = 10
	recentSteps   = 33
	fewSteps      = 9 // without as many no step is checked
)

// recent holds the losses of the last steps.
type recent struct {
	loss, sorted [recentSteps]float64
	steps        int // so far
}

// usual returns the median of the losses, or 0 if there are too few, and adds one.
func (c *recent) usual(loss float64) (median float64) {
	if n := min(c.steps, recentSteps); n >= fewSteps {
		c.sorted = c.loss
		slices.Sort(c.sorted[:n])
		median = c.sorted[n/2]
	}
	c.loss[c.steps%recentSteps] = loss
	c.steps++
	return median
}

// watchStep warns of a step whose loss explodes, after it, and names the worst of its samples.
func (r *run) watchStep(loss float64) {
	usual := r.recent.usual(loss)
	if usual == 0 || loss <= stepFactor*usual {
		return
	}
	s := r.state
	args := []any{"epoch", s.Epoch + 1, "step", s.Step, "loss", loss, "usual", usual}
	if r.warn.count[WarnLoss] < mostWarnings {
		var keep snapshot
		keep.take(s) // Loss may change frozen parameters
		worst, most := r.rows[:1], 0.0
		for i := range r.rows {
			r.tape.Reset()
			if l := float64(r.Loss(r.tape, r.rows[i:i+1], false, r.key()).Val[0]); l > most {
				worst, most = r.rows[i:i+1], l
			}
		}
		keep.restore(s)
		args = append(args, "worst_sample", listed(worst, r.names(worst, false)))
	}
	r.warn.Add(WarnLoss, "the loss of a step explodes: samples may have outliers, or the learning rate is too high", args...)
}

// watchHeldOut warns of a held-out loss that explodes.
func (r *run) watchHeldOut(loss float64) {
	if best := r.best(); loss > heldOutFactor*best {
		r.warn.Add(WarnLoss, "the held-out loss explodes: the learning rate may be too high, or recordings have outliers",
			"epoch", r.state.Epoch, "held_out", loss, "best", best, "best_epoch", r.state.BestEpoch)
	}
}

// watchResult warns if training has not helped.
func (r *run) watchResult(rep *Report) {
	if rep.BestEpoch == 0 && rep.Ended != EndInterrupted {
		r.warn.Add(WarnResult, "training has not helped: the model has the weights from the start, because no later ones have a lower held-out loss",
			"held_out_before", rep.Initial, "held_out", rep.HeldOut)
	}
	rep.Warnings = r.warn.Count()
}
