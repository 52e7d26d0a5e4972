package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"mannequin/animsys/manifold"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/netruntime"
)

// shippedTransfers is the name of the embedded styles of a crowd.
const shippedTransfers = "styles-gram"

// openTransfers opens the shipped styles of a crowd or a file of some.
func openTransfers(nameOrPath string) (*manifold.Transfers, error) {
	if nameOrPath == shippedTransfers {
		return stylesgram.Open()
	}
	if _, err := os.Stat(nameOrPath); err != nil && !strings.ContainsAny(nameOrPath, `/\.`) {
		return nil, fmt.Errorf("no styles %q: name %s, or give the path of a file that \"mannequin style transfer\" has written", nameOrPath, shippedTransfers)
	}
	ts, err := manifold.OpenTransfers(nameOrPath)
	var other *netruntime.UnsupportedError
	if errors.As(err, &other) && other.What == "architecture" {
		return nil, fmt.Errorf("%s: a file of %q, not styles of a crowd: make some with \"mannequin style transfer\"", nameOrPath, other.Got)
	}
	return ts, err
}

// transfersReport is what inspect says about styles of a crowd.
type transfersReport struct {
	File    string   `json:"file"`
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Styles  []string `json:"styles"`
	Model   string   `json:"model"` // the manifold that they are of
	Units   int      `json:"units"` // of its hidden values
	Licence string   `json:"licence"`
	Data    string   `json:"data"`
	Card    string   `json:"card"`
}

func inspectTransfers(file string) (*transfersReport, error) {
	ts, err := openTransfers(file)
	if err != nil {
		return nil, err
	}
	return &transfersReport{file, "styles of a crowd", ts.Name, ts.Names, ts.Model, ts.Units, ts.License, ts.Data, ts.Card}, nil
}

func printTransfers(w io.Writer, r *transfersReport) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"file", r.File}, {"kind", r.Kind + " " + r.Name}, {"styles", strings.Join(r.Styles, ", ")},
		{"of", fmt.Sprintf("the manifold %s, %d hidden values", r.Model, r.Units)}, {"licence", orNone(r.Licence)}, {"data", orNone(r.Data)},
	} {
		fmt.Fprintf(t, "%s\t%s\n", row[0], plain(row[1]))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return printCard(w, r.Card)
}
