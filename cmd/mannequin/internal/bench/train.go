package bench

import (
	"fmt"
	"log/slog"
	"math"
	"time"

	"mannequin/internal/bench/benchnet"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/recipes"
	"mannequin/offline/train"
)

// trainings returns the steps of training of a network, or nothing for one
// without. Call closeAll after the last run, also after an error.
func trainings(w *benchnet.Work, threads int) (runs []*benchnet.Run, closeAll func(), err error) {
	var ends []func()
	closeAll = func() {
		for _, end := range ends {
			end()
		}
	}
	add := func(batch int, flop float64, make func(batch, threads int, seed uint64) (func() error, func(), error)) error {
		step, end, err := make(batch, threads, 1)
		if err != nil {
			return fmt.Errorf("training %s: %w", w.Name, err)
		}
		ends = append(ends, end)
		runs = append(runs, &benchnet.Run{
			Candidate: benchnet.Candidate{Name: netruntime.Kernels(), Run: step},
			Work:      w.Name + " training", Batch: batch, FLOP: flop * float64(batch),
		})
		return nil
	}
	// Forward, gradient of the weights, gradient of the operand: three products
	// a layer, but the first needs no gradient of its operand.
	switch w.Name {
	case "mann":
		const first = 2 * 8 * 480 * 512
		for _, batch := range []int{32, 128} {
			if err := add(batch, 3*w.FLOP-first, recipes.NewMANNStep); err != nil {
				return runs, closeAll, err
			}
		}
	case "autoencoder":
		// Training depools at random, so that all taps are work.
		const layer = 2 * frames * channels * filters * width
		err = add(8, 2*layer+3*layer, newAutoencoderStep)
	}
	return runs, closeAll, err
}

// The convolutional autoencoder of Holden et al. 2016.
const frames, channels, filters, width = 240, 73, 256, 25

// newAutoencoderStep returns a function that does a training step of the
// autoencoder after the other, on noise: dropout, a convolution, max-pooling,
// random depooling, a convolution back; mean squared error and Adam.
func newAutoencoderStep(batch, threads int, seed uint64) (step func() error, end func(), err error) {
	const samples, keep = 64, 0.8
	noise := func(x []float32, bound float64, key uint64) {
		for i := range x {
			x[i] = float32(bound * (float64(grad.Hash(key, uint64(i))>>11)/(1<<52) - 1))
		}
	}
	data := make([]float32, samples*frames*channels)
	noise(data, math.Sqrt(3), grad.Hash(seed, 0))
	encode, encodeBias := grad.NewParam("encode.weight", filters, width*channels), grad.NewParam("encode.bias", 1, filters)
	decode, decodeBias := grad.NewParam("decode.weight", channels, width*filters), grad.NewParam("decode.bias", 1, channels)
	for i, p := range []*grad.Param{encode, decode} {
		noise(p.Val, math.Sqrt(6/float64(width*(channels+filters))), grad.Hash(seed, uint64(1+i)))
	}
	job := &train.Job{
		Params: []*grad.Param{encode, encodeBias, decode, decodeBias},
		Loss: func(t *grad.Tape, rows []int32, _ bool, key uint64) *grad.Mat {
			x := t.Const(len(rows)*frames, channels)
			for i, r := range rows {
				copy(x.Val[i*frames*channels:], data[int(r)*frames*channels:][:frames*channels])
			}
			h := t.ReLU(t.Conv(t.Dropout(x, keep, grad.Hash(key, 0)), frames, encode, encodeBias, width, false))
			h = t.Dropout(t.MaxPool(h, frames), keep, grad.Hash(key, 1))
			y := t.Conv(t.Depool(h, 2, true, grad.Hash(key, 2)), frames, decode, decodeBias, width, false)
			return t.MSE(y, x)
		},
		Samples: samples, HeldOut: 1, Batch: batch, Epochs: 1 << 20, Seed: seed,
		Optimizer: train.Adam(1e-5), Schedule: train.Constant{},
		Checkpoint: "none", Every: time.Hour, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Time{} },
	}
	pool := grad.NewPool(threads)
	if step, err = job.Stepper(pool); err != nil {
		pool.Close()
		return nil, nil, err
	}
	return step, pool.Close, nil
}
