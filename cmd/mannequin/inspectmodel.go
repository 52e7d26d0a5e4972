package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"mannequin/animsys/feature"
	"mannequin/models"
	"mannequin/netruntime"
)

// modelReport is what inspect says about a model.
type modelReport struct {
	File         string            `json:"file"`
	Kind         string            `json:"kind"`
	Name         string            `json:"name"`
	Architecture string            `json:"architecture"`
	Inputs       int               `json:"inputs"`
	Outputs      int               `json:"outputs"`
	Sizes        map[string]string `json:"sizes"` // of the architecture: experts, hidden units
	Parameters   int               `json:"parameters"`
	Bytes        int64             `json:"bytes,omitempty"` // of the file; none for a shipped model
	Storage      []string          `json:"storage,omitempty"`
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

// inspectModel reads a model file.
func inspectModel(file string) (*modelReport, error) {
	net, err := netruntime.Open(file)
	if err != nil {
		return nil, err
	}
	r := modelOf(file, net)
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	r.Bytes = info.Size()
	if r.Storage, err = storageOf(file); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// modelOf describes a network that came from file.
func modelOf(file string, net *netruntime.Net) *modelReport {
	m := net.Meta()
	return &modelReport{File: file, Kind: "model", Name: m.Name, Architecture: m.Arch, Inputs: net.Inputs(), Outputs: net.Outputs(),
		Sizes: net.Sizes(), Parameters: net.Parameters(), SchemaHash: m.SchemaHash, Schema: rawJSON(m.Schema), Skeleton: rawJSON(m.Skeleton), Gating: m.GatingColumns,
		Licence: m.License, Data: m.Data, Metrics: rawJSON(m.Metrics), CreatedBy: m.CreatedBy, Card: m.Card, Extra: m.Extra}
}

// rawJSON returns s as JSON: as it is where it is JSON, else as a string.
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

// storageOf lists the storage types in a model file's header, which
// netruntime has accepted before.
func storageOf(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var size uint64
	if err := binary.Read(f, binary.LittleEndian, &size); err != nil {
		return nil, err
	}
	var head map[string]struct{ DType string }
	if err := json.NewDecoder(io.LimitReader(f, int64(size))).Decode(&head); err != nil {
		return nil, err
	}
	types := map[string]bool{}
	for _, t := range head {
		types[t.DType] = t.DType != ""
	}
	maps.DeleteFunc(types, func(_ string, ok bool) bool { return !ok })
	return slices.Sorted(maps.Keys(types)), nil
}

// printModel writes a report for people.
func printModel(w io.Writer, r *modelReport) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		if s := fmt.Sprintf(format, args...); s != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, s)
		}
	}
	row("file", "%s", r.File)
	row("kind", "%s %s", r.Kind, r.Name)
	sizes := ""
	for _, k := range slices.Sorted(maps.Keys(r.Sizes)) {
		sizes += fmt.Sprintf(", %s %s", strings.ReplaceAll(k, "_", " "), r.Sizes[k])
	}
	row("architecture", "%s: %d inputs, %d outputs%s", r.Architecture, r.Inputs, r.Outputs, sizes)
	weights := fmt.Sprintf("%d parameters", r.Parameters)
	if r.Bytes > 0 {
		weights += fmt.Sprintf(", %d bytes of %s", r.Bytes, strings.Join(r.Storage, " and "))
	}
	row("weights", "%s", weights)
	row("schema", "%s", schemaLine(r))
	row("licence", "%s", orNone(r.Licence))
	row("data", "%s", orNone(r.Data))
	if r.Metrics != nil {
		row("metrics", "%s", r.Metrics)
	}
	row("created by", "%s", r.CreatedBy)
	for _, k := range slices.Sorted(maps.Keys(r.Extra)) {
		v := r.Extra[k]
		if len(v) > 100 {
			v = strings.ToValidUTF8(v[:100], "") + "…"
		}
		row(k, "%q", v)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Card != "" {
		if _, err := fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(r.Card)); err != nil {
			return err
		}
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "not stated"
	}
	return s
}

// schemaLine says whether the stored hash fits the stored schema.
func schemaLine(r *modelReport) string {
	line := orNone(r.SchemaHash)
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

// isShipped reports whether name is a shipped model and no file hides it.
func isShipped(name string) bool {
	_, err := os.Stat(name)
	return os.IsNotExist(err) && slices.Contains(models.Names(), name)
}
