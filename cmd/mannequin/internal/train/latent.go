package train

import (
	"github.com/spf13/cobra"

	"mannequin/internal/command"
	"mannequin/offline/recipes"
)

func newTrainLatent() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultLatent()
	c := &cobra.Command{
		Use:   "latent DIR... --out FILE",
		Short: "Train the latent space of a second of motion, for sliders",
		Long: `Train the variational autoencoder of Lüdi 2016 on folders of BVH, AMC, FBX or glTF recordings of
walking people. It encodes a second of motion as 20 values and decodes them again. Sliders of
visible traits, such as the turn, are found among these values when training ends, and stored
with the weights. Of CMU's recordings two more are held out than for the other networks: turns,
because the others go straight.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train latent data/cmu-locomotion --out human-latent.safetensors --dtype bf16`,
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, &r.Keep, 1)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		opt, err := f.latentClips()
		if err != nil {
			return err
		}
		return f.trainOn(cmd, opt, &r.Training, r.Run)
	}
	command.Number(c, &r.Values, "values", r.Values, 3, 256, "latent values")
	command.Number(c, &r.KL, "kl", r.KL, 0, 1e6, "weight in the loss: divergence from the standard normal distribution")
	command.Number(c, &r.Ramp, "ramp", r.Ramp, 0, 1, "`share` of the epochs after which the divergence has half of its weight")
	command.Number(c, &r.Path, "path", r.Path, 0, 1e6, "weight in the loss: distance of the body from its path over a clip")
	command.Number(c, &r.Traits, "traits", r.Traits, 0, 1e6, "weight in the loss: error of the first latent values as visible traits, such as the turn")
	command.Number(c, &r.Stretch, "stretch", r.Stretch, 0, 0.5, "largest change of a clip's speed, as a `share`, with --jitter")
	command.Number(c, &r.Bend, "bend", r.Bend, 0, 10, "standard deviation of added turns, rad/s, with --jitter")
	jitter(c, &r.Jitter)
	sparsity(c, &r.L1)
	return c
}
