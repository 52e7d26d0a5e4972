package train

import (
	"github.com/spf13/cobra"

	"mannequin/internal/command"
	"mannequin/offline/dataset"
	"mannequin/offline/recipes"
)

func newTrainSTRNN() *cobra.Command {
	var f motionFlags
	var asPaper bool
	r, paper := recipes.DefaultSTRNN(), recipes.PaperSTRNN()
	c := &cobra.Command{
		Use:   "strnn --data DIR --out FILE",
		Short: "Train the network that goes on from people's motion",
		Long: `Train the spatio-temporal recurrent network of Wang, Ho, Shum and Zhu 2019 from
folders of BVH or AMC recordings of people: it goes on from some frames, 30 per
second, by some more, again and again, and takes noise off motion.

To the paper's network ours adds what a linear filter predicts, from which the
network learns the difference, and latent values that say in which of the ways it may
go on a motion does. --paper leaves all of ours out and trains as the paper does, by
AdaDelta; the flags below then have other defaults.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train strnn --data data/cmu-locomotion --and data/cmu-actions --out strnn.safetensors
  mannequin train strnn --data data/cmu-locomotion --paper --spatial=false --filter=false --encode 39 --predict 1 --horizon 0 --out temporal.safetensors`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			changed := cmd.Flags().Changed
			if asPaper {
				given := r
				r = paper
				for name, take := range map[string]func(){
					"encode": func() { r.Encode = given.Encode }, "predict": func() { r.Predict = given.Predict }, "units": func() { r.Units = given.Units },
					"spatial": func() { r.Spatial = given.Spatial }, "filter": func() { r.Filter = given.Filter }, "horizon": func() { r.Horizon = given.Horizon },
					"linear": func() { r.Linear = given.Linear }, "latent": func() { r.Latent = given.Latent }, "chain": func() { r.Chain = given.Chain }, "kl": func() { r.KL = given.KL },
				} {
					if changed(name) {
						take()
					}
				}
				if !changed("epochs") {
					f.epochs = r.Epochs
				}
				if !changed("batch") {
					f.batch = r.Batch
				}
			}
			if !(r.Horizon >= 0 && r.Horizon <= 1e6) {
				return command.Usagef("--horizon is %v, want 0 to 1000000", r.Horizon)
			}
			if err := f.check(); err != nil {
				return err
			}
			r.Keep = f.keep
			f.options = dataset.MotionOptions{Length: r.Frames(), Whole: true, Hop: 20}
			return f.train(cmd, &r.Training, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, r.Keep, 1)
	p := c.Flags()
	p.BoolVar(&asPaper, "paper", false, "the paper's network and training")
	p.IntVar(&r.Encode, "encode", r.Encode, "frames to go on from")
	p.IntVar(&r.Predict, "predict", r.Predict, "frames to come")
	p.IntVar(&r.Units, "units", r.Units, "units of the temporal network")
	p.BoolVar(&r.Spatial, "spatial", r.Spatial, "with the spatial network")
	p.BoolVar(&r.Filter, "filter", r.Filter, "with the residual network")
	p.BoolVar(&r.Linear, "linear", r.Linear, "learn differences from linear prediction")
	p.IntVar(&r.Latent, "latent", r.Latent, "latent values that say how a motion goes on; 0: in the mean of all ways")
	p.Float64Var(&r.KL, "kl", r.KL, "weight of their divergence from a normal distribution")
	p.IntVar(&r.Chain, "chain", r.Chain, "times in a row that motions go on in training")
	p.Float64Var(&r.Horizon, "horizon", r.Horizon, "weight of the long-horizon cost")
	return c
}
