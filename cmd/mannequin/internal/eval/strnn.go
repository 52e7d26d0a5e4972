package eval

import (
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	evalstrnn "mannequin/offline/eval/strnn"
)

func newEvalSTRNN() *cobra.Command {
	o := evalstrnn.Options{Spread: 1.4, Seed: 1}
	var asJSON bool
	c := &cobra.Command{
		Use:   "strnn --data DIR",
		Short: "Measure predictions of people's motion, far ahead, and under control",
		Long: `Measure a spatio-temporal recurrent network (Wang, Ho, Shum and Zhu 2019) on
recordings held out from training, each figure beside the bar that it has to reach:

  how far predicted joints are from recorded ones, 80 to 560 ms ahead, beside those
  that stay where they are and those of rivals
  how far 200 frames that are made of a prefix, as predict draws them, are from the
  recordings that were learnt from (the paper's manifold distance, eq. 12 and 13)
  what becomes of motion that goes on for 20,000 frames: how much joints vary, how
  long nothing moves, how it jerks
  how well people go along paths, by latent values that are looked for, and with
  --tune by the paper's tuning of weights for each window, which is slow
  how noise is taken off and gaps are filled, beside a convolutional autoencoder
  how many frames a second are made
  with --h36m how far off it is on walks of Human3.6M's subject 5, whom nobody was
  trained on

Rivals are files of train recurrent or train strnn: --rival NAME=FILE, several times.
Parts of the network, to see what each is for, are given likewise: --part NAME=FILE.
Errors need not beat theirs; manifold distances are held against that of the part
temporal-39-1, the paper's temporal network alone, which predicts single frames.
docs/strnn.md defines every figure.`,
		Example: `  mannequin eval strnn --data data/cmu-locomotion --data data/cmu-actions
  mannequin eval strnn --model strnn.safetensors --data data/cmu-locomotion --rival lstm3=lstm3.safetensors --part temporal-39-1=temporal.safetensors --json
  mannequin eval strnn --model strnn.safetensors --data data/cmu-locomotion --h36m data/h36m`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.Threads < 1 || o.Threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.Threads)
			case o.Frames < 1000 || o.Frames > 1e6:
				return command.Usagef("--frames is %d, want 1000 to 1000000", o.Frames)
			case o.Prefixes < 1 || o.Prefixes > 1000:
				return command.Usagef("--prefixes is %d, want 1 to 1000", o.Prefixes)
			case o.Motions < 0 || o.Motions > 1e5:
				return command.Usagef("--motions is %d, want 0 to 100000", o.Motions)
			case !(o.Seconds >= 1 && o.Seconds <= 3600):
				return command.Usagef("--seconds is %g, want 1 to 3600", o.Seconds)
			case o.Draws < 1 || o.Draws > 100 || o.Steps < 0 || o.Steps > 100:
				return command.Usagef("--draws %d --steps %d: want 1 to 100, and 0 to 100", o.Draws, o.Steps)
			case !(o.Spread >= 0 && o.Spread <= 3):
				return command.Usagef("--spread is %g, want 0 to 3", o.Spread)
			}
			for _, named := range [][]string{o.Rivals, o.Parts} {
				for _, v := range named {
					if !strings.Contains(v, "=") {
						return command.Usagef("--rival and --part: %q, want NAME=FILE", v)
					}
				}
			}
			r, err := evalstrnn.Measure(cmd.Context(), o)
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	p := c.Flags()
	p.StringVar(&o.Model, "model", "human-strnn", "a shipped model's `name`, or a model file of train strnn")
	p.StringArrayVar(&o.Data, "data", nil, "`folder` of the recordings that it was trained on; may stand several times")
	p.StringSliceVar(&o.HeldOut, "held-out", nil, "`patterns` of the recordings that it has not seen (default: as train strnn)")
	p.StringArrayVar(&o.Rivals, "rival", nil, "`NAME=FILE` of another predictor to measure beside it; may stand several times")
	p.StringArrayVar(&o.Parts, "part", nil, "`NAME=FILE` of a part of the network; may stand several times")
	p.IntVar(&o.Frames, "frames", 20000, "frames that motion goes on for")
	p.IntVar(&o.Prefixes, "prefixes", 10, "motions that do")
	p.Float64Var(&o.Seconds, "seconds", 10, "for how long people go along paths")
	p.IntVar(&o.Draws, "draws", 8, "ways drawn for each window under control")
	p.IntVar(&o.Steps, "steps", 1, "steps of Gauss and Newton from the best of them")
	p.BoolVar(&o.Tune, "tune", false, "measure the paper's tuning of weights, too")
	p.Float32Var(&o.Spread, "spread", o.Spread, "deviation of the latent values that are drawn: more than 1, since what they leave unsaid is not drawn")
	p.Uint64Var(&o.Seed, "seed", o.Seed, "of what is drawn")
	p.StringVar(&o.Manifold, "manifold", "human", "a shipped model's `name`, or a model file: the autoencoder that noise is also taken off with")
	p.IntVar(&o.Motions, "motions", 512, "motions that noise is taken off; 0: none")
	p.BoolVar(&o.Rates, "rates", true, "measure how many frames a second are made, too")
	p.StringVar(&o.H36m, "h36m", "", "`folder` of Human3.6M's exponential maps, S5_*.txt: predictions of subject 5 are measured, too")
	p.IntVar(&o.Threads, "threads", runtime.GOMAXPROCS(0), "workers")
	p.BoolVar(&asJSON, "json", false, "print the report as JSON")
	cli.Must(c.MarkFlagRequired("data"))
	return c
}
