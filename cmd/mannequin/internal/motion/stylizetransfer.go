package motion

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mannequin/animsys/manifold"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/closest"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/metrics"
)

// restyleReport is the report of stylize with a style of "style transfer".
type restyleReport struct {
	Out      string         `json:"out"`
	Style    string         `json:"style"`
	Licence  string         `json:"licence"`
	Seconds  float64        `json:"seconds"`
	Took     float64        `json:"took_s"`
	SkateWas float64        `json:"skate_content_cm"` // of the content, per frame
	Motion   metrics.People `json:"motion"`
}

// transferOf splits a --style that is FILE:NAME, or FILE alone, of a file of transfers.
func transferOf(style string) (file, name string, ok bool) {
	file = style
	if i := strings.LastIndex(style, ":"); i >= 0 {
		file, name = style[:i], style[i+1:]
	}
	return file, name, file == input.ShippedTransfers || strings.HasSuffix(strings.ToLower(file), ".safetensors")
}

// restyle gives the content a style of a file of transfers.
func (o *stylizeFlags) restyle(content, out, file, name string) (*restyleReport, error) {
	if o.amount > 2 {
		return nil, command.Usagef("--amount is %v, want at most 2 of a style of %s", o.amount, file)
	}
	ts, err := input.OpenStyleSet(file)
	if err != nil {
		return nil, err
	}
	if name == "" && len(ts.Names) == 1 {
		name = ts.Names[0]
	}
	i := slices.Index(ts.Names, name)
	if i < 0 {
		return nil, command.Usagef("--style: no style %.60q in %s: it has %s%s", name, file, strings.Join(ts.Names, ", "), closest.Hint(name, ts.Names))
	}
	m, err := input.OpenManifold(o.base)
	if err != nil {
		return nil, err
	}
	all, err := ts.For(m)
	if err != nil {
		return nil, err
	}
	was, start, err := evalmanifold.OpenPerson(m, content, o.read)
	if err != nil {
		return nil, err
	}
	at := time.Now()
	rows, err := m.Restyle(was, manifold.WeightedStyle{Transfer: all[i], Weight: float32(o.amount)}, o.edit, o.threads)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", content, err)
	}
	r := &restyleReport{Out: out, Style: name, Licence: ts.License, Seconds: float64(len(rows)/m.Layout.Columns()) / manifold.Rate, Took: time.Since(at).Seconds()}
	stand := evalmanifold.Contacts(m.Layout, was)
	before, err := metrics.MeasurePeople(m, was, stand, start, nil)
	if err != nil {
		return nil, err
	}
	r.SkateWas = before.Skate
	if r.Motion, err = metrics.MeasurePeople(m, rows, stand, start, nil); err != nil {
		return nil, err
	}
	made, err := m.Clip(rows, manifold.Rate, start)
	if err != nil {
		return nil, err
	}
	return r, writeClip(out, made)
}

func (r *restyleReport) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %.1f s of motion in %.2f s, %s, licence %s\nstanding feet slide %.3f cm/frame, the content's %.3f; bones change by %.2f %% (largest %.1f %%)\n",
		r.Out, r.Seconds, r.Took, command.Plain(r.Style), command.Plain(r.Licence), r.Motion.Skate, r.SkateWas, r.Motion.Bone, r.Motion.BoneMost)
	return err
}
