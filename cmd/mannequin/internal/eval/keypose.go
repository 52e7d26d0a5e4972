package eval

import (
	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	evalkeypose "mannequin/offline/eval/keypose"
)

func newEvalKeypose() *cobra.Command {
	var o evalkeypose.Options
	c := &cobra.Command{
		Use:   "keypose DIR...",
		Short: "Measure motion between keyframes",
		Long: `Measure the motion that the network makes between poses of held-out recordings in the folders,
beside interpolation: keys every half second and every second (Lüdi 2016, sec. 5.1). --sparse adds
the networks of the thesis, as published and corrected on the motion manifold, --transitions gaps
of 5, 15 and 30 frames in the protocol of LAFAN1 (Harvey et al. 2020). docs/keypose.md defines
every figure.

--out draws the thesis's Fig. 5.1 to 5.4 for each number of poses a second: the longest walk (up
to 2 m/s and 15 s), the fastest walk backward or sideways, and paths of the hips.`,
		Example: `  mannequin eval keypose data/cmu-locomotion
  mannequin eval keypose data/mine --model mine.safetensors --held-out 'walk_07' --json
  mannequin eval keypose data/cmu-locomotion --sparse two.safetensors --sparse one.safetensors --out out/keypose
  mannequin eval keypose data/cmu-locomotion --model local.safetensors --transitions data/lafan1`,
		Args: command.Want("folders of recordings", 1, -1),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		if o.Figures != "" && len(o.Sparse) == 0 {
			return nil, command.Usagef("--out draws the thesis's network beside ours: name a model file of train sparse with --sparse")
		}
		o.Data = args
		return evalkeypose.Measure(cmd.Context(), o)
	})
	cli.Model(c, &o.Model, "model", "human-keypose", "the network")
	cli.HeldOut(c, &o.HeldOut, "as in train keypose")
	input.Reading(c, &o.Reading)
	p := c.Flags()
	p.StringVar(&o.Gaps, "transitions", "", "`folder` of recordings with gaps to measure")
	p.StringSliceVar(&o.Unseen, "transitions-held-out", []string{"*_subject5_*"}, "`patterns` of the held-out recordings in the folder of --transitions")
	p.StringArrayVar(&o.Sparse, "sparse", nil, "a model `file` of train sparse to compare with; may be repeated")
	command.Output(c, &o.Figures, "out", command.Folder, "`folder` for the drawings of Fig. 5.1 to 5.4")
	cli.Threads(c, &o.Threads)
	return c
}
