package eval

import (
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	evallatent "mannequin/offline/eval/latent"
)

func newEvalLatent() *cobra.Command {
	var o evallatent.Options
	c := &cobra.Command{
		Use:   "latent DIR...",
		Short: "Measure the latent space of a second of motion, and its sliders",
		Long: `Measure the variational autoencoder of Lüdi 2016 on held-out recordings of the folders that it was
trained on: reconstruction, the distribution of the latent values, how well one component explains
and sets a trait, chained clips, and the time to decode. --next adds people who walk on.
docs/latent.md defines every figure.

--out draws the thesis's Fig. 5.6 to 5.8: first poses of clips, the effect of the sliders on a
clip, and chained clips.`,
		Example: `  mannequin eval latent data/cmu-locomotion --out out/latent
  mannequin eval latent data/mine --model mine.safetensors --held-out 'walk_07' --json`,
		Args: command.Want("folders of recordings", 1, -1),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		o.Data = args
		return evallatent.Measure(cmd.Context(), o)
	})
	cli.Model(c, &o.Model, "model", "human-latent", "the latent space")
	cli.Model(c, &o.Next, "next", "", "the network of train next (default: human-next for human-latent, else none)")
	cli.HeldOut(c, &o.HeldOut, "as in train latent")
	input.Reading(c, &o.Reading)
	command.Number(c, &o.Chains, "chains", 8, 1, 1000, "number of chains of six clips")
	c.Flags().BoolVar(&o.Rates, "rates", true, "also measure the time to decode")
	command.Output(c, &o.Figures, "out", command.Folder, "`folder` for the drawings of Fig. 5.6 to 5.8")
	cli.Threads(c, &o.Threads)
	return c
}
