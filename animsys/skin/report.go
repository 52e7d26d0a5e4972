package skin

import (
	"fmt"
	"slices"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/engine/m3"
)

// Report describes how a skin fits a skeleton.
type Report struct {
	File      string
	Meta      Meta
	Pairs     []Pair   // matched joints, in the skeleton's order
	Missing   []string // unmatched joints of the skeleton, without End Sites and joints at their parent's position
	Following []string // unmatched joints of the file, which follow joints above them
	Scale     float32  // metres per unit of the file
	Turned    bool     // the file's up or forward axis is not glTF's
	Vertices  int
	Triangles int // of the finest level
	Notes     []string
}

// Pair is a joint of the skeleton and the matching joint of the file.
type Pair struct{ Joint, Source string }

func (f *fit) report() *Report {
	s := f.skin
	names := s.Joints()
	names = append(names, f.ends...)
	r := &Report{File: s.Name, Meta: s.Meta, Scale: f.scale, Turned: f.turn.Angle(m3.Ident) > 1e-3, Vertices: s.Vertices(),
		Triangles: s.Triangles(), Notes: append(slices.Clone(s.Notes), f.notes...)}
	for j, k := range f.from {
		switch {
		case k >= 0:
			r.Pairs = append(r.Pairs, Pair{f.sk.Names[j], anatomy.NameOf(names, k)})
		case !f.sk.EndSite[j] && !f.pivots(j):
			r.Missing = append(r.Missing, f.sk.Names[j])
		}
	}
	for k := range s.joints {
		if !slices.Contains(f.from, k) {
			r.Following = append(r.Following, anatomy.NameOf(names, k))
		}
	}
	return r
}

// String formats the report in a few lines.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d vertices, %d triangles; 1 unit is %.4g m; %d joints matched", r.File, r.Vertices, r.Triangles, r.Scale, len(r.Pairs))
	if r.Turned {
		b.WriteString("; turned to our axes")
	}
	if m := r.Meta.String(); m != "" {
		b.WriteString("\n  " + m)
	}
	line := func(what string, names []string) {
		if len(names) > 0 {
			fmt.Fprintf(&b, "\n  %s: %s", what, joinNames(names))
		}
	}
	var other []string
	for _, p := range r.Pairs {
		if p.Joint != baseName(p.Source) {
			other = append(other, p.Joint+" = "+p.Source)
		}
	}
	line("other names", other)
	line("unmatched", r.Missing)
	line("follow a joint above", r.Following)
	for _, n := range r.Notes {
		b.WriteString("\n  " + n)
	}
	return b.String()
}
