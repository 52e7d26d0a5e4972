package eval

import (
	"math"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	evalstyle "mannequin/offline/eval/style"
)

func newEvalStyle() *cobra.Command {
	var o evalstyle.Options
	var base, transfers, database string
	c := &cobra.Command{
		Use:   "style DIR...",
		Short: "Measure styles on motion of all kinds: whether bodies hold together",
		Long: `Give recordings of each folder every style and measure the result beside the recordings: twist and
tilt of the trunk, jerk, crossing knees, feet in the air, hands in the body. The limit is 1.4 times
what the same recordings have, or more if lively people have more.
docs/style.md defines every figure.`,
		Example: `  mannequin eval style data/cmu-locomotion data/human-o3de/bvh data/reactidle
  mannequin eval style data/lafan1 --transfers mine.safetensors --database "" --json`,
		Args: command.Want("folders of recordings", 1, -1),
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		p := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr())
		defer p.Finish()
		o.Data = args
		var err error
		if o.Model, err = input.OpenManifold(base); err != nil {
			return nil, err
		}
		if transfers != "" {
			ts, err := input.OpenStyleSet(transfers)
			if err != nil {
				return nil, err
			}
			if o.Transfers, err = ts.For(o.Model); err != nil {
				return nil, err
			}
		}
		if database != "" {
			if o.Database, err = input.OpenStyles(database); err != nil {
				return nil, err
			}
		}
		return evalstyle.Measure(cmd.Context(), o, p)
	})
	f := c.Flags()
	f.StringVar(&transfers, "transfers", input.ShippedTransfers, "styles of a crowd: styles-gram, a `file`, or none if empty")
	f.StringVar(&database, "database", input.ShippedStyles, "database of styles: styles-free, a `file`, or none if empty")
	f.StringSliceVar(&o.Only, "only", nil, "`patterns` of the recordings to take (default: all)")
	f.StringSliceVar(&o.Skip, "skip", nil, "`patterns` of the recordings to leave out")
	cli.Model(c, &base, "manifold", "human", "the motion manifold")
	input.Reading(c, &o.Reading)
	command.Number(c, &o.Takes, "takes", 8, 1, math.MaxInt, "largest number of recordings of a folder, evenly spread")
	command.Number(c, &o.Seconds, "seconds", 8, 1, 600, "longest part of a recording, from its middle")
	cli.Threads(c, &o.Threads)
	return c
}
