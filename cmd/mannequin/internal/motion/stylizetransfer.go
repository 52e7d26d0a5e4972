package motion

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mannequin/animsys/manifold"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/metrics"
	"mannequin/offline/mocap"
)

// restyleReport is what stylize --method gram prints of a style of "style transfer".
type restyleReport struct {
	Out      string         `json:"out"`
	Style    string         `json:"style"`
	Licence  string         `json:"licence"`
	Seconds  float64        `json:"seconds"`
	Took     float64        `json:"took_s"`
	SkateWas float64        `json:"skate_content_cm"` // of the content, per frame
	Motion   metrics.People `json:"motion"`
}

// transferOf splits what --style says where that is FILE:NAME, or FILE alone, of a file
// of transfers.
func transferOf(style string) (file, name string, ok bool) {
	file = style
	if i := strings.LastIndex(style, ":"); i >= 0 {
		file, name = style[:i], style[i+1:]
	}
	return file, name, file == input.ShippedTransfers || strings.HasSuffix(strings.ToLower(file), ".safetensors")
}

// restyle gives the content a style of a file of transfers.
func (o *stylizeFlags) restyle(w io.Writer, file, name string) error {
	if o.amount > 2 {
		return command.Usagef("--amount is %v, want at most 2 of a style of %s", o.amount, file)
	}
	ts, err := input.OpenStyleSet(file)
	if err != nil {
		return err
	}
	if name == "" && len(ts.Names) == 1 {
		name = ts.Names[0]
	}
	i := slices.Index(ts.Names, name)
	if i < 0 {
		return command.Usagef("--style: no style %.60q in %s: it has %s", name, file, strings.Join(ts.Names, ", "))
	}
	m, err := input.OpenManifold(o.base)
	if err != nil {
		return err
	}
	all, err := ts.For(m)
	if err != nil {
		return err
	}
	content, start, err := evalmanifold.OpenPerson(m, o.content)
	if err != nil {
		return err
	}
	at := time.Now()
	rows, err := m.Restyle(content, manifold.WeightedStyle{Transfer: all[i], Weight: float32(o.amount)}, o.edit, o.threads)
	if err != nil {
		return fmt.Errorf("%s: %w", o.content, err)
	}
	r := restyleReport{Out: o.out, Style: name, Licence: ts.License, Seconds: float64(len(rows)/m.Layout.Columns()) / manifold.Rate, Took: time.Since(at).Seconds()}
	stand := evalmanifold.Contacts(m.Layout, content)
	was, err := metrics.MeasurePeople(m, content, stand, start, nil)
	if err != nil {
		return err
	}
	r.SkateWas = was.Skate
	if r.Motion, err = metrics.MeasurePeople(m, rows, stand, start, nil); err != nil {
		return err
	}
	made, err := m.Clip(rows, manifold.Rate, start)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(o.out, func(w io.Writer) error { return mocap.WriteClip(w, made) }); err != nil {
		return err
	}
	if o.asJSON {
		return cli.PrintJSON(w, r)
	}
	fmt.Fprintf(w, "%s: %.1f s of motion in %.2f s, %s, licence %s\n", r.Out, r.Seconds, r.Took, cli.Plain(r.Style), cli.Plain(r.Licence))
	_, err = fmt.Fprintf(w, "standing feet slide %.3f cm/frame, the content's %.3f; bones change by %.2f %% (largest %.1f %%)\n", r.Motion.Skate, r.SkateWas, r.Motion.Bone, r.Motion.BoneMost)
	return err
}
