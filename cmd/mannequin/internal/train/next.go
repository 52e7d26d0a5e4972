package train

import (
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/models"
	"mannequin/offline/recipes"
)

func newTrainNext() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultNext()
	var base string
	c := &cobra.Command{
		Use:   "next DIR... --latent FILE --out FILE",
		Short: "Train the network that predicts the next second of motion",
		Long: `Train the network that predicts the next clip in a latent space of train latent: it begins
as the last one ends, and turns and steps as requested. With it a crowd walks by values that a
game sets. It learns from folders of recordings, best from those of the latent space.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train next data/cmu-locomotion --latent human-latent.safetensors --out human-next.safetensors`,
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, nil, 1)
	c.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if r.Latent, err = models.Open(base); err != nil {
			return err
		}
		opt, err := f.latentClips()
		if err != nil {
			return err
		}
		opt.Hop = 6 // chains begin anywhere in a step
		return f.trainOn(cmd, opt, &r.Training, r.Run)
	}
	cli.Model(c, &base, "latent", "", "the latent space")
	cli.Must(c.MarkFlagRequired("latent"))
	return c
}
