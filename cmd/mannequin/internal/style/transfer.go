package style

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/manifold"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
)

// transferFlags are the flags of style transfer.
type transferFlags struct {
	styles, content         []string
	out, name, license      string
	base, steps, locomotion string
	threads                 int
}

// transferReport is what the command prints.
type transferReport struct {
	Out     string          `json:"out"`
	Name    string          `json:"name"`
	Model   string          `json:"model"`
	Licence string          `json:"licence"`
	Data    string          `json:"data"`
	Content float64         `json:"content_seconds"`
	Styles  []transferStyle `json:"styles"`
	Bytes   int64           `json:"bytes"`
	Took    float64         `json:"took_s"`
}

// transferStyle is one of its styles.
type transferStyle struct {
	Name    string  `json:"name"`
	File    string  `json:"file"`
	Seconds float64 `json:"seconds"`
	Amount  float64 `json:"amount"`
	Steps   int     `json:"steps"`
	Ratio   float64 `json:"gram_ratio_content"` // of the content, as StyleReport.Ratio

	Others []transferOther `json:"others"`
}

// transferOther is how motion that the transfer was not found from takes it, as the
// file has it.
type transferOther struct {
	Speed    float64 `json:"speed"`
	Ratio    float64 `json:"gram_ratio"`  // of its distance from the style, what is left
	SkateWas float64 `json:"skate_cm"`    // of standing feet, per frame
	SkateRaw float64 `json:"skate_raw"`   // in the style, before feet are held
	Skate    float64 `json:"skate_style"` // in the style
}

func newStyleTransfer() *cobra.Command {
	var o transferFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "transfer --style NAME=FILE... --out FILE",
		Short: "Make styles for a crowd from recordings of them",
		Long: `Make styles for a crowd (Holden, Saito and Komura 2016) from BVH or AMC recordings of
them, of any skeleton that a retargeting profile fits (mannequin import --retarget).
Each becomes a linear map of the hidden values of a motion manifold, which gives the
style to whoever moves on that manifold: people in the scenes people and crowd, and
"mannequin stylize --method gram --style FILE:NAME".

--style NAME=FILE, and for a part of the recording, in seconds, NAME=FILE@FROM:TO.
NAME:AMOUNT=FILE gives it more or less than 1 weight: more comes nearer to the
style, and is less fit for motion that differs from what it is found from. Half a
second is the least, a whole cycle is good.

That is --content, or, where it is missing, what the networks of crowds make round
curves: walks at 1.0 to 2.0 m/s and runs at 2.6 and 3.4.

The report has for other walks at 1.15, 1.5 and 1.85 m/s and a run at 2.8 what is left
of their distance from the style, and how far standing feet slide before they are
held.`,
		Example: `  mannequin style transfer --style stooped=old.bvh --out mine.safetensors
  mannequin style transfer --style stooped:0.5=old.bvh --style sneaking=07.bvh@3.2:7.6 --license CC0-1.0 --out mine.safetensors
  mannequin style transfer --style proud=proud.bvh --content walk.bvh --content run.bvh --out mine.safetensors --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			clips, err := o.check()
			if err != nil {
				return err
			}
			r, err := o.run(cmd.Context(), cmd.ErrOrStderr(), clips)
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), r, asJSON)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.styles, "style", nil, "`NAME=FILE` of a style; may stand several times")
	f.StringArrayVar(&o.content, "content", nil, "`file` of motion like what shall get it; may stand several times")
	f.StringVarP(&o.out, "out", "o", "", "the file of styles to write")
	f.StringVar(&o.name, "name", "", "what it is called (default: as the file)")
	f.StringVar(&o.license, "license", "", "its licence (default: what the recordings' folders and the models say)")
	f.StringVar(&o.base, "manifold", "human", "a shipped model's name, or a model file: the motion manifold")
	f.StringVar(&o.steps, "footstep", "human-footstep", "a shipped model's name, or a model file: the network of footsteps")
	f.StringVar(&o.locomotion, "locomotion", "human-locomotion", "a shipped model's name, or a model file: the network of motion")
	f.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "workers; the result does not depend on it")
	f.BoolVar(&asJSON, "json", false, "print the report as one JSON object")
	for _, name := range []string{"style", "out"} {
		cli.Must(c.MarkFlagRequired(name))
	}
	return c
}

// check returns the recordings that the flags name, none of them read yet.
func (o *transferFlags) check() ([]styleClip, error) {
	switch {
	case o.out == "":
		return nil, command.Usagef("--out is empty")
	case o.threads < 1 || o.threads > 1024:
		return nil, command.Usagef("--threads is %d, want 1 to 1024", o.threads)
	}
	var clips []styleClip
	var names []string
	for _, text := range o.styles {
		c, err := parseStyleClip(text)
		if err != nil {
			return nil, err
		}
		clips, names = append(clips, c), append(names, c.name)
	}
	if err := manifold.CheckStyleNames(names); err != nil {
		return nil, command.Usagef("--style: %w", err)
	}
	return clips, cli.Writable(o.out)
}

// run finds the styles of clips, measures them and writes them.
func (o *transferFlags) run(ctx context.Context, progress io.Writer, clips []styleClip) (*transferReport, error) {
	start := time.Now()
	nets := make([]*netruntime.Net, 3)
	for i, name := range []string{o.base, o.steps, o.locomotion} {
		var err error
		if nets[i], err = models.Open(name); err != nil {
			return nil, err
		}
	}
	m, err := manifold.NewModel(nets[0])
	if err != nil {
		return nil, err
	}
	for i := range clips {
		if err := clips[i].open(m); err != nil {
			return nil, err
		}
	}
	content, err := o.contents(m, nets)
	if err != nil {
		return nil, err
	}
	r := &transferReport{Out: o.out, Model: m.Net.Meta().Name, Content: float64(len(content)/m.Layout.Columns()) / manifold.Rate}
	var all []*manifold.StyleTransfer
	var styles []*manifold.Style
	for i := range clips {
		t, style, report, err := o.find(ctx, progress, m, &clips[i], content)
		if err != nil {
			return nil, err
		}
		all, styles = append(all, t), append(styles, style)
		r.Styles = append(r.Styles, transferStyle{Name: t.Name, File: filepath.Base(clips[i].file), Seconds: float64(len(clips[i].rows)/m.Layout.Columns()) / manifold.Rate,
			Amount: clips[i].amount, Steps: report.Steps, Ratio: report.Ratio()})
	}
	ts, err := m.NewStyleSet(all)
	if err != nil {
		return nil, err
	}
	if ts.Name = o.name; ts.Name == "" {
		ts.Name = cli.Stem(filepath.Base(o.out))
	}
	limits, err := o.describe(ts, clips, nets)
	if err != nil {
		return nil, err
	}
	r.Name, r.Licence, r.Data = ts.Name, ts.License, ts.Data
	others, err := o.lanes(m, nets, otherSpeeds, otherRadii, 8*manifold.Rate)
	if err != nil {
		return nil, err
	}
	kept, err := written(ts, m) // what is measured
	if err != nil {
		return nil, err
	}
	for i := range r.Styles {
		k := slices.IndexFunc(kept, func(t *manifold.StyleTransfer) bool { return t.Name == r.Styles[i].Name })
		if r.Styles[i].Others, err = o.measure(m, kept[k], styles[i], others); err != nil {
			return nil, err
		}
	}
	ts.Card = r.card(limits)
	r.Bytes, err = cli.WriteSized(o.out, ts.Encode)
	r.Took = time.Since(start).Seconds()
	return r, err
}

// find finds the transfer to a clip's style.
func (o *transferFlags) find(ctx context.Context, progress io.Writer, m *manifold.Model, c *styleClip, content []float32) (*manifold.StyleTransfer, *manifold.Style, manifold.StyleReport, error) {
	var report manifold.StyleReport
	style, err := m.NewStyle(c.rows, o.threads)
	if err != nil {
		return nil, nil, report, fmt.Errorf("%s: %w", c.file, err)
	}
	w := style.TransferWeights()
	w.Style *= float32(c.amount)
	bar := cli.NewProgress(ctx, progress)
	defer bar.Finish()
	bar.Stage(c.name + ": steps at most")
	t, report, err := m.NewStyleTransfer(style, content, manifold.StyleTransferOptions{Weights: &w, Workers: o.threads, Step: func(done, most int) bool {
		bar.Step(done, most)
		return ctx.Err() == nil
	}})
	if ctx.Err() != nil {
		return nil, nil, report, errors.New("interrupted: nothing was written")
	}
	if err != nil {
		return nil, nil, report, fmt.Errorf("%s from %s: %w", c.name, c.file, err)
	}
	t.Name = c.name
	return t, style, report, nil
}
