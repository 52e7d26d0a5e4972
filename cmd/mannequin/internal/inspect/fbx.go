package inspect

import (
	"io"
	"strings"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/offline/fbx"
)

// fbxReport describes the animations of an FBX file.
type fbxReport struct {
	File       string         `json:"file"`
	Kind       string         `json:"kind"`
	Joints     []string       `json:"joints"`
	Animations []fbxAnimation `json:"animations"`
}

type fbxAnimation struct {
	Name   string  `json:"name"`
	Frames int     `json:"frames"`
	FPS    float64 `json:"fps"`
}

func inspectFBX(file string) (*fbxReport, error) {
	all, err := fbx.Open(file)
	if err != nil {
		return nil, err
	}
	r := &fbxReport{File: file, Kind: "FBX animation", Joints: all[0].Clip.Skel.Names}
	for _, m := range all {
		r.Animations = append(r.Animations, fbxAnimation{m.Name, m.Clip.Frames, m.Clip.FPS})
	}
	return r, nil
}

func (r *fbxReport) Print(w io.Writer) error {
	row, end := cli.List(w)
	row("file", "%s", r.File)
	row("kind", "%s", r.Kind)
	row("joints", "%d: %s", len(r.Joints), strings.Join(r.Joints, ", "))
	for _, a := range r.Animations {
		row("animation", "%s: %d frames at %.4g per second", a.Name, a.Frames, a.FPS)
	}
	return end()
}
