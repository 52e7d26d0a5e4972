package inspect

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"mannequin/animsys/matching"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
)

// characterReport is the report of inspect on a character of mannequin make.
type characterReport struct {
	File    string   `json:"file"`
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Joints  int      `json:"joints"`
	Legs    int      `json:"legs"`
	Size    float32  `json:"size"`
	Clips   int      `json:"clips"`
	Frames  int      `json:"frames"`
	Minutes float64  `json:"minutes"`
	Tags    []string `json:"tags"`
	Licence string   `json:"licence"`
	Data    string   `json:"data"`
	Card    string   `json:"card"`
}

func inspectCharacter(file string) (*characterReport, error) {
	d, err := matching.Open(file)
	if err != nil {
		return nil, err
	}
	return &characterReport{File: file, Kind: "motion matching database", Name: d.Name, Joints: d.Skel.Len(), Legs: len(d.Roles.Legs), Size: cmp.Or(d.Size, 1),
		Clips: d.Clips(), Frames: d.Frames(), Minutes: float64(d.Frames()) / matching.TickRate / 60, Tags: d.Tags, Licence: d.License, Data: d.Data, Card: d.Card}, nil
}

// Print writes the report as text.
func (r *characterReport) Print(w io.Writer) error {
	row, end := cli.List(w)
	row("file", "%s", r.File)
	row("kind", "%s %s", r.Kind, command.Plain(r.Name))
	row("motion", "%d frames = %.1f minutes, %d clips", r.Frames, r.Minutes, r.Clips)
	row("skeleton", "%d joints on %d legs, %.2f times the usual size", r.Joints, r.Legs, r.Size)
	row("tags", "%s", command.Plain(strings.Join(r.Tags, ", ")))
	row("licence", "%s", cli.OrNone(r.Licence))
	row("data", "%s", cli.OrNone(r.Data))
	if err := end(); err != nil {
		return err
	}
	if r.Card == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%s", command.Plain(r.Card))
	return err
}
