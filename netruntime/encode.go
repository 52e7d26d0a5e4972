package netruntime

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// toBF16 rounds to the nearest bfloat16, ties to even.
func toBF16(f float32) uint16 {
	u := math.Float32bits(f)
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// Encode writes n as a model file with float32 weights: decoding it gives the
// same network, bit for bit.
func (n *Net) Encode(w io.Writer) error { return n.encode(w, typeF32) }

// EncodeBF16 writes n with its weight matrices rounded to bfloat16, in half
// the bytes; biases and normalisation stay float32.
func (n *Net) EncodeBF16(w io.Writer) error { return n.encode(w, typeBF16) }

func (n *Net) encode(w io.Writer, weights string) error {
	kv, err := n.meta.strings(n.model.sizes())
	if err != nil {
		return fmt.Errorf("netruntime: %w", err)
	}
	head, err := n.header(kv, weights)
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
	for _, t := range n.tensors {
		buf := make([]byte, 0, 4*len(t.Data))
		if t.storage(weights) == typeBF16 {
			for i, f := range t.Data {
				h := toBF16(f)
				if h&0x7f80 == 0x7f80 {
					return fmt.Errorf("netruntime: tensor %q: value %d is %g, too large for bfloat16", t.Name, i, f)
				}
				buf = binary.LittleEndian.AppendUint16(buf, h)
			}
		} else {
			for _, f := range t.Data {
				buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(f))
			}
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tensor) storage(weights string) string {
	if strings.HasSuffix(t.Name, ".weight") {
		return weights
	}
	return typeF32
}

// header writes the JSON by hand for the order of its keys: metadata, then
// the tensors as their data follow each other.
func (n *Net) header(kv map[string]string, weights string) ([]byte, error) {
	for k, v := range kv {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, fmt.Errorf("metadata %q is not UTF-8", k)
		}
	}
	meta, err := json.Marshal(kv)
	if err != nil {
		return nil, err
	}
	head := append([]byte(`{"__metadata__":`), meta...)
	at := 0
	for _, t := range n.tensors {
		e := struct {
			DType   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}{DType: t.storage(weights), Shape: t.Shape}
		width := 4
		if e.DType == typeBF16 {
			width = 2
		}
		e.Offsets = [2]int{at, at + width*len(t.Data)}
		at = e.Offsets[1]
		v, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		head = fmt.Appendf(head, ",%q:%s", t.Name, v)
	}
	head = append(head, '}')
	for len(head)%8 != 0 { // aligns the data
		head = append(head, ' ')
	}
	return head, nil
}
