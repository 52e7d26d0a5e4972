package eval

import (
	"runtime"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	evalmar "mannequin/offline/eval/mar"
)

func newEvalMAR() *cobra.Command {
	var o evalmar.Options
	var asJSON bool
	c := &cobra.Command{
		Use:   "mar [--data DIR]...",
		Short: "Measure realtime style transfer against its rivals",
		Long: `Measure realtime style transfer (Xia, Wang, Chai and Hodgins 2015) as the paper
does, each figure beside the bar that it has to reach:

  poses and timing of takes held out, beside those of linear systems (Hsu et al.
  2005), one global autoregression, Gaussian processes, nearest neighbours and
  local regressions (Fig. 6), for every action of a folder of --data, and for all
  its actions together
  the same with nothing told of the input's action or style
  the same on motion made from rules, where the truth is known (--free)
  clips that are unlike all data (--far): finite, and no faster than they were?
  what a frame costs, and the memory of a large database (Table 2)

The input style of a folder is neutral or normal. --figures draws the paper's
Fig. 3, 4 and 6. docs/mar-measures.md defines every figure.`,
		Example: `  mannequin eval mar --data data/xia --data data/bandai2
  mannequin eval mar --data data/mine --folds 10 --far data/dances --json
  mannequin eval mar --data data/xia --free=false --figures out/eval`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.Folds < 1 || o.Folds > 1000:
				return command.Usagef("--folds is %d, want 1 to 1000", o.Folds)
			case o.Takes < 2:
				return command.Usagef("--takes is %d, want at least 2: one is held out, another learnt from", o.Takes)
			case o.Threads < 1 || o.Threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.Threads)
			case !o.Free && len(o.Data) == 0:
				return command.Usagef("nothing to measure: give recordings with --data, or leave --free=false away")
			}
			p := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr())
			defer p.Finish()
			r, err := evalmar.Measure(cmd.Context(), o, p)
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	p := c.Flags()
	p.StringArrayVar(&o.Data, "data", nil, "`folder` of recordings in styles, named as mannequin style build expects; may stand several times")
	p.StringArrayVar(&o.Far, "far", nil, "`folder` of recordings unlike the data; may stand several times")
	p.StringVar(&o.Database, "database", "", "`file` of a database, for what a frame costs and for --far (default: one of 108,000 frames made from rules)")
	p.IntVar(&o.Folds, "folds", 2, "takes that are held out in turn, at most, of each action")
	p.IntVar(&o.Takes, "takes", 10, "takes to read, at most, of each action and style")
	p.IntVar(&o.Threads, "threads", runtime.GOMAXPROCS(0), "workers; only what a frame costs depends on it")
	p.BoolVar(&o.Free, "free", true, "measure on motion made from rules, too")
	p.StringVar(&o.Figures, "figures", "", "`folder` to draw Fig. 3, 4 and 6 into")
	p.BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}
