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
		Long: `Measure the motion manifold of Holden, Saito and Komura 2016 and its networks of locomotion, punches
and kicks on held-out recordings of the folders that they were trained on: reconstruction,
denoising, walks and runs along curves, punches and kicks, and frames per second (the paper's
Table 1). --style adds walks in the styles of recordings. docs/manifold.md defines every figure.`,
		Example: `  mannequin eval manifold data/cmu-locomotion data/cmu-actions
  mannequin eval manifold data/cmu-locomotion --style old.bvh --style proud.bvh
  mannequin eval manifold data/mine --manifold mine.safetensors --held-out 'walk_07' --json`,
		Args: command.Want("folders of recordings", 1, -1),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		o.Data = args
		return evalmanifold.Measure(cmd.Context(), o)
	})
	cli.People(c, &o.Networks.Base, &o.Networks.Steps, &o.Networks.Locomotion)
	cli.Acts(c, &o.Punch, &o.Kick)
	cli.HeldOut(c, &o.HeldOut, "as in train manifold")
	input.Reading(c, &o.Reading)
	c.Flags().StringArrayVar(&o.Styles, "style", nil, "a `recording` of a walk or run with a style to transfer; may be repeated")
	command.Number(c, &o.Seconds, "seconds", 20, 2, 600, "seconds of motion on each curve")
	c.Flags().BoolVar(&o.Rates, "rates", true, "also measure frames per second")
	cli.Threads(c, &o.Threads)
	return c
}
