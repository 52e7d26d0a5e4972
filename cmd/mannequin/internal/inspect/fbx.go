package inspect

import (
	"io"
	"strings"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/offline/character"
	"mannequin/offline/fbx"
)

// fbxReport describes an FBX file.
type fbxReport struct {
	File         string      `json:"file"`
	Kind         string      `json:"kind"`
	Joints       []string    `json:"joints"`
	Skin         *skinReport `json:"skin"` // null: no skinned mesh
	Animations   []animation `json:"animations"`
	*rolesReport             // of a file without a skinned mesh
}

func inspectFBX(file string, opt *options) (*fbxReport, error) {
	r := &fbxReport{File: file, Kind: "FBX animation", Animations: []animation{}}
	all, err := fbx.Open(file)
	for _, m := range all {
		r.Animations = append(r.Animations, animation{m.Name, m.Clip.Frames, m.Clip.FPS})
	}
	s, noSkin := character.Open(file)
	switch {
	case err != nil && noSkin != nil:
		return nil, err
	case noSkin != nil:
		r.Joints = all[0].Clip.Skel.Names
		body, err := motionBody(file, all[0].Clip, opt.as)
		if err != nil {
			return nil, err
		}
		roles := rolesOf(body, r.Joints)
		r.rolesReport = &roles
		if err := opt.draw(file, func() *scene { return motionScene(all[0].Clip, body) }); err != nil {
			return nil, err
		}
	default:
		r.Kind = "FBX skin"
		if len(all) > 0 {
			r.Kind += " and animation"
		}
		if r.Skin, err = reportSkin(file, r.Kind, s, opt); err != nil {
			return nil, err
		}
		r.Joints = r.Skin.Joints
	}
	return r, nil
}

func (r *fbxReport) Print(w io.Writer) error {
	row, end := cli.List(w)
	row("file", "%s", r.File)
	row("kind", "%s", r.Kind)
	if s := r.Skin; s != nil {
		row("mesh", "%d vertices, %d triangles", s.Vertices, s.Triangles)
		row("for", "%s", s.For)
		s.print(row)
	} else {
		r.print(row)
	}
	row("joints", "%d: %s", len(r.Joints), strings.Join(callable(r.Joints), ", "))
	for _, a := range r.Animations {
		row("animation", "%s: %d frames at %.4g per second", a.Name, a.Frames, a.FPS)
	}
	if r.Skin != nil {
		for _, n := range r.Skin.Notes {
			row("note", "%s", n)
		}
	}
	return end()
}
