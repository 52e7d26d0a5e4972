package eval

import (
	"strings"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	evalstrnn "mannequin/offline/eval/strnn"
)

func newEvalSTRNN() *cobra.Command {
	var o evalstrnn.Options
	c := &cobra.Command{
		Use:   "strnn DIR...",
		Short: "Measure predictions of people's motion, long-term and under control",
		Long: `Measure a spatio-temporal recurrent network (Wang, Ho, Shum and Zhu 2019) on held-out recordings of
the folders that it was trained on: predictions 80 to 560 ms ahead, motion that continues for
20,000 frames, the paper's manifold distance, people along paths, noise and gaps, and frames per
second. --h36m adds errors on walks of Human3.6M's subject 5. docs/strnn.md defines every figure.

--rival NAME=FILE compares with a network of train recurrent or train strnn, --part NAME=FILE with
a part of the network. Manifold distances are compared with the part temporal-39-1, the paper's
temporal network alone.`,
		Example: `  mannequin eval strnn data/cmu-locomotion data/cmu-actions
  mannequin eval strnn data/cmu-locomotion --model strnn.safetensors --rival lstm3=lstm3.safetensors --part temporal-39-1=temporal.safetensors --json
  mannequin eval strnn data/cmu-locomotion --model strnn.safetensors --h36m data/h36m`,
		Args: command.Want("folders of recordings", 1, -1),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		for _, named := range [][]string{o.Rivals, o.Parts} {
			for _, v := range named {
				if !strings.Contains(v, "=") {
					return nil, command.Usagef("--rival and --part: %q, want NAME=FILE", v)
				}
			}
		}
		o.Data = args
		return evalstrnn.Measure(cmd.Context(), o)
	})
	f := c.Flags()
	cli.Model(c, &o.Model, "model", "human-strnn", "the network")
	cli.HeldOut(c, &o.HeldOut, "as in train strnn")
	input.Reading(c, &o.Reading)
	f.StringArrayVar(&o.Rivals, "rival", nil, "`NAME=FILE` of another predictor to compare with; may be repeated")
	f.StringArrayVar(&o.Parts, "part", nil, "`NAME=FILE` of a part of the network; may be repeated")
	command.Number(c, &o.Frames, "frames", 20000, 1000, 1e6, "frames of each long motion")
	command.Number(c, &o.Prefixes, "prefixes", 10, 1, 1000, "number of long motions")
	command.Number(c, &o.Seconds, "seconds", 10, 1, 3600, "seconds along each path")
	command.Number(c, &o.Draws, "draws", 8, 1, 100, "futures drawn for each window under control")
	command.Number(c, &o.Steps, "steps", 1, 0, 100, "Gauss-Newton steps from the best of them")
	f.BoolVar(&o.Tune, "tune", false, "also measure the paper's tuning of weights")
	command.Number(c, &o.Spread, "spread", evalstrnn.PredictSpread, 0, 3, "standard deviation of drawn latent values")
	cli.Seed(c, &o.Seed, "the draws")
	cli.Model(c, &o.Manifold, "manifold", "human", "the autoencoder that also removes noise")
	command.Number(c, &o.Motions, "motions", 512, 0, 1e5, "motions from which noise is removed; 0 is none")
	command.Number(c, &o.Seeds, "seeds", 8, 0, 1000, "seeds, each a minute for each of some people who stand, walk, run and step aside; 0 is none")
	f.BoolVar(&o.Rates, "rates", true, "also measure frames per second")
	f.StringVar(&o.H36m, "h36m", "", "`folder` of Human3.6M's exponential maps, S5_*.txt: also measure predictions of subject 5")
	cli.Threads(c, &o.Threads)
	return c
}
