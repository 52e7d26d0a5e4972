package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mannequin/internal/command"
)

func newEval() *cobra.Command {
	c := &cobra.Command{
		Use:   "eval",
		Short: "Measure a trained network against recordings and its paper's numbers",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newEvalMANN(), newEvalManifold(), newEvalMAR(), newEvalKeypose(), newEvalLatent(), newEvalSTRNN())
	return c
}

// evalOptions are the flags of eval mann.
type evalOptions struct {
	model, near string
	data        string
	heldOut     []string
	seconds     float64
	threads     int
	paths       []string
	plots       string
	asJSON      bool
}

func newEvalMANN() *cobra.Command {
	var o evalOptions
	c := &cobra.Command{
		Use:   "mann --data DIR",
		Short: "Measure a mode-adaptive network for a quadruped",
		Long: `Measure a mode-adaptive network (Zhang, Starke et al. 2018) as the paper does,
and what its users notice beyond that, each figure beside the bar that it has to
reach:

  its loss on the recordings held out from training
  foot skate and leg angle update in each gait, beside the recordings' (Tables 2, 3)
  distance and angle from paths that it follows (Table 4)
  what it can no longer do without each of its experts (Table 5)
  which paws it sets down when, and which gait that is
  the speeds that it holds, how long actions take, how harsh changes between them are

Motion is measured as the network poses it (raw) and as it is displayed (shown):
after the whole tick of a game, with its paws held on flat ground. Compare ratios
to the ground truth: the paper's recordings, paw heights and path sizes are not
published. docs/mann-measures.md defines every figure.

--plots writes the experts' gating weights over time (Fig. 9) and the footfalls
of the gaits (Fig. 2) as pictures.`,
		Example: `  mannequin eval mann --model dog --data data/dog
  mannequin eval mann --model dog.safetensors --data data/dog --seconds 60 --json
  mannequin eval mann --model dog --data data/dog --path course.csv --plots out/eval`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !(o.seconds >= 1 && o.seconds <= 3600):
				return command.Usagef("--seconds is %v, want 1 to 3600", o.seconds)
			case o.threads < 1 || o.threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.threads)
			}
			r, err := evalMANN(cmd.Context(), o, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return printReport(cmd.OutOrStdout(), r, o.asJSON)
		},
	}
	p := c.Flags()
	p.StringVar(&o.model, "model", "dog", "shipped model's `name` or model file")
	p.StringVar(&o.near, "near", "dog", "where the model is one of --stride 2 to 5: shipped model's `name` or model file of stride 1 beside which it is run")
	p.StringVar(&o.data, "data", "", "`folder` of the recordings that it was trained on")
	p.StringSliceVar(&o.heldOut, "held-out", nil, heldOutUsage)
	p.Float64Var(&o.seconds, "seconds", 20, "seconds of motion to make in each gait, and on each path if more than 40")
	p.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	p.StringArrayVar(&o.paths, "path", nil, "one more path to follow: a `file` of control points, as for rollout")
	p.StringVar(&o.plots, "plots", "", "`folder` to write pictures into")
	p.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	must(c.MarkFlagRequired("data"))
	return c
}

// evalProgress shows someone at a terminal how far the evaluation is, and ends
// it when it is interrupted.
type evalProgress struct {
	ctx context.Context
	bar *progressbar.ProgressBar // nil where nobody looks
}

// newEvalProgress expects so many ticks of one agent in all, about.
func newEvalProgress(ctx context.Context, w io.Writer, rows int64) *evalProgress {
	p := &evalProgress{ctx: ctx}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions64(rows, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(24), progressbar.OptionUseANSICodes(true),
			progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(200e6), progressbar.OptionClearOnFinish())
	}
	return p
}

// stage says what comes next.
func (p *evalProgress) stage(name string) {
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("%-12s", name))
	}
}

// tick counts a tick of so many agents.
func (p *evalProgress) tick(rows int) error {
	if p.ctx.Err() != nil {
		return errors.New("interrupted, nothing measured")
	}
	if p.bar != nil {
		// The estimate of the whole may be short.
		if s := p.bar.State(); s.CurrentNum+int64(rows) < s.Max {
			p.bar.Add(rows)
		}
	}
	return nil
}

func (p *evalProgress) finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
