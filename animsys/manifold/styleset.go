package manifold

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/internal/boundedfile"
	"mannequin/netruntime"
)

// ArchStyleSet is the architecture in the metadata of a style set's file.
const ArchStyleSet = "transfers"

const (
	maxStyleSetFile  = 64 << 20
	maxTransfers     = 64
	maxTransferValue = 1e4 // bound of a transfer's values; those of a usable style are below 10

	posesOf = "poses " // before the name of a style: its map of poses

	keyModel = "model"          // extra metadata: the model's name
	keyOf    = "model_checksum" // and its netruntime.Net.Checksum
)

// StyleSet is a set of named style transfers of one model, as in a file.
type StyleSet struct {
	Name    string // of the set
	Data    string // the source recordings
	License string
	Card    string // markdown

	Model string   // the name of the model
	Units int      // of its hidden values
	Names []string // of the styles

	checksum string // of the model
	person   *feature.Person
	deltas   [][]float32 // (styles)(units + 1, units)
	poses    [][]float32 // (styles)(values + 1, values) or nil, see StyleTransfer
}

// NewStyleSet returns a set of transfers of m, sorted by name. Names must differ.
func (m *Model) NewStyleSet(all []*StyleTransfer) (*StyleSet, error) {
	if m == nil || m.Net == nil {
		return nil, errZeroModel
	}
	sum, err := m.Net.Checksum()
	if err != nil {
		return nil, err
	}
	ts := &StyleSet{Model: m.name, Units: m.Units, checksum: sum, person: m.person}
	for i, t := range all {
		if !t.BelongsTo(m) {
			return nil, fmt.Errorf("manifold: transfer %d is not of model %q", i, m.name)
		}
		at, _ := slices.BinarySearch(ts.Names, t.Name)
		ts.Names, ts.deltas, ts.poses = slices.Insert(ts.Names, at, t.Name), slices.Insert(ts.deltas, at, t.delta), slices.Insert(ts.poses, at, t.poses)
	}
	return ts, ts.check()
}

// ErrOtherModel reports that transfers are of another model.
var ErrOtherModel = errors.New("the styles are of another model")

// For returns the transfers for m, in the order of Names. Each Model needs its own, even if two
// come from the same file. For returns an ErrOtherModel if the set is of another model, because
// hidden values mean something else in every network.
func (ts *StyleSet) For(m *Model) ([]*StyleTransfer, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	sum, err := m.Net.Checksum()
	if err != nil {
		return nil, err
	}
	if sum != ts.checksum || m.Units != ts.Units {
		return nil, fmt.Errorf("manifold: %w: %q are of %q (checksum %.15s…), not of this %q (%.15s…): make some for it with \"mannequin style transfer\"",
			ErrOtherModel, ts.Name, ts.Model, ts.checksum, m.name, sum)
	}
	var all []*StyleTransfer
	for i, name := range ts.Names {
		all = append(all, &StyleTransfer{Name: name, model: m, delta: ts.deltas[i], person: ts.person, poses: ts.poses[i]})
	}
	return all, nil
}

// ForPoses returns the transfers for single poses, as animsys.Options.Transfers and a PoseStyler take them, in
// the order of Names. They need no network. An ErrNoPoses says that the set is for people on curves only.
func (ts *StyleSet) ForPoses() ([]*StyleTransfer, error) {
	var all []*StyleTransfer
	for i, name := range ts.Names {
		if ts.poses[i] == nil {
			return nil, fmt.Errorf("manifold: style %q: %w", name, ErrNoPoses)
		}
		all = append(all, &StyleTransfer{Name: name, person: ts.person, poses: ts.poses[i]})
	}
	return all, nil
}

// CheckStyleNames reports names, or a number of names, that a StyleSet cannot have.
func CheckStyleNames(names []string) error {
	if n := len(names); n < 1 || n > maxTransfers {
		return fmt.Errorf("manifold: %d transfers: want 1 to %d", n, maxTransfers)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if name == "" || len(name) > 40 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) || seen[name] {
			return fmt.Errorf("manifold: a style is called %.60q: want a unique name of up to 40 letters, without spaces", name)
		}
		seen[name] = true
	}
	return nil
}

func (ts *StyleSet) check() error {
	if err := CheckStyleNames(ts.Names); err != nil {
		return err
	}
	for i, name := range ts.Names {
		if n := len(ts.poses[i]); n > 0 {
			values := 0
			if ts.person != nil {
				values = 3 * len(ts.person.Layout.Joints)
			}
			if n != (values+1)*values {
				return fmt.Errorf("manifold: transfer %q has a map of poses of %d values, want %d", name, n, (values+1)*values)
			}
		}
		for _, values := range [][]float32{ts.deltas[i], ts.poses[i]} {
			for k, v := range values {
				if !(v >= -maxTransferValue && v <= maxTransferValue) {
					return fmt.Errorf("manifold: transfer %q: value %d is %g, want finite numbers up to %g", name, k, v, float64(maxTransferValue))
				}
			}
		}
	}
	return nil
}

// Encode writes ts as a file in half precision, which is not visible (docs/manifold.md).
func (ts *StyleSet) Encode(w io.Writer) error {
	meta := netruntime.Meta{Arch: ArchStyleSet, Name: ts.Name, Data: ts.Data, License: ts.License, Card: ts.Card,
		Extra: map[string]string{keyModel: ts.Model, keyOf: ts.checksum}}
	if ts.person != nil {
		if err := Describe(&meta, ts.person.Layout, ts.person.Skel); err != nil {
			return err
		}
	}
	var arrays []netruntime.Tensor
	for i, name := range ts.Names {
		arrays = append(arrays, netruntime.Tensor{Name: name, Shape: []int{ts.Units + 1, ts.Units}, Data: ts.deltas[i]})
		if ts.poses[i] != nil {
			values := 3 * len(ts.person.Layout.Joints)
			arrays = append(arrays, netruntime.Tensor{Name: posesOf + name, Shape: []int{values + 1, values}, Data: ts.poses[i]})
		}
	}
	return netruntime.EncodeArrays(w, meta, arrays, func(string) netruntime.Storage { return netruntime.Float16 })
}

// Checksum identifies the styles and their model. The file's name, card and other texts do not
// count.
func (ts *StyleSet) Checksum() (string, error) {
	plain := *ts
	plain.Name, plain.Data, plain.License, plain.Card = "", "", "", ""
	h := sha256.New()
	if err := plain.Encode(h); err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil)), nil
}

// OpenStyleSet reads the style set in the file at path.
func OpenStyleSet(path string) (*StyleSet, error) {
	b, err := boundedfile.Read(path, maxStyleSetFile)
	if err != nil {
		return nil, fmt.Errorf("manifold: %w", err)
	}
	ts, err := DecodeStyleSet(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return ts, nil
}

// DecodeStyleSet reads what Encode writes, with the styles in the order of names.
func DecodeStyleSet(b []byte) (*StyleSet, error) {
	meta, arrays, err := netruntime.DecodeArrays(b)
	if err != nil {
		return nil, fmt.Errorf("manifold: %w", err)
	}
	if meta.Arch != ArchStyleSet {
		return nil, fmt.Errorf("manifold: %w", &netruntime.UnsupportedError{What: "architecture", Got: meta.Arch, Have: []string{ArchStyleSet}})
	}
	ts := &StyleSet{Name: meta.Name, Data: meta.Data, License: meta.License, Card: meta.Card, Model: meta.Extra[keyModel],
		checksum: meta.Extra[keyOf]}
	if ts.checksum == "" {
		return nil, errors.New("manifold: the file does not say of which model the styles are: it lacks the metadata " + keyOf)
	}
	if meta.Schema != "" { // else its styles have no maps of poses
		person, differ := feature.ReadPerson(meta.Schema, meta.SchemaHash, meta.Skeleton)
		if person == nil {
			return nil, fmt.Errorf("manifold: the file's people are unknown: %s", strings.Join(differ, "; "))
		}
		ts.person = person
	}
	maps := map[string][]float32{}
	for _, a := range arrays {
		if name, ok := strings.CutPrefix(a.Name, posesOf); ok {
			if len(a.Shape) != 2 || a.Shape[0] != a.Shape[1]+1 {
				return nil, fmt.Errorf("manifold: the map of poses of %.60q has the shape %v: want one row more than columns", name, a.Shape)
			}
			maps[name] = a.Data
			continue
		}
		if len(a.Shape) != 2 || a.Shape[0] != a.Shape[1]+1 || ts.Units > 0 && a.Shape[1] != ts.Units {
			return nil, fmt.Errorf("manifold: transfer %.60q has the shape %v: want one row more than columns, the same for all; make files of earlier versions again with \"mannequin style transfer\"", a.Name, a.Shape)
		}
		ts.Units, ts.Names, ts.deltas = a.Shape[1], append(ts.Names, a.Name), append(ts.deltas, a.Data)
	}
	for _, name := range ts.Names {
		ts.poses = append(ts.poses, maps[name])
		delete(maps, name)
	}
	if len(maps) > 0 {
		return nil, fmt.Errorf("manifold: the file has maps of poses of %d styles that it does not have", len(maps))
	}
	return ts, ts.check()
}
