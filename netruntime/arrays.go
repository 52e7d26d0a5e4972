package netruntime

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Storage is how a file holds the numbers of an array.
type Storage string

// Storages.
const (
	Float32 Storage = typeF32
	Float16 Storage = typeF16
	Int16   Storage = typeI16 // integers from −32768 to 32767
)

// EncodeArrays writes arrays that are not a network, such as a database of motion, in the format of
// model files: safetensors with metadata and a checksum. as returns how an array is stored; nil stores
// all as Float32. meta.Arch must name their kind and may not be a network's. A shape that does not fit
// its data, and a value that its storage cannot hold, are errors.
func EncodeArrays(w io.Writer, meta Meta, arrays []Tensor, as func(name string) Storage) error {
	if err := notNet(meta.Arch); err != nil {
		return fmt.Errorf("netruntime: %w", err)
	}
	for _, t := range arrays {
		if err := size(t.Name, t.Shape, len(t.Data)); err != nil {
			return fmt.Errorf("netruntime: %w", err)
		}
	}
	meta = meta.clone()
	if err := meta.checkExtra(nil); err != nil {
		return fmt.Errorf("netruntime: %w", err)
	}
	return write(w, &meta, nil, arrays, func(t *Tensor) string {
		if as == nil {
			return typeF32
		}
		return string(as(t.Name))
	})
}

// DecodeArrays reads a file of EncodeArrays and returns its arrays in the order of names. It
// allocates nothing for data that the file does not contain, and refuses a file whose contents do
// not match its checksum. A model file is an *UnsupportedError, other errors are a *FormatError.
func DecodeArrays(b []byte) (Meta, []Tensor, error) {
	meta, entries, data, err := contents(b)
	if err == nil {
		err = notNet(meta.Arch)
	}
	if err != nil {
		return meta, nil, err
	}
	var out []Tensor
	for _, e := range entries {
		out = append(out, Tensor{e.name, e.shape, floats(data[e.lo:e.hi], e.dtype)})
	}
	slices.SortFunc(out, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	return meta, out, nil
}

func notNet(arch string) error {
	if arch == archGraph || arch == archMANN || arch == "" {
		return &UnsupportedError{What: "architecture", Got: arch, Have: []string{"arrays that are not a network"}}
	}
	return nil
}
