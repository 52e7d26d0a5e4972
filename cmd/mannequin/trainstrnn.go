package main

import (
	"github.com/spf13/cobra"

	"mannequin/offline/dataset"
	"mannequin/offline/recipes"
)

func newTrainSTRNN() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultSTRNN()
	c := &cobra.Command{
		Use:  "strnn --data DIR --out FILE",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			r.Keep = f.keep
			f.options = dataset.MotionOptions{Length: r.Frames(), Whole: true, Hop: 20}
			return f.train(cmd, &r.Learning, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, r.Keep, 1)
	p := c.Flags()
	p.IntVar(&r.Encode, "encode", r.Encode, "frames to go on from")
	p.IntVar(&r.Predict, "predict", r.Predict, "frames to come")
	p.IntVar(&r.Units, "units", r.Units, "units of the temporal network")
	p.BoolVar(&r.Spatial, "spatial", r.Spatial, "")
	p.BoolVar(&r.Filter, "filter", r.Filter, "")
	p.BoolVar(&r.Linear, "linear", r.Linear, "")
	p.IntVar(&r.Latent, "latent", r.Latent, "")
	p.Float64Var(&r.KL, "kl", r.KL, "")
	p.Float64Var(&r.Mean, "mean", r.Mean, "")
	p.IntVar(&r.Chain, "chain", r.Chain, "")
	p.Float64Var(&r.Horizon, "horizon", r.Horizon, "")
	return c
}
