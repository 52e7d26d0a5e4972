// Package api is the library without C: models, clips, worlds, crowds and agents by id, in the host's axes and
// units. Package main of libmannequin takes C's pointers and definitions for it. ID, Space, Goal, Obstacle, Move, Root, Event and Layout
// have the fields of the structs of mannequin.h, in their order.
//
// Ids may be used on any goroutine. A world is for one goroutine at a time: calls for one that is in use
// return [Busy].
package api

import (
	"errors"
	"fmt"
	"sync"

	"mannequin/ecs"
)

// Code says why a call failed; see mannequin.h.
type Code int32

// The codes of mqResult.
const (
	OK Code = iota
	Null
	Argument
	BadID
	Size
	Busy
	Full
	File
	Refused
	Internal
)

// Error is an error with its code.
type Error struct {
	Code Code
	Err  error
}

// Error returns the text.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without its code.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error with a code.
func Errorf(c Code, format string, args ...any) error { return &Error{c, fmt.Errorf(format, args...)} }

// CodeOf returns the code of an error. An error of the runtime, which has no code, counts as Refused.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	var own *Error // on the heap
	switch {
	case errors.As(err, &own):
		return own.Code
	case errors.Is(err, ecs.ErrBusy):
		return Busy
	}
	return Refused
}

// coded gives an error without a code one.
func coded(c Code, err error) error {
	if err == nil || CodeOf(err) != Refused {
		return err
	}
	return &Error{c, err}
}

// ID names an object of some kind. The zero ID names none.
type ID struct{ Index1, Generation uint32 }

// table holds the objects of one kind. The four highest bits of a generation are the kind, so that the id of an object
// of another kind is not taken for one of this.
type table[T any] struct {
	what  string
	kind  uint32
	mutex sync.RWMutex
	slots []slot[T]
	free  []uint32
}

type slot[T any] struct {
	value      *T // nil if the slot is free
	generation uint32
}

const (
	generationBits = 28
	lastGeneration = 1<<generationBits - 1
	mostObjects    = 1 << 22 // of a kind
)

var (
	models = table[Model]{what: "model", kind: 1}
	clips  = table[Clip]{what: "clip", kind: 2}
	worlds = table[World]{what: "world", kind: 3}
	crowds = table[Crowd]{what: "crowd", kind: 4}
	agents = table[Agent]{what: "agent", kind: 5}
)

// add gives an object an id.
func (t *table[T]) add(v *T) (ID, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if len(t.free) == 0 {
		if len(t.slots) == mostObjects {
			return ID{}, Errorf(Full, "there are %d %ss already", mostObjects, t.what)
		}
		t.slots = append(t.slots, slot[T]{generation: t.kind << generationBits})
		t.free = append(t.free, uint32(len(t.slots)-1))
	}
	i := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	s := &t.slots[i]
	s.value = v
	s.generation++
	return ID{i + 1, s.generation}, nil
}

// get returns the object of an id.
func (t *table[T]) get(id ID) (*T, error) {
	t.mutex.RLock()
	defer t.mutex.RUnlock()
	return t.find(id)
}

func (t *table[T]) find(id ID) (*T, error) {
	switch {
	case id == ID{}:
		return nil, Errorf(BadID, "the id of the %s is null", t.what)
	case id.Index1 == 0 || uint64(id.Index1) > uint64(len(t.slots)) || id.Generation>>generationBits != t.kind:
		return nil, Errorf(BadID, "the id (%d, %#x) is not of a %s", id.Index1, id.Generation, t.what)
	}
	s := &t.slots[id.Index1-1]
	if s.value == nil || s.generation != id.Generation {
		return nil, Errorf(BadID, "the %s of the id (%d, %#x) has been destroyed", t.what, id.Index1, id.Generation)
	}
	return s.value, nil
}

// remove forgets the object of an id, and returns it.
func (t *table[T]) remove(id ID) (*T, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	v, err := t.find(id)
	if err != nil {
		return nil, err
	}
	s := &t.slots[id.Index1-1]
	s.value = nil
	if s.generation&lastGeneration != lastGeneration { // no id is ever given twice
		t.free = append(t.free, id.Index1-1)
	}
	return v, nil
}
