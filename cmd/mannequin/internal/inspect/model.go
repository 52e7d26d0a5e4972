package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/internal/command"
	"mannequin/models"
)

// modelReport is the report of inspect on a model.
type modelReport struct {
	File         string            `json:"file"`
	Kind         string            `json:"kind"`
	Name         string            `json:"name"`
	Architecture string            `json:"architecture"`
	Inputs       int               `json:"inputs"`
	Outputs      int               `json:"outputs"`
	Sizes        map[string]string `json:"sizes"` // of the architecture: experts, hidden units
	Parameters   int               `json:"parameters"`
	Bytes        int               `json:"bytes"`   // of the file
	Storage      []string          `json:"storage"` // its types of weights
	SchemaHash   string            `json:"schema_hash"`
	Schema       json.RawMessage   `json:"schema,omitempty"`
	Skeleton     json.RawMessage   `json:"skeleton,omitempty"`
	Gating       []int             `json:"gating_columns,omitempty"`
	Licence      string            `json:"licence"`
	Data         string            `json:"data"`
	Metrics      json.RawMessage   `json:"metrics,omitempty"`
	CreatedBy    string            `json:"created_by,omitempty"`
	Card         string            `json:"card"`
	Extra        map[string]string `json:"extra,omitempty"`
}

// inspectModel describes a shipped model or a model file.
func inspectModel(file string) (*modelReport, error) {
	net, err := models.Open(file)
	if err != nil {
		return nil, err
	}
	m := net.Meta()
	bytes, storage := net.File()
	return &modelReport{File: file, Kind: "model", Name: m.Name, Architecture: m.Arch, Inputs: net.Inputs(), Outputs: net.Outputs(),
		Sizes: net.Sizes(), Parameters: net.Parameters(), Bytes: bytes, Storage: storage, SchemaHash: m.SchemaHash, Schema: rawJSON(m.Schema), Skeleton: rawJSON(m.Skeleton), Gating: m.GatingColumns,
		Licence: m.License, Data: m.Data, Metrics: rawJSON(m.Metrics), CreatedBy: m.CreatedBy, Card: m.Card, Extra: m.Extra}, nil
}

// rawJSON returns s if it is JSON, else s as a JSON string.
func rawJSON(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	b, _ := json.Marshal(s) // a string always encodes
	return b
}

func (r *modelReport) Print(w io.Writer) error {
	row, end := cli.List(w)
	row("file", "%s", r.File)
	row("kind", "%s %s", r.Kind, r.Name)
	sizes := ""
	for _, k := range slices.Sorted(maps.Keys(r.Sizes)) {
		sizes += fmt.Sprintf(", %s %s", strings.ReplaceAll(k, "_", " "), r.Sizes[k])
	}
	row("architecture", "%s: %d inputs, %d outputs%s", r.Architecture, r.Inputs, r.Outputs, sizes)
	row("weights", "%d parameters, %d bytes of %s", r.Parameters, r.Bytes, strings.Join(r.Storage, " and "))
	row("schema", "%s", schemaLine(r))
	row("licence", "%s", cli.OrNone(r.Licence))
	row("data", "%s", cli.OrNone(r.Data))
	row("metrics", "%s", r.Metrics)
	row("created by", "%s", r.CreatedBy)
	for _, k := range slices.Sorted(maps.Keys(r.Extra)) {
		v := r.Extra[k]
		if len(v) > 100 {
			v = strings.ToValidUTF8(v[:100], "") + "…"
		}
		row(k, "%q", v)
	}
	if err := end(); err != nil {
		return err
	}
	return printCard(w, r.Card)
}

// schemaLine describes the schema, and reports whether the stored hash fits it.
func schemaLine(r *modelReport) string {
	line := cli.OrNone(r.SchemaHash)
	var layout feature.MANN
	if r.Architecture != "mann" || r.Schema == nil {
		return line
	}
	if err := json.Unmarshal(r.Schema, &layout); err != nil || layout.Validate() != nil {
		return line + " (the stored layout cannot be read)"
	}
	if layout.Hash() != r.SchemaHash {
		return line + " (does not fit the stored layout, whose hash is " + layout.Hash() + ")"
	}
	return fmt.Sprintf("%s: %d joints, actions %s", line, len(layout.Joints), strings.Join(layout.Actions, " "))
}

// printCard prints a file's card, if it has one, below its report.
func printCard(w io.Writer, card string) error {
	if card = strings.TrimSpace(card); card == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%s\n", command.Plain(card))
	return err
}
