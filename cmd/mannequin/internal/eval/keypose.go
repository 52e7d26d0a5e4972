package eval

import (
	"runtime"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	evalkeypose "mannequin/offline/eval/keypose"
)

func newEvalKeypose() *cobra.Command {
	var o evalkeypose.Options
	var asJSON bool
	c := &cobra.Command{
		Use:   "keypose --data DIR",
		Short: "Measure motion that is made between poses",
		Long: `Measure the motion that is made between poses of recordings which the network has
not seen, beside interpolation, each figure beside the bar that it has to reach:

  keys every half second, and every second (Lüdi 2016, sec. 5.1): the distance of
  joints from the recording's, drift in the tenth second, steps, feet that slide,
  ways to go backward and sideways
  with --sparse, networks of the thesis as published, and corrected on the motion
  manifold as it proposes
  with --transitions, gaps of 5, 15 and 30 frames in the protocol of LAFAN1
  (Harvey et al. 2020)

docs/keypose.md defines every figure. --figures draws the thesis's Fig. 5.1 to 5.4,
for each number of poses a second: the walk that goes farthest (up to 2 m/s and
15 s), the recording that goes backward or sideways fastest, and the ways of hips of
that walk, of the recording that turns most and of the walk that takes longest.`,
		Example: `  mannequin eval keypose --data data/cmu-locomotion
  mannequin eval keypose --model mine.safetensors --data data/mine --held-out 'walk_07' --json
  mannequin eval keypose --data data/cmu-locomotion --sparse two.safetensors --sparse one.safetensors --figures out/keypose
  mannequin eval keypose --model local.safetensors --data data/cmu-locomotion --transitions data/lafan1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.Threads < 1 || o.Threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.Threads)
			case o.Figures != "" && len(o.Sparse) == 0:
				return command.Usagef("--figures shows the thesis's network beside ours: name a model file of train sparse with --sparse")
			}
			r, err := evalkeypose.Measure(cmd.Context(), o)
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	p := c.Flags()
	p.StringVar(&o.Model, "model", "human-keypose", "a shipped model's `name`, or a model file")
	p.StringArrayVar(&o.Data, "data", nil, "`folder` of recordings, of which the held-out ones are measured; may stand several times")
	p.StringSliceVar(&o.HeldOut, "held-out", nil, "`patterns` of the recordings that the network has not seen (default: as train keypose)")
	p.StringVar(&o.Gaps, "transitions", "", "`folder` of recordings to measure gaps on")
	p.StringSliceVar(&o.Unseen, "transitions-held-out", []string{"*_subject5_*"}, "`patterns` of those that the network has not seen")
	p.StringArrayVar(&o.Sparse, "sparse", nil, "a model `file` of train sparse, to measure beside it; may stand several times")
	p.StringVar(&o.Figures, "figures", "", "`folder` to draw Fig. 5.1 to 5.4 into")
	p.IntVar(&o.Threads, "threads", runtime.GOMAXPROCS(0), "workers")
	p.BoolVar(&asJSON, "json", false, "print the report as JSON")
	cli.Must(c.MarkFlagRequired("data"))
	return c
}
