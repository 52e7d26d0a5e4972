package train

import (
	"math"

	"github.com/spf13/cobra"

	"mannequin/internal/command"
	"mannequin/offline/dataset"
	"mannequin/offline/recipes"
)

func newTrainRecurrent() *cobra.Command {
	var f motionFlags
	r := recipes.DefaultRecurrent()
	f.options = dataset.MotionOptions{Length: r.Window(), Whole: true, Hop: 20}
	c := &cobra.Command{
		Use:   "recurrent DIR... --out FILE",
		Short: "Train a rival of train strnn, which predicts frame by frame",
		Long: `Train a recurrent network that predicts people's next frame from all frames before
(Fragkiadaki, Levine, Felsen and Malik 2015). eval strnn compares ours with it. The kinds are

  lstm3   three layers of long short-term memory
  erd     two of them, between an encoder and a decoder of fully connected layers

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train recurrent data/cmu-locomotion data/cmu-actions --kind lstm3 --out lstm3.safetensors`,
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, nil, 1)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return f.train(cmd, &r.Training, r.Run) }
	command.Number(c, &r.Units, "units", r.Units, 1, math.MaxInt, "units of a layer of memory")
	command.Choice(c, &r.Kind, "kind", r.Kind, recipes.RecurrentKinds, "kind of network")
	return c
}
