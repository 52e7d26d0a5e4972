package inspect

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/offline/mocap"
)

// rolesReport is which joints play which part.
type rolesReport struct {
	Body   string            `json:"body"`  // how many legs
	Roles  map[string]string `json:"roles"` // names of the uniform skeleton → joints
	Doubts []string          `json:"doubts"`
	lines  []string
}

func rolesOf(b *anatomy.Body, names []string) rolesReport {
	r := rolesReport{Body: b.Kind.String(), Roles: map[string]string{}, Doubts: append([]string{}, b.Doubts...), lines: b.Describe()}
	for ours, j := range b.Uniform() {
		r.Roles[ours] = anatomy.NameOf(names, j)
	}
	return r
}

func (r *rolesReport) print(row func(name, format string, args ...any)) {
	for _, l := range r.lines {
		name, text := strings.TrimSpace(l[:anatomy.Column]), l[anatomy.Column:]
		row(name, "%s", text)
	}
}

// callable returns names by which a map may call joints.
func callable(names []string) []string {
	out := make([]string, len(names))
	for j := range names {
		out[j] = anatomy.NameOf(names, j)
	}
	return out
}

// known reports an error for the first joint of a map that a file lacks.
func known(file string, names []string, as map[string]string) error {
	for _, ours := range slices.Sorted(maps.Keys(as)) {
		if theirs := as[ours]; theirs != "" && anatomy.Joint(names, theirs) < 0 {
			return fmt.Errorf("%s: the map gives %.60s the joint %.60q, which the file does not have", file, ours, theirs)
		}
	}
	return nil
}

// once checks that a map gives no joint of a character to two of the skeleton's.
func once(file string, as map[string]string) error {
	by := map[string]string{}
	for _, ours := range slices.Sorted(maps.Keys(as)) {
		theirs := as[ours]
		if other, ok := by[theirs]; ok && theirs != "" {
			return fmt.Errorf("%s: the map gives both %.60s and %.60s the joint %.60q", file, other, ours, theirs)
		}
		by[theirs] = ours
	}
	return nil
}

// motionBody returns the roles in a motion.
func motionBody(file string, c *skel.Clip, as map[string]string) (*anatomy.Body, error) {
	if err := known(file, c.Skel.Names, as); err != nil {
		return nil, err
	}
	return anatomy.OfClip(c, as), nil
}

// motionRoles is the report on a motion, with roles.
type motionRoles struct {
	*input.Motion
	rolesReport
}

func motionReport(file, kind string, b *mocap.Recording, opt *options) (*motionRoles, error) {
	body, err := motionBody(file, b.Clip, opt.as)
	if err != nil {
		return nil, err
	}
	r := &motionRoles{input.MotionOf(file, kind, b), rolesOf(body, b.Clip.Skel.Names)}
	return r, opt.draw(file, func() *scene { return motionScene(b.Clip, body) })
}

func (r *motionRoles) Print(w io.Writer) error {
	if err := r.Motion.Print(w); err != nil {
		return err
	}
	row, end := cli.List(w)
	r.print(row)
	return end()
}

// draw writes the picture, if one is wanted.
func (o *options) draw(file string, make func() *scene) error {
	if o.picture == "" {
		return nil
	}
	return writePicture(o.picture, make().draw(filepath.Base(file)))
}
