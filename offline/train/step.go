package train

import (
	"context"
	"math"

	"mannequin/netruntime/grad"
)

// Stepper returns a function that runs the job's next step, without evaluation and files.
// Benchmarks measure it.
func (j *Job) Stepper(pool *grad.Pool) (step func() error, err error) {
	if err := j.Validate(); err != nil {
		return nil, err
	}
	r, err := newRun(j, pool)
	if err != nil {
		return nil, err
	}
	r.attach()
	s := r.state
	r.back.take(s)
	r.shuffle(0)
	return func() error {
		if s.Step == r.steps {
			s.Epoch, s.Step = s.Epoch+1, 0
			r.shuffle(s.Epoch)
		}
		return r.step(context.Background())
	}, nil
}

// key seeds the dropout of the next step.
func (r *run) key() uint64 {
	return grad.Hash(grad.Hash(r.Seed, 1), uint64(r.state.Total))
}

// step runs one step of the optimiser.
func (r *run) step(ctx context.Context) error {
	s := r.state
	r.rows = append(r.rows[:0], r.perm[s.Step*r.Batch:(s.Step+1)*r.Batch]...)
	var loss *grad.Mat
	var l float64
	if r.shards != nil {
		var err error
		if l, err = r.shardedStep(ctx); err != nil {
			return err
		}
	} else {
		r.tape.Reset()
		loss = r.Loss(r.tape, r.rows, false, r.key())
		l = float64(loss.Val[0])
	}
	if math.IsNaN(l) || math.IsInf(l, 0) {
		return r.fail("loss", r.rows, false)
	}
	s.Sum += l
	length := cycle(r.Schedule, s.Epoch, r.Epochs)
	r.moment = Moment{Step: s.Total + 1, Rate: r.Schedule.At(s.Epoch, float64(s.Step)/float64(r.steps)),
		Decay: math.Sqrt(float64(r.Batch) / (float64(r.Samples) * float64(length)))}
	s.Step++
	s.Total++
	if loss != nil {
		r.tape.Backward(loss)
		if r.whole() {
			r.pool.Run(len(r.mine), r.measure)
		}
	}
	if r.whole() {
		if err := r.update(); err != nil {
			return err
		}
	}
	r.last = append(r.last[:0], r.rows...)
	r.watchStep(l)
	return nil
}

// shuffle makes the order of an epoch's samples from the seed and the epoch.
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
