package tape

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"mannequin/scenes"
	"mannequin/scenes/open"
)

// Tick is one tick of a tape.
type Tick struct {
	Input scenes.Input
	Hash  uint64 // of the state after it
}

// FormatError is an error in the contents of a tape.
type FormatError struct {
	Offset int64 // of the wrong block, bytes
	Msg    string
	Err    error // the cause, may be nil
}

func (e *FormatError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("tape: offset %d: %s: %v", e.Offset, e.Msg, e.Err)
	}
	return fmt.Sprintf("tape: offset %d: %s", e.Offset, e.Msg)
}

func (e *FormatError) Unwrap() error { return e.Err }

// CutError reports that a tape's end is missing: the program that wrote it was killed, or the file
// was cut. The ticks before are right.
type CutError struct {
	Offset int64 // of the missing end, bytes
	Ticks  int64 // in the tape
}

func (e *CutError) Error() string {
	return fmt.Sprintf("tape: offset %d: the end is missing, after %d ticks: the recording was not finished, or the file was cut", e.Offset, e.Ticks)
}

// Reader reads a tape, in bounded memory.
type Reader struct {
	Header Header

	r      *bufio.Reader
	offset int64   // of the next block
	ticks  int64   // read from blocks
	fields []value // by their bits in this tape

	block  []Tick // ticks from next on are not yet returned
	next   int
	err    error // of the next block
	buf    []byte
	packed bytes.Reader
	inflat io.ReadCloser
	inputs *bufio.Reader
	was    []uint64
}

// ended reports whether err is the error of a file that ends too early.
func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// NewReader reads a tape's header. An error in the tape's contents is a *FormatError.
func NewReader(r io.Reader) (*Reader, error) {
	t := &Reader{r: bufio.NewReader(r), inflat: flate.NewReader(nil)}
	t.inputs = bufio.NewReader(t.inflat)
	line := make([]byte, len(magic)+len(version)+1)
	if n, err := io.ReadFull(t.r, line); !bytes.HasPrefix(line[:n], []byte(magic)) {
		if err != nil && !ended(err) {
			return nil, fmt.Errorf("tape: %w", err)
		}
		return nil, &FormatError{0, "this is no tape: it does not begin with " + `"` + magic + version + `"`, nil}
	} else if ended(err) {
		return nil, &FormatError{int64(n), "the file ends within its first line: it was cut", nil}
	} else if err != nil {
		return nil, &FormatError{int64(n), "its first line", err}
	}
	if got := line[len(magic):]; string(got) != version+"\n" {
		return nil, &FormatError{0, fmt.Sprintf("a tape of version %q: this program reads version %s", bytes.TrimSpace(got), version), nil}
	}
	t.offset = int64(len(line))
	kind, contents, err := t.read()
	switch {
	case ended(err):
		return nil, t.wrong("the file ends within its header: it was cut", nil)
	case err != nil:
		return nil, err
	case kind != kindHeader:
		return nil, t.wrong(fmt.Sprintf("a block of kind %q: the header should be here", kind), nil)
	}
	if err := t.header(contents); err != nil {
		return nil, t.wrong("its header", err)
	}
	t.pass(contents)
	return t, nil
}

// header reads the header.
func (t *Reader) header(contents []byte) error {
	var setup json.RawMessage
	h := header{Setup: &setup}
	if err := strict(contents, &h); err != nil {
		return err
	}
	var scene struct {
		Scene string `json:"scene"`
	}
	if err := json.Unmarshal(setup, &scene); err != nil {
		return err
	}
	// What an old tape does not say is the default.
	t.Header = Header{Setup: open.Default(scene.Scene), Parts: h.Parts, Machine: h.Machine, Kernels: h.Kernels}
	if err := strict(setup, &t.Header.Setup); err != nil {
		return err
	}
	if err := t.Header.Setup.Check(); err != nil {
		return err
	}
	if err := t.Header.Setup.SetSteering(max(h.Steering, 1)); err != nil {
		return err
	}
	if h.Rate != scenes.TickRate {
		return fmt.Errorf("%d ticks per second: scenes have %d", h.Rate, scenes.TickRate)
	}
	if len(h.Inputs) > maxValues {
		return fmt.Errorf("inputs of %d values: at most %d", len(h.Inputs), maxValues)
	}
	for i, name := range h.Inputs {
		k := slices.IndexFunc(values, func(v value) bool { return v.name == name })
		if k < 0 {
			return fmt.Errorf("inputs have a value %q, which this program does not know", name)
		}
		if slices.Contains(h.Inputs[:i], name) {
			return fmt.Errorf("inputs have the value %q twice", name)
		}
		t.fields = append(t.fields, values[k])
	}
	t.was = make([]uint64, len(t.fields))
	return nil
}

// strict decodes JSON and refuses unknown keys.
func strict(b []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}

// Next returns the next tick. After the last tick it returns io.EOF, or a *CutError if the tape's
// end is missing.
func (t *Reader) Next() (Tick, error) {
	for t.next == len(t.block) {
		if t.err == nil {
			t.err = t.more()
		}
		if t.err != nil {
			return Tick{}, t.err
		}
	}
	t.next++
	return t.block[t.next-1], nil
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
	switch kind {
	case kindTicks:
		t.block, t.next = t.block[:0], 0
		if err := t.unpack(contents); err != nil {
			t.block = t.block[:0]
			return t.wrong(fmt.Sprintf("ticks from %d on", t.ticks), err)
		}
		t.ticks += int64(len(t.block))
	case kindEnd:
		if n, size := binary.Uvarint(contents); size != len(contents) || n != uint64(t.ticks) {
			return t.wrong(fmt.Sprintf("%d ticks should be before its end, %d are", n, t.ticks), nil)
		}
		if _, err := t.r.ReadByte(); err != io.EOF {
			return t.wrong("something comes after its end", err)
		}
		return io.EOF
	default:
		return t.wrong(fmt.Sprintf("a block of kind %q: ticks or the end should be here", kind), nil)
	}
	t.pass(contents)
	return nil
}

// read returns the next block; t.pass then skips it. The contents are valid until the next call. At
// the end of the file it returns io.EOF or io.ErrUnexpectedEOF.
func (t *Reader) read() (kind byte, contents []byte, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(t.r, head[:]); err != nil {
		return 0, nil, t.cannot(err)
	}
	if crc32.Checksum(head[:5], castagnoli) != binary.LittleEndian.Uint32(head[5:]) {
		return 0, nil, t.wrong("the block's head is damaged", nil)
	}
	size := binary.LittleEndian.Uint32(head[1:])
	if size > maxBlock {
		return 0, nil, t.wrong(fmt.Sprintf("a block of %d bytes: at most %d", size, maxBlock), nil)
	}
	t.buf = slices.Grow(t.buf[:0], int(size)+sumSize)[:int(size)+sumSize]
	if _, err := io.ReadFull(t.r, t.buf); err != nil {
		return 0, nil, t.cannot(unexpected(err))
	}
	contents = t.buf[:size]
	if crc32.Checksum(contents, castagnoli) != binary.LittleEndian.Uint32(t.buf[size:]) {
		return 0, nil, t.wrong("the block is damaged", nil)
	}
	return head[0], contents, nil
}

// pass skips a block.
func (t *Reader) pass(contents []byte) { t.offset += headSize + int64(len(contents)) + sumSize }

// unpack reads the ticks of a block.
func (t *Reader) unpack(b []byte) error {
	first, n := binary.Uvarint(b)
	count, m := binary.Uvarint(b[max(n, 0):])
	if n <= 0 || m <= 0 {
		return io.ErrUnexpectedEOF
	}
	b = b[n+m:]
	switch {
	case first != uint64(t.ticks):
		return fmt.Errorf("the block begins with tick %d", first)
	case count == 0 || count > maxTicks:
		return fmt.Errorf("a block of %d ticks: 1 to %d", count, maxTicks)
	case uint64(len(b)) < 8*count:
		return io.ErrUnexpectedEOF
	}
	hashes, rest := b[:8*count], b[8*count:]
	t.packed.Reset(rest)
	if err := t.inflat.(flate.Resetter).Reset(&t.packed, nil); err != nil {
		return err
	}
	t.inputs.Reset(t.inflat)
	clear(t.was)
	var in scenes.Input
	for i := range count {
		if err := t.input(&in); err != nil {
			return fmt.Errorf("the input of tick %d: %w", first+i, unexpected(err))
		}
		t.block = append(t.block, Tick{in, binary.LittleEndian.Uint64(hashes[8*i:])})
	}
	if _, err := t.inputs.ReadByte(); err != io.EOF || t.packed.Len() > 0 {
		return errors.New("something comes after the last input")
	}
	return nil
}

// input changes in from the input of one tick to the next.
func (t *Reader) input(in *scenes.Input) error {
	changed, err := binary.ReadUvarint(t.inputs)
	if err != nil {
		return err
	}
	if changed>>len(t.fields) != 0 {
		return fmt.Errorf("it has more than %d values", len(t.fields))
	}
	for i := range t.fields {
		if changed>>i&1 == 0 {
			continue
		}
		d, err := binary.ReadUvarint(t.inputs)
		if err != nil {
			return err
		}
		t.was[i] ^= d
		f := &t.fields[i]
		if f.set(in, t.was[i]); f.get(in) != t.was[i] {
			return fmt.Errorf("%s cannot be %#x", f.name, t.was[i])
		}
	}
	return nil
}

func (t *Reader) wrong(what string, err error) error { return &FormatError{t.offset, what, err} }

// cannot wraps errors except the end of the file.
func (t *Reader) cannot(err error) error {
	if ended(err) {
		return err
	}
	return fmt.Errorf("tape: offset %d: %w", t.offset, err)
}

// unexpected returns io.ErrUnexpectedEOF for io.EOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
