package train

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
		Use:   "recurrent --data DIR --out FILE",
		Short: "Train a rival of train strnn, which predicts frame by frame",
		Long: `Train a recurrent network that predicts people's next frame from all before, with
which eval strnn compares ours (Fragkiadaki, Levine, Felsen and Malik 2015). The kinds
are

  lstm3   three layers of long short-term memory
  erd     two of them, between an encoder and a decoder of fully connected layers

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train recurrent --kind lstm3 --data data/cmu-locomotion --and data/cmu-actions --out lstm3.safetensors`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.train(cmd, &r.Training, r.Run)
		},
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, 0, 1)
	c.Flags().IntVar(&r.Units, "units", r.Units, "units of a layer of memory")
	c.Flags().StringVar(&r.Kind, "kind", r.Kind, "lstm3 or erd")
	return c
}
