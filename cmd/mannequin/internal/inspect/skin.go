package inspect

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"strings"

	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/offline/character"
)

// skinReport is the report of inspect on a skinned mesh.
type skinReport struct {
	File      string    `json:"file"`
	Kind      string    `json:"kind"`
	Meta      skin.Meta `json:"meta"` // title, authors and licence, as far as the file names them
	Vertices  int       `json:"vertices"`
	Triangles int       `json:"triangles"`
	Joints    []string  `json:"joints"`
	For       string    `json:"for"` // person, dog, or why neither is known
	rolesReport
	Animations []animation `json:"animations"`
	Notes      []string    `json:"notes"`
}

// animation is an animation of a file.
type animation struct {
	Name   string  `json:"name"`
	Frames int     `json:"frames"`
	FPS    float64 `json:"fps"`
}

// cutCharacter cuts FILE#NAME.
func cutCharacter(file string) (path, name string, ok bool) {
	if i := strings.LastIndexByte(file, '#'); i >= 0 {
		return file[:i], file[i+1:], true
	}
	return file, "", false
}

// inspectSkin describes the mesh of a glTF and its animations. A file may have one of them alone.
func inspectSkin(file string, opt *options) (*skinReport, error) {
	s, err := character.Open(file)
	motions, motionErr := skin.OpenMotions(file)
	if path, _, ok := cutCharacter(file); ok && err == nil && motionErr != nil {
		motions, motionErr = skin.OpenMotions(path)
	}
	if err != nil && motionErr != nil {
		return nil, err
	}
	r := &skinReport{File: file, Kind: "glTF animation", Notes: []string{}, Animations: []animation{}}
	if err == nil {
		if r, err = reportSkin(file, "glTF skin", s, opt); err != nil {
			return nil, err
		}
		if motionErr == nil {
			r.Kind += " and animation"
		}
		if s.Meta.Format != "" {
			r.Kind = s.Meta.Format + ", " + r.Kind
		}
	}
	for _, m := range motions {
		r.Animations = append(r.Animations, animation{m.Name, m.Clip.Frames, m.Clip.FPS})
	}
	if err != nil {
		r.Notes = append(r.Notes, motions[0].Notes...)
		if bad := (*skin.Error)(nil); errors.As(err, &bad) && bad.Where != "nodes" && bad.Where != "meshes" {
			r.Notes = append(r.Notes, "its mesh is not read: "+err.Error())
		}
		as := map[string]string{}
		maps.Copy(as, motions[0].Parts)
		maps.Copy(as, opt.as)
		if err := r.motion(motions[0].Clip, as, opt); err != nil {
			return nil, err
		}
		if motions[0].Parts != nil {
			r.Kind, r.For = "VRM animation", "person"
		}
	}
	return r, nil
}

// motion describes the joints of a file that has motion and no mesh. as maps joints.
func (r *skinReport) motion(c *skel.Clip, as map[string]string, opt *options) error {
	r.Joints, r.For = c.Skel.Names, "no mesh"
	body, err := motionBody(r.File, c, as)
	if err != nil {
		return err
	}
	r.rolesReport = rolesOf(body, r.Joints)
	return opt.draw(r.File, func() *scene { return motionScene(c, body) })
}

func reportSkin(file, kind string, s *skin.Skin, opt *options) (*skinReport, error) {
	r := &skinReport{File: file, Kind: kind, Meta: s.Meta, Vertices: s.Vertices(), Triangles: s.Triangles(), Joints: s.Joints(), Animations: []animation{}, Notes: append([]string{}, s.Notes...)}
	if err := cmp.Or(known(s.Name, r.Joints, opt.as), once(s.Name, opt.as)); err != nil {
		return nil, err
	}
	body := s.Roles(opt.as)
	switch upright, err := body.Upright(); {
	case err != nil:
		r.For = "neither a person nor a dog: " + err.Error()
	case upright:
		r.For = "person"
	default:
		r.For = "dog"
	}
	r.rolesReport = rolesOf(body, r.Joints)
	return r, opt.draw(file, func() *scene {
		if anatomy.Named(r.Joints) {
			return skinScene(s, body, nil)
		}
		all, _ := character.Motions(file) // a fault is told where it is read
		return skinScene(s, body, ownMotion(all))
	})
}

func (r *skinReport) Print(w io.Writer) error {
	row, end := cli.List(w)
	row("file", "%s", r.File)
	row("kind", "%s", r.Kind)
	r.printMeta(row)
	if r.Vertices > 0 {
		row("mesh", "%d vertices, %d triangles", r.Vertices, r.Triangles)
	}
	row("for", "%s", r.For)
	r.print(row)
	row("joints", "%d: %s", len(r.Joints), strings.Join(callable(r.Joints), ", "))
	for _, a := range r.Animations {
		row("animation", "%s: %d frames at %.4g per second", a.Name, a.Frames, a.FPS)
	}
	for _, n := range r.Notes {
		row("note", "%s", n)
	}
	return end()
}

// printMeta prints what the file says about its origin.
func (r *skinReport) printMeta(row func(name, format string, args ...any)) {
	m := r.Meta
	row("title", "%s", strings.TrimSpace(m.Title+" "+m.Version))
	row("authors", "%s", strings.Join(m.Authors, ", "))
	row("licence", "%s", m.Licence)
	row("terms", "%s", strings.Join(m.Terms, ", "))
	row("copyright", "%s", m.Copyright)
}
