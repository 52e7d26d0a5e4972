package recipes

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"mannequin/internal/atomicfile"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/offline/dataset"
	"mannequin/offline/train"
)

// RunOptions say how a training runs. They do not change the weights, except for Shards and
// GradientsBF16, and that Limit and Patience may end the run earlier.
type RunOptions struct {
	Threads       int           // workers; the result does not depend on it
	Shards        int           // see train.Job
	GradientsBF16 bool          // see train.Job
	Ranks         train.Ranks   // see train.Job
	Limit         time.Duration // see train.Job
	Checkpoint    string        // path
	Curves        string        // path of the loss curves without extension; empty: none are written
	Out           string        // path of the model file
	BF16          bool          // the model file stores weights as bfloat16
	Every         time.Duration // between checkpoints
	Patience      int           // see train.Job
	Resume        bool
	Force         bool // overwrite a better model
	Progress      func(train.Progress)
	Log           *slog.Logger
	Now           func() time.Time
}

// Once returns what rank 0 makes, on all ranks: something of the whole data, of which the others read only what their
// shards need.
func Once[T any](ranks train.Ranks, make func() (T, error)) (v T, err error) {
	if ranks == nil {
		return make()
	}
	var message struct {
		Made T
		Err  string
	}
	var b bytes.Buffer
	if ranks.Rank() == 0 {
		if message.Made, err = make(); err != nil {
			message.Err = err.Error()
		}
		if err := gob.NewEncoder(&b).Encode(&message); err != nil {
			return v, err
		}
	}
	text, shared := ranks.Share(b.Bytes())
	if err := errors.Join(err, shared); err != nil {
		return v, err
	}
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&message); err != nil {
		return v, err
	}
	if message.Err != "" {
		return v, errors.New(message.Err)
	}
	return message.Made, nil
}

// trained is the outcome of a training, from which a model file is made.
type trained struct {
	weights       [][]float32 // of the best epoch, in the order of the network's params
	report        *train.Report
	key, dataHash string // of the checkpoint
}

// run runs job with these options. doubts are about its data, and model makes the network of the model
// file.
func (r *RunOptions) run(ctx context.Context, job *train.Job, doubts []dataset.Warning, model func(trained) (*netruntime.Net, error)) (*train.Report, error) {
	job.Patience, job.Limit, job.Checkpoint, job.Every, job.Resume = r.Patience, r.Limit, r.Checkpoint, r.Every, r.Resume
	job.Shards, job.GradientsBF16, job.Ranks = r.Shards, r.GradientsBF16, r.Ranks
	job.Curves, job.Progress, job.Log, job.Now = r.Curves, r.Progress, r.Log, r.Now
	job.Warnings = train.NewWarnings(r.Log)
	for _, d := range doubts {
		args := []any{"recording", d.Recording}
		if d.Kind != dataset.WarnFile {
			args = append(args, "frame", d.Frame)
		}
		job.Warnings.Add(d.Kind, d.What, args...)
	}
	there := openEarlier(r.Out)
	var kept error // the last weights were worse than those in the file
	job.Save = func(best [][]float32, report *train.Report) error {
		if !r.Force && there.better(job, report) {
			if kept == nil {
				r.Log.Info("the file holds a better model of the same data so far, which stays", "file", r.Out, "held_out", there.metrics.HeldOut)
			}
			kept = fmt.Errorf("%s holds a better model of the same data, with a held-out loss of %.4g against %.4g, and is not overwritten; the new weights are in the checkpoint: "+
				"to write them over it, add --resume --force; to write them elsewhere, add --resume --checkpoint %s and name another --out",
				r.Out, there.metrics.HeldOut, report.Best, r.Checkpoint)
			return nil
		}
		n, err := model(trained{best, report, job.Recipe, job.DataHash})
		if err != nil {
			return err
		}
		encode := n.Encode
		if r.BF16 {
			encode = n.EncodeBF16
		}
		if err := atomicfile.Write(r.Out, func(w io.Writer) error { return encode(w) }); err != nil {
			return err
		}
		there, kept = nil, nil
		return nil
	}
	pool := grad.NewPool(r.Threads)
	defer pool.Close()
	report, err := job.Run(ctx, pool)
	if report != nil && report.Ended != train.EndInterrupted {
		err = errors.Join(err, kept)
	}
	return report, err
}

// Training holds the data and the options that all recipes except MANN share.
type Training struct {
	Train, HeldOut *dataset.MotionSet

	Jitter   bool               // windows start at another frame in every epoch, up to half a window later
	Epochs   int                //
	Batch    int                // windows per step
	Seed     uint64             //
	AdamW    train.AdamW        // Decay 0 is Adam
	AdaDelta *train.AdaDelta    // replaces AdamW; nil: AdamW is used
	Schedule train.WarmRestarts // First 0: a single cycle over all epochs
	Steps    int                // above 0 it replaces Schedule: number of equal stages, each with a tenth of the rate of the one before
	Stages   train.Stages       // not empty it replaces Steps and Schedule
	ClipNorm float64            // largest norm of a step's gradient; 0: no limit

	RunOptions
}

// hyperparams end a checkpoint key.
type hyperparams struct {
	ClipNorm      float64         `json:"clip_norm"`
	Window        int             `json:"window"`
	Batch         int             `json:"batch"`
	Seed          uint64          `json:"seed"`
	AdamW         train.AdamW     `json:"adamw"`
	AdaDelta      *train.AdaDelta `json:"adadelta,omitempty"`
	Schedule      train.Schedule  `json:"schedule"`
	Shards        int             `json:"shards,omitempty"`
	GradientsBF16 bool            `json:"gradients_bf16,omitempty"`
}

func (t *Training) hyperparams() hyperparams {
	return hyperparams{t.ClipNorm, t.Train.Length, t.Batch, t.Seed, t.AdamW, t.AdaDelta, t.schedule(), t.Shards, t.GradientsBF16}
}

// fields are values of a checkpoint key that a recipe does not hold, or holds elsewhere. JSON
// sorts them by name.
type fields map[string]any

// checkpointKey returns the JSON of the parts as one object. It names everything except the
// data that shapes the result. A checkpoint with another key is refused, so the order of the
// fields must not change.
func checkpointKey(parts ...any) (string, error) {
	var b bytes.Buffer
	for _, p := range parts {
		j, err := json.Marshal(p)
		if err != nil {
			return "", err
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(j[1 : len(j)-1])
	}
	return "{" + b.String() + "}", nil
}

// schedule returns Stages, Steps or Schedule; if none is set, one cosine over all epochs.
func (t *Training) schedule() train.Schedule {
	if len(t.Stages) > 0 {
		return t.Stages
	}
	if t.Steps > 0 {
		return train.StepDecay{Every: (t.Epochs + t.Steps - 1) / t.Steps, Factor: 0.1}
	}
	s := t.Schedule
	if s.Mult == 0 {
		s.Mult, s.Clamp = 1, 0.97
	}
	return wholeCycle(s, t.Epochs)
}

// wholeCycle returns s; if First is 0, its first cycle takes all epochs.
func wholeCycle(s train.WarmRestarts, epochs int) train.WarmRestarts {
	if s.First == 0 {
		s.First = max(1, epochs-1) // a cycle is one epoch longer than its cosine
	}
	return s
}

// windows returns a source of batches from the sets.
func (t *Training) windows() *windows { return &windows{train: t.Train, heldOut: t.HeldOut} }

var errNoneHeldOut = errors.New("recipes: no recordings are held out, so the best weights cannot be chosen: hold out a recording")

// train runs the job, whose parameters, loss and penalties are set, on windows of the sets.
// recipe begins the checkpoint key, and model makes the network of the model file.
func (t *Training) train(ctx context.Context, w *windows, recipe []any, job *train.Job,
	model func(trained) (*netruntime.Net, error)) (*train.Report, error) {
	if len(t.HeldOut.Windows) == 0 {
		return nil, errNoneHeldOut
	}
	var err error
	if job.Recipe, err = checkpointKey(append(recipe, t.hyperparams())...); err != nil {
		return nil, err
	}
	if job.DataHash, err = Once(t.Ranks, func() (string, error) { return motionHash(t.Train, t.HeldOut), nil }); err != nil {
		return nil, err
	}
	job.Samples, job.HeldOut = len(t.Train.Windows), len(t.HeldOut.Windows)
	begin := job.Begin
	job.Name, job.Begin = w.name, func(epoch int) {
		if t.Jitter {
			w.key = grad.Hash(t.Seed, uint64(epoch)+1<<32)
		}
		if begin != nil {
			begin(epoch)
		}
	}
	job.Batch, job.Epochs, job.Seed, job.Optimizer, job.Schedule, job.ClipNorm = t.Batch, t.Epochs, t.Seed, t.AdamW, t.schedule(), t.ClipNorm
	if t.AdaDelta != nil {
		job.Optimizer = *t.AdaDelta
	}
	return t.run(ctx, job, t.Train.Warnings, model)
}

// meta returns the metadata of a model file that command has trained. name is the model's name
// if the folder of the recordings gives none. recipe is for the model card; nil: there is none.
func (t *Training) meta(command, name string, best trained, g *netruntime.Graph, recipe any) (netruntime.Meta, error) {
	metrics := motionMetrics(t.Train, t.HeldOut, best.report)
	meta, err := newMeta(command, recipe, sourceOfMotion(t.Train, name), metrics, namesOf(t.HeldOut), best)
	meta.Arch, meta.Graph = "graph", g
	return meta, err
}

func newMeta(command string, recipe any, src dataset.Source, k modelMetrics, heldOut []string, best trained) (meta netruntime.Meta, err error) {
	text := ""
	if recipe != nil {
		if text, err = card(command, recipe, src, k, heldOut); err != nil {
			return meta, err
		}
	}
	metrics, err := json.Marshal(k)
	return netruntime.Meta{
		Name: src.Name, Data: src.Data, License: src.License, Card: text, Metrics: string(metrics),
		CreatedBy: "mannequin train " + command, Extra: map[string]string{"recipe": best.key, "data_hash": best.dataHash},
	}, err
}

// normTensors returns the mean and the deviation of a normalisation as a model file holds them.
// Names begin with prefix.
func normTensors(prefix string, mean, std []float32) []netruntime.Tensor {
	return []netruntime.Tensor{
		{Name: prefix + "mean", Shape: []int{len(mean)}, Data: mean},
		{Name: prefix + "std", Shape: []int{len(std)}, Data: std},
	}
}

// checkCounts reports the first of the values that is not in 1 to most.
func checkCounts(what string, most int, values ...int) error {
	for _, v := range values {
		if v < 1 || v > most {
			return fmt.Errorf("recipes: %d %s, want 1 to %d", v, what, most)
		}
	}
	return nil
}
