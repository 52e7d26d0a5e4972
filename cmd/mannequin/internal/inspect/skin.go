package inspect

import (
	"io"
	"strings"

	"mannequin/animsys/skin"
	"mannequin/cmd/mannequin/internal/cli"
)

// skinReport is the report of inspect on a skinned mesh.
type skinReport struct {
	File      string   `json:"file"`
	Kind      string   `json:"kind"`
	Vertices  int      `json:"vertices"`
	Triangles int      `json:"triangles"`
	Joints    []string `json:"joints"`
	For       string   `json:"for"` // person, dog, or why neither is known
	Notes     []string `json:"notes"`
}

func inspectSkin(file string) (*skinReport, error) {
	s, err := skin.Open(file)
	if err != nil {
		return nil, err
	}
	return reportSkin(file, "glTF skin", s), nil
}

func reportSkin(file, kind string, s *skin.Skin) *skinReport {
	r := &skinReport{File: file, Kind: kind, Vertices: s.Vertices(), Triangles: s.Triangles(), Joints: s.Joints(), Notes: append([]string{}, s.Notes...)}
	switch upright, err := s.Upright(); {
	case err != nil:
		r.For = "unknown: hips, head and feet cannot be found by the names of its joints"
	case upright:
		r.For = "person"
	default:
		r.For = "dog"
	}
	return r
}

func (r *skinReport) Print(w io.Writer) error {
	row, end := cli.List(w)
	row("file", "%s", r.File)
	row("kind", "%s", r.Kind)
	row("mesh", "%d vertices, %d triangles", r.Vertices, r.Triangles)
	row("for", "%s", r.For)
	row("joints", "%d: %s", len(r.Joints), strings.Join(r.Joints, ", "))
	for _, n := range r.Notes {
		row("note", "%s", n)
	}
	return end()
}
