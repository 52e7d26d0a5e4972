package main

import (
	"github.com/spf13/cobra"

	"mannequin/offline/dataset"
	"mannequin/offline/recipes"
)

func newTrainSTRNN() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultSTRNN()
	f.options = dataset.MotionOptions{Length: 82, Margin: 1, Hop: 10}
	c := &cobra.Command{
		Use:  "strnn --data DIR --out FILE",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			r.Keep = f.keep
			return f.train(cmd, &r.Learning, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, r.Keep, 1)
	p := c.Flags()
	p.BoolVar(&r.Spatial, "spatial", r.Spatial, "")
	p.BoolVar(&r.Offset, "offset", r.Offset, "")
	p.Float64Var(&r.Horizon, "horizon", r.Horizon, "")
	return c
}
