package train

import (
	"math"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/offline/dataset"
	"mannequin/offline/recipes"
)

func newTrainSTRNN() *cobra.Command {
	var f motionFlags
	var asPaper bool
	var start string
	r, paper := recipes.DefaultSTRNN(), recipes.PaperSTRNN()
	c := &cobra.Command{
		Use:   "strnn DIR... --out FILE",
		Short: "Train the network that predicts people's motion",
		Long: `Train the spatio-temporal recurrent network of Wang, Ho, Shum and Zhu 2019 on folders of
BVH, AMC, FBX or glTF recordings of people. It predicts the frames that follow some frames, 30 per second,
again and again, and removes noise from motion.

Ours adds three things to the paper's network: a linear prediction, from which the network learns
the difference, latent values that choose one of the possible futures, and a code of how the
person has moved for up to 4 s, so that who runs runs on. --paper leaves these
out and trains as the paper does, by AdaDelta; the flags below then have other defaults.

Files, checkpoints and --resume are as in train mann.`,
		Example: `  mannequin train strnn data/cmu-locomotion data/cmu-actions --out strnn.safetensors
  mannequin train strnn data/cmu-locomotion --paper --spatial=false --filter=false --encode 39 --predict 1 --horizon 0 --out temporal.safetensors`,
	}
	f.add(c, r.Epochs, r.Batch, r.AdamW.Rate, &r.Keep, 1)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if asPaper {
			instead(cmd, map[string]any{
				"encode": paper.Encode, "predict": paper.Predict, "units": paper.Units, "spatial": paper.Spatial, "filter": paper.Filter, "linear": paper.Linear,
				"latent": paper.Latent, "manner": paper.Manner, "chain": paper.Chain, "kl": paper.KL, "horizon": paper.Horizon, "epochs": paper.Epochs, "batch": paper.Batch,
			})
			given := r
			r = paper
			r.Encode, r.Predict, r.Units, r.Spatial, r.Filter, r.Linear = given.Encode, given.Predict, given.Units, given.Spatial, given.Filter, given.Linear
			r.Latent, r.Manner, r.Chain, r.KL, r.Horizon, r.Keep = given.Latent, given.Manner, given.Chain, given.KL, given.Horizon, given.Keep
		}
		var err error
		if r.Start, err = openStart(start); err != nil {
			return err
		}
		f.options = dataset.MotionOptions{Length: r.Frames(), Whole: true, Hop: 20}
		return f.train(cmd, &r.Training, r.Run)
	}
	p := c.Flags()
	p.BoolVar(&asPaper, "paper", false, "the paper's network and training")
	command.Number(c, &r.Encode, "encode", r.Encode, 1, math.MaxInt, "frames that a prediction follows")
	command.Number(c, &r.Predict, "predict", r.Predict, 1, math.MaxInt, "frames of a prediction")
	command.Number(c, &r.Units, "units", r.Units, 1, math.MaxInt, "units of the temporal network")
	p.BoolVar(&r.Spatial, "spatial", r.Spatial, "with the spatial network")
	p.BoolVar(&r.Filter, "filter", r.Filter, "with the residual network")
	p.BoolVar(&r.Linear, "linear", r.Linear, "learn the difference from a linear prediction")
	command.Number(c, &r.Latent, "latent", r.Latent, 0, math.MaxInt, "latent values that choose a future; 0 predicts the mean of all")
	command.Number(c, &r.Manner, "manner", r.Manner, 0, math.MaxInt, "values of the code of how a person moves, which a long prediction keeps; 0 forgets it")
	command.Number(c, &r.KL, "kl", r.KL, 0, math.Inf(1), "weight in the loss: divergence of the latent values from a normal distribution")
	command.Number(c, &r.Chain, "chain", r.Chain, 1, math.MaxInt, "predictions in a row in training")
	command.Number(c, &r.Horizon, "horizon", r.Horizon, 0, 1e6, "weight in the loss: long-horizon cost")
	p.BoolVar(&r.Ahead, "ahead", false, "with --start: only what comes is learnt; what removes noise stays as it is, and training takes a third of the time")
	cli.Model(c, &start, "start", "", "network to start from, with or without manners (default: random weights)")
	return c
}
