package inspect

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"mannequin/animsys/matching"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/models"
)

// characterReport is the report of inspect on a character of mannequin make.
type characterReport struct {
	File       string   `json:"file"`
	Kind       string   `json:"kind"`
	Name       string   `json:"name"`
	Joints     int      `json:"joints"`
	Legs       int      `json:"legs"`
	Size       float32  `json:"size"`
	Clips      int      `json:"clips"`
	Frames     int      `json:"frames"`
	Minutes    float64  `json:"minutes"`
	Parameters int      `json:"parameters"` // of networks
	Tags       []string `json:"tags"`
	Licence    string   `json:"licence"`
	Data       string   `json:"data"`
	Card       string   `json:"card"`
}

func inspectCharacter(file string) (*characterReport, error) {
	f, err := models.OpenCharacter(file)
	if err != nil {
		return nil, err
	}
	c := f.Character()
	r := &characterReport{File: file, Name: c.Name, Joints: c.Skel.Len(), Legs: len(c.Roles.Legs), Size: cmp.Or(c.Size, 1), Tags: c.Tags, Licence: c.License, Data: c.Data, Card: c.Card}
	var kinds []string
	if d := f.Database; d != nil {
		kinds = append(kinds, "motion matching database")
		r.Clips, r.Frames, r.Minutes = d.Clips(), d.Frames(), float64(d.Frames())/matching.TickRate/60
	}
	if f.Learned != nil {
		kinds = append(kinds, matching.LearnedMatching.String())
		r.Parameters += f.Learned.Bytes() / 4
	}
	if f.Adaptive != nil {
		kinds = append(kinds, "mode-adaptive network")
		r.Parameters += f.Adaptive.Bytes() / 4
	}
	r.Kind = strings.Join(kinds, " and ")
	return r, nil
}

// Print writes the report as text.
func (r *characterReport) Print(w io.Writer) error {
	row, end := cli.List(w)
	row("file", "%s", r.File)
	row("kind", "%s %s", r.Kind, command.Plain(r.Name))
	if r.Frames > 0 {
		row("motion", "%d frames = %.1f minutes, %d clips", r.Frames, r.Minutes, r.Clips)
	}
	if r.Parameters > 0 {
		row("networks", "%d parameters", r.Parameters)
	}
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
