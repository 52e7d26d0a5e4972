// Package train has the commands that train networks.
package train

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"mannequin/animsys/feature"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/dataset"
	"mannequin/offline/recipes"
	"mannequin/offline/train"
)

func New() *cobra.Command {
	c := &cobra.Command{
		Use:   "train",
		Short: "Train a network from motion capture",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newTrainMANN(), newTrainManifold(), newTrainFootstep(), newTrainSynth(), newTrainKeypose(), newTrainSparse(), newTrainLatent(), newTrainNext(), newTrainSTRNN(), newTrainGuide(), newTrainRecurrent())
	return c
}

// trainFlags are those that every trainable network has.
type trainFlags struct {
	data, out, checkpoint, dtype string
	minutes, every               float64
	epochs, batch, threads       int
	patience                     int
	seed                         uint64
	resume, json                 bool

	ticks int // of a sample of train mann; 0: a sample is not counted in ticks
}

func (f *trainFlags) add(c *cobra.Command, epochs, batch int) {
	p := c.Flags()
	p.StringVar(&f.data, "data", "", "`folder` of the recordings")
	p.StringVar(&f.out, "out", "", "model `file` to write")
	p.StringVar(&f.checkpoint, "checkpoint", "", "checkpoint `file` (default: --out with .ckpt)")
	p.StringVar(&f.dtype, "dtype", "fp32", "how the model file stores weights: fp32 or bf16 (half the size)")
	p.Float64Var(&f.minutes, "minutes", 0, "stop after so many minutes of training, counted over all resumed runs; whole epochs where possible (0: no limit)")
	p.Float64Var(&f.every, "checkpoint-minutes", 2, "minutes between checkpoints, less at first")
	p.IntVar(&f.epochs, "epochs", epochs, "passes over the data")
	p.IntVar(&f.batch, "batch", batch, "samples per step")
	p.IntVar(&f.patience, "patience", 0, "stop after so many epochs without a better held-out loss (0: never)")
	p.IntVar(&f.threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	p.Uint64Var(&f.seed, "seed", 1, "seed of weights, order and dropout")
	p.BoolVar(&f.resume, "resume", false, "continue from the checkpoint, if there is one")
	p.BoolVar(&f.json, "json", false, "print the report as JSON")
	c.MarkFlagRequired("data")
	c.MarkFlagRequired("out")
}

// check reports the first flag that is out of range, as a mistake in the
// command line, and then what is missing on the disk, before hours are spent.
func (f *trainFlags) check() error {
	finite := func(v float64) bool { return v >= 0 && v <= 1e6 }
	switch {
	case !finite(f.minutes):
		return command.Usagef("--minutes is %v, want 0 (no limit) to 1000000", f.minutes)
	case !finite(f.every) || f.every == 0:
		return command.Usagef("--checkpoint-minutes is %v, want a value above 0, up to 1000000", f.every)
	case f.epochs < 1:
		return command.Usagef("--epochs is %d, want at least 1", f.epochs)
	case f.batch < 1 || f.batch > 1<<16:
		return command.Usagef("--batch is %d, want 1 to 65536", f.batch)
	case f.threads < 1 || f.threads > 1024:
		return command.Usagef("--threads is %d, want 1 to 1024", f.threads)
	case f.patience < 0:
		return command.Usagef("--patience is %d, want at least 0", f.patience)
	case f.dtype != "fp32" && f.dtype != "bf16":
		return command.Usagef("--dtype is %q, want fp32 or bf16", f.dtype)
	}
	if f.checkpoint == "" {
		f.checkpoint = cli.Stem(f.out) + ".ckpt"
	}
	if cli.SameFile(f.checkpoint, f.out) {
		return command.Usagef("--checkpoint and --out are the same file %s", f.out)
	}
	for _, file := range []string{f.out, f.checkpoint} {
		if err := cli.Writable(file); err != nil {
			return err
		}
	}
	if st, err := os.Stat(f.data); err != nil {
		return fmt.Errorf("cannot read the data folder %s: %w", f.data, errors.Unwrap(err))
	} else if !st.IsDir() {
		return fmt.Errorf("--data %s is a file, want the folder of the recordings", f.data)
	}
	return nil
}

func newTrainMANN() *cobra.Command {
	var f trainFlags
	r := recipes.DefaultMANN()
	var start string
	var reverse, phases, paper bool
	var walk, repeat, stride int
	var heldOut []string
	c := &cobra.Command{
		Use:   "mann --data DIR --out FILE",
		Short: "Train a mode-adaptive network for a quadruped",
		Long: `Train a mode-adaptive network (Zhang, Starke et al. 2018) from a folder of BVH
recordings and their labels.json. The model file holds the weights of the epoch
with the lowest held-out loss so far and is rewritten whenever an epoch beats it;
beside it come the loss curves (.loss.csv and .loss.png) and the checkpoint
(.ckpt).

Ctrl-C writes a checkpoint and stops; --resume continues, after that or after
any crash, to the same bytes as a run that was never stopped. A loss that is not
finite stops it too, at the last good state, and names the recordings and frames.
Two runs on one checkpoint are refused.

A sample is a window of --ticks ticks, in which the network goes on from its own
pose as it will at run time; samples per second count such windows. --paper gives all flags that are not named the values of the
paper's recipe: single ticks, twice as many hidden units, 150 epochs, whose
learning rate falls in cycles that end with epochs 11, 31, 71 and 150. --start
continues a network of any size, also one of other recordings of the same layout.`,
		Example: `  mannequin train mann --data data/dog --out dog.safetensors
  mannequin train mann --data data/dog --out dog.safetensors --resume
  mannequin train mann --data data/dog --out quick.safetensors --minutes 2
  mannequin train mann --data data/dog --out better.safetensors --start dog.safetensors --rate 1e-4 --epochs 10
  mannequin train mann --data data/dog --out paper.safetensors --paper --experts 4`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if start != "" {
				var err error
				if r.Start, err = models.Open(start); err != nil {
					return err
				}
				asSized(cmd, r.Start.Sizes())
			}
			if paper {
				asPaper(cmd)
			}
			switch {
			case r.Experts < 1 || r.Experts > 64:
				return command.Usagef("--experts is %d, want 1 to 64", r.Experts)
			case r.Hidden < 1 || r.Hidden > 1<<14:
				return command.Usagef("--hidden is %d, want 1 to 16384", r.Hidden)
			case r.Ticks < 1 || r.Ticks > 240:
				return command.Usagef("--ticks is %d, want 1 to 240", r.Ticks)
			case r.Schedule.First < 0 || r.Schedule.First > 1<<16:
				return command.Usagef("--cycle is %d, want 0 (all epochs) to 65536 epochs", r.Schedule.First)
			case !(r.Keep > 0 && r.Keep <= 1):
				return command.Usagef("--keep is %v, want a probability above 0, up to 1", r.Keep)
			case !(r.Change >= 0 && r.Change <= 1e3):
				return command.Usagef("--change is %v, want 0 to 1000", r.Change)
			case !(r.Skate >= 0 && r.Skate <= 1e3 && r.Bend >= 0 && r.Bend <= 1e3):
				return command.Usagef("--skate is %v and --bend %v, want 0 to 1000", r.Skate, r.Bend)
			case !(r.Recover >= 0 && r.Recover <= 1):
				return command.Usagef("--recover is %v, want 0 to 1", r.Recover)
			case r.Skate+r.Bend+r.Recover > 0 && r.Ticks == 1:
				return command.Usagef("--skate, --bend and --recover are for a network that goes on from its own pose: --ticks 2 or more, or 0 for all three")
			case !(r.WarmUp >= 0 && r.WarmUp <= 1e6):
				return command.Usagef("--warm-up is %v, want 0 to 1000000 epochs", r.WarmUp)
			case stride < 1 || stride > feature.MaxStride:
				return command.Usagef("--stride is %d, want 1 to %d frames", stride, feature.MaxStride)
			case walk < 0 || walk > 1000 || repeat < 0 || repeat > 1000:
				return command.Usagef("--walk is %d and --repeat %d, want 1 to 1000, or 0 for the default", walk, repeat)
			case !(r.ClipNorm >= 0 && r.ClipNorm <= 1e6):
				return command.Usagef("--clip is %v, want 0 to 1000000", r.ClipNorm)
			case !(r.AdamW.Rate > 0 && r.AdamW.Rate <= 1):
				return command.Usagef("--rate is %v, want a value above 0, up to 1", r.AdamW.Rate)
			}
			if err := f.check(); err != nil {
				return err
			}
			layout := feature.Dog()
			layout.Phases = phases
			if stride > 1 {
				layout.Stride = stride
			}
			return f.runMANN(cmd, &r, dataset.Options{Layout: layout, HeldOut: heldOut, Reverse: reverse, Walk: walk, Repeat: repeat, Workers: f.threads})
		},
	}
	f.add(c, r.Epochs, r.Batch)
	p := c.Flags()
	p.IntVar(&r.Experts, "experts", r.Experts, "experts of the mixture; 1 is an ordinary network")
	p.IntVar(&r.Hidden, "hidden", r.Hidden, "units of each hidden layer")
	p.IntVar(&r.Ticks, "ticks", r.Ticks, "ticks that the network runs on its own poses in training")
	p.Float32Var(&r.Keep, "keep", r.Keep, "dropout's retention `probability`")
	p.Float64Var(&r.AdamW.Rate, "rate", r.AdamW.Rate, "learning rate")
	p.IntVar(&r.Schedule.First, "cycle", r.Schedule.First, "epochs of the learning rate's first cycle, which the next one doubles (0: one cycle)")
	p.Float32Var(&r.Change, "change", r.Change, "weight in the loss of the error in the pose's change from tick to tick")
	p.Float32Var(&r.Skate, "skate", r.Skate, "weight in the loss of the paws' sliding over the ground; with --ticks above 1")
	p.Float32Var(&r.Bend, "bend", r.Bend, "weight in the loss of how fast legs bend; with --ticks above 1")
	p.Float32Var(&r.Recover, "recover", r.Recover, "share of the steps whose windows begin where the network has run to by itself, and ask it back, from half of the first cycle on (with --start always); with --ticks above 1")
	p.IntVar(&repeat, "repeat", 0, "visits per epoch of a row of trot or canter (default: what the folder says, else 11)")
	p.IntVar(&walk, "walk", 0, "visits per epoch of any other row that moves (default: a third of --repeat)")
	p.Float64Var(&r.WarmUp, "warm-up", r.WarmUp, "`epochs` in which the learning rate rises from 0: spares a network that training starts from")
	p.Float64Var(&r.ClipNorm, "clip", r.ClipNorm, "greatest `norm` of a step's gradient (0: no limit)")
	p.IntVar(&stride, "stride", 1, "frames of 1/60 s that the network goes on by at a time: one of 2 or 4 drives dogs that are far away, at a half or a quarter of the cost")
	p.BoolVar(&reverse, "reverse", true, "train on slow walks backward in time, too: recorded dogs hardly ever back up")
	p.BoolVar(&phases, "phases", true, "carry on a phase of stepping per paw beside the pose; the gating network reads them in place of the paws' velocities")
	p.BoolVar(&paper, "paper", false, "the paper's recipe, but for what other flags say")
	p.StringVar(&start, "start", "", "shipped model's `name` or model file to begin with (default: random weights)")
	p.StringSliceVar(&heldOut, "held-out", nil, cli.HeldOutUsage)
	return c
}

// asSized gives the flags that say how large a network is, where they were not
// set, the sizes of the one to start from.
func asSized(cmd *cobra.Command, sizes map[string]string) {
	for _, name := range []string{"experts", "hidden"} {
		if size, ok := sizes[name]; ok && !cmd.Flags().Changed(name) {
			if err := cmd.Flags().Set(name, size); err != nil {
				panic(err) // a model's size is no number
			}
		}
	}
}

// asPaper gives the flags that were not set the values of the paper's recipe.
func asPaper(cmd *cobra.Command) {
	flags, r := cmd.Flags(), recipes.PaperMANN()
	for name, value := range map[string]any{
		"hidden": r.Hidden, "keep": r.Keep, "ticks": r.Ticks, "change": r.Change, "skate": r.Skate, "bend": r.Bend, "recover": r.Recover,
		"epochs": r.Epochs, "batch": r.Batch, "warm-up": r.WarmUp, "clip": r.ClipNorm, "rate": r.AdamW.Rate, "cycle": r.Schedule.First,
		"walk": 1, "reverse": false, "phases": false,
	} {
		if !flags.Changed(name) {
			if err := flags.Set(name, fmt.Sprint(value)); err != nil {
				panic(err) // a flag of this table does not take what it is for
			}
		}
	}
}

// trainReport is what --json prints.
type trainReport struct {
	Model      string `json:"model"`
	Checkpoint string `json:"checkpoint"`
	Curves     string `json:"curves"`
	*train.Report
}

func (f *trainFlags) runMANN(cmd *cobra.Command, r *recipes.MANN, opt dataset.Options) error {
	show := newTrainProgress(cmd.ErrOrStderr())
	f.ticks, show.ticks = r.Ticks, r.Ticks
	log := show.log
	var err error
	if r.Train, r.HeldOut, err = dataset.BuildMANN(f.data, opt); err != nil {
		return err
	}
	log.Info("data", "rows", r.Train.Rows, "visits_per_epoch", len(r.Train.Order), "held_out_rows", r.HeldOut.Rows)
	r.Epochs, r.Batch, r.Seed = f.epochs, f.batch, f.seed
	r.RunOptions = f.running(show)
	rep, err := r.Run(cmd.Context())
	return f.report(cmd, show, rep, err)
}

// running returns how the flags say that a recipe runs.
func (f *trainFlags) running(show *trainProgress) recipes.RunOptions {
	minutes := func(m float64) time.Duration { return time.Duration(math.Round(m * float64(time.Minute))) }
	return recipes.RunOptions{
		Threads: f.threads, Patience: f.patience,
		Limit: minutes(f.minutes), Every: minutes(f.every),
		Checkpoint: f.checkpoint, Resume: f.resume,
		Curves: f.curves(),
		Out:    f.out, BF16: f.dtype == "bf16",
		Progress: show.step, Log: show.log, Now: time.Now,
	}
}

// curves is the path of the loss curves, without extension.
func (f *trainFlags) curves() string { return cli.Stem(f.out) + ".loss" }

// report ends a training: it prints how it went.
func (f *trainFlags) report(cmd *cobra.Command, show *trainProgress, rep *train.Report, err error) error {
	show.finish()
	if rep == nil {
		return err
	}
	if f.json {
		if err := cli.PrintJSON(cmd.OutOrStdout(), trainReport{f.out, f.checkpoint, f.curves() + ".csv", rep}); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if rep.Ended == train.EndInterrupted {
		return fmt.Errorf("interrupted after %d epochs and %d steps; continue with the same command and --resume", rep.Epochs, rep.Steps)
	}
	if !f.json {
		printTrainReport(cmd.OutOrStdout(), f, rep)
	}
	return nil
}

func printTrainReport(w io.Writer, f *trainFlags, rep *train.Report) {
	samples := "samples/s"
	if f.ticks > 0 {
		samples = fmt.Sprintf("samples/s of %d ticks", f.ticks)
	}
	fmt.Fprintf(w, "%s: %d epochs, %d steps in %s (%.0f %s), ended by %s\n", f.out, rep.Epochs, rep.Steps,
		time.Duration(rep.Seconds*float64(time.Second)).Round(time.Second), rep.SamplesPerSec, samples, rep.Ended)
	fmt.Fprintf(w, "held-out loss %.4f before, %.4f best (epoch %d), %.4f last; training loss %.4f\n",
		rep.Initial, rep.Best, rep.BestEpoch, rep.HeldOut, rep.Train)
}

// trainProgress shows a training under way: a bar on a terminal, else a log
// line now and then. As a writer it takes log lines, which it keeps off the bar.
type trainProgress struct {
	w     io.Writer
	tty   bool
	log   *slog.Logger
	bar   *progressbar.ProgressBar // nil until the first step, and without a terminal
	last  time.Duration            // training time at the last sign of life
	ticks int                      // of a sample; 0: a sample is not counted in ticks
}

func newTrainProgress(w io.Writer) *trainProgress {
	p := &trainProgress{w: w, tty: cli.IsTerminal(w)}
	p.log = slog.New(slog.NewTextHandler(p, nil))
	return p
}

func (p *trainProgress) Write(line []byte) (int, error) {
	if p.bar != nil {
		p.bar.Clear()
	}
	return p.w.Write(line)
}

func (p *trainProgress) finish() {
	if p.bar != nil {
		p.bar.Exit()
		fmt.Fprintln(p.w)
	}
}

func (p *trainProgress) step(s train.Progress) {
	every := 30 * time.Second
	if p.tty {
		every = 100 * time.Millisecond
	}
	if p.last != 0 && s.Elapsed-p.last < every && s.Left > 0 {
		return
	}
	p.last = s.Elapsed
	left := s.Left.Round(time.Second)
	if !p.tty {
		line := []any{"epoch", s.Epoch + 1, "of", s.Epochs, "step", s.Step, "steps", s.Steps, "train", round4(s.Loss), "held_out", round4(s.HeldOut),
			"samples_per_second", math.Round(s.SamplesPerSec)}
		if p.ticks > 0 {
			line = append(line, "ticks_per_sample", p.ticks)
		}
		p.log.Info("training", append(line, "left", left)...)
		return
	}
	const parts = 1000
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(parts, progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(24), progressbar.OptionUseANSICodes(true),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false))
	}
	p.bar.Describe(fmt.Sprintf("epoch %d/%d  loss %.4f  held out %.4f  %s left", s.Epoch+1, s.Epochs, s.Loss, s.HeldOut, left))
	p.bar.Set64(int64(parts * s.Done))
}

func round4(v float64) float64 { return math.Round(v*1e4) / 1e4 }
