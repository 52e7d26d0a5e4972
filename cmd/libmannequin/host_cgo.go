package main

/*
#define MQ_NO_PROTOTYPES
#include "mannequin.h"
#include "glue.h"
*/
import "C"

import (
	"math"
	"unsafe"

	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
)

// address is a void* of the host's, and length a size_t.
type (
	address = unsafe.Pointer
	length  = uintptr
)

func number(a address) uintptr { return uintptr(a) }

// lead returns where an address leads, and how many bytes may be used there: the processor checks that.
func lead(a address) (unsafe.Pointer, uint64) { return a, math.MaxUint64 - uint64(uintptr(a)) }

// Structs of C's and of Go's with the same fields: layout_test.go compares them.

// p takes a pointer from C.
func p[T, C any](v *C) ptr[T] { return ptr[T]{unsafe.Pointer(v)} }

// v takes a value from C.
func v[T, C any](of C) T { return *(*T)(unsafe.Pointer(&of)) }

func id[C any](of C) api.ID        { return v[api.ID](of) }
func vec(of C.mqVec3) m3.Vec3      { return v[m3.Vec3](of) }
func ids[C any](of *C) ptr[api.ID] { return p[api.ID](of) }

// setLastError stores the text for the thread.
func setLastError(text string) {
	C.mqSetLastError((*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
}

// groundOf returns ground that a callback knows.
func groundOf(ground *C.mqGroundFcn, context C.uintptr_t) api.GroundFunc {
	if ground == nil {
		return nil
	}
	return func(at m3.Vec3) (point, normal m3.Vec3) {
		hit := v[groundHit](C.mqCallGround(ground, v[C.mqGroundQuery](groundQuery{at}), context))
		return hit.position, hit.normal
	}
}

// moveOf returns a callback that decides how far agents go.
func moveOf(move *C.mqMoveFcn, context C.uintptr_t) api.MoveFunc {
	if move == nil {
		return nil
	}
	return func(crowd api.ID, moves []api.Move) {
		C.mqCallMove(move, v[C.mqCrowdId](crowd), (*C.mqMove)(unsafe.Pointer(unsafe.SliceData(moves))), C.int32_t(len(moves)), context)
	}
}
