package eval

import (
	"runtime"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	evalmann "mannequin/offline/eval/mann"
)

func newEvalMANN() *cobra.Command {
	var o evalmann.Options
	var asJSON bool
	c := &cobra.Command{
		Use:   "mann --data DIR",
		Short: "Measure a mode-adaptive network for a quadruped",
		Long: `Measure a mode-adaptive network (Zhang, Starke et al. 2018) as the paper does,
and what its users notice beyond that, each figure beside the bar that it has to
reach:

  its loss on the recordings held out from training
  foot skate and leg angle update in each gait, beside the recordings' (Tables 2, 3)
  distance and angle from paths that it follows (Table 4)
  what it can no longer do without each of its experts (Table 5)
  which paws it sets down when, and which gait that is
  the speeds that it holds, how long actions take, how harsh changes between them are

Motion is measured as the network poses it (raw) and as it is displayed (shown):
after the whole tick of a game, with its paws held on flat ground. Compare ratios
to the ground truth: the paper's recordings, paw heights and path sizes are not
published. docs/mann-measures.md defines every figure.

--plots writes the experts' gating weights over time (Fig. 9) and the footfalls
of the gaits (Fig. 2) as pictures.`,
		Example: `  mannequin eval mann --model dog --data data/dog
  mannequin eval mann --model dog.safetensors --data data/dog --seconds 60 --json
  mannequin eval mann --model dog --data data/dog --path course.csv --plots out/eval`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !(o.Seconds >= 1 && o.Seconds <= 3600):
				return command.Usagef("--seconds is %v, want 1 to 3600", o.Seconds)
			case o.Threads < 1 || o.Threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.Threads)
			}
			p := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr())
			defer p.Finish()
			r, err := evalmann.Measure(o, p)
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	p := c.Flags()
	p.StringVar(&o.Model, "model", "dog", "shipped model's `name` or model file")
	p.StringVar(&o.Near, "near", "dog", "where the model is one of --stride 2 to 5: shipped model's `name` or model file of stride 1 beside which it is run")
	p.StringVar(&o.Data, "data", "", "`folder` of the recordings that it was trained on")
	p.StringSliceVar(&o.HeldOut, "held-out", nil, cli.HeldOutUsage)
	p.Float64Var(&o.Seconds, "seconds", 20, "seconds of motion to make in each gait, and on each path if more than 40")
	p.IntVar(&o.Threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	p.StringArrayVar(&o.Paths, "path", nil, "one more path to follow: a `file` of control points, as for rollout")
	p.StringVar(&o.Plots, "plots", "", "`folder` to write pictures into")
	p.BoolVar(&asJSON, "json", false, "print the report as JSON")
	cli.Must(c.MarkFlagRequired("data"))
	return c
}
