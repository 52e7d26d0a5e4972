package netruntime

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"mannequin/netruntime/vec"
)

// maxHeader limits the JSON header. A model card and a skeleton take a few kilobytes.
const maxHeader = 4 << 20

// maxAxes limits a tensor's number of axes.
const maxAxes = 8

// metadataKey is the only key of the header that is not a tensor's name.
const metadataKey = "__metadata__"

// The supported storage types.
const (
	typeF32  = "F32"
	typeBF16 = "BF16"
	typeF16  = "F16"
	typeI16  = "I16"
)

// entry is one tensor of a header.
type entry struct {
	name   string
	dtype  string
	shape  []int
	values int
	lo, hi int // bytes of the data section
	at     int64
}

// Decode reads a model file. It allocates nothing for data that the file does not contain. It
// refuses a file whose contents do not match its checksum; a file without one, as other programs
// write it, is accepted. The error is a *FormatError with the offset or an *UnsupportedError.
func Decode(b []byte) (*Net, error) {
	meta, entries, data, err := contents(b)
	if err != nil {
		return nil, err
	}
	tensors := make([]Tensor, len(entries))
	for i, e := range entries {
		tensors[i] = Tensor{Name: e.name, Shape: e.shape}
	}
	n, err := build(meta, tensors, func(i int) ([]float32, error) {
		e := entries[i]
		return floats(data[e.lo:e.hi], e.dtype), nil
	})
	if err != nil {
		return nil, wrapAt(8, err)
	}
	n.bytes = len(b)
	for _, e := range entries {
		if !slices.Contains(n.storage, e.dtype) {
			n.storage = append(n.storage, e.dtype)
		}
	}
	slices.Sort(n.storage)
	return n, nil
}

// contents checks a file and returns its metadata, its tensors and its data section.
func contents(b []byte) (meta Meta, entries []entry, data []byte, err error) {
	kv, entries, data, err := parse(b)
	if err != nil {
		return meta, nil, nil, err
	}
	if meta, err = metaOf(kv); err != nil {
		return meta, nil, nil, wrapAt(8, err)
	}
	if want, ok := kv[keyChecksum]; ok {
		if got := checksum(kv, entries, data); got != want {
			return meta, nil, nil, formatf(8, "the file is damaged: its contents have the checksum %s, it was written with %q", got, want)
		}
	}
	return meta, entries, data, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers a file's metadata, without the checksum itself, and its tensors, both in the
// order of names. It does not depend on how the header spells them or where the data lie. So a file
// keeps its checksum if another program rewrites it.
func checksum(kv map[string]string, entries []entry, data []byte) string {
	h := crc32.New(castagnoli)
	for _, k := range slices.Sorted(maps.Keys(kv)) {
		if k != keyChecksum {
			fmt.Fprintf(h, "%d:%s%d:%s", len(k), k, len(kv[k]), kv[k])
		}
	}
	byName := slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for _, e := range byName {
		fmt.Fprintf(h, "%d:%s%s%v", len(e.name), e.name, e.dtype, e.shape)
		h.Write(data[e.lo:e.hi])
	}
	return fmt.Sprintf("crc32c:%08x", h.Sum32())
}

// wrapAt makes err a FormatError unless it is an UnsupportedError.
func wrapAt(offset int64, err error) error {
	if u, ok := err.(*UnsupportedError); ok {
		return u
	}
	return &FormatError{Offset: offset, Msg: "contents", Err: err}
}

// parse checks the container. It returns the metadata, the tensors in the order of their data, and
// the data section.
func parse(b []byte) (kv map[string]string, entries []entry, data []byte, err error) {
	if len(b) < 8 {
		return nil, nil, nil, &FormatError{int64(len(b)), "no room for the header's length", io.ErrUnexpectedEOF}
	}
	size := binary.LittleEndian.Uint64(b)
	if size > maxHeader {
		return nil, nil, nil, formatf(0, "header of %d bytes, at most %d are allowed", size, maxHeader)
	}
	if size > uint64(len(b)-8) {
		return nil, nil, nil, &FormatError{int64(len(b)), fmt.Sprintf("header of %d bytes, the file has %d", size, len(b)-8), io.ErrUnexpectedEOF}
	}
	head, data := b[8:8+size], b[8+size:]
	if !utf8.Valid(head) {
		return nil, nil, nil, formatf(8, "header is not UTF-8")
	}
	kv, entries, err = parseHeader(head)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := layout(entries, len(data), int64(8+size)); err != nil {
		return nil, nil, nil, err
	}
	return kv, entries, data, nil
}

// errorf returns a FormatError about e.
func (e *entry) errorf(format string, args ...any) error {
	return &FormatError{e.at, "header", tensorf(e.name, format, args...)}
}

// layout sorts entries by their data and checks them. The data must fill the data section without
// gaps, and each tensor's must have the size of its shape.
func layout(entries []entry, size int, start int64) error {
	slices.SortStableFunc(entries, func(a, b entry) int {
		if a.lo != b.lo {
			return a.lo - b.lo
		}
		return a.hi - b.hi
	})
	at := 0
	for i := range entries {
		e := &entries[i]
		width := 0
		switch e.dtype {
		case typeF32:
			width = 4
		case typeBF16, typeF16, typeI16:
			width = 2
		default:
			return &FormatError{e.at, "header", &TensorError{e.name, "its data type", &UnsupportedError{What: "storage type", Got: e.dtype, Have: []string{typeF32, typeBF16, typeF16, typeI16}}}}
		}
		n := uint64(1)
		for _, d := range e.shape {
			hi, lo := bits.Mul64(n, uint64(d))
			if hi != 0 || lo > math.MaxInt/4 {
				return e.errorf("shape %v is too large", e.shape)
			}
			n = lo
		}
		e.values = int(n)
		switch {
		case e.lo != at:
			return e.errorf("its data begin at %d, but the data before it end at %d", e.lo, at)
		case e.hi < e.lo || e.hi-e.lo != e.values*width:
			return e.errorf("shape %v of %s takes %d bytes, its data range is [%d, %d)", e.shape, e.dtype, e.values*width, e.lo, e.hi)
		case e.hi > size:
			return &FormatError{start + int64(size), "data section", &TensorError{e.name, fmt.Sprintf("data end at %d, the section has %d bytes",
				e.hi, size), io.ErrUnexpectedEOF}}
		}
		at = e.hi
	}
	if at != size {
		return formatf(start+int64(at), "%d bytes after the last tensor", size-at)
	}
	return nil
}

// parseHeader reads the JSON header. It refuses equal keys, of which encoding/json would keep the
// last.
func parseHeader(head []byte) (map[string]string, []entry, error) {
	dec := json.NewDecoder(bytes.NewReader(head))
	kv := map[string]string{}
	var entries []entry
	err := object(dec, func(key string) error {
		if key == metadataKey {
			return object(dec, func(key string) error {
				var s *string
				if err := dec.Decode(&s); err != nil {
					return err
				}
				if s == nil {
					return fmt.Errorf("metadata %q is null", key)
				}
				kv[key] = *s
				return nil
			})
		}
		e := entry{name: key, at: 8 + dec.InputOffset()}
		if err := e.decode(dec); err != nil {
			return &TensorError{key, "header", err}
		}
		entries = append(entries, e)
		return nil
	})
	if err == nil && len(bytes.TrimRight(head[dec.InputOffset():], " \t\r\n")) > 0 {
		err = fmt.Errorf("bytes after the header's object")
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, &FormatError{8 + dec.InputOffset(), "header", err}
	}
	return kv, entries, nil
}

// decode reads {"dtype": …, "shape": […], "data_offsets": [lo, hi]}.
func (e *entry) decode(dec *json.Decoder) error {
	var offsets []int
	fields := map[string]any{"dtype": &e.dtype, "shape": &e.shape, "data_offsets": &offsets}
	err := object(dec, func(key string) error {
		if field := fields[key]; field != nil {
			return dec.Decode(field)
		}
		return fmt.Errorf("unknown key %q", key)
	})
	if err != nil {
		return err
	}
	if e.shape == nil {
		return fmt.Errorf("no shape")
	}
	if len(e.shape) > maxAxes {
		return fmt.Errorf("shape of %d axes, at most %d are allowed", len(e.shape), maxAxes)
	}
	for _, d := range e.shape {
		if d < 0 {
			return fmt.Errorf("shape %v", e.shape)
		}
	}
	if len(offsets) != 2 || offsets[0] < 0 || offsets[1] < 0 {
		return fmt.Errorf("data_offsets of %d values, want two, neither below 0", len(offsets))
	}
	e.lo, e.hi = offsets[0], offsets[1]
	return nil
}

// object reads a JSON object and calls value for each key. Keys must be unique.
func object(dec *json.Decoder, value func(key string) error) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return fmt.Errorf("%v, want the start of an object", t)
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return fmt.Errorf("%v, want a key", t)
		}
		if seen[key] {
			return fmt.Errorf("key %q twice", key)
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// floats converts stored values.
func floats(b []byte, dtype string) []float32 {
	if dtype != typeF32 {
		out := make([]float32, len(b)/2)
		for i := range out {
			switch h := binary.LittleEndian.Uint16(b[2*i:]); dtype {
			case typeBF16:
				out[i] = math.Float32frombits(uint32(h) << 16)
			case typeF16:
				out[i] = vec.Half(h).Float32()
			default:
				out[i] = float32(int16(h))
			}
		}
		return out
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
