package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
)

func newEval() *cobra.Command {
	c := &cobra.Command{
		Use:   "eval",
		Short: "Measure a trained network against recordings and its paper's numbers",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newEvalMANN())
	return c
}

func newEvalMANN() *cobra.Command {
	var model, data string
	var seconds float64
	var threads int
	var asJSON bool
	c := &cobra.Command{
		Use:   "mann --data DIR",
		Short: "Measure a mode-adaptive network for a quadruped",
		Long: `Measure a mode-adaptive network (Zhang, Starke et al. 2018) as the paper does:
its loss on the recordings held out from training; foot skate and leg stiffness
of the motion that it makes in each gait, beside the recordings of that gait and
the paper's Tables 2 and 3; and its distance from paths that it follows, beside
Table 4. Compare ratios to the ground truth: the paper's recordings, paw heights
and path sizes are not published.`,
		Example: `  mannequin eval mann --model dog --data data/dog
  mannequin eval mann --model dog.safetensors --data data/dog --seconds 60 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !(seconds >= 1 && seconds <= 3600):
				return command.Usagef("--seconds is %v, want 1 to 3600", seconds)
			case threads < 1 || threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", threads)
			}
			r, err := evalMANN(cmd.Context(), model, data, seconds, threads)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return r.print(cmd.OutOrStdout())
		},
	}
	p := c.Flags()
	p.StringVar(&model, "model", "dog", "shipped model's `name` or model file")
	p.StringVar(&data, "data", "", "`folder` of the recordings that it was trained on")
	p.Float64Var(&seconds, "seconds", 20, "seconds of motion to make in each gait and on each path")
	p.IntVar(&threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	p.BoolVar(&asJSON, "json", false, "print the report as JSON")
	c.MarkFlagRequired("data")
	return c
}

// evalReport is what eval mann finds out.
type evalReport struct {
	Model   string      `json:"model"`
	HeldOut evalHeldOut `json:"held_out"`
	Gaits   []evalGait  `json:"gaits"`
	Paths   []evalPath  `json:"paths"`
}

type evalHeldOut struct {
	Recordings []string       `json:"recordings"`
	Rows       int            `json:"rows"` // mirrored ones included
	Losses     []metrics.Loss `json:"losses"`
}

// evalGait compares a gait's motion; paper's entries have no speed and frames.
type evalGait struct {
	Name       string          `json:"name"`
	Model      metrics.Motion  `json:"model"`
	Truth      metrics.Motion  `json:"truth"`
	PaperModel *metrics.Motion `json:"paper_model,omitempty"`
	PaperTruth *metrics.Motion `json:"paper_truth,omitempty"`
}

type evalPath struct {
	metrics.Follow
	Paper metrics.Follow `json:"paper"`
}

func evalMANN(ctx context.Context, model, data string, seconds float64, threads int) (*evalReport, error) {
	net, err := models.Open(model)
	if err != nil {
		return nil, err
	}
	m, err := mann.NewModel(net)
	if err != nil {
		return nil, err
	}
	const maxRows = 256
	session, err := net.NewSession(netruntime.SessionOptions{Batch: maxRows, Workers: threads})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	run := func(y, x []float32, rows int) error {
		if ctx.Err() != nil {
			return errors.New("interrupted, nothing measured")
		}
		return session.Run(y, x, rows)
	}
	train, held, err := dataset.BuildMANN(data, dataset.Options{Layout: m.Layout, Workers: threads})
	if err != nil {
		return nil, err
	}
	r := &evalReport{Model: model, HeldOut: evalHeldOut{Recordings: held.Clips, Rows: held.Rows}}
	if r.HeldOut.Losses, err = metrics.Losses(held, maxRows, run); err != nil {
		return nil, err
	}
	gaits := metrics.Gaits()
	truth, err := metrics.GroundTruth(gaits, train, held)
	if err != nil {
		return nil, err
	}
	made, err := metrics.Generated(m, run, gaits, seconds)
	if err != nil {
		return nil, err
	}
	for i, g := range gaits {
		r.Gaits = append(r.Gaits, evalGait{g.Name, made[i], truth[i], g.PaperMANN8, g.PaperTruth})
	}
	follow, err := metrics.Following(m, run, control.PaceSpeed, seconds)
	if err != nil {
		return nil, err
	}
	for i, p := range metrics.PaperFollow() {
		r.Paths = append(r.Paths, evalPath{follow[i], p})
	}
	return r, nil
}

func (r *evalReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%s on %d rows held out: %s\n\n", r.Model, r.HeldOut.Rows, strings.Join(r.HeldOut.Recordings, ", "))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "output\tloss\tRMS error\t\n")
	for _, l := range r.HeldOut.Losses {
		rms := ""
		if l.Kind != "all" {
			rms = strings.TrimSpace(fmt.Sprintf("%.3g %s", l.RMS, l.Unit))
		}
		fmt.Fprintf(t, "%s\t%.4f\t%s\t\n", l.Kind, l.MSE, rms)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(t, "\ngait\tlegs\tskate cm/frame\trecorded\tratio\tpaper's\tstiffness °/frame\trecorded\tratio\tpaper's\tspeed m/s\t\n")
	for _, g := range r.Gaits {
		row := func(legs string, skate, bend func(*metrics.Motion) float64, speed string) {
			ratio := func(f func(*metrics.Motion) float64) string {
				if g.Truth.Frames == 0 {
					return "–"
				}
				return fmt.Sprintf("%.2f", f(&g.Model)/f(&g.Truth))
			}
			paper := func(f func(*metrics.Motion) float64) string {
				if g.PaperModel == nil {
					return "–"
				}
				return fmt.Sprintf("%.2f/%.2f = %.2f", f(g.PaperModel), f(g.PaperTruth), f(g.PaperModel)/f(g.PaperTruth))
			}
			fmt.Fprintf(t, "%s\t%s\t%.3f\t%.3f\t%s\t%s\t%.2f\t%.2f\t%s\t%s\t%s\t\n", g.Name, legs,
				skate(&g.Model), skate(&g.Truth), ratio(skate), paper(skate),
				bend(&g.Model), bend(&g.Truth), ratio(bend), paper(bend), speed)
		}
		row("all", func(m *metrics.Motion) float64 { return m.Skate }, func(m *metrics.Motion) float64 { return m.Stiffness },
			fmt.Sprintf("%.2f (%.2f)", g.Model.Speed, g.Truth.Speed))
		row("back", func(m *metrics.Motion) float64 { return m.BackSkate }, func(m *metrics.Motion) float64 { return m.BackStiffness }, "")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(t, "\npath\tdistance cm\tpaper's\tangle °\tpaper's\t\n")
	for _, p := range r.Paths {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t\n", p.Path, p.DistanceCM, p.Paper.DistanceCM, p.AngleDeg, p.Paper.AngleDeg)
	}
	return t.Flush()
}
