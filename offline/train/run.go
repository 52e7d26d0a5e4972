package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"mannequin/internal/kernel"
	"mannequin/netruntime/grad"
)

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

	now adamW // the optimiser's constants of the step

	unwritten map[string]error // files that the last attempt did not write
}

// Run trains until the epochs or the limit are over or ctx is done. In every
// case it leaves a checkpoint that Resume continues from, and returns the
// report. An error means that the run could not go on, for a checkpoint that
// does not fit or a loss that is not finite, or with a report that a file could
// not be written in the end.
func (j *Job) Run(ctx context.Context, pool *kernel.Pool) (*Report, error) {
	if err := j.Validate(); err != nil {
		return nil, err
	}
	r := &run{Job: j, pool: pool, tape: grad.NewTape(pool), steps: j.Samples / j.Batch, state: newState(j.Params)}
	if err := r.load(); err != nil {
		return nil, err
	}
	r.attach()
	r.resumed, r.before = r.state.Total, r.state.Elapsed
	r.since, r.saved = j.Now(), j.Now()
	s := r.state
	switch {
	case len(s.History) == 0:
		if err := r.evaluate(0); err != nil {
			return nil, err
		}
	case s.BestEpoch > 0:
		r.save(s.best, r.report())
	}
	s.Ended = ""
	for s.Epoch < j.Epochs {
		if r.overLimit() {
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
	r.try("checkpoint", func() error { return s.write(j) })
	rep, err := r.finish()
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, what := range slices.Sorted(maps.Keys(r.unwritten)) {
		failed = append(failed, r.unwritten[what])
	}
	return rep, errors.Join(failed...)
}

// overLimit reports whether the time is over or, before an epoch, whether the
// epoch would end beyond the limit if it takes as long as the last one.
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
		// A young run saves more often: it never loses much of what it has.
		if r.since.Sub(r.saved) >= min(r.Every, 10*time.Second+s.Elapsed/4) {
			r.try("checkpoint", func() error { return s.write(r.Job) })
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
	r.begin(m, decay)
	r.tape.Backward(loss)
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
		r.try("loss curves", func() error { return WriteCurves(r.Curves, s.History) })
	}
	if s.Epoch > 0 && (s.BestEpoch == 0 || l < s.Best) {
		s.keep(l)
		r.save(s.best, r.report())
	}
	return nil
}

func (r *run) save(best [][]float32, rep *Report) {
	if r.Save != nil {
		r.try("model", func() error { return r.Save(best, rep) })
	}
}

// try writes one of the run's files. A full disk is no reason to lose hours of
// training: what was written before stays, and the next time may succeed. The
// run reports the files that were not written in the end.
func (r *run) try(what string, write func() error) {
	if r.unwritten == nil {
		r.unwritten = map[string]error{}
	}
	delete(r.unwritten, what)
	if err := write(); err != nil {
		r.Log.Warn(what+" not written", "error", err)
		r.unwritten[what] = err
	}
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
		r.try("loss curves", func() error { return WriteCurves(r.Curves, rep.Curve) })
	}
	if s.BestEpoch == 0 || l < s.Best {
		rep.Best, rep.BestEpoch = l, s.Epoch+1
		now := make([][]float32, len(r.Params))
		for i, p := range r.Params {
			now[i] = p.Val
		}
		r.save(now, rep)
	}
	return rep, nil
}
