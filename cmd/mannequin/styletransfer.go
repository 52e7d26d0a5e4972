package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/metrics"
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

// What transfers are found from, and measured on: the lanes of crowds.
var (
	contentSpeeds = []float32{1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.6, 3.4}
	contentRadii  = []float32{8, 12, 6, 16, 10, 14, 12, 18}
	otherSpeeds   = []float32{1.15, 1.5, 1.85, 2.8}
	otherRadii    = []float32{9, 15, 20, 20}
)

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
			switch {
			case o.out == "":
				return command.Usagef("--out is empty")
			case o.threads < 1 || o.threads > 1024:
				return command.Usagef("--threads is %d, want 1 to 1024", o.threads)
			}
			r, err := o.run(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return r.print(cmd.OutOrStdout())
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
		must(c.MarkFlagRequired(name))
	}
	return c
}

// styleClip is a recording of a style.
type styleClip struct {
	name, file string
	amount     float64
	from, to   float64 // s; to is 0: to the end
	rows       []float32
}

// parseStyleClip reads NAME[:AMOUNT]=FILE[@FROM:TO].
func parseStyleClip(text string) (c styleClip, err error) {
	name, file, ok := strings.Cut(text, "=")
	if !ok || name == "" || file == "" {
		return c, command.Usagef("--style is %.60q, want NAME=FILE", text)
	}
	c.file, c.amount = file, 1
	var amount string
	if c.name, amount, ok = strings.Cut(name, ":"); ok {
		if c.amount, err = strconv.ParseFloat(amount, 64); err != nil || !(c.amount > 0 && c.amount <= 100) {
			return c, command.Usagef("--style %.60q: the amount is %.20q, want more than 0, up to 100", text, amount)
		}
	}
	if at := strings.LastIndex(file, "@"); at >= 0 {
		from, to, _ := strings.Cut(file[at+1:], ":")
		var e1, e2 error
		c.file = file[:at]
		c.from, e1 = strconv.ParseFloat(from, 64)
		c.to, e2 = strconv.ParseFloat(to, 64)
		if e1 != nil || e2 != nil || !(c.from >= 0 && c.to > c.from && c.to <= 1e6) {
			return c, command.Usagef("--style %.60q: %.20q is no part of a recording, want FROM:TO in seconds", text, file[at+1:])
		}
	}
	return c, nil
}

// open reads the recording, or the part of it.
func (c *styleClip) open(m *manifold.Model) error {
	rows, _, err := openStyled(m, c.file)
	if err != nil {
		return err
	}
	cols := m.Layout.Columns()
	if c.to > 0 {
		lo, hi := int(math.Round(c.from*manifold.Rate)), int(math.Round(c.to*manifold.Rate))
		hi -= (hi - lo) % 2
		if hi > len(rows)/cols {
			return fmt.Errorf("%s: it ends at %.2f s, before %g", c.file, float64(len(rows)/cols)/manifold.Rate, c.to)
		}
		rows = rows[lo*cols : hi*cols]
	}
	c.rows = rows
	return nil
}

func (o *transferFlags) run(ctx context.Context, progress io.Writer) (*transferReport, error) {
	start := time.Now()
	clips := make([]styleClip, len(o.styles))
	for i, text := range o.styles {
		var err error
		if clips[i], err = parseStyleClip(text); err != nil {
			return nil, err
		}
	}
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
	var all []*manifold.Transfer
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
	ts, err := m.NewTransfers(all)
	if err != nil {
		return nil, err
	}
	if ts.Name = o.name; ts.Name == "" {
		ts.Name = strings.TrimSuffix(filepath.Base(o.out), filepath.Ext(o.out))
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
		k := slices.IndexFunc(kept, func(t *manifold.Transfer) bool { return t.Name == r.Styles[i].Name })
		if r.Styles[i].Others, err = o.measure(m, kept[k], styles[i], others); err != nil {
			return nil, err
		}
	}
	ts.Card = r.card(limits)
	if err := atomicfile.Write(o.out, ts.Encode); err != nil {
		return nil, err
	}
	info, err := os.Stat(o.out)
	if err != nil {
		return nil, err
	}
	r.Bytes, r.Took = info.Size(), time.Since(start).Seconds()
	return r, nil
}

// lanes returns what the networks of crowds make round circles.
func (o *transferFlags) lanes(m *manifold.Model, nets []*netruntime.Net, speeds, radii []float32, frames int) ([]manifold.Made, error) {
	l, err := m.NewLocomotion(nets[1], nets[2], manifold.LocomotionOptions{Batch: len(speeds), Frames: frames, Workers: o.threads})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var courses []manifold.Course
	for i, speed := range speeds {
		path, err := control.Circle(radii[i])
		if err != nil {
			return nil, err
		}
		c, err := manifold.Along(path, frames, func(int) float32 { return speed }, func(int) float32 { return 0 })
		if err != nil {
			return nil, err
		}
		courses = append(courses, c)
	}
	made, _, err := l.Make(courses, nil, manifold.CrowdIterations, nil)
	if err != nil {
		return nil, err
	}
	return made, nil
}

// contents returns what transfers are found from, one motion after the other.
func (o *transferFlags) contents(m *manifold.Model, nets []*netruntime.Net) (all []float32, err error) {
	for _, file := range o.content {
		rows, _, err := openStyled(m, file)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	if len(o.content) > 0 {
		return all, nil
	}
	made, err := o.lanes(m, nets, contentSpeeds, contentRadii, 4*manifold.Rate)
	for i := range made {
		all = append(all, made[i].Rows...)
	}
	return all, err
}

// find finds the transfer to a clip's style.
func (o *transferFlags) find(ctx context.Context, progress io.Writer, m *manifold.Model, c *styleClip, content []float32) (*manifold.Transfer, *manifold.Style, manifold.StyleReport, error) {
	var report manifold.StyleReport
	style, err := m.NewStyle(c.rows, o.threads)
	if err != nil {
		return nil, nil, report, fmt.Errorf("%s: %w", c.file, err)
	}
	w := style.TransferWeights()
	w.Style *= float32(c.amount)
	bar := clipBar{w: progress, what: c.name + ": steps at most"}
	defer bar.finish()
	t, report, err := m.NewTransfer(style, content, manifold.TransferOptions{Weights: &w, Workers: o.threads, Step: func(done, most int) bool {
		bar.step(done, most)
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

// written returns transfers as their file has them.
func written(ts *manifold.Transfers, m *manifold.Model) ([]*manifold.Transfer, error) {
	var b bytes.Buffer
	if err := ts.Encode(&b); err != nil {
		return nil, err
	}
	again, err := manifold.DecodeTransfers(b.Bytes())
	if err != nil {
		return nil, err
	}
	return again.For(m)
}

// measure gives others the style.
func (o *transferFlags) measure(m *manifold.Model, t *manifold.Transfer, style *manifold.Style, others []manifold.Made) (list []transferOther, err error) {
	for i, c := range others {
		gone := func(rows []float32) float64 {
			p, e := metrics.MeasurePeople(m, rows, c.Contacts, c.Start, nil)
			err = errors.Join(err, e)
			return p.Skate
		}
		distance := func(rows []float32) float64 {
			s, e := m.NewStyle(rows, o.threads)
			if e != nil {
				err = errors.Join(err, e)
				return 0
			}
			return s.Distance(style)
		}
		raw, e1 := m.Restyle(c.Rows, manifold.Styled{With: t, Weight: 1}, 0, o.threads)
		held, e2 := m.Restyle(c.Rows, manifold.Styled{With: t, Weight: 1}, manifold.DefaultIterations, o.threads)
		if err = errors.Join(e1, e2); err != nil {
			return nil, fmt.Errorf("%s: a motion at %g m/s: %w", t.Name, otherSpeeds[i], err)
		}
		x := transferOther{float64(otherSpeeds[i]), distance(raw) / distance(c.Rows), gone(c.Rows), gone(raw), gone(held)}
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}
