package train

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"mannequin/netruntime/grad"
)

// run is a Job in progress.
type run struct {
	*Job
	tape    *grad.Tape
	pool    *grad.Pool
	state   *state
	perm    []int32 // the epoch's order of samples
	rows    []int32
	steps   int   // per epoch
	resumed int64 // steps and time that earlier runs did
	before  time.Duration
	since   time.Time     // of the last update of Elapsed
	saved   time.Duration // Elapsed at the last checkpoint

	moment Moment      // of the step
	last   []int32     // the samples of the last step
	first  [][]float32 // the initial weights, which are the best until an epoch beats them
	back   snapshot    // the last good state

	// For clipping by norm, and with shards:
	chunks          []chunk
	mine            []chunk // those that this process updates
	shrink          float32 // factor of the gradients
	measure, change func(worker, i int)

	unwritten map[string]error // files that the last attempt failed to write

	warn   *Warnings
	recent recent
	shards *shards // nil without Job.Shards
}

func newRun(j *Job, pool *grad.Pool) (*run, error) {
	r := &run{Job: j, pool: pool, tape: grad.NewTape(pool), steps: j.Samples / j.Batch, state: newState(j.Params, j.Optimizer),
		warn: cmp.Or(j.Warnings, NewWarnings(j.Log))}
	r.cut()
	if j.Shards == 0 {
		return r, nil
	}
	var err error
	r.shards, err = newShards(r)
	return r, err
}

// Run trains until the epochs or the limit are over or ctx is done. In every case it leaves a
// checkpoint from which Resume continues, and returns the report. An error without a report means
// that the run could not continue: the checkpoint does not fit, or a value is not finite
// ([NotFiniteError]). An error with a report means that a file could not be written in the end.
func (j *Job) Run(ctx context.Context, pool *grad.Pool) (*Report, error) {
	if err := j.Validate(); err != nil {
		return nil, err
	}
	r, err := newRun(j, pool)
	if err != nil {
		return nil, err
	}
	r.first = like(j.Params)
	for i, p := range j.Params {
		copy(r.first[i], p.Val)
	}
	free, err := r.begin()
	if err != nil {
		return nil, err
	}
	defer free()
	defer r.warn.end()
	if !r.state.finite() {
		return nil, errors.New("train: the initial weights are not finite")
	}
	r.back.take(r.state)
	r.attach()
	defer r.detach()
	r.resumed, r.before = r.state.Total, r.state.Elapsed
	r.since, r.saved = j.Now(), r.before
	s := r.state
	switch {
	case len(s.History) == 0:
		if err := r.evaluate(0); err != nil {
			return nil, err
		}
	case s.BestEpoch > 0:
		r.save(s.best, r.report())
	}
	s.Ended, r.back.Ended = "", "" // running again
	for s.Epoch < j.Epochs && s.Ended == "" {
		over, err := r.agree(r.overLimit())
		if err != nil {
			return nil, err
		}
		switch {
		case over:
			s.Ended = EndLimit
		case j.Patience > 0 && s.Epoch-s.BestEpoch >= j.Patience:
			s.Ended = EndPatience
		default:
			if s.Ended, err = r.epoch(ctx); err != nil {
				return nil, err
			}
		}
	}
	s.Ended = cmp.Or(s.Ended, EndEpochs)
	r.tick()
	if err := r.good(); err != nil {
		return nil, err
	}
	r.try("checkpoint", func() error { return s.write(j) })
	if s.BestEpoch > 0 && r.unwritten["model"] != nil {
		r.save(s.best, r.report()) // the disk may have room by now
	}
	rep, err := r.finish()
	if err != nil {
		return nil, err
	}
	r.watchResult(rep)
	var failed []error
	for _, what := range slices.Sorted(maps.Keys(r.unwritten)) {
		failed = append(failed, r.unwritten[what])
	}
	return rep, errors.Join(failed...)
}

// overLimit reports whether the time is over. Before an epoch it also reports whether the epoch
// would end beyond the limit if it takes as long as the last one.
func (r *run) overLimit() bool {
	s := r.state
	if r.Limit == 0 {
		return false
	}
	r.tick()
	last := 0.0
	if n := len(s.History); n >= 2 && s.Step == 0 {
		last = s.History[n-1].Seconds - s.History[n-2].Seconds
	}
	return s.Elapsed >= r.Limit || s.Elapsed.Seconds()+last > r.Limit.Seconds()
}

// tick brings the elapsed time up to date. A clock that is set back takes no time.
func (r *run) tick() {
	now := r.Now()
	r.state.Elapsed += max(now.Sub(r.since), 0)
	r.since = now
}

// epoch does the rest of the current epoch, and says why the run ends if it
// does.
func (r *run) epoch(ctx context.Context) (ended string, err error) {
	s := r.state
	r.shuffle(s.Epoch)
	if r.Begin != nil {
		r.Begin(s.Epoch)
	}
	for s.Step < r.steps {
		if r.interrupted(ctx) {
			return EndInterrupted, nil
		}
		if err := r.step(ctx); err != nil {
			return "", err
		}
		r.tick()
		if r.Progress != nil {
			r.Progress(r.progress())
		}
		if s.Step == r.steps {
			break // the end of the epoch follows even if the time is over
		}
		due := r.decide()
		if due.save {
			if err := r.good(); err != nil {
				return "", err
			}
			r.try("checkpoint", func() error { return s.write(r.Job) })
			r.saved = s.Elapsed
		}
		if due.limit {
			return EndLimit, nil
		}
	}
	train := s.Sum / float64(r.steps)
	s.Epoch, s.Step, s.Sum = s.Epoch+1, 0, 0
	return "", r.evaluate(train)
}

// checkpointDue reports whether a checkpoint should be written. A young run saves more often, so it never
// loses much of its work.
func (r *run) checkpointDue() bool {
	return r.state.Elapsed-r.saved >= min(r.Every, 10*time.Second+r.state.Elapsed/4)
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
	p := Progress{
		Epoch: s.Epoch, Epochs: r.Epochs, Step: s.Step, Steps: r.steps,
		Loss: s.Sum / float64(s.Step), HeldOut: s.History[len(s.History)-1].HeldOut,
		SamplesPerSec: float64(r.Batch) / max(perStep, 1e-9),
		Elapsed:       s.Elapsed, Left: time.Duration(left * float64(time.Second)),
		Done: s.Elapsed.Seconds() / max(s.Elapsed.Seconds()+left, 1e-9),
	}
	if r.Ranks != nil {
		p.Ranks = slices.Clone(r.shards.took)
	}
	return p
}

// heldOut returns the mean loss over the held-out set. Ranks compute a share of it each, unless the job sums terms of all.
func (r *run) heldOut() (float64, error) {
	const batch = 256
	count, rank := 1, 0
	if r.Ranks != nil && r.Losses == nil {
		count, rank = r.shards.count, r.shards.rank
	}
	losses := make([][]float64, count) // of each rank's batches, which take turns
	n := (r.HeldOut + batch - 1) / batch
	for i := range n {
		l := 0.0
		if i%count == rank {
			r.tape.Reset()
			l = float64(r.Loss(r.tape, r.heldOutRows(i*batch, batch), true, 0).Val[0])
		}
		losses[i%count] = append(losses[i%count], l)
	}
	if count > 1 {
		if err := r.exchangeLosses(losses); err != nil {
			return 0, err
		}
	}
	var sum float64
	for i := range n {
		rows := r.heldOutRows(i*batch, batch)
		l := losses[i%count][i/count]
		if math.IsNaN(l) || math.IsInf(l, 0) {
			return 0, r.fail("held-out loss", slices.Clone(rows), true)
		}
		sum += l * float64(len(rows))
	}
	return sum / float64(r.HeldOut), nil
}

// heldOutRows returns at most n held-out samples.
func (r *run) heldOutRows(at, n int) []int32 {
	r.rows = r.rows[:0]
	for i := at; i < min(at+n, r.HeldOut); i++ {
		r.rows = append(r.rows, int32(i))
	}
	return r.rows
}

// losses returns the terms of the held-out loss that was computed last. Terms that are not finite are
// left out: a term may overflow where the loss itself does not, and a checkpoint cannot hold it.
func (r *run) losses() map[string]float64 {
	if r.Losses == nil {
		return nil
	}
	terms := r.Losses()
	maps.DeleteFunc(terms, func(_ string, v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	return terms
}

// evaluate ends an epoch: it adds a point to the curve and keeps the weights if they are the best.
func (r *run) evaluate(train float64) error {
	s := r.state
	if err := r.gatherSlots(); err != nil {
		return err
	}
	if !s.finite() {
		return r.fail("weights", r.last, false)
	}
	l, err := r.heldOut()
	if err != nil {
		return err
	}
	r.tick()
	rate := r.Optimizer.rate() * r.Schedule.At(max(0, s.Epoch-1), float64(min(1, s.Epoch)))
	s.History = append(s.History, Point{Epoch: float64(s.Epoch), Train: train, HeldOut: l, Rate: rate, Seconds: s.Elapsed.Seconds(), Losses: r.losses()})
	r.Log.Info("epoch", "done", s.Epoch, "of", r.Epochs, "train", train, "held_out", l, "seconds", math.Round(s.Elapsed.Seconds()))
	if r.Curves != "" && s.Epoch > 0 {
		r.try("loss curves", func() error { return WriteCurves(r.Curves, s.History) })
	}
	if s.Epoch > 0 {
		r.watchHeldOut(l)
	}
	if s.Epoch > 0 && l < r.best() {
		s.keep(l)
		r.save(s.best, r.report())
	}
	return r.good()
}

// best returns the lowest held-out loss so far, where epoch 0 is the initial weights.
func (r *run) best() float64 {
	if r.state.BestEpoch == 0 {
		return r.state.History[0].HeldOut
	}
	return r.state.Best
}

func (r *run) save(best [][]float32, rep *Report) {
	if r.Save != nil {
		r.try("model", func() error { return r.Save(best, rep) })
	}
}

// try writes one of the run's files. A full disk is no reason to lose hours of training: the older
// file stays, and the next attempt may succeed. The run reports the files that could not be written
// in the end.
func (r *run) try(what string, write func() error) {
	if r.unwritten == nil {
		r.unwritten = map[string]error{}
	}
	if !r.leads() {
		return
	}
	delete(r.unwritten, what)
	if err := write(); err != nil {
		r.warn.Add(what, what+" not written", "error", err)
		r.unwritten[what] = err
	}
}

func (r *run) report() *Report {
	s := r.state
	last := s.History[len(s.History)-1]
	return &Report{
		Ended: s.Ended, Epochs: s.Epoch, Steps: s.Total, Resumed: r.resumed, Seconds: s.Elapsed.Seconds(),
		SamplesPerSec: float64(s.Total) * float64(r.Batch) / max(s.Elapsed.Seconds(), 1e-9),
		Initial:       s.History[0].HeldOut, Train: last.Train, HeldOut: last.HeldOut, Best: r.best(), BestEpoch: s.BestEpoch, Curve: s.History,
	}
}

// finish makes the report. A run whose limit fell into an epoch is evaluated once more. That point
// is not part of the checkpoint, so that it does not change a continued run. If no epoch has beaten
// the initial weights, they are saved.
func (r *run) finish() (*Report, error) {
	s := r.state
	rep := r.report()
	if s.Ended != EndLimit || s.Step == 0 {
		if s.BestEpoch == 0 && s.Ended != EndInterrupted {
			r.save(r.first, rep)
		}
		return rep, nil
	}
	l, err := r.heldOut()
	if err != nil {
		return nil, err
	}
	rep.Train, rep.HeldOut = s.Sum/float64(s.Step), l
	part := float64(s.Step) / float64(r.steps)
	rep.Curve = append(slices.Clone(s.History), Point{Epoch: float64(s.Epoch) + part, Train: rep.Train, HeldOut: l,
		Rate: r.Optimizer.rate() * r.Schedule.At(s.Epoch, part), Seconds: s.Elapsed.Seconds(), Losses: r.losses()})
	if r.Curves != "" {
		r.try("loss curves", func() error { return WriteCurves(r.Curves, rep.Curve) })
	}
	switch {
	case l < r.best():
		rep.Best, rep.BestEpoch = l, s.Epoch+1
		now := make([][]float32, len(r.Params))
		for i, p := range r.Params {
			now[i] = p.Val
		}
		r.save(now, rep)
	case s.BestEpoch == 0:
		r.save(r.first, rep)
	}
	return rep, nil
}
