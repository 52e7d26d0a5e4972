package style

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"mannequin/animsys/manifold"
	"mannequin/internal/command"
	"mannequin/netruntime"
	"mannequin/offline/dataset"
	"mannequin/offline/procgen/human"
)

// describe sets the licence and the origin of the styles, and returns their limits.
func (o *transferFlags) describe(ts *manifold.StyleSet, clips []styleClip, m *manifold.Networks) (limits string, err error) {
	var licences, data, notes, from []string
	note := func(list *[]string, text string) {
		if text != "" && !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	files := slices.Clone(o.content)
	for _, c := range clips {
		files = append(files, c.file)
	}
	for _, f := range files {
		src, err := dataset.ReadSource(filepath.Dir(f))
		if err != nil {
			return "", err
		}
		if src == nil {
			note(&licences, unknownLicense)
			continue
		}
		note(&licences, src.License)
		note(&data, src.Data)
		note(&notes, src.Limits)
	}
	if len(o.free) > 0 {
		note(&licences, human.License)
		from = append(from, strings.Join(o.free, ", ")+" from procedural motion of people, made by mannequin's offline/procgen/human without any recording")
	}
	for _, n := range []*netruntime.Net{m.Net, m.Footsteps, m.Locomotion} {
		note(&licences, n.Meta().License)
	}
	if ts.License = o.license; ts.License == "" {
		ts.License = strings.Join(licences, "; ")
		if slices.Contains(licences, unknownLicense) {
			ts.License = unknownLicense
		}
	}
	for _, c := range clips {
		text := c.name + " from " + filepath.Base(c.file)
		if c.to > 0 {
			text += fmt.Sprintf(" (%g to %g s)", c.from, c.to)
		}
		from = append(from, text)
	}
	ts.Data = strings.Join(from, ", ")
	if len(data) > 0 {
		ts.Data += " of " + strings.Join(data, "; ")
	}
	return strings.Join(notes, " "), nil
}

// card returns the file's card, in Markdown.
func (r *transferReport) card(limits string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nStyles for people who move on the manifold %s, after Holden, Saito and Komura 2016: linear maps of its hidden values (animsys/manifold.StyleTransfer).\n\n", r.Name, r.Model)
	fmt.Fprintf(&b, "- Made of: %s.\n- Licence: %s.\n", r.Data, r.Licence)
	if limits != "" {
		fmt.Fprintf(&b, "- %s\n", limits)
	}
	b.WriteString("\nOf the Gram distance to the style, what is left; standing feet slide, cm per frame, before they are held and after:\n\n| style | amount | motion, m/s | left | before | after | without the style |\n|---|---|---|---|---|---|---|\n")
	for _, s := range r.Styles {
		for _, x := range s.Others {
			fmt.Fprintf(&b, "| %s | %g | %.2f | %.2f | %.2f | %.2f | %.2f |\n", s.Name, s.Amount, x.Speed, x.Ratio, x.SkateRaw, x.Skate, x.SkateWas)
		}
	}
	return b.String()
}

func (r *transferReport) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d styles for %s, %.2f MB, in %.1f s\n", r.Out, len(r.Styles), command.Plain(r.Model), float64(r.Bytes)/1e6, r.Took)
	fmt.Fprintf(w, "licence: %s\n\nother motion: share of the distance to the style that is left; sliding of standing feet, cm per frame\n", command.Plain(r.Licence))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "style\tamount\tm/s\tleft\tunheld\theld\twithout the style\t")
	for _, s := range r.Styles {
		for _, x := range s.Others {
			fmt.Fprintf(t, "%s\t%g\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", command.Plain(s.Name), s.Amount, x.Speed, x.Ratio, x.SkateRaw, x.Skate, x.SkateWas)
		}
	}
	return t.Flush()
}
