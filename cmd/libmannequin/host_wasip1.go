package main

import (
	"cmp"
	"slices"
	"unsafe"

	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
)

// address is a void* of the host's, and length a size_t: both are numbers, and an address leads into a block that the host has
// taken with mqAllocate. All others are errors, so that a wrong one neither ends the module nor touches what is Go's.
type (
	address = uint32
	length  = uint32
)

func number(a address) uintptr { return uintptr(a) }

// block is memory of the host's.
type block struct {
	start address
	words []uint64
}

// blocks are in the order of their addresses.
var blocks []block

// search returns the block in which an address is, or else where its block would be.
func search(a address) (at int, found bool) {
	return slices.BinarySearchFunc(blocks, a, func(b block, a address) int { return cmp.Compare(b.start, a) })
}

// mostMemory bounds a block. Where there is no memory, the module ends.
const mostMemory = 1 << 30

//go:wasmexport mqAllocate
func mqAllocate(size uint32) uint32 {
	if size > mostMemory {
		return 0
	}
	b := block{words: make([]uint64, max(1, (size+7)/8))}
	b.start = address(uintptr(unsafe.Pointer(&b.words[0])))
	at, _ := search(b.start)
	blocks = slices.Insert(blocks, at, b)
	return b.start
}

//go:wasmexport mqFree
func mqFree(memory uint32) {
	if at, found := search(memory); found {
		blocks = slices.Delete(blocks, at, at+1)
	}
}

// lead returns where an address leads, and how many bytes may be used there.
func lead(a address) (unsafe.Pointer, uint64) {
	at, found := search(a)
	if !found {
		at--
	}
	if at < 0 {
		return nil, 0
	}
	b := &blocks[at]
	off := a - b.start
	size := uint32(8 * len(b.words))
	if off >= size {
		return nil, 0
	}
	return unsafe.Add(unsafe.Pointer(&b.words[0]), off), uint64(size - off)
}

// badAddress is what a struct that is passed by an address panics with.
type badAddress uintptr

func (a badAddress) Error() string { return badMemory(uintptr(a)).Error() }

// Addr is for api.BadAddress.
func (a badAddress) Addr() uintptr { return uintptr(a) }

// v takes a struct that is passed by its address.
func v[T any](a address) T {
	var err error
	of := to(&err, "", ptr[T]{a})
	if err != nil {
		panic(badAddress(a))
	}
	return *of
}

func id(a address) api.ID   { return v[api.ID](a) }
func vec(a address) m3.Vec3 { return v[m3.Vec3](a) }

// put writes a struct that is returned.
func put[T any](result address, v T) {
	do(func() (err error) {
		if dst := to(&err, "the result", ptr[T]{result}); dst != nil {
			*dst = v
		}
		return err
	})
}

var lastError string

func setLastError(text string) { lastError = text }

func getLastError(text ptr[byte], capacity int32) int32 {
	if capacity > 0 {
		var err error
		if dst := memory(&err, "text", text.at, uint64(capacity)); dst != nil {
			dst[copy(dst[:len(dst)-1], lastError)] = 0
		}
	}
	return int32(len(lastError))
}

// The host's functions. ground and move are numbers that the host knows its callbacks by.

//go:wasmimport mannequin ground
func hostGround(ground uint32, query, hit unsafe.Pointer, context uint32)

//go:wasmimport mannequin move
func hostMove(move uint32, crowd, moves unsafe.Pointer, count int32, context uint32)

// asked is what the host is asked, and its answer. It is not on a stack, which may move while the host calls the module.
var asked struct {
	query groundQuery
	hit   groundHit
	crowd api.ID
}

// groundOf returns ground that a callback knows.
func groundOf(ground, context uint32) api.GroundFunc {
	if ground == 0 {
		return nil
	}
	return func(at m3.Vec3) (point, normal m3.Vec3) {
		asked.query, asked.hit = groundQuery{at}, groundHit{}
		hostGround(ground, unsafe.Pointer(&asked.query), unsafe.Pointer(&asked.hit), context)
		return asked.hit.position, asked.hit.normal
	}
}

// moveOf returns a callback that decides how far agents go.
func moveOf(move, context uint32) api.MoveFunc {
	if move == 0 {
		return nil
	}
	return func(crowd api.ID, moves []api.Move) {
		asked.crowd = crowd
		hostMove(move, unsafe.Pointer(&asked.crowd), unsafe.Pointer(unsafe.SliceData(moves)), int32(len(moves)), context)
	}
}
