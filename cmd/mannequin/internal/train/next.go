package train

import (
	"github.com/spf13/cobra"

	"mannequin/models"
	"mannequin/offline/recipes"
)

func newTrainNext() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultNext()
	var base string
	c := &cobra.Command{
		Use:   "next --latent FILE --data DIR --out FILE",
		Short: "Train the network that tells how a second of motion goes on",
		Long: `Train the network that tells, in a latent space of train latent, how a clip goes on:
which next one begins as it ends, and turns and steps as it is asked to. With it many
people walk at once by values that a game sets. It learns from how the recordings go
on, best those that the latent space was learnt from.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train next --latent human-latent.safetensors --data data/cmu-locomotion --out human-next.safetensors`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			var err error
			if r.Latent, err = models.Open(base); err != nil {
				return err
			}
			opt, err := recipes.LatentClips([]string{f.data}, f.only, f.heldOut, f.repeat, f.threads)
			if err != nil {
				return err
			}
			opt.Hop = 6 // chains begin anywhere in a step
			return f.trainOn(cmd, opt, &r.Training, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, 0, 1)
	c.Flags().StringVar(&base, "latent", "", "the latent space: a shipped model's name, or a model `file`")
	c.MarkFlagRequired("latent")
	return c
}
