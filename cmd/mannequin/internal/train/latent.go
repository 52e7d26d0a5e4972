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
		Use:   "latent --data DIR --out FILE",
		Short: "Train the latent space of a second of motion, for sliders",
		Long: `Train the variational autoencoder of Lüdi 2016 from folders of BVH or AMC
recordings of people who walk: a second of motion becomes 20 values, and these
become motion again. Sliders of what people see, such as how far they turn, are
found among these values when training ends, and stored with the weights. Of CMU's
recordings two that turn are held back beside those of the other networks, which
all go straight.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train latent --data data/cmu-locomotion --out human-latent.safetensors --dtype bf16`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case r.Values < 3 || r.Values > 256:
				return command.Usagef("--values is %d, want 3 to 256", r.Values)
			case !(r.KL >= 0 && r.KL <= 1e6):
				return command.Usagef("--kl is %v, want 0 to 1000000", r.KL)
			case !(r.Ramp >= 0 && r.Ramp <= 1):
				return command.Usagef("--ramp is %v, want a share from 0 to 1", r.Ramp)
			case !(r.Path >= 0 && r.Path <= 1e6 && r.Traits >= 0 && r.Traits <= 1e6):
				return command.Usagef("--path is %v and --traits %v, want 0 to 1000000", r.Path, r.Traits)
			case !(r.Stretch >= 0 && r.Stretch <= 0.5 && r.Bend >= 0 && r.Bend <= 10):
				return command.Usagef("--stretch is %v and --bend %v, want 0 to 0.5 and 0 to 10 rad/s", r.Stretch, r.Bend)
			case !(r.L1 >= 0 && r.L1 <= 1e6):
				return command.Usagef("--sparsity is %v, want 0 to 1000000", r.L1)
			}
			if err := f.check(); err != nil {
				return err
			}
			r.Keep = f.keep
			opt, err := recipes.LatentClips([]string{f.data}, f.only, f.heldOut, f.repeat, f.threads)
			if err != nil {
				return err
			}
			return f.trainOn(cmd, opt, &r.Training, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, r.Keep, 1)
	p := c.Flags()
	p.IntVar(&r.Values, "values", r.Values, "latent values")
	p.Float64Var(&r.KL, "kl", r.KL, "weight in the loss of the divergence from the standard normal distribution")
	p.Float64Var(&r.Ramp, "ramp", r.Ramp, "`share` of the epochs after which the divergence has half of its weight")
	p.Float64Var(&r.Path, "path", r.Path, "weight in the loss of how far the body is off its path over a clip")
	p.Float64Var(&r.Traits, "traits", r.Traits, "weight in the loss of how far the first latent values are off what people see of a clip, such as how far it turns")
	p.Float64Var(&r.Stretch, "stretch", r.Stretch, "how much faster or slower clips are played at most, as a `share`, with --jitter")
	p.Float64Var(&r.Bend, "bend", r.Bend, "deviation of what is added to how fast clips turn, rad/s, with --jitter")
	p.BoolVar(&r.Jitter, "jitter", r.Jitter, "let clips begin elsewhere in every epoch")
	p.Float64Var(&r.L1, "sparsity", r.L1, "weight in the loss of the mean magnitude of the weights")
	return c
}
