package eval

import (
	"runtime"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
)

func newEvalManifold() *cobra.Command {
	var o evalmanifold.Options
	var asJSON bool
	c := &cobra.Command{
		Use:   "manifold --data DIR",
		Short: "Measure the motion manifold and what is made with it",
		Long: `Measure the motion manifold of Holden, Saito and Komura 2016, and the networks of
locomotion, punches and kicks that stand on it, each figure beside the bar that it has to reach:

  how well held-out recordings come back from it
  how well it takes noise off them
  walks and runs along curves, before and after the edit: the way from the curve,
  standing feet that slide, bones that stretch, jerk beside the recordings'
  punches and kicks made from the hands and feet of held-out recordings: the way
  from these, standing feet, bones
  with --style, walks in the styles of recordings: what is left of the distance of
  the Gram matrices, steps per second
  how many frames a second it makes (the paper's Table 1)

docs/manifold.md defines every figure.`,
		Example: `  mannequin eval manifold --data data/cmu-locomotion --data data/cmu-actions
  mannequin eval manifold --data data/cmu-locomotion --style old.bvh --style proud.bvh
  mannequin eval manifold --manifold mine.safetensors --data data/mine --held-out 'walk_07' --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !(o.Seconds >= 2 && o.Seconds <= 600):
				return command.Usagef("--seconds is %v, want 2 to 600", o.Seconds)
			case o.Threads < 1 || o.Threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.Threads)
			}
			r, err := evalmanifold.Measure(cmd.Context(), o)
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	p := c.Flags()
	p.StringVar(&o.Base, "manifold", "human", "a shipped model's `name`, or a model file: the motion manifold")
	p.StringVar(&o.Steps, "footstep", "human-footstep", "a shipped model's `name`, or a model file: the network of footsteps")
	p.StringVar(&o.Locomotion, "locomotion", "human-locomotion", "a shipped model's `name`, or a model file: the network of motion")
	p.StringVar(&o.Punch, "punch", "human-punch", "a shipped model's `name`, or a model file: the network of punches")
	p.StringVar(&o.Kick, "kick", "human-kick", "a shipped model's `name`, or a model file: the network of kicks")
	p.StringArrayVar(&o.Data, "data", nil, "`folder` of the recordings that it was trained on; may stand several times")
	p.StringSliceVar(&o.HeldOut, "held-out", nil, "`patterns` of the recordings that it has not seen (default: as train manifold)")
	p.StringArrayVar(&o.Styles, "style", nil, "a `recording` of a walk or run whose style others shall get; may stand several times")
	p.Float64Var(&o.Seconds, "seconds", 20, "seconds of motion to make on each curve")
	p.IntVar(&o.Threads, "threads", runtime.GOMAXPROCS(0), "workers")
	p.BoolVar(&o.Rates, "rates", true, "measure how many frames a second are made, too")
	p.BoolVar(&asJSON, "json", false, "print the report as JSON")
	cli.Must(c.MarkFlagRequired("data"))
	return c
}
