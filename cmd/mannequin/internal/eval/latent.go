package eval

import (
	"runtime"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	evallatent "mannequin/offline/eval/latent"
)

func newEvalLatent() *cobra.Command {
	var o evallatent.Options
	var asJSON bool
	c := &cobra.Command{
		Use:   "latent --data DIR",
		Short: "Measure the latent space of a second of motion, and its sliders",
		Long: `Measure the variational autoencoder of Lüdi 2016 on recordings held out from
training, each figure beside the bar that it has to reach:

  how well clips of a second come back, before and after a fit of their latent values
  how far latent values are from the standard normal distribution
  how well one component tells how far somebody turns, the length of a step, which
  leg leads and how the trunk leans: of the model's components, of plain principal
  components of the latent values, and of the clips' frames
  how well a component sets its trait, alone, in clips held out
  how well chained clips meet
  how people who walk on by a network of train next (--next) turn and go, and how
  their clips meet and their feet slide
  how long a decoded clip takes

docs/latent.md defines every figure. --figures draws the thesis's Fig. 5.6 to 5.8:
poses in which clips begin, what the sliders do to a clip, and clips chained.`,
		Example: `  mannequin eval latent --data data/cmu-locomotion --figures out/latent
  mannequin eval latent --model mine.safetensors --data data/mine --held-out 'walk_07' --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.Threads < 1 || o.Threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.Threads)
			case o.Chains < 1 || o.Chains > 1000:
				return command.Usagef("--chains is %d, want 1 to 1000", o.Chains)
			}
			r, err := evallatent.Measure(cmd.Context(), o)
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	p := c.Flags()
	p.StringVar(&o.Model, "model", "human-latent", "a shipped model's `name`, or a model file")
	p.StringArrayVar(&o.Data, "data", nil, "`folder` of the recordings that it was trained on; may stand several times")
	p.StringVar(&o.Next, "next", "", "how its clips go on: a shipped model's `name`, or a model file (default: human-next for human-latent, else none)")
	p.StringSliceVar(&o.HeldOut, "held-out", nil, "`patterns` of the recordings that it has not seen (default: as train latent)")
	p.IntVar(&o.Chains, "chains", 8, "chains of six clips to make")
	p.IntVar(&o.Threads, "threads", runtime.GOMAXPROCS(0), "workers")
	p.BoolVar(&o.Rates, "rates", true, "measure how long decoding takes, too")
	p.StringVar(&o.Figures, "figures", "", "`folder` to draw Fig. 5.6 to 5.8 into")
	p.BoolVar(&asJSON, "json", false, "print the report as JSON")
	cli.Must(c.MarkFlagRequired("data"))
	return c
}
