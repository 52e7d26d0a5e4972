package netruntime

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Format is the version of our use of safetensors. Every file's metadata carries it.
const Format = "mannequin/1"

// Meta is what a model file says about its network besides the weights. Empty fields are not
// written.
type Meta struct {
	Name          string // short name of the model
	Arch          string // "graph" or "mann"
	Graph         *Graph // for arch "graph"
	Schema        string // JSON of the feature layout
	SchemaHash    string // identifies the layout; equal hashes mean equal rows
	Skeleton      string // JSON: names, parents, offsets, end_sites
	GatingColumns []int  // input columns that the gating network reads
	Data          string // what it was trained on
	License       string // of the weights
	Card          string // model card, markdown
	Metrics       string // JSON
	CreatedBy     string
	Extra         map[string]string // any other keys
}

// fields returns the string fields by key.
func (m *Meta) fields() map[string]*string {
	return map[string]*string{
		"name": &m.Name, "arch": &m.Arch, "schema": &m.Schema, "schema_hash": &m.SchemaHash,
		"skeleton": &m.Skeleton, "data": &m.Data, "license": &m.License, "card": &m.Card,
		"metrics": &m.Metrics, "created_by": &m.CreatedBy,
	}
}

const (
	keyFormat        = "format"
	keyGatingColumns = "gating_columns"
	keyGraph         = "graph"
	keyChecksum      = "checksum"
)

func (m Meta) clone() Meta {
	m.GatingColumns = slices.Clone(m.GatingColumns)
	m.Extra = maps.Clone(m.Extra)
	m.Graph = m.Graph.clone()
	return m
}

// checkExtra removes from Extra the sizes that the tensors' shapes imply. It returns an error for
// an entry that contradicts them or that has one of the format's own keys.
func (m *Meta) checkExtra(sizes map[string]string) error {
	for k, v := range sizes {
		if got, ok := m.Extra[k]; ok && got != v {
			return fmt.Errorf("metadata says %s = %q, the tensors' shapes say %s", k, got, v)
		}
		delete(m.Extra, k)
	}
	own := slices.Concat([]string{keyFormat, keyGatingColumns, keyGraph, keyChecksum}, slices.Collect(maps.Keys(m.fields())))
	for _, k := range slices.Sorted(maps.Keys(m.Extra)) {
		if slices.Contains(own, k) {
			return fmt.Errorf("extra metadata key %q is one of the format's own", k)
		}
	}
	if len(m.Extra) == 0 {
		m.Extra = nil
	}
	return nil
}

// strings returns the metadata of a file, sizes included.
func (m *Meta) strings(sizes map[string]string) (map[string]string, error) {
	out := map[string]string{keyFormat: Format}
	for key, value := range m.fields() {
		if *value != "" {
			out[key] = *value
		}
	}
	if m.GatingColumns != nil {
		b, err := json.Marshal(m.GatingColumns)
		if err != nil {
			return nil, err
		}
		out[keyGatingColumns] = string(b)
	}
	if m.Graph != nil {
		b, err := json.Marshal(m.Graph)
		if err != nil {
			return nil, err
		}
		if len(b) > maxGraphJSON {
			return nil, graphf("", "%d bytes of JSON, at most %d fit a model file", len(b), maxGraphJSON)
		}
		out[keyGraph] = string(b)
	}
	maps.Copy(out, sizes)
	maps.Copy(out, m.Extra)
	return out, nil
}

// metaOf splits a file's metadata into the known fields and Extra.
func metaOf(kv map[string]string) (Meta, error) {
	var m Meta
	kv = maps.Clone(kv)
	if f := kv[keyFormat]; f != Format {
		return m, &UnsupportedError{What: keyFormat, Got: f, Have: []string{Format}}
	}
	delete(kv, keyFormat)
	delete(kv, keyChecksum)
	for key, value := range m.fields() {
		*value = kv[key]
		delete(kv, key)
	}
	if s, ok := kv[keyGatingColumns]; ok {
		if err := json.Unmarshal([]byte(s), &m.GatingColumns); err != nil {
			return m, fmt.Errorf("metadata %s: %w", keyGatingColumns, err)
		}
		delete(kv, keyGatingColumns)
	}
	if s, ok := kv[keyGraph]; ok {
		g, err := decodeGraph(s)
		if err != nil {
			return m, err
		}
		m.Graph = g.clone()
		delete(kv, keyGraph)
	}
	if len(kv) > 0 {
		m.Extra = kv
	}
	return m, nil
}
