// Libmannequin is the runtime as a C library, for engines and games in other languages: mannequin.h says what it does,
// docs/engines.md how to use it.
//
//	go build -buildmode=c-shared -o libmannequin.so ./cmd/libmannequin
//
// Package internal/api is what it does, this package only translates: it checks each pointer, copies what it is given, and makes
// codes of errors and panics.
package main

/*
#define MQ_NO_PROTOTYPES
#include "mannequin.h"
#include "glue.h"
*/
import "C"

import (
	"runtime/debug"
	"strings"
	"unsafe"

	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
)

func main() {}

// guard ends an exported function, which begins with defer guard(&r, faults()): a panic becomes an error. A pointer of the host's
// that leads nowhere is a panic, too.
func guard(r *C.mqResult, faults bool) {
	if p := recover(); p != nil {
		if at, ok := api.BadAddress(p); ok {
			*r = failed(api.Errorf(api.Argument, "the memory at %#x cannot be used: a pointer, a size or a stride is wrong", at))
		} else {
			*r = failed(api.Errorf(api.Internal, "mannequin: please report this: %v\n%s", p, debug.Stack()))
		}
	}
	debug.SetPanicOnFault(faults)
}

// faults makes bad addresses panic, and returns whether they did.
func faults() bool { return debug.SetPanicOnFault(true) }

// failed stores the text of an error for mqGetLastError, and returns its code.
func failed(err error) C.mqResult {
	code := api.CodeOf(err)
	if code == api.OK {
		return C.mq_ok
	}
	text := strings.ReplaceAll(err.Error(), "\x00", " ")
	C.mqSetLastError((*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
	return C.mqResult(code)
}

// firstPage is memory that no process has.
const firstPage = 4096

// null returns an error if a pointer is null or not aligned.
func null(what string, p unsafe.Pointer, align uintptr) error {
	switch {
	case uintptr(p) < firstPage:
		return api.Errorf(api.Null, "%s is null", what)
	case uintptr(p)%align != 0:
		return api.Errorf(api.Argument, "%s is not aligned to %d bytes", what, align)
	}
	return nil
}

// to returns an error if a pointer cannot be written through or read.
func to[T any](what string, p *T) error { return null(what, unsafe.Pointer(p), unsafe.Alignof(*p)) }

// optional is to for a pointer that may be null.
func optional[T any](what string, p *T) error {
	if p == nil {
		return nil
	}
	return to(what, p)
}

// cookie is what a definition of a type begins with: 'm', 'q' and its size.
func cookie[T any]() C.uint32_t {
	var v T
	return C.uint32_t(0x6d710000 | unsafe.Sizeof(v))
}

// def returns an error if a definition cannot be used. Its first field is its cookie.
func def[T any](what string, p *T) error {
	if err := to(what, p); err != nil {
		return err
	}
	if is := *(*C.uint32_t)(unsafe.Pointer(p)); is != cookie[T]() {
		return api.Errorf(api.Argument, "%s has the cookie %#x, want %#x: get one from its mqDefault function", what, uint32(is), uint32(cookie[T]()))
	}
	return nil
}

// list returns an error if n values of T, stride bytes apart, cannot be read or written. A stride of 0 becomes that of an array.
func list[T any](what string, p *T, n C.int32_t, stride *C.int32_t) error {
	size := C.int32_t(unsafe.Sizeof(*p))
	if n < 0 {
		return api.Errorf(api.Argument, "the number of %s is %d", what, n)
	}
	if *stride == 0 {
		*stride = size
	}
	if *stride < size || *stride%C.int32_t(unsafe.Alignof(*p)) != 0 {
		return api.Errorf(api.Argument, "the stride of %s is %d bytes: want a multiple of %d of at least %d", what, *stride, unsafe.Alignof(*p), size)
	}
	if n == 0 {
		return nil
	}
	return to(what, p)
}

// at returns the value i of a list.
func at[T any](p *T, i int, stride C.int32_t) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), i*int(stride)))
}

// mostBytes bounds what is read and written at once.
const mostBytes = 1 << 31

// memory returns the host's bytes.
func memory(what string, p unsafe.Pointer, size C.size_t) ([]byte, error) {
	switch {
	case size == 0:
		return nil, nil
	case uintptr(p) < firstPage:
		return nil, api.Errorf(api.Null, "%s is null", what)
	case size > mostBytes:
		return nil, api.Errorf(api.Argument, "%s has %d bytes: at most %d are allowed", what, uint64(size), uint64(mostBytes))
	}
	return unsafe.Slice((*byte)(p), int(size)), nil
}

// longest bounds the texts that are read, with the 0 at their end.
const longest = 1024

// str copies a text of the host's; a null one is empty.
func str(what string, p *C.char) (string, error) {
	if p == nil {
		return "", nil
	}
	if err := to(what, p); err != nil {
		return "", err
	}
	for n := range longest {
		if *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) == 0 {
			return string(unsafe.Slice((*byte)(unsafe.Pointer(p)), n)), nil
		}
	}
	return "", api.Errorf(api.Argument, "%s is longer than %d bytes, or does not end with a 0", what, longest-1)
}

// name writes a text with a 0, cut between runes if it is too long.
func name(dst *[C.MQ_NAME]C.char, s string) {
	*dst = [C.MQ_NAME]C.char{}
	for n, r := range s {
		if n+len(string(r)) >= len(dst) {
			break
		}
		for i := range len(string(r)) {
			dst[n+i] = C.char(s[n+i])
		}
	}
}

func vec(v C.mqVec3) m3.Vec3  { return m3.V(float32(v.x), float32(v.y), float32(v.z)) }
func cvec(v m3.Vec3) C.mqVec3 { return C.mqVec3{C.float(v.X), C.float(v.Y), C.float(v.Z)} }
func flag(b C.int32_t) bool   { return b != 0 }

func space(s C.mqSpace) api.Space {
	return api.Space{Right: int32(s.right), Up: int32(s.up), Forward: int32(s.forward), Units: float32(s.units)}
}

// version is that of the header.
var version = C.mqVersion{C.MQ_VERSION_MAJOR, C.MQ_VERSION_MINOR, C.MQ_VERSION_REVISION}

//export mqGetVersion
func mqGetVersion() C.mqVersion { return version }

//export mqGetSpace
func mqGetSpace(engine C.int32_t) C.mqSpace {
	switch engine {
	case C.mq_engineUnity:
		return C.mqSpace{C.mq_axisX, C.mq_axisY, C.mq_axisZ, 1}
	case C.mq_engineUnreal:
		return C.mqSpace{C.mq_axisY, C.mq_axisZ, C.mq_axisX, 100}
	case C.mq_engineGodot:
		return C.mqSpace{C.mq_axisX, C.mq_axisY, -C.mq_axisZ, 1}
	case C.mq_engineBlender:
		return C.mqSpace{C.mq_axisX, C.mq_axisZ, C.mq_axisY, 1}
	}
	return C.mqSpace{-C.mq_axisX, C.mq_axisY, C.mq_axisZ, 1}
}

// checked calls f, unless one of the errors is not nil, and returns the code.
func checked(f func() error, errs ...error) C.mqResult {
	for _, err := range errs {
		if err != nil {
			return failed(err)
		}
	}
	if err := f(); err != nil {
		return failed(err)
	}
	return C.mq_ok
}

// id takes an id from the host; all kinds of ids have the same fields.
func id[T C.mqModelId | C.mqClipId | C.mqWorldId | C.mqCrowdId | C.mqAgentId](v T) api.ID {
	return *(*api.ID)(unsafe.Pointer(&v))
}

// set writes an id.
func set[T C.mqModelId | C.mqClipId | C.mqWorldId | C.mqCrowdId | C.mqAgentId](dst *T, v api.ID) {
	*dst = *(*T)(unsafe.Pointer(&v))
}
