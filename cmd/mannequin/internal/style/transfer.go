package style

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/manifold"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/closest"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/procgen/human"
	"mannequin/offline/retarget"
)

// transferFlags are the flags of style transfer.
type transferFlags struct {
	content            []string
	free               []string
	read               retarget.Reading
	out, name, license string
	networks           evalmanifold.Networks
	threads            int
}

// transferReport is the report of style transfer.
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

// transferStyle is a style in the report.
type transferStyle struct {
	Name    string  `json:"name"`
	File    string  `json:"file"`
	Seconds float64 `json:"seconds"`
	Amount  float64 `json:"amount"`
	Steps   int     `json:"steps"`
	Ratio   float64 `json:"gram_ratio_content"` // of the content, as StyleReport.Ratio

	Others []transferOther `json:"others"`
}

// transferOther is the effect of a style, as stored in the file, on motion that it was not found from.
type transferOther struct {
	Speed    float64 `json:"speed"`
	Ratio    float64 `json:"gram_ratio"`  // distance from the style ÷ the distance without it
	SkateWas float64 `json:"skate_cm"`    // of standing feet, per frame
	SkateRaw float64 `json:"skate_raw"`   // in the style, before the foot lock
	Skate    float64 `json:"skate_style"` // in the style
}

func newStyleTransfer() *cobra.Command {
	var o transferFlags
	c := &cobra.Command{
		Use:   "transfer [NAME=RECORDING]... --out FILE",
		Short: "Make styles for a crowd from recordings of them",
		Long: `Make styles for a crowd (Holden, Saito and Komura 2016) from BVH, AMC, FBX or glTF recordings, on any
skeleton with a retargeting profile (mannequin import --retarget). Each style becomes a linear
map of the hidden values of a motion manifold. The map gives the style to all motion on that
manifold: people in the scenes people and crowd, and "mannequin stylize --style FILE:NAME". A second map
gives it to single poses of people of all other generators.

NAME=FILE@FROM:TO takes a part of the recording, in seconds: half a second at least, a whole
cycle is good. NAME:AMOUNT=FILE sets the style's weight, 1 by default. More comes closer to the
style, and suits other motion less.

The map is found from the motion of --content, or without it from what the networks of crowds
make on curves: walks at 1.0 to 2.0 m/s and runs at 2.6 and 3.4. Motion unlike that shows less of
the style.

--free adds styles of procedural people (offline/procgen/human), which are found from pairs of the
same movement without the style and in it. The shipped styles-gram has some.

The report measures other walks at 1.15, 1.5 and 1.85 m/s and a run at 2.8: the rest of their
distance from the style, and sliding feet before the foot lock.`,
		Example: `  mannequin style transfer stooped=old.bvh --out mine.safetensors
  mannequin style transfer stooped:0.5=old.bvh sneaking=07.bvh@3.2:7.6 --license CC0-1.0 --out mine.safetensors
  mannequin style transfer proud=proud.bvh --content walk.bvh --content run.bvh --out mine.safetensors --json
  mannequin style transfer --free sneaking,drunk --out free.safetensors`,
		Args: cobra.ArbitraryArgs,
	}
	cli.Reports(c, func(cmd *cobra.Command, args []string) (cli.Report, error) {
		clips, err := o.check(args)
		if err != nil {
			return nil, err
		}
		return o.run(cmd.Context(), cmd.ErrOrStderr(), clips)
	})
	f := c.Flags()
	f.StringArrayVar(&o.content, "content", nil, "`file` of motion like the motion to change; may be repeated")
	f.StringSliceVar(&o.free, "free", nil, "`styles` of procedural people: "+strings.Join(human.Styles()[1:], ", "))
	input.Reading(c, &o.read)
	command.Out(c, &o.out, command.File, "the `file` of styles to write")
	f.StringVar(&o.name, "name", "", "name of the file's styles (default: as the file)")
	f.StringVar(&o.license, "license", "", "licence (default: as in the recordings' folders and the models)")
	cli.People(c, &o.networks.Base, &o.networks.Steps, &o.networks.Locomotion)
	cli.Threads(c, &o.threads)
	return c
}

// check returns the recordings of the arguments, which it does not read.
func (o *transferFlags) check(args []string) ([]styleClip, error) {
	var clips []styleClip
	var names []string
	for _, text := range args {
		c, err := parseStyleClip(text)
		if err != nil {
			return nil, err
		}
		clips, names = append(clips, c), append(names, c.name)
	}
	for _, name := range o.free {
		if !slices.Contains(human.Styles()[1:], name) {
			return nil, command.Usagef("--free: no style %.60q: want some of %s%s", name, strings.Join(human.Styles()[1:], ", "), closest.Hint(name, human.Styles()[1:]))
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, command.Usagef("no styles: want NAME=RECORDING, or --free")
	}
	if err := manifold.CheckStyleNames(names); err != nil {
		return nil, command.Usage(err)
	}
	return clips, cli.Writable(o.out)
}

// run finds the styles of clips, measures them and writes them.
func (o *transferFlags) run(ctx context.Context, progress io.Writer, clips []styleClip) (*transferReport, error) {
	start := time.Now()
	m, err := o.networks.Open()
	if err != nil {
		return nil, err
	}
	for i := range clips {
		if err := clips[i].open(m.Model, o.read); err != nil {
			return nil, err
		}
	}
	var content []float32
	if len(clips) > 0 {
		if content, err = o.contents(m); err != nil {
			return nil, err
		}
	}
	r := &transferReport{Out: o.out, Model: m.Net.Meta().Name, Content: float64(len(content)/m.Layout.Columns()) / manifold.Rate}
	var all []*manifold.StyleTransfer
	var styles []*manifold.Style
	for i := range clips {
		t, style, report, err := o.find(ctx, progress, m.Model, &clips[i], content)
		if err != nil {
			return nil, err
		}
		all, styles = append(all, t), append(styles, style)
		r.Styles = append(r.Styles, transferStyle{Name: t.Name, File: filepath.Base(clips[i].file), Seconds: float64(len(clips[i].rows)/m.Layout.Columns()) / manifold.Rate,
			Amount: clips[i].amount, Steps: report.Steps, Ratio: report.Ratio()})
	}
	if len(o.free) > 0 {
		if err := o.freeStyles(m.Model, func(t *manifold.StyleTransfer, style *manifold.Style, seconds float64) {
			all, styles = append(all, t), append(styles, style)
			r.Styles = append(r.Styles, transferStyle{Name: t.Name, Seconds: seconds, Amount: 1})
		}); err != nil {
			return nil, err
		}
	}
	poses, err := posesOf(m.Model, o.threads)
	if err != nil {
		return nil, err
	}
	if err := m.FitPoses(all, poses, o.threads); err != nil {
		return nil, err
	}
	ts, err := m.NewStyleSet(all)
	if err != nil {
		return nil, err
	}
	if ts.Name = o.name; ts.Name == "" {
		ts.Name = cli.Stem(filepath.Base(o.out))
	}
	limits, err := o.describe(ts, clips, m)
	if err != nil {
		return nil, err
	}
	r.Name, r.Licence, r.Data = ts.Name, ts.License, ts.Data
	others, err := o.lanes(m, otherSpeeds, otherRadii, 8*manifold.Rate)
	if err != nil {
		return nil, err
	}
	kept, err := written(ts, m.Model) // as measured
	if err != nil {
		return nil, err
	}
	for i := range r.Styles {
		k := slices.IndexFunc(kept, func(t *manifold.StyleTransfer) bool { return t.Name == r.Styles[i].Name })
		if r.Styles[i].Others, err = o.measure(m.Model, kept[k], styles[i], others); err != nil {
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
