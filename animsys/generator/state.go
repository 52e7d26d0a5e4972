package generator

import (
	"errors"
	"fmt"
	"unsafe"
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
type State struct {
	// Data is everything but pointers, in the machine's order of bytes.
	Data []byte
	// Assets are what agents share and a game owns: a control.Path, a keypose.PoseLoop. A game
	// that writes Data to a file writes their names, and puts the assets back before Restore.
	Assets []any

	at, asset int // next to be read
	reading   bool
	err       error
}

// Reset empties the buffer, to be written.
func (s *State) Reset() { *s = State{Data: s.Data[:0], Assets: s.Assets[:0]} }

// Rewind makes the buffer be read from the beginning.
func (s *State) Rewind() { s.at, s.asset, s.reading, s.err = 0, 0, true, nil }

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

// Value writes or reads a value. T is a number, or an array or struct of numbers; a struct
// has no padding.
func Value[T any](s *State, v *T) { Values(s, unsafe.Slice(v, 1)) }

// Values writes or reads the values of a slice; see Value.
func Values[T any](s *State, v []T) {
	if len(v) == 0 {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
	switch {
	case !s.reading:
		s.Data = append(s.Data, b...)
	case s.err != nil:
		clear(v)
	case len(s.Data)-s.at < len(b):
		s.err = errors.New("the state ends early")
		clear(v)
	default:
		s.at += copy(b, s.Data[s.at:])
	}
}

// Asset writes or reads a pointer to something that agents share; it may be nil.
func Asset[T any](s *State, v **T) {
	if !s.reading {
		s.Assets = append(s.Assets, *v)
		return
	}
	*v = nil
	if s.err != nil {
		return
	}
	if s.asset == len(s.Assets) {
		s.err = errors.New("the state lacks assets")
		return
	}
	a, ok := s.Assets[s.asset].(*T)
	if s.asset++; !ok {
		s.err = fmt.Errorf("an asset of the state is a %T, want a %T", s.Assets[s.asset-1], *v)
		return
	}
	*v = a
}

// Bool writes or reads a bool, as a byte.
func (s *State) Bool(v *bool) {
	b := (*byte)(unsafe.Pointer(v))
	Value(s, b)
	if *b > 1 {
		*b = 1
	}
}
