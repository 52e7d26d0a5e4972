package recipes

import (
	"context"
	"io"
	"log/slog"
	"time"

	"mannequin/internal/atomicfile"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/train"
)

// Running is how a recipe runs: nothing of it changes the weights, but for
// where it ends.
type Running struct {
	Threads    int           // workers; the result does not depend on it
	Limit      time.Duration // see train.Job
	Checkpoint string        // path
	Curves     string        // path of the loss curves without extension; empty is none
	Out        string        // path of the model file
	BF16       bool          // the model file stores weights as bfloat16
	Every      time.Duration // between checkpoints
	Patience   int           // see train.Job
	Resume     bool
	Progress   func(train.Progress)
	Log        *slog.Logger
	Now        func() time.Time
}

// run runs job as r says.
func (r *Running) run(ctx context.Context, job *train.Job, pool *grad.Pool) (*train.Report, error) {
	job.Patience, job.Limit, job.Checkpoint, job.Every, job.Resume = r.Patience, r.Limit, r.Checkpoint, r.Every, r.Resume
	job.Curves, job.Progress, job.Log, job.Now = r.Curves, r.Progress, r.Log, r.Now
	return job.Run(ctx, pool)
}

// save writes the model file.
func (r *Running) save(n *netruntime.Net) error {
	encode := n.Encode
	if r.BF16 {
		encode = n.EncodeBF16
	}
	return atomicfile.Write(r.Out, func(w io.Writer) error { return encode(w) })
}
