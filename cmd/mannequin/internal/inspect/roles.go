package inspect

import (
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
	"mannequin/engine/m3"
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
	one, note := b, ""
	if len(opt.as) == 0 { // a map may name joints of any
		one, note = firstBody(file, b)
	}
	body, err := motionBody(file, one.Clip, opt.as)
	if err != nil {
		return nil, err
	}
	r := &motionRoles{input.MotionOf(file, kind, b), rolesOf(body, one.Clip.Skel.Names)}
	if note != "" {
		r.Notes = append(slices.Clip(r.Notes), note)
	}
	for _, name := range mocap.Ups[1:] {
		if axis, _, _ := mocap.UpAxis(name); body.Hips >= 0 && len(body.Legs) > 0 && body.Up.Dot(axis) > 0.9 {
			r.Motion.Up, r.Ground = name, lowest(one.Clip, axis)
		}
	}
	return r, opt.draw(file, func() *scene { return motionScene(one.Clip, body) })
}

// firstBody returns the recording of the first of several bodies with legs, and a note that names all; of one body the
// recording as it is.
func firstBody(file string, b *mocap.Recording) (*mocap.Recording, string) {
	roots := b.Bodies()
	if len(roots) < 2 {
		return b, ""
	}
	var names []string
	for _, root := range roots {
		names = append(names, b.Clip.Skel.Names[root])
	}
	return b.Only(roots[0]), fmt.Sprintf("%s: it has %d characters, %s: the roles are those of %s; --root takes another", file, len(roots), strings.Join(names, ", "), names[0])
}

// lowest returns the height of the ground along an axis: of the lowest joint in the lowest frames (5th percentile).
func lowest(c *skel.Clip, axis m3.Vec3) float32 {
	heights, model := make([]float32, c.Frames), make([]m3.Xform, c.Skel.Len())
	for f := range heights {
		c.Model(model, f)
		heights[f] = math.MaxFloat32
		for j := range model {
			heights[f] = min(heights[f], model[j].Pos.Dot(axis))
		}
	}
	if slices.Sort(heights); len(heights) == 0 {
		return 0
	}
	return heights[len(heights)/20]
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
