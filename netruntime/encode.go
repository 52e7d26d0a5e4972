package netruntime

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"mannequin/netruntime/internal/kernel"
	"mannequin/netruntime/vec"
)

// Encode writes n as a model file with float32 weights. Decoding it gives the same network, bit for
// bit.
func (n *Net) Encode(w io.Writer) error { return n.encode(w, typeF32) }

// EncodeBF16 writes n with its weight matrices rounded to bfloat16, in half the bytes. Biases and
// normalisation stay float32. A weight too large for bfloat16 is an error.
func (n *Net) EncodeBF16(w io.Writer) error { return n.encode(w, typeBF16) }

func (n *Net) encode(w io.Writer, weights string) error {
	return write(w, &n.meta, n.sizes, n.tensors, func(t *Tensor) string {
		if n.bound.matrix[t.Name] {
			return weights
		}
		return typeF32
	})
}

// write writes a file of tensors, each in its storage type.
func write(w io.Writer, meta *Meta, sizes map[string]string, tensors []Tensor, storage func(t *Tensor) string) error {
	kv, err := meta.strings(sizes)
	if err != nil {
		return fmt.Errorf("netruntime: %w", err)
	}
	entries, data, err := storedAs(tensors, storage)
	if err != nil {
		return fmt.Errorf("netruntime: %w", err)
	}
	kv[keyChecksum] = checksum(kv, entries, data)
	head, err := header(kv, entries)
	if err != nil {
		return fmt.Errorf("netruntime: %w", err)
	}
	if len(head) > maxHeader {
		return fmt.Errorf("netruntime: metadata of %d bytes, at most %d fit a model file", len(head), maxHeader)
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	if _, err := w.Write(append(out, head...)); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// storedAs returns the tensors' entries and the bytes of the data section.
func storedAs(tensors []Tensor, storage func(t *Tensor) string) (entries []entry, data []byte, err error) {
	values := 0
	for _, t := range tensors {
		values += len(t.Data)
	}
	data = make([]byte, 0, 4*values)
	for _, t := range tensors {
		e := entry{name: t.Name, dtype: storage(&t), shape: t.Shape, lo: len(data)}
		switch e.dtype {
		case typeBF16:
			half := make([]uint16, len(t.Data))
			kernel.ToBF16(half, t.Data)
			for i, h := range half {
				if h&0x7f80 == 0x7f80 {
					return nil, nil, tensorf(t.Name, "value %d is %g, too large for bfloat16", i, t.Data[i])
				}
				data = binary.LittleEndian.AppendUint16(data, h)
			}
		case typeF16:
			for i, f := range t.Data {
				h := uint16(vec.ToHalf(f))
				if h&0x7c00 == 0x7c00 {
					return nil, nil, tensorf(t.Name, "value %d is %g, too large for a half-precision number", i, f)
				}
				data = binary.LittleEndian.AppendUint16(data, h)
			}
		case typeI16:
			for i, f := range t.Data {
				v := int16(f)
				if float32(v) != f {
					return nil, nil, tensorf(t.Name, "value %d is %g, which is no integer of 16 bits", i, f)
				}
				data = binary.LittleEndian.AppendUint16(data, uint16(v))
			}
		default:
			for _, f := range t.Data {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f))
			}
		}
		e.hi = len(data)
		entries = append(entries, e)
	}
	return entries, data, nil
}

// header writes the JSON by hand, to fix the order of its keys: the metadata, then the tensors in
// the order of their data.
func header(kv map[string]string, entries []entry) ([]byte, error) {
	for _, e := range entries {
		if !utf8.ValidString(e.name) {
			return nil, tensorf(e.name, "the name is not UTF-8")
		}
	}
	for k, v := range kv {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, fmt.Errorf("metadata %q is not UTF-8", k)
		}
	}
	meta, err := json.Marshal(kv)
	if err != nil {
		return nil, err
	}
	head := append([]byte(`{"`+metadataKey+`":`), meta...)
	for _, e := range entries {
		v, err := json.Marshal(struct {
			DType   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}{e.dtype, e.shape, [2]int{e.lo, e.hi}})
		if err != nil {
			return nil, err
		}
		name, err := json.Marshal(e.name)
		if err != nil {
			return nil, err
		}
		head = fmt.Appendf(head, ",%s:%s", name, v)
	}
	head = append(head, '}')
	for len(head)%8 != 0 { // aligns the data
		head = append(head, ' ')
	}
	return head, nil
}

// Checksum identifies what n computes: its graph and weights, and the feature layout and skeleton
// that they are for. Name, card and other descriptions do not change it, nor does the storage type
// if the numbers are the same. It fails for a network that no model file can hold: see Encode.
func (n *Net) Checksum() (string, error) {
	meta := n.meta.clone()
	meta.Name, meta.Data, meta.License, meta.Card, meta.Metrics, meta.CreatedBy = "", "", "", "", "", ""
	h := sha256.New()
	if err := write(h, &meta, n.sizes, n.tensors, func(*Tensor) string { return typeF32 }); err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil)), nil
}
