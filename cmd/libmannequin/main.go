//go:build cgo || wasip1

// Libmannequin is the runtime as a C library, for engines and games in other languages, and as a WebAssembly module for JavaScript:
// mannequin.h says what it does, docs/engines.md how to use it.
//
//	go build -buildmode=c-shared -o libmannequin.so ./cmd/libmannequin
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -tags simd128 -o mannequin.wasm ./cmd/libmannequin
//
// Package internal/api is what it does, this package only translates: it checks each pointer, copies what it is given, and makes
// codes of errors and panics. The functions are listed twice, as C exports them (exports_cgo.go) and as WebAssembly does
// (exports_wasip1.go). host_cgo.go and host_wasip1.go are what a pointer of the host's is.
package main

import (
	"runtime/debug"
	"strings"
	"unicode/utf8"
	"unsafe"

	"mannequin/cmd/libmannequin/internal/api"
)

func main() {}

// do is the body of an exported function: it calls f and returns the code of its error. A panic is an error, too, and so is a
// pointer of the host's that leads nowhere.
func do(f func() error) (code int32) {
	defer guard(&code, debug.SetPanicOnFault(true))
	return failed(f())
}

// guard ends do. faults is what debug.SetPanicOnFault is set to again.
func guard(code *int32, faults bool) {
	if p := recover(); p != nil {
		if at, ok := api.BadAddress(p); ok {
			*code = failed(badMemory(at))
		} else {
			*code = failed(api.Errorf(api.Internal, "mannequin: please report this: %v\n%s", p, debug.Stack()))
		}
	}
	debug.SetPanicOnFault(faults)
}

func badMemory(at uintptr) error {
	return api.Errorf(api.Argument, "the memory at %#x cannot be used: a pointer, a size or a stride is wrong", at)
}

// failed stores the text of an error for mqGetLastError, and returns its code.
func failed(err error) int32 {
	code := api.CodeOf(err)
	if code != api.OK {
		setLastError(strings.ReplaceAll(err.Error(), "\x00", " "))
	}
	return int32(code)
}

// ptr is a pointer of the host's. The functions below follow it and store what is wrong with it in err, unless an error is there.
type ptr[T any] struct{ at address }

// firstPage is memory that no process has.
const firstPage = 4096

// follow checks a pointer of the host's to a number of bytes, and returns it as a pointer of Go's.
func follow(err *error, what string, a address, bytes, align uint64) unsafe.Pointer {
	if *err != nil {
		return nil
	}
	switch p, room := lead(a); {
	case number(a) < firstPage:
		*err = api.Errorf(api.Null, "%s is null", what)
	case uint64(number(a))&(align-1) != 0:
		*err = api.Errorf(api.Argument, "%s is not aligned to %d bytes", what, align)
	case room < bytes:
		*err = badMemory(number(a))
	default:
		return p
	}
	return nil
}

// to follows a pointer that is written through or read.
func to[T any](err *error, what string, p ptr[T]) *T {
	var v T
	return (*T)(follow(err, what, p.at, uint64(unsafe.Sizeof(v)), uint64(unsafe.Alignof(v))))
}

// optional is to for a pointer that may be null.
func optional[T any](err *error, what string, p ptr[T]) *T {
	if number(p.at) == 0 {
		return nil
	}
	return to(err, what, p)
}

// cookie is what a definition of a type begins with: 'm', 'q' and its size.
func cookie[T any]() uint32 {
	var v T
	return 0x6d710000 | uint32(unsafe.Sizeof(v))
}

// definition is to for a definition. Its first field is its cookie.
func definition[T any](err *error, what string, p ptr[T]) *T {
	d := to(err, what, p)
	if d != nil {
		if is := *(*uint32)(unsafe.Pointer(d)); is != cookie[T]() {
			*err = api.Errorf(api.Argument, "%s has the cookie %#x, want %#x: get one from its mqDefault function", what, is, cookie[T]())
		}
	}
	return d
}

// rows are values of the host's, some bytes apart.
type rows[T any] struct {
	first  *T
	stride int
}

func (r rows[T]) at(i int) *T { return (*T)(unsafe.Add(unsafe.Pointer(r.first), i*r.stride)) }

// list follows a pointer to n values of T, stride bytes apart; 0 is the stride of an array.
func list[T any](err *error, what string, p ptr[T], n, stride int32) rows[T] {
	var v T
	size, align := int32(unsafe.Sizeof(v)), int32(unsafe.Alignof(v))
	if stride == 0 {
		stride = size
	}
	r := rows[T]{stride: int(stride)}
	switch {
	case *err != nil:
	case n < 0:
		*err = api.Errorf(api.Argument, "the number of %s is %d", what, n)
	case stride < size || stride%align != 0:
		*err = api.Errorf(api.Argument, "the stride of %s is %d bytes: want a multiple of %d of at least %d", what, stride, align, size)
	case n > 0:
		r.first = (*T)(follow(err, what, p.at, uint64(n-1)*uint64(stride)+uint64(size), uint64(align)))
	}
	return r
}

// array is list for an array of at most most values.
func array[T any](err *error, what string, p ptr[T], n, most int32) []T {
	r := list(err, what, p, n, 0)
	if *err == nil && n > most {
		*err = api.Errorf(api.Argument, "%d %s: at most %d are allowed", n, what, most)
	}
	if *err != nil {
		return nil
	}
	return unsafe.Slice(r.first, n)
}

// mostBytes bounds what is read and written at once.
const mostBytes = 1 << 31

// memory returns the host's bytes.
func memory(err *error, what string, a address, bytes uint64) []byte {
	if *err == nil && bytes > mostBytes {
		*err = api.Errorf(api.Argument, "%s has %d bytes: at most %d are allowed", what, bytes, uint64(mostBytes))
	}
	if *err != nil || bytes == 0 {
		return nil
	}
	p := follow(err, what, a, bytes, 1)
	if p == nil {
		return nil
	}
	return unsafe.Slice((*byte)(p), bytes)
}

// longest bounds the texts that are read, with the 0 at their end.
const longest = 1024

// str copies a text of the host's; a null one is empty.
func str(err *error, what string, p ptr[byte]) string {
	first := optional(err, what, p)
	if first == nil {
		return ""
	}
	_, room := lead(p.at)
	all := unsafe.Slice(first, min(longest, room))
	for n, c := range all {
		if c == 0 {
			return string(all[:n])
		}
	}
	*err = api.Errorf(api.Argument, "%s is longer than %d bytes, or does not end with a 0", what, longest-1)
	return ""
}

// name is a text in a struct, with a 0 at its end.
type name [64]byte

// text returns the name of a text, which is cut between runes if it is too long.
func text(s string) (n name) {
	for len(s) >= len(n) {
		_, last := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-last]
	}
	copy(n[:], s)
	return n
}

func flag(b int32) bool { return b != 0 }

type version struct{ major, minor, revision int32 }

// current is the version of the header.
var current = version{1, 0, 0}

// spaceOf returns the space of an mq_engine constant.
func spaceOf(engine int32) api.Space {
	switch engine {
	case 1: // Unity
		return api.Space{Right: 1, Up: 2, Forward: 3, Units: 1}
	case 2: // Unreal
		return api.Space{Right: 2, Up: 3, Forward: 1, Units: 100}
	case 3: // Godot
		return api.Space{Right: 1, Up: 2, Forward: -3, Units: 1}
	case 4: // Blender
		return api.Space{Right: 1, Up: 3, Forward: 2, Units: 1}
	}
	return api.Own
}
