package eval

import (
	"math"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/command"
	evalmar "mannequin/offline/eval/mar"
)

func newEvalMAR() *cobra.Command {
	var o evalmar.Options
	c := &cobra.Command{
		Use:   "mar [DIR]...",
		Short: "Measure realtime style transfer against its rivals",
		Long: `Measure realtime style transfer (Xia, Wang, Chai and Hodgins 2015) on held-out takes, beside linear
systems (Hsu et al. 2005), one global autoregression, Gaussian processes, nearest neighbours and
local regressions (Fig. 6); on procedural motion, where the truth is known (--free); on recordings
unlike the data (--far); and the time per frame (Table 2). The folders hold recordings in styles,
named as style build expects; the input style is neutral or normal. docs/mar-measures.md defines
every figure. --out draws the paper's Fig. 3, 4 and 6.`,
		Example: `  mannequin eval mar data/xia data/bandai2
  mannequin eval mar data/mine --folds 10 --far data/dances --json
  mannequin eval mar data/xia --free=false --out out/eval`,
		Args: cobra.ArbitraryArgs,
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		if !o.Free && len(args) == 0 {
			return nil, command.Usagef("nothing to measure: name folders of recordings, or leave out --free=false")
		}
		p := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr())
		defer p.Finish()
		o.Data = args
		return evalmar.Measure(cmd.Context(), o, p)
	})
	f := c.Flags()
	f.StringArrayVar(&o.Far, "far", nil, "`folder` of recordings unlike the data; may be repeated")
	f.StringVar(&o.Database, "database", "", "`file` of a database for the time per frame and for --far (default: a procedural one of 108,000 frames)")
	input.Reading(c, &o.Reading)
	command.Number(c, &o.Folds, "folds", 2, 1, 1000, "largest number of takes of each action that are held out in turn")
	command.Number(c, &o.Takes, "takes", 10, 2, math.MaxInt, "largest number of takes of each action and style: one is held out, the others are learned from")
	f.BoolVar(&o.Free, "free", true, "also measure on procedural motion")
	command.Output(c, &o.Figures, "out", command.Folder, "`folder` for the drawings of Fig. 3, 4 and 6")
	cli.Threads(c, &o.Threads)
	return c
}
