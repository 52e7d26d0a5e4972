package recipes

import (
	"log/slog"
	"time"

	"mannequin/netruntime/grad"
	"mannequin/offline/train"
)

// NewMANNStep returns a function that does a training step of the paper's
// network for the authors' dog after the other, on noise: for measuring them.
// close ends its workers.
func NewMANNStep(batch, threads int, seed uint64) (step func() error, close func(), err error) {
	const rows, inputs, outputs = 4096, 480, 363
	columns := make([]int, 19)
	for i := range columns {
		columns[i] = 25 * i
	}
	m := PaperMANN()
	net := newMANNNet(inputs, outputs, m.Experts, m.Hidden, m.GatingHidden, columns)
	net.init(seed)
	xs, ys := make([]float32, rows*inputs), make([]float32, rows*outputs)
	uniform(xs, 1.7, grad.Hash(seed, 100)) // of about unit variance, as normalised data
	uniform(ys, 1.7, grad.Hash(seed, 101))
	job := &train.Job{
		Params: net.params(),
		Loss: func(t *grad.Tape, rows []int32, _ bool, key uint64) *grad.Mat {
			x, want := t.Const(len(rows), inputs), t.Const(len(rows), outputs)
			for i, r := range rows {
				copy(x.Val[i*inputs:], xs[int(r)*inputs:][:inputs])
				copy(want.Val[i*outputs:], ys[int(r)*outputs:][:outputs])
			}
			y, _ := net.forward(t, x, m.Keep, key)
			return t.MSE(y, want)
		},
		Samples: rows, HeldOut: 1, Batch: batch, Epochs: m.Epochs, Seed: seed, Optimizer: m.AdamW, Schedule: m.Schedule,
		Checkpoint: "none", Every: time.Hour, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Time{} },
	}
	pool := grad.NewPool(threads)
	if step, err = job.Stepper(pool); err != nil {
		pool.Close()
		return nil, nil, err
	}
	return step, pool.Close, nil
}
