package tape

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"mannequin/scenes"
)

// Writer writes a tape. It allocates nothing after NewWriter.
type Writer struct {
	w     io.Writer
	ticks int64 // so far
	err   error // the first

	in     scenes.Input
	was    []uint64 // (values) of the tick before
	inputs []byte   // of the block
	hashes []byte   // of the block
	packed bytes.Buffer
	deflat *flate.Writer
	block  []byte
}

var errClosed = errors.New("tape: the writer is closed")

// NewWriter begins a tape on w. It calls w.Write once for each second.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	names := make([]string, len(values))
	for i := range values {
		names[i] = values[i].name
	}
	head := header{Setup: h.Setup, Parts: h.Parts, Machine: h.Machine, Kernels: h.Kernels, Rate: scenes.TickRate, Inputs: names}
	if v := h.Setup.Steering(); v > 1 {
		head.Steering = v
	}
	contents, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("tape: %w", err)
	}
	if len(contents) > maxBlock {
		return nil, fmt.Errorf("tape: a header of %d bytes: at most %d", len(contents), maxBlock)
	}
	t := &Writer{w: w, was: make([]uint64, len(values))}
	if t.deflat, err = flate.NewWriter(&t.packed, flate.DefaultCompression); err != nil {
		return nil, fmt.Errorf("tape: %w", err)
	}
	most := blockTicks * (1 + len(values)) * binary.MaxVarintLen64
	t.inputs, t.hashes = make([]byte, 0, most), make([]byte, 0, 8*blockTicks)
	t.packed.Grow(most + 1024)
	t.block = append(make([]byte, 0, 2*most), magic+version+"\n"...)
	t.write(kindHeader, contents)
	return t, t.err
}

// Tick adds a tick: the input, and the hash of the state after it. It returns the first error of
// writing.
func (t *Writer) Tick(in scenes.Input, hash uint64) error {
	if t.err != nil {
		return t.err
	}
	t.in = in
	var changed uint64
	for i := range values {
		if values[i].get(&t.in) != t.was[i] {
			changed |= 1 << i
		}
	}
	t.inputs = binary.AppendUvarint(t.inputs, changed)
	for i := range values {
		if changed>>i&1 == 1 {
			v := values[i].get(&t.in)
			t.inputs = binary.AppendUvarint(t.inputs, v^t.was[i])
			t.was[i] = v
		}
	}
	t.hashes = binary.LittleEndian.AppendUint64(t.hashes, hash)
	if t.ticks++; len(t.hashes) == 8*blockTicks {
		t.flush()
	}
	return t.err
}

// Close writes the remaining ticks and the end of the tape. It does not close the underlying writer.
func (t *Writer) Close() error {
	if t.err == nil && len(t.hashes) > 0 {
		t.flush()
	}
	if t.err == nil {
		t.write(kindEnd, binary.AppendUvarint(nil, uint64(t.ticks)))
	}
	err := t.err
	if t.err == nil {
		t.err = errClosed
	}
	if err == errClosed {
		return nil
	}
	return err
}

// flush writes the ticks since the last block.
func (t *Writer) flush() {
	count := len(t.hashes) / 8
	t.packed.Reset()
	var head [2 * binary.MaxVarintLen64]byte
	t.packed.Write(binary.AppendUvarint(binary.AppendUvarint(head[:0], uint64(t.ticks)-uint64(count)), uint64(count)))
	t.packed.Write(t.hashes)
	t.deflat.Reset(&t.packed)
	if _, t.err = t.deflat.Write(t.inputs); t.err == nil {
		t.err = t.deflat.Close()
	}
	if t.err == nil {
		t.write(kindTicks, t.packed.Bytes())
	}
	t.inputs, t.hashes = t.inputs[:0], t.hashes[:0]
	clear(t.was)
}

// write writes what is in t.block, and a block.
func (t *Writer) write(kind byte, contents []byte) {
	t.block = appendBlock(t.block, kind, contents)
	_, t.err = t.w.Write(t.block)
	t.block = t.block[:0]
}

// appendBlock appends a block to dst.
func appendBlock(dst []byte, kind byte, contents []byte) []byte {
	n := len(dst)
	dst = binary.LittleEndian.AppendUint32(append(dst, kind), uint32(len(contents)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[n:], castagnoli))
	dst = append(dst, contents...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(contents, castagnoli))
}
