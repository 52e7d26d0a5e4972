package inspect

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"file", r.File}, {"kind", r.Kind + " " + r.Name}, {"styles", strings.Join(r.Styles, ", ")},
		{"of", fmt.Sprintf("the manifold %s, %d hidden values", r.Model, r.Units)}, {"licence", cli.OrNone(r.Licence)}, {"data", cli.OrNone(r.Data)},
	} {
		fmt.Fprintf(t, "%s\t%s\n", row[0], cli.Plain(row[1]))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return printCard(w, r.Card)
}
