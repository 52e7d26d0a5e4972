package main

import (
	"github.com/spf13/cobra"

	"mannequin/offline/dataset"
	"mannequin/offline/recipes"
)

func newTrainRecurrent() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultRecurrent()
	f.options = dataset.MotionOptions{Length: r.Window(), Whole: true, Hop: 20}
	c := &cobra.Command{
		Use:  "recurrent --data DIR --out FILE",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.train(cmd, &r.Learning, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, 0, 1)
	c.Flags().StringVar(&r.Kind, "kind", r.Kind, "lstm3 or erd")
	return c
}
