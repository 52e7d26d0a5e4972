package eval

import (
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
)

func newEvalManifold() *cobra.Command {
	var o evalmanifold.Options
	c := &cobra.Command{
		Use:   "manifold DIR...",
		Short: "Measure the motion manifold and what is made with it",
		Long: `Measure the motion manifold of Holden, Saito and Komura 2016 and its networks of
locomotion, punches and kicks. DIRs are the folders that they were trained on. Each figure
stands beside the bar that it has to reach:

  reconstruction of held-out recordings
  denoising of held-out recordings
  walks and runs along curves, before and after the edit: distance from the curve, sliding
  feet, stretched bones, jerk relative to the recordings
  punches and kicks from the hands and feet of held-out recordings: distance from these,
  sliding feet, bones
  with --style, walks in the styles of recordings: the rest of the distance of the Gram
  matrices, steps per second
  frames per second (the paper's Table 1)

docs/manifold.md defines every figure.`,
		Example: `  mannequin eval manifold data/cmu-locomotion data/cmu-actions
  mannequin eval manifold data/cmu-locomotion --style old.bvh --style proud.bvh
  mannequin eval manifold data/mine --manifold mine.safetensors --held-out 'walk_07' --json`,
		Args: command.Want("folders of recordings", 1, -1),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		o.Data = args
		return evalmanifold.Measure(cmd.Context(), o)
	})
	cli.People(c, &o.Base, &o.Steps, &o.Locomotion)
	cli.Acts(c, &o.Punch, &o.Kick)
	cli.HeldOut(c, &o.HeldOut, "as in train manifold")
	input.Profile(c, &o.Profile)
	c.Flags().StringArrayVar(&o.Styles, "style", nil, "a `recording` of a walk or run with a style to transfer; may be repeated")
	command.Number(c, &o.Seconds, "seconds", 20, 2, 600, "seconds of motion on each curve")
	c.Flags().BoolVar(&o.Rates, "rates", true, "also measure frames per second")
	cli.Threads(c, &o.Threads)
	return c
}
