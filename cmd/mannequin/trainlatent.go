package main

import (
	"context"

	"github.com/spf13/cobra"

	"mannequin/animsys/latent"
	"mannequin/internal/command"
	"mannequin/offline/recipes"
	"mannequin/offline/train"
)

// latentHop is how many frames clips of latent.Frames begin after each other:
// they overlap by 31 (Lüdi 2016, sec. 3.2).
const latentHop = latent.Frames - 31

// latentFast is the speed from which a clip is a run, m/s.
const latentFast = 2

func newTrainLatent() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultLatent()
	c := &cobra.Command{
		Use:   "latent --data DIR --out FILE",
		Short: "Train the latent space of a second of motion, for sliders",
		Long: `Train the variational autoencoder of Lüdi 2016 from folders of BVH or AMC
recordings of people who walk: a second of motion becomes 20 values, and these
become motion again. Sliders of what people see, such as how far they turn, are
found among these values when training ends, and stored with the weights.

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
			case !(r.L1 >= 0 && r.L1 <= 1e6):
				return command.Usagef("--sparsity is %v, want 0 to 1000000", r.L1)
			}
			if err := f.check(); err != nil {
				return err
			}
			r.Keep = f.keep
			return f.train(cmd, &r.Learning, func(ctx context.Context) (*train.Report, error) {
				r.Train.Whole(latent.Frames, latentHop, latentFast, f.repeat)
				r.HeldOut.Whole(latent.Frames, latentHop, latentFast, 1)
				return r.Run(ctx)
			})
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, r.Keep, 1)
	p := c.Flags()
	p.IntVar(&r.Values, "values", r.Values, "latent values")
	p.Float64Var(&r.KL, "kl", r.KL, "weight in the loss of the divergence from the standard normal distribution")
	p.Float64Var(&r.Ramp, "ramp", r.Ramp, "`share` of the epochs after which the divergence has half of its weight")
	p.BoolVar(&r.Jitter, "jitter", r.Jitter, "let clips begin elsewhere in every epoch")
	p.Float64Var(&r.L1, "sparsity", r.L1, "weight in the loss of the mean magnitude of the weights")
	return c
}
