package inspect

import (
	"io"
	"strings"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/cmd/mannequin/internal/input"
)

// TransfersReport is the report of inspect on styles of a crowd.
type TransfersReport struct {
	File    string   `json:"file"`
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Styles  []string `json:"styles"`
	Model   string   `json:"model"` // the manifold that they belong to
	Units   int      `json:"units"` // number of its hidden values
	Licence string   `json:"licence"`
	Data    string   `json:"data"`
	Card    string   `json:"card"`
}

func inspectTransfers(file string) (*TransfersReport, error) {
	ts, err := input.OpenStyleSet(file)
	if err != nil {
		return nil, err
	}
	return &TransfersReport{file, "styles of a crowd", ts.Name, ts.Names, ts.Model, ts.Units, ts.License, ts.Data, ts.Card}, nil
}

// Print writes the report as text.
func (r *TransfersReport) Print(w io.Writer) error {
	row, end := cli.List(w)
	row("file", "%s", r.File)
	row("kind", "%s %s", r.Kind, r.Name)
	row("styles", "%s", strings.Join(r.Styles, ", "))
	row("of", "the manifold %s, %d hidden values", r.Model, r.Units)
	row("licence", "%s", cli.OrNone(r.Licence))
	row("data", "%s", cli.OrNone(r.Data))
	if err := end(); err != nil {
		return err
	}
	return printCard(w, r.Card)
}
