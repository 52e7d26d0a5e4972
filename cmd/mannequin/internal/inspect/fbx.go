package inspect

import (
	"io"
	"strings"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/offline/fbx"
)

// fbxReport describes an FBX file.
type fbxReport struct {
	File       string      `json:"file"`
	Kind       string      `json:"kind"`
	Joints     []string    `json:"joints"`
	Skin       *skinReport `json:"skin"` // null: no skinned mesh
	Animations []animation `json:"animations"`
}

func inspectFBX(file string) (*fbxReport, error) {
	r := &fbxReport{File: file, Kind: "FBX animation", Animations: []animation{}}
	all, err := fbx.Open(file)
	for _, m := range all {
		r.Animations = append(r.Animations, animation{m.Name, m.Clip.Frames, m.Clip.FPS})
	}
	s, noSkin := fbx.OpenSkin(file)
	switch {
	case err != nil && noSkin != nil:
		return nil, err
	case noSkin != nil:
		r.Joints = all[0].Clip.Skel.Names
	default:
		r.Kind = "FBX skin"
		if len(all) > 0 {
			r.Kind += " and animation"
		}
		r.Skin = reportSkin(file, r.Kind, s)
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
	}
	row("joints", "%d: %s", len(r.Joints), strings.Join(r.Joints, ", "))
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
