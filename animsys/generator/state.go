package generator

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"mannequin/animsys/control"
	"mannequin/internal/statehash"
)

// State is a buffer for the states of agents. [Generator.Save] appends the state of an agent, and
// Restore reads the states in the same order. The zero value is an empty buffer; Reset empties it
// and keeps its memory.
//
//	state.Reset()
//	for row := range agents {
//		stream.Save(&state, row)
//	}
//	// … later, with all agents removed:
//	state.Rewind()
//	for range agents {
//		row, err := stream.Restore(&state)
//	}
//
// Data can be read by another process and on another processor, if both are little-endian and
// have the same models. animsys.Crowd.Save adds what a file needs: a version, a checksum, and the
// models' identity.
type State struct {
	Data []byte

	// Later makes Block, Part and Check wait for Finish, so that workers can share their work. Rewind and
	// Reset keep it.
	Later bool

	at      int // next to be read
	reading bool
	err     error

	// shared are the assets in Data, by number. From one reading to the next they are those that may
	// be met again.
	shared  []shared
	met     int           // assets that were read
	numbers map[any]int32 // of assets, while Data is written
	last    int32         // number that was asked for last

	blocks []block // that wait, in the order of Data
	parts  []rowPart
	checks []check

	scratch   *State // for parts
	measuring bool
	size      int // measured so far
}

// rowPart is a part of a row, Data[at:at+n].
type rowPart struct {
	at, n, row int
	visit      func(s *State, row int)
}

// block is memory that Data[at:at+n] is copied from or to.
type block struct {
	live  unsafe.Pointer
	at, n int
}

// check is what follows Data[:at].
type check struct {
	at  int
	row int
	of  func(row int) error
}

// shared is something that agents share, such as a path.
type shared struct {
	asset any // a pointer
	sum   uint64
}

// Reset empties the buffer, to be written.
func (s *State) Reset() {
	clear(s.shared)
	clear(s.numbers)
	s.settle()
	*s = State{Data: s.Data[:0], Later: s.Later, shared: s.shared[:0], numbers: s.numbers, blocks: s.blocks, parts: s.parts, checks: s.checks, scratch: s.scratch}
}

// settle forgets what waits.
func (s *State) settle() {
	clear(s.blocks)
	s.blocks, s.parts, s.checks = s.blocks[:0], s.parts[:0], s.checks[:0]
}

// Rewind makes the buffer be read from the beginning. An asset whose contents the buffer has
// written or read before is that asset; for other contents a new one is allocated.
func (s *State) Rewind() {
	if s.reading {
		clear(s.shared[s.met:])
		s.shared = s.shared[:s.met]
	}
	s.settle()
	s.at, s.met, s.reading, s.err = 0, 0, true, nil
}

// Read returns how many bytes of Data were read.
func (s *State) Read() int { return s.at }

// Reading reports whether the buffer is being read.
func (s *State) Reading() bool { return s.reading }

// Err returns the first error of reading. Values that were read after it are zero.
func (s *State) Err() error { return s.err }

// Fail makes err the error of reading, if it is the first.
func (s *State) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Kind writes the name of a generator and the size of its rows, or checks them: other sizes
// are those of another model.
func (s *State) Kind(name string, sizes ...int) {
	was := [8]byte{}
	copy(was[:], name)
	is := was
	Values(s, was[:])
	if was != is {
		s.Fail(fmt.Errorf("the state is not of a %s generator", name))
	}
	for _, n := range sizes {
		k := int32(n)
		if Value(s, &k); int(k) != n {
			s.Fail(fmt.Errorf("the state is of another model: a size of %d, want %d", k, n))
		}
	}
}

// Value writes or reads a value. T is a number of the same size on every machine, or an array or
// struct of such numbers without padding. See [Struct] for others.
func Value[T any](s *State, v *T) { Values(s, unsafe.Slice(v, 1)) }

// Values writes or reads the values of a slice; see Value.
func Values[T any](s *State, v []T) {
	s.bytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))) // inlined, so that *v need not escape
}

// bytes writes or reads bytes. After an error they are zero.
func (s *State) bytes(b []byte) {
	switch {
	case s.measuring:
		s.size += len(b)
	case !s.reading:
		s.Data = append(s.Data, b...)
	case s.err != nil:
		clear(b)
	case len(s.Data)-s.at < len(b):
		s.err = errEnds
		clear(b)
	default:
		s.at += copy(b, s.Data[s.at:])
	}
}

// Block writes or reads the values of a slice as Values does, for long slices of which most of a state
// consists. If Later is set they are copied in Finish, and must not change until then.
func Block[T any](s *State, v []T) {
	n := len(v) * int(unsafe.Sizeof(*new(T)))
	if !s.Later || s.measuring || n == 0 || s.err != nil {
		Values(s, v)
		return
	}
	b := block{unsafe.Pointer(&v[0]), s.at, n}
	switch {
	case !s.reading:
		b.at = len(s.Data)
		s.Data = slices.Grow(s.Data, n)[:b.at+n]
	case len(s.Data)-s.at < n:
		s.err = errEnds
		clear(v)
		return
	default:
		s.at += n
	}
	s.blocks = append(s.blocks, b)
}

// Twin writes or reads the values of a slice that has the bits of another as a rule: then it takes a byte. In a visit of
// Part; of was written or read before. Both are as long.
func Twin[T any](s *State, v, of []T) {
	same := !s.reading && bytes.Equal(bytesOf(v), bytesOf(of))
	if s.Bool(&same); !same {
		Values(s, v)
	} else if s.reading {
		copy(v, of)
	}
}

// Repeated writes or reads a slice that usually repeats its first n values: then the state holds only these n. It is for
// visits of Part.
func Repeated[T any](s *State, v []T, n int) {
	Values(s, v[:n])
	same := !s.reading && bytes.Equal(bytesOf(v[n:]), bytesOf(v[:len(v)-n]))
	if s.Bool(&same); !same {
		Values(s, v[n:])
	} else if s.reading {
		for ; n < len(v); n *= 2 {
			copy(v[n:], v[:n])
		}
	}
}

// bytesOf returns the memory of a slice.
func bytesOf[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// Part lets visit write or read a part of a row, which has its size before it and no assets. If Later is set,
// Finish calls visit, and several calls may run at the same time. What visit writes must not change until
// then, and its length is always the same for the same state of the row.
func (s *State) Part(row int, visit func(s *State, row int)) {
	n := 0
	if !s.reading {
		n = s.Size(row, visit)
	}
	s.Sized(row, n, visit)
}

// Size returns how many bytes visit writes of a row. It does not change what s holds.
func (s *State) Size(row int, visit func(s *State, row int)) int {
	s.measuring, s.size = true, 0
	visit(s, row)
	s.measuring = false
	return s.size
}

// Sized is Part for a part whose size the caller knows from Size.
func (s *State) Sized(row, n int, visit func(s *State, row int)) {
	if s.reading {
		var size uint32
		Value(s, &size)
		n = int(size)
		switch {
		case s.err != nil:
		case uint64(len(s.Data)-s.at) < uint64(size):
			s.err = errEnds
		case s.Later:
			s.parts = append(s.parts, rowPart{s.at, n, row, visit})
			s.at += n
		default:
			s.err = s.finish(s.own(), rowPart{s.at, n, row, visit})
			s.at += n
		}
		return
	}
	if n < 0 || n > math.MaxInt32 {
		s.Fail(fmt.Errorf("a part of the state has %d bytes: want what Size returns", n))
		return
	}
	size := uint32(n)
	Value(s, &size)
	p := rowPart{len(s.Data), n, row, visit}
	s.Data = slices.Grow(s.Data, p.n)[:p.at+p.n]
	if s.Later {
		s.parts = append(s.parts, p)
		return
	}
	s.Fail(s.finish(s.own(), p))
}

// own returns a state for parts that do not wait.
func (s *State) own() *State {
	if s.scratch == nil {
		s.scratch = new(State)
	}
	return s.scratch
}

// finish writes or reads a part with the help of another state.
func (s *State) finish(own *State, p rowPart) error {
	*own = State{reading: s.reading}
	if s.reading {
		own.Data = s.Data[p.at : p.at+p.n]
	} else {
		own.Data = s.Data[p.at : p.at : p.at+p.n]
	}
	p.visit(own, p.row)
	err, done := own.err, own.at
	if !s.reading {
		done = len(own.Data)
	}
	if err == nil && done != p.n {
		err = fmt.Errorf("a part of the state has %d bytes, want %d", p.n, done)
	}
	*own = State{}
	return err
}

// Check calls f with a row whose blocks were read, and makes its error that of reading. If Later is set,
// Finish calls it, and several calls may run at the same time.
func (s *State) Check(row int, f func(row int) error) {
	switch {
	case !s.reading || s.err != nil:
	case s.Later:
		s.checks = append(s.checks, check{s.at, row, f})
	default:
		s.Fail(f(row))
	}
}

// Goal writes or reads a goal.
func Goal(s *State, g *control.Goal) {
	Value(s, &g.Move)
	Value(s, &g.Face)
	Value(s, &g.Turn)
	Value(s, &g.Speed)
	Value(s, &g.Action)
	Asset(s, &g.Path)
	Value(s, &g.PathOrigin)
	Value(s, &g.PathScale)
}

// Finish copies what waits of Data[from:to], visits the parts that begin there, and then calls the checks that
// were asked for after a byte of it was read. It returns their first error. Calls for other bytes may run at the
// same time, each with an own state for scratch.
func (s *State) Finish(scratch *State, from, to int) error {
	first, _ := slices.BinarySearchFunc(s.blocks, from, func(b block, from int) int { return cmp.Compare(b.at+b.n, from+1) })
	for _, b := range s.blocks[first:] {
		if b.at >= to {
			break
		}
		i, k := max(from, b.at), min(to, b.at+b.n)
		live := unsafe.Slice((*byte)(unsafe.Add(b.live, i-b.at)), k-i)
		if s.reading {
			copy(live, s.Data[i:k])
		} else {
			copy(s.Data[i:k], live)
		}
	}
	first, _ = slices.BinarySearchFunc(s.parts, from, func(p rowPart, from int) int { return cmp.Compare(p.at, from) })
	for _, p := range s.parts[first:] {
		if p.at >= to {
			break
		}
		if err := s.finish(scratch, p); err != nil {
			return err
		}
	}
	first, _ = slices.BinarySearchFunc(s.checks, from, func(c check, from int) int { return cmp.Compare(c.at, from+1) })
	for _, c := range s.checks[first:] {
		if c.at > to {
			break
		}
		if err := c.of(c.row); err != nil {
			return err
		}
	}
	return nil
}

// Int writes or reads an int, in the same eight bytes on every machine.
func (s *State) Int(v *int) {
	n := int64(*v)
	if Value(s, &n); s.reading {
		if *v = int(n); int64(*v) != n {
			s.Fail(fmt.Errorf("the state has the number %d, which this machine has not", n))
			*v = 0
		}
	}
}

// Shared is a pointer to an immutable value that agents share and a game made, such as a control.Path.
type Shared[T any] interface {
	*T
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// Asset writes or reads a pointer to something that agents share; it may be nil. Its contents are
// written once, with the first agent that has it.
func Asset[T any, P Shared[T]](s *State, v *P) {
	if !s.reading {
		number := int32(-1)
		switch {
		case *v == nil:
			Value(s, &number)
		case int(s.last) < len(s.shared) && s.shared[s.last].asset == any(*v):
			Value(s, &s.last)
		default:
			s.put(*v)
		}
		return
	}
	*v = nil
	var number int32
	Value(s, &number)
	switch n := int(number); {
	case s.err != nil || n == -1:
	case n < -1 || n > s.met:
		s.err = fmt.Errorf("the state has asset %d, after %d", n, s.met)
	case n == s.met:
		*v = meet[T, P](s)
	default:
		var ok bool
		if *v, ok = s.shared[n].asset.(P); !ok {
			s.err = fmt.Errorf("an asset of the state is a %T, want a %T", s.shared[n].asset, *v)
		}
	}
}

const contentsHead = 12 // bytes: a sum and a length

// put writes the number of an asset, and its contents after that if none with equal contents was written.
func (s *State) put(asset encoding.BinaryAppender) {
	if n, ok := s.numbers[asset]; ok {
		s.last = n
		Value(s, &n)
		return
	}
	from, n := len(s.Data), int32(len(s.shared))
	Value(s, &n)
	s.Data = append(s.Data, make([]byte, contentsHead)...)
	data, err := asset.AppendBinary(s.Data)
	if err != nil {
		s.Fail(err)
		return
	}
	head, b := data[len(s.Data)-contentsHead:], data[len(s.Data):]
	sum := sumOf(b)
	binary.LittleEndian.PutUint64(head, sum)
	binary.LittleEndian.PutUint32(head[8:], uint32(len(b)))
	s.Data = data
	for i := range s.shared {
		if s.shared[i].sum == sum {
			s.Data, n = data[:from], int32(i)
			Value(s, &n)
			break
		}
	}
	if int(n) == len(s.shared) {
		s.shared = append(s.shared, shared{asset, sum})
	}
	if s.numbers == nil {
		s.numbers = map[any]int32{}
	}
	s.numbers[asset], s.last = n, n
}

// meet reads an asset for the first time.
func meet[T any, P Shared[T]](s *State) P {
	var head [contentsHead]byte
	if Value(s, &head); s.err != nil {
		return nil
	}
	sum, n := binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint32(head[8:])
	if uint64(len(s.Data)-s.at) < uint64(n) {
		s.err = errEnds
		return nil
	}
	b := s.Data[s.at:][:n]
	s.at += int(n)
	for i := s.met; i < len(s.shared); i++ { // in the same order, as a rule
		if s.shared[i].sum != sum {
			continue
		}
		if asset, ok := s.shared[i].asset.(P); ok {
			s.shared[i], s.shared[s.met] = s.shared[s.met], s.shared[i]
			s.met++
			return asset
		}
	}
	if sumOf(b) != sum {
		s.err = errors.New("an asset of the state is damaged")
		return nil
	}
	asset := P(new(T))
	if s.err = asset.UnmarshalBinary(b); s.err != nil {
		return nil
	}
	s.shared = append(s.shared, shared{asset, sum})
	last := len(s.shared) - 1
	s.shared[last], s.shared[s.met] = s.shared[s.met], s.shared[last]
	s.met++
	return asset
}

// sumOf returns the sum of an asset's contents.
func sumOf(b []byte) uint64 {
	h := statehash.New.Int(len(b))
	for ; len(b) >= 8; b = b[8:] {
		h = h.Uint(binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		h = h.Uint(uint64(c))
	}
	return uint64(h)
}

var errEnds = errors.New("the state ends early")

// Bool writes or reads a bool, as a byte.
func (s *State) Bool(v *bool) {
	b := (*byte)(unsafe.Pointer(v))
	Value(s, b)
	if *b > 1 {
		*b = 1
	}
}

// Struct writes and reads structs that have padding or bools, which Value must not. What is zero at the end of
// a struct takes no room.
type Struct[T any] struct {
	size  int
	bools []int    // where they are
	gaps  []int    // bytes of padding
	mask  []uint64 // (words) the bits that are not padding
}

// StructOf returns how structs of type T are written. It panics if T holds pointers, or numbers
// whose size differs from machine to machine.
func StructOf[T any]() Struct[T] {
	c := Struct[T]{size: int(unsafe.Sizeof(*new(T)))}
	if c.size > math.MaxUint16 {
		panic("generator: a state cannot hold a struct of more than 64 KB")
	}
	c.mask = make([]uint64, (c.size+7)/8)
	c.add(reflect.TypeFor[T](), 0)
	for i := range c.size {
		if c.mask[i/8]>>(i%8*8)&0xff == 0 {
			c.gaps = append(c.gaps, i)
		}
	}
	return c
}

func (c *Struct[T]) add(t reflect.Type, at int) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			c.add(t.Field(i).Type, at+int(t.Field(i).Offset))
		}
	case reflect.Array:
		for i := range t.Len() {
			c.add(t.Elem(), at+i*int(t.Elem().Size()))
		}
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		if t.Kind() == reflect.Bool {
			c.bools = append(c.bools, at)
		}
		for i := at; i < at+int(t.Size()); i++ {
			c.mask[i/8] |= 0xff << (i % 8 * 8)
		}
	default:
		panic("generator: a state cannot hold a " + t.String())
	}
}

// used returns the bytes up to the last that are not zero or padding, in whole words.
func (c *Struct[T]) used(b []byte) int {
	n := len(c.mask)
	if rest := len(b) % 8; rest > 0 {
		var last [8]byte
		copy(last[:], b[len(b)-rest:])
		if binary.LittleEndian.Uint64(last[:])&c.mask[n-1] != 0 {
			return len(b)
		}
		n--
	}
	for ; n >= 4; n -= 4 { // most of a long end is zero, padding included
		if w := b[8*n-32 : 8*n : 8*n]; binary.LittleEndian.Uint64(w)|binary.LittleEndian.Uint64(w[8:])|binary.LittleEndian.Uint64(w[16:])|binary.LittleEndian.Uint64(w[24:]) != 0 {
			break
		}
	}
	for n > 0 && binary.LittleEndian.Uint64(b[8*n-8:])&c.mask[n-1] == 0 {
		n--
	}
	return 8 * n
}

// Visit writes or reads v.
func (c *Struct[T]) Visit(s *State, v *T) {
	b, n := bytesOf(unsafe.Slice(v, 1)), uint16(0)
	if !s.reading {
		n = uint16(c.used(b))
	}
	if Value(s, &n); int(n) > c.size {
		s.Fail(fmt.Errorf("the state has %d bytes of a struct of %d", n, c.size))
		n = 0
	}
	Values(s, b[:n])
	if s.measuring {
		return
	}
	if !s.reading {
		b = s.Data[len(s.Data)-int(n):]
		for _, i := range c.gaps {
			if i < int(n) {
				b[i] = 0
			}
		}
		return
	}
	clear(b[n:])
	for _, i := range c.bools {
		b[i] = min(b[i], 1)
	}
}
