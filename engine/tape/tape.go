// Package tape records a game's inputs, tick by tick, with a hash of the state after each, and finds the
// first tick of a replay that differs.
//
//	w, err := tape.NewWriter(file, settings)
//	err = w.Tick(input, crowd.Hash()) // after each tick
//	err = w.Close()
//
//	r, err := tape.NewReader(file)
//	ticks, err := tape.Verify(r, func(input []byte) (uint64, error) { … })
//
// # The file
//
// A tape begins with the line "mannequin game tape 1". Blocks follow: the header, one for each second,
// and the end. A block is
//
//	kind     1 byte: 'h', 't' or 'e'
//	size     4 bytes, of the contents
//	sum      4 bytes, CRC-32C of these five
//	contents
//	sum      4 bytes, CRC-32C of the contents
//
// with numbers in little-endian order. The contents of an 'h' are the game's. Those of a 't' are two
// varints, the number of its first tick and the count of ticks; then for each tick 8 bytes of hash, a
// varint, and an input: 0 is the input of the tick before in this block, n an input of n − 1 bytes.
// The contents of an 'e' are a varint, the number of all ticks.
//
// A block is written at once: the tape of a killed program can be played up to its last second.
package tape

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Limits of a tape.
const (
	MaxHeader = 1 << 20 // bytes
	MaxInput  = 1 << 16 // bytes
)

const (
	magic      = "mannequin game tape 1\n"
	blockTicks = 60
	fullBlock  = 1 << 18 // bytes from which a block is written
	maxBlock   = max(MaxHeader, fullBlock+MaxInput+64)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Writer writes a tape. Once its buffers have grown it allocates nothing.
type Writer struct {
	w     io.Writer
	ticks int64
	count int    // ticks in the block
	block []byte // their contents
	was   []byte // input of the tick before
	out   []byte
	err   error
}

// NewWriter begins a tape on w. header is what a replay needs to begin: seed, level, versions.
func NewWriter(w io.Writer, header []byte) (*Writer, error) {
	if len(header) > MaxHeader {
		return nil, fmt.Errorf("tape: a header of %d bytes: at most %d", len(header), MaxHeader)
	}
	t := &Writer{w: w, out: []byte(magic)}
	t.write('h', header)
	return t, t.err
}

// Tick adds a tick: its input, and the hash of the state after it. It returns the first error of writing.
func (t *Writer) Tick(input []byte, hash uint64) error {
	switch {
	case t.w == nil:
		return errors.New("tape: the writer was not made by NewWriter")
	case t.err != nil:
		return t.err
	case len(input) > MaxInput:
		return fmt.Errorf("tape: an input of %d bytes: at most %d", len(input), MaxInput)
	}
	t.block = binary.LittleEndian.AppendUint64(t.block, hash)
	if t.count > 0 && bytes.Equal(input, t.was) {
		t.block = append(t.block, 0)
	} else {
		t.block = append(binary.AppendUvarint(t.block, uint64(len(input))+1), input...)
		t.was = append(t.was[:0], input...)
	}
	t.ticks++
	if t.count++; t.count == blockTicks || len(t.block) >= fullBlock {
		t.flush()
	}
	return t.err
}

// Close writes the remaining ticks and the end. It does not close the underlying writer.
func (t *Writer) Close() error {
	if t.w == nil {
		return nil
	}
	if t.err == nil && t.count > 0 {
		t.flush()
	}
	if t.err == nil {
		t.write('e', binary.AppendUvarint(nil, uint64(t.ticks)))
	}
	err := t.err
	t.w, t.err = nil, errors.New("tape: the writer is closed")
	return err
}

func (t *Writer) flush() {
	var head [2 * binary.MaxVarintLen64]byte
	h := binary.AppendUvarint(binary.AppendUvarint(head[:0], uint64(t.ticks)-uint64(t.count)), uint64(t.count))
	n := len(t.block)
	t.block = append(t.block, h...) // to the front
	copy(t.block[len(h):], t.block[:n])
	copy(t.block, h)
	t.write('t', t.block)
	t.block, t.count = t.block[:0], 0
}

func (t *Writer) write(kind byte, contents []byte) {
	n := len(t.out)
	t.out = binary.LittleEndian.AppendUint32(append(t.out, kind), uint32(len(contents)))
	t.out = binary.LittleEndian.AppendUint32(t.out, crc32.Checksum(t.out[n:], castagnoli))
	t.out = binary.LittleEndian.AppendUint32(append(t.out, contents...), crc32.Checksum(contents, castagnoli))
	_, t.err = t.w.Write(t.out)
	t.out = t.out[:0]
}

// FormatError is an error in the contents of a tape.
type FormatError struct {
	Offset int64 // of the wrong block, bytes
	Msg    string
}

func (e *FormatError) Error() string { return fmt.Sprintf("tape: offset %d: %s", e.Offset, e.Msg) }

// CutError reports that a tape's end is missing: the program that wrote it was killed, or the file was
// cut. The ticks before are right.
type CutError struct {
	Offset int64 // of the missing end, bytes
	Ticks  int64 // in the tape
}

func (e *CutError) Error() string {
	return fmt.Sprintf("tape: offset %d: the end is missing, after %d ticks: the recording was not finished, or the file was cut", e.Offset, e.Ticks)
}

// Reader reads a tape, in bounded memory.
type Reader struct {
	Header []byte // the game's

	r      *bufio.Reader
	offset int64  // of the next block
	ticks  int64  // read
	left   int    // ticks in the block
	block  []byte // what is left of it
	was    []byte
	begun  bool // was is of this block
	buf    []byte
	err    error
}

// NewReader reads a tape's header.
func NewReader(r io.Reader) (*Reader, error) {
	t := &Reader{r: bufio.NewReader(r)}
	line := make([]byte, len(magic))
	if n, err := io.ReadFull(t.r, line); err != nil && !ended(err) {
		return nil, fmt.Errorf("tape: %w", err)
	} else if string(line[:n]) != magic {
		return nil, &FormatError{0, fmt.Sprintf("this is no tape of this version: it does not begin with %q", magic)}
	}
	t.offset = int64(len(magic))
	kind, contents, err := t.read()
	switch {
	case ended(err):
		return nil, t.wrong("the file ends within its header: it was cut")
	case err != nil:
		return nil, err
	case kind != 'h':
		return nil, t.wrong(fmt.Sprintf("a block of kind %q: the header should be here", kind))
	}
	t.Header = bytes.Clone(contents)
	return t, nil
}

func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

func (t *Reader) wrong(msg string) error { return &FormatError{t.offset, msg} }

// read reads a block. Its contents are valid until the next.
func (t *Reader) read() (kind byte, contents []byte, err error) {
	var head [9]byte
	if _, err := io.ReadFull(t.r, head[:]); err != nil {
		return 0, nil, t.failed(err)
	}
	size := binary.LittleEndian.Uint32(head[1:])
	switch {
	case crc32.Checksum(head[:5], castagnoli) != binary.LittleEndian.Uint32(head[5:]):
		return 0, nil, t.wrong("a block's head is damaged: its checksum is wrong")
	case size > maxBlock:
		return 0, nil, t.wrong(fmt.Sprintf("a block of %d bytes: at most %d", size, maxBlock))
	}
	if int(size)+4 > cap(t.buf) {
		t.buf = make([]byte, size+4)
	}
	t.buf = t.buf[:size+4]
	if _, err := io.ReadFull(t.r, t.buf); err != nil {
		return 0, nil, t.failed(err)
	}
	if contents = t.buf[:size]; crc32.Checksum(contents, castagnoli) != binary.LittleEndian.Uint32(t.buf[size:]) {
		return 0, nil, t.wrong("a block is damaged: its checksum is wrong")
	}
	t.offset += int64(len(head)) + int64(size) + 4
	return head[0], contents, nil
}

func (t *Reader) failed(err error) error {
	if ended(err) {
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("tape: offset %d: %w", t.offset, err)
}

// Next returns the next tick: its input, which is valid until the next call, and the hash of the state after
// it. After the last tick the error is io.EOF, or a *CutError if the tape's end is missing.
func (t *Reader) Next() (input []byte, hash uint64, err error) {
	if t.r == nil {
		return nil, 0, errors.New("tape: the reader was not made by NewReader")
	}
	for t.err == nil && t.left == 0 {
		t.err = t.more()
	}
	if t.err != nil {
		return nil, 0, t.err
	}
	if input, hash, t.err = t.tick(); t.err != nil {
		return nil, 0, t.err
	}
	t.begun = true
	t.left--
	t.ticks++
	if t.left == 0 && len(t.block) > 0 {
		t.err = t.wrong("a block goes on after its last tick")
	}
	return input, hash, nil
}

// tick takes a tick from the block.
func (t *Reader) tick() (input []byte, hash uint64, err error) {
	const hashSize = 8
	if len(t.block) <= hashSize {
		return nil, 0, t.wrong("a block ends within a tick")
	}
	hash = binary.LittleEndian.Uint64(t.block)
	n, k := binary.Uvarint(t.block[hashSize:])
	rest := t.block[hashSize:]
	switch {
	case k <= 0 || n > MaxInput+1 || n > 0 && n-1 > uint64(len(rest)-k):
		return nil, 0, t.wrong("a block ends within an input")
	case n == 0 && !t.begun:
		return nil, 0, t.wrong("a block begins with an input that is as before")
	case n > 0:
		t.was = rest[k:][: n-1 : n-1]
		k += int(n - 1)
	}
	t.block = rest[k:]
	return t.was, hash, nil
}

// more reads a block of ticks; io.EOF if there is none.
func (t *Reader) more() error {
	kind, contents, err := t.read()
	if ended(err) {
		return &CutError{t.offset, t.ticks}
	}
	if err != nil {
		return err
	}
	a, k := binary.Uvarint(contents)
	if k <= 0 || int64(a) != t.ticks {
		return t.wrong(fmt.Sprintf("a block of kind %q says %d ticks, %d come before it", kind, a, t.ticks))
	}
	switch contents = contents[k:]; kind {
	case 'e':
		if _, err := t.r.ReadByte(); len(contents) > 0 || err != io.EOF {
			return t.wrong("the tape goes on after its end")
		}
		return io.EOF
	case 't':
		n, k := binary.Uvarint(contents)
		if k <= 0 || n == 0 || n > uint64(len(contents)) {
			return t.wrong(fmt.Sprintf("a block of %d ticks", n))
		}
		t.left, t.block, t.begun = int(n), contents[k:], false
		return nil
	}
	return t.wrong(fmt.Sprintf("a block of kind %q", kind))
}

// MismatchError reports the first tick that differs from the recording.
type MismatchError struct {
	Tick      int64  // from 0
	Want, Got uint64 // the hashes after it
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("tick %d is not as it was recorded, those before it are: its hash is %016x, not %016x", e.Tick, e.Got, e.Want)
}

// Verify plays a tape: step plays a tick and returns the hash of the state. Verify returns the number of
// ticks that are as recorded. The error is a *MismatchError for the first that is not, that of step, or a
// *CutError if the tape's end is missing.
func Verify(r *Reader, step func(input []byte) (hash uint64, err error)) (ticks int64, err error) {
	for ; ; ticks++ {
		input, want, err := r.Next()
		if err == io.EOF {
			return ticks, nil
		}
		if err != nil {
			return ticks, err
		}
		got, err := step(input)
		if err != nil {
			return ticks, fmt.Errorf("tick %d of the tape: %w", ticks, err)
		}
		if got != want {
			return ticks, &MismatchError{ticks, want, got}
		}
	}
}
