package eval

import (
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	evalmann "mannequin/offline/eval/mann"
)

func newEvalMANN() *cobra.Command {
	var o evalmann.Options
	c := &cobra.Command{
		Use:   "mann DIR",
		Short: "Measure a mode-adaptive network for a quadruped",
		Long: `Measure a mode-adaptive network (Zhang, Starke et al. 2018) as the paper does, and what users notice
beyond that: held-out loss, foot skate and leg angles in each gait (Tables 2 and 3), paths (Table
4), the effect of each expert (Table 5), footfalls, speeds, actions and transitions.

Motion is measured as the network poses it (raw) and as it is displayed (shown): after the whole
tick of a game, with foot lock on flat ground. Compare ratios to the recordings: the paper's
recordings, paw heights and path sizes are not published. docs/mann-measures.md defines every
figure. --model also takes a file that mannequin make made of the same recordings. --out draws the experts' gating weights over time (Fig. 9) and the footfalls (Fig. 2).`,
		Example: `  mannequin eval mann data/dog
  mannequin eval mann data/dog --model dog.safetensors --seconds 60 --json
  mannequin eval mann data/dog --path course.csv --out out/eval`,
		Args: command.Want("a folder of recordings", 1, 1),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		p := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr())
		defer p.Finish()
		o.Data = args[0]
		return evalmann.Measure(o, p)
	})
	cli.Model(c, &o.Model, "model", "dog", "the network")
	cli.Model(c, &o.Near, "near", "dog", "the network of stride 1 beside which a network with a longer stride runs")
	cli.HeldOut(c, &o.HeldOut, "as in train mann")
	command.Number(c, &o.Seconds, "seconds", 20, 1, 3600, "seconds of motion in each gait, and on each path if more than 40")
	c.Flags().StringArrayVar(&o.Paths, "path", nil, "a `file` of control points to follow, as in rollout; may be repeated")
	command.Output(c, &o.Plots, "out", command.Folder, "`folder` for the pictures")
	cli.Threads(c, &o.Threads)
	return c
}
