package netruntime

import (
	"fmt"
	"io"
	"math"
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

// fromF16 widens a half-precision number.
func fromF16(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0: // zero and subnormal numbers
		f := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// toF16 rounds to the nearest half-precision number, ties to even. Numbers that are too large
// become infinite.
func toF16(f float32) uint16 {
	b := math.Float32bits(f)
	sign, abs := uint16(b>>16&0x8000), b&0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00
	case abs >= 0x47800000: // 65536
		return sign | 0x7c00
	case abs < 0x38800000: // 2⁻¹⁴: a multiple of 2⁻²⁴
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(abs))*(1<<24)))
	}
	abs += 0xfff + abs>>13&1 // rounds; may carry into the exponent
	return sign | uint16((abs>>13)-(112<<10))
}
