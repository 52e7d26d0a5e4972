package train_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"mannequin/netruntime/grad"
	"mannequin/offline/train"
)

// Train a straight line. If the run is interrupted, another run with Resume set continues it.
func ExampleJob_Run() {
	dir, err := os.MkdirTemp("", "train")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	w, b := grad.NewParam("w", 1, 1), grad.NewParam("b", 1, 1)
	job := &train.Job{
		Params: []*grad.Param{w, b},
		Loss: func(t *grad.Tape, rows []int32, heldOut bool, key uint64) *grad.Mat {
			x, want := t.Const(len(rows), 1), t.Const(len(rows), 1)
			for i, r := range rows {
				if heldOut {
					x.Val[i] = float32(r) + 0.5
				} else {
					x.Val[i] = float32(r) / 4
				}
				want.Val[i] = 2*x.Val[i] - 1
			}
			return t.MSE(t.Dense(x, w, b), want)
		},
		Samples: 16, HeldOut: 4, DataHash: "line", Recipe: "line",
		Batch: 4, Epochs: 150, Seed: 1,
		Optimizer:  train.AdamW{Rate: 0.05, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
		Schedule:   train.WarmRestarts{First: 10, Mult: 2, Clamp: 0.9},
		Checkpoint: filepath.Join(dir, "line.ckpt"), Every: time.Minute, Resume: true,
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	pool := grad.NewPool(1)
	defer pool.Close()
	report, err := job.Run(context.Background(), pool)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("y = %.1fx %+.1f after %d epochs, ended by %s\n", w.Val[0], b.Val[0], report.Epochs, report.Ended)
	// Output: y = 2.0x -1.0 after 150 epochs, ended by epochs
}
