// Package train has the commands that train networks.
package train

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
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

// New returns the command train.
func New() *cobra.Command {
	return cli.Group("train", "Train a network from motion capture",
		newTrainMANN(), newTrainManifold(), newTrainFootstep(), newTrainSynth(), newTrainKeypose(), newTrainSparse(), newTrainLatent(), newTrainNext(), newTrainSTRNN(), newTrainGuide(), newTrainRecurrent())
}

// trainFlags are the flags of all networks, and the folders that are read.
type trainFlags struct {
	data                   []string
	out, checkpoint, dtype string
	gradients              string
	minutes, every         float64
	epochs, batch, threads int
	shards, patience       int
	seed                   uint64
	resume, force, json    bool
	rows                   string

	ranks train.Ranks // the processes that train together; nil: this one alone
}

// add adds the flags, and the check of the files that they name before the command runs.
func (f *trainFlags) add(c *cobra.Command, epochs, batch int) {
	p := c.Flags()
	command.Out(c, &f.out, command.File, "model `file` to write")
	command.Output(c, &f.checkpoint, "checkpoint", command.File, "checkpoint `file` (default: --out with .ckpt)")
	command.Choice(c, &f.dtype, "dtype", "fp32", []string{"fp32", "bf16"}, "number format of the weights in the model file; bf16 is half the size")
	command.Number(c, &f.minutes, "minutes", 0, 0, 1e6, "minutes of training, over all resumed runs; whole epochs if possible; 0 is no limit")
	command.Number(c, &f.every, "checkpoint-minutes", 2, command.Positive, 1e6, "minutes between checkpoints, fewer at first")
	command.Number(c, &f.epochs, "epochs", epochs, 1, math.MaxInt, "passes over the data")
	command.Number(c, &f.batch, "batch", batch, 1, 1<<16, "samples per step")
	command.Number(c, &f.shards, "shards", 0, 0, 1<<16, "equal parts of a batch, a divisor of --batch; several processes divide them among each other, and the number of processes does not change the weights (docs/cluster.md); 0 is one part, for one process")
	command.Output(c, &f.rows, "rows", command.File, "`file` on a disk that all processes share: one process reads the recordings, and the others read from it what they need (default: each reads all recordings)")
	command.Choice(c, &f.gradients, "gradients", "fp32", []string{"fp32", "bf16"}, "number format of the gradients of --shards and their sums; bf16 is half as much to send between processes, and makes other weights")
	command.Number(c, &f.patience, "patience", 0, 0, math.MaxInt, "epochs without a better held-out loss after which training stops; 0 is never")
	cli.Threads(c, &f.threads)
	cli.Seed(c, &f.seed, "weights, order and dropout")
	p.BoolVar(&f.resume, "resume", false, "continue from the checkpoint, if there is one")
	p.BoolVar(&f.force, "force", false, "overwrite --out even if it is a file that is read, or holds a better model of the same data")
	cli.JSON(c, &f.json)
	c.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if f.gradients == "bf16" && f.shards == 0 {
			return command.Usagef("--gradients bf16 rounds the gradients of shards: add --shards")
		}
		return f.checkFiles(cmd)
	}
}

// folders returns the check of the arguments: up to most folders of recordings.
func (f *trainFlags) folders(what string, most int) cobra.PositionalArgs {
	want := command.Want(what, 1, most)
	return func(c *cobra.Command, args []string) error {
		f.data = args
		return want(c, args)
	}
}

// checkFiles checks the folders and the files to write, before hours are spent.
func (f *trainFlags) checkFiles(cmd *cobra.Command) error {
	if f.checkpoint == "" {
		f.checkpoint = cli.Stem(f.out) + ".ckpt"
	}
	for _, file := range []string{f.out, f.checkpoint} {
		if err := cli.Writable(file); err != nil {
			return err
		}
	}
	if err := command.Check(cmd, []string{f.checkpoint, f.curves() + ".csv", f.curves() + ".png", f.curves() + ".parts.png"}, nil); err != nil {
		return err
	}
	for _, dir := range f.data {
		if st, err := os.Stat(dir); err != nil {
			return fmt.Errorf("cannot read the data folder: %w", err)
		} else if !st.IsDir() {
			return fmt.Errorf("%s is a file, want the folder of the recordings", dir)
		}
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
		Use:   "mann DIR --out FILE",
		Short: "Train a mode-adaptive network for a quadruped",
		Long: `Train a mode-adaptive network (Zhang, Starke et al. 2018) on a folder of BVH recordings with
their labels.json. The model file holds the weights with the lowest held-out loss so far. It is
written whenever an epoch beats all before, where epoch 0 is the weights that training starts
from. If none does, it holds those. Beside it are the loss curves (.loss.csv and .loss.png) and
the checkpoint (.ckpt).

Ctrl-C writes a checkpoint and stops. --resume continues, after that or after a crash, to the
same bytes as a run without a stop. A loss that is not finite stops training at the last good
state, and the message names the recordings and frames. Two runs on one checkpoint are refused.

Warnings name recordings and frames that may spoil the result: speeds of no animal, leaps,
actions and speeds that only held-out recordings have. They also tell of losses that explode.
If --out already holds a better model of the same data, it is kept unless --force is given.

A sample is a window of --ticks ticks, in which the network continues from its own pose, as at run
time. Samples per second count such windows.
--paper sets all flags that are not given to the paper's recipe: single ticks, twice as many
hidden units, 150 epochs, and a learning rate that falls in cycles to epochs 11, 31, 71 and 150.
--start continues a network of any size, also one of other recordings of the same layout.`,
		Example: `  mannequin train mann data/dog --out dog.safetensors
  mannequin train mann data/dog --out dog.safetensors --resume
  mannequin train mann data/dog --out quick.safetensors --minutes 2
  mannequin train mann data/dog --out better.safetensors --start dog.safetensors --rate 1e-4 --epochs 10
  mannequin train mann data/dog --out paper.safetensors --paper --experts 4`,
		Args: f.folders("a folder of recordings", 1),
	}
	f.add(c, r.Epochs, r.Batch)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
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
		if r.Skate+r.Bend+r.Recover > 0 && r.Ticks == 1 {
			return command.Usagef("--skate, --bend and --recover are for a network that continues from its own pose: --ticks 2 or more, or 0 for all three")
		}
		layout := feature.Dog()
		layout.Phases = phases
		if stride > 1 {
			layout.Stride = stride
		}
		return f.runMANN(cmd, &r, dataset.Options{Layout: layout, HeldOut: heldOut, Reverse: reverse, Walk: walk, Repeat: repeat, Workers: f.threads})
	}
	p := c.Flags()
	command.Number(c, &r.Experts, "experts", r.Experts, 1, 64, "experts of the mixture; 1 is an ordinary network")
	command.Number(c, &r.Hidden, "hidden", r.Hidden, 1, 1<<14, "units of each hidden layer")
	command.Number(c, &r.Ticks, "ticks", r.Ticks, 1, 240, "ticks that the network continues from its own poses in training")
	command.Number(c, &r.Keep, "keep", r.Keep, command.Positive, 1, "dropout's retention `probability`")
	command.Number(c, &r.AdamW.Rate, "rate", r.AdamW.Rate, command.Positive, 1, "learning rate")
	command.Number(c, &r.Schedule.First, "cycle", r.Schedule.First, 0, 1<<16, "epochs of the learning rate's first cycle; each cycle is twice as long as the last; 0 is one cycle")
	command.Number(c, &r.Change, "change", r.Change, 0, 1e3, "weight in the loss: error in the pose's change from tick to tick")
	command.Number(c, &r.Skate, "skate", r.Skate, 0, 1e3, "weight in the loss: paws sliding over the ground; with --ticks above 1")
	command.Number(c, &r.Bend, "bend", r.Bend, 0, 1e3, "weight in the loss: speed at which legs bend; with --ticks above 1")
	command.Number(c, &r.Recover, "recover", r.Recover, 0, 1, "share of the steps that begin at a state the network ran into by itself, with the recording as the target; after half of the first cycle (with --start at once); with --ticks above 1")
	command.Number(c, &repeat, "repeat", 0, 0, 1000, "visits per epoch of a row of trot or canter (default: as in the folder's dataset.toml, else 11)")
	command.Number(c, &walk, "walk", 0, 0, 1000, "visits per epoch of other rows with motion (default: a third of --repeat)")
	command.Number(c, &r.WarmUp, "warm-up", r.WarmUp, 0, 1e6, "`epochs` in which the learning rate rises from 0; spares a network to start from")
	command.Number(c, &r.ClipNorm, "clip", r.ClipNorm, 0, 1e6, "largest `norm` of a step's gradient; 0 is no limit")
	command.Number(c, &stride, "stride", 1, 1, feature.MaxStride, "frames of 1/60 s per step of the network; 2 or 4 is for distant dogs, at a half or a quarter of the cost")
	p.BoolVar(&reverse, "reverse", true, "also train on slow walks backward in time, because recorded dogs hardly ever back up")
	p.BoolVar(&phases, "phases", true, "add a phase of stepping per paw to the state; the gating network reads it in place of the paws' velocities")
	p.BoolVar(&paper, "paper", false, "the paper's recipe, except for flags that are given")
	cli.Model(c, &start, "start", "", "weights to start from (default: random)")
	cli.HeldOut(c, &heldOut, "those that dataset.toml names; six of the authors' dog set")
	return c
}

// instead sets flags that were not given to other values than their defaults.
func instead(cmd *cobra.Command, values map[string]any) {
	for name, value := range values {
		if !cmd.Flags().Changed(name) {
			cli.Must(cmd.Flags().Set(name, fmt.Sprint(value)))
		}
	}
}

// asSized sets the size of the network to that of the network to start from.
func asSized(cmd *cobra.Command, sizes map[string]string) {
	for _, name := range []string{"experts", "hidden"} {
		if size, ok := sizes[name]; ok {
			instead(cmd, map[string]any{name: size})
		}
	}
}

// asPaper sets the paper's recipe.
func asPaper(cmd *cobra.Command) {
	r := recipes.PaperMANN()
	instead(cmd, map[string]any{
		"hidden": r.Hidden, "keep": r.Keep, "ticks": r.Ticks, "change": r.Change, "skate": r.Skate, "bend": r.Bend, "recover": r.Recover,
		"epochs": r.Epochs, "batch": r.Batch, "warm-up": r.WarmUp, "clip": r.ClipNorm, "rate": r.AdamW.Rate, "cycle": r.Schedule.First,
		"walk": 1, "reverse": false, "phases": false,
	})
}

// trainReport is the report as JSON.
type trainReport struct {
	Model      string `json:"model"`
	Checkpoint string `json:"checkpoint"`
	Curves     string `json:"curves"`
	*train.Report

	ticks int // of a sample; 0 if samples are not counted in ticks
}

func (f *trainFlags) runMANN(cmd *cobra.Command, r *recipes.MANN, opt dataset.Options) error {
	return f.together(cmd, func(show *trainProgress) (*train.Report, error) {
		show.ticks = r.Ticks
		log := show.log
		r.Train, r.HeldOut = new(dataset.MANN), new(dataset.MANN)
		if err := f.readOnce(r.Train, r.HeldOut, func() error {
			train, heldOut, err := dataset.BuildMANN(f.data[0], opt)
			if err == nil {
				*r.Train, *r.HeldOut = *train, *heldOut
			}
			return err
		}); err != nil {
			return nil, err
		}
		log.Info("data", "rows", r.Train.Rows, "visits_per_epoch", len(r.Train.Order), "held_out_rows", r.HeldOut.Rows)
		r.Epochs, r.Batch, r.Seed = f.epochs, f.batch, f.seed
		r.RunOptions = f.running(show)
		return r.Run(cmd.Context())
	})
}

// running returns how a recipe runs by the flags.
func (f *trainFlags) running(show *trainProgress) recipes.RunOptions {
	minutes := func(m float64) time.Duration { return time.Duration(math.Round(m * float64(time.Minute))) }
	return recipes.RunOptions{
		Threads: f.threads, Patience: f.patience, Shards: f.shards, GradientsBF16: f.gradients == "bf16", Ranks: f.ranks,
		Limit: minutes(f.minutes), Every: minutes(f.every),
		Checkpoint: f.checkpoint, Resume: f.resume, Force: f.force,
		Curves: f.curves(),
		Out:    f.out, BF16: f.dtype == "bf16",
		Progress: show.step, Log: show.log, Now: time.Now,
	}
}

// curves is the path of the loss curves, without extension.
func (f *trainFlags) curves() string { return cli.Stem(f.out) + ".loss" }

// report ends a training and prints the report.
func (f *trainFlags) report(cmd *cobra.Command, show *trainProgress, rep *train.Report, err error) error {
	show.finish()
	if rep == nil {
		return err
	}
	if f.json {
		if err := cli.PrintReport(cmd.OutOrStdout(), trainReport{Model: f.out, Checkpoint: f.checkpoint, Curves: f.curves() + ".csv", Report: rep}, true); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if rep.Ended == train.EndInterrupted {
		return fmt.Errorf("interrupted after %d epochs and %d steps; continue with the same command and --resume", rep.Epochs, rep.Steps)
	}
	if f.json {
		return nil
	}
	return trainReport{Model: f.out, Report: rep, ticks: show.ticks}.Print(cmd.OutOrStdout())
}

func (r trainReport) Print(w io.Writer) error {
	samples := "samples/s"
	if r.ticks > 0 {
		samples = fmt.Sprintf("samples/s of %d ticks", r.ticks)
	}
	if _, err := fmt.Fprintf(w, "%s: %d epochs, %d steps in %s (%.0f %s), ended by %s\nheld-out loss %.4f before, %.4f best (epoch %d), %.4f last; training loss %.4f\n",
		r.Model, r.Epochs, r.Steps, time.Duration(r.Seconds*float64(time.Second)).Round(time.Second), r.SamplesPerSec, samples, r.Ended, r.Initial, r.Best, r.BestEpoch, r.HeldOut, r.Train); err != nil || r.Warnings == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "warnings: %d, see above\n", r.Warnings)
	return err
}

// trainProgress shows a training in progress: a bar on a terminal, else a log line now and then. It
// is also the writer of log lines, which it keeps off the bar.
type trainProgress struct {
	w    io.Writer
	tty  bool
	log  *slog.Logger
	bar  *progressbar.ProgressBar // nil until the first step, and without a terminal
	last time.Duration            // training time when progress was last shown

	ticks int // of a sample; 0 if samples are not counted in ticks
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
		if len(s.Ranks) > 1 {
			line = append(line, "rank_ms", rankTimes(s.Ranks))
		}
		p.log.Info("training", append(line, "left", left)...)
		return
	}
	const parts = 1000
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(parts, progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(24), progressbar.OptionUseANSICodes(true),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false))
	}
	what := fmt.Sprintf("epoch %d/%d  loss %.4f  held out %.4f  %s left", s.Epoch+1, s.Epochs, s.Loss, s.HeldOut, left)
	if len(s.Ranks) > 1 {
		what += "  ranks " + rankTimes(s.Ranks) + " ms"
	}
	p.bar.Describe(what)
	p.bar.Set64(int64(parts * s.Done))
}

// rankTimes returns how long ranks compute a step, in milliseconds. Of many ranks it names the fastest and the slowest.
func rankTimes(ranks []time.Duration) string {
	ms := func(d time.Duration) string { return strconv.FormatFloat(float64(d)/1e6, 'f', 1, 64) }
	if len(ranks) > 4 {
		low, high := slices.Index(ranks, slices.Min(ranks)), slices.Index(ranks, slices.Max(ranks))
		return fmt.Sprintf("%s (%d) to %s (%d)", ms(ranks[low]), low, ms(ranks[high]), high)
	}
	var all []string
	for _, d := range ranks {
		all = append(all, ms(d))
	}
	return strings.Join(all, ",")
}

func round4(v float64) float64 { return math.Round(v*1e4) / 1e4 }
