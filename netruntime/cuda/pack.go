//go:build cuda

package cuda

// #cgo CFLAGS: -I${SRCDIR}/kernels
// #include "ops.h"
import "C"

import (
	"encoding/binary"
	"math"
)

// form is the storage of a value: float32 for light operations and for the caller, or the operand
// of products in one of the types.
type form int

const (
	plain  form = C.NOTHING // the sink's type is then float32
	opFP32 form = C.FLOAT32
	opTF32 form = C.TF32
	opBF16 form = C.BF16
	forms       = 4
)

const (
	stepBytes   = C.STEP
	chunkBytes  = C.CHUNK
	tileColumns = 128 // of the widest tile
)

func (f form) bytes() int {
	if f == opBF16 {
		return 2
	}
	return 4
}

// row returns the distance from a row to the next. An operand's rows are whole chunks.
func (f form) row(channels int) int {
	if f == plain {
		return channels
	}
	return roundUp(channels, chunkBytes/f.bytes())
}

func roundUp[N int | int64](n, to N) N { return (n + to - 1) / to * to }

// put stores v in b.
func (f form) put(b []byte, v float32) {
	switch f {
	case opBF16:
		binary.LittleEndian.PutUint16(b, toBF16(v))
	case opTF32:
		binary.LittleEndian.PutUint32(b, toTF32(v))
	default:
		binary.LittleEndian.PutUint32(b, math.Float32bits(v))
	}
}

// toBF16 rounds to nearest, ties to even.
func toBF16(v float32) uint16 {
	u := math.Float32bits(v)
	if v != v {
		return uint16(u>>16) | 1<<6
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// toTF32 rounds to nearest, ties away from zero, as the GPU does.
func toTF32(v float32) uint32 {
	u := math.Float32bits(v)
	if v != v || math.IsInf(float64(v), 0) {
		return u
	}
	return (u + 1<<12) &^ (1<<13 - 1)
}

// constant is the offset of a constant in a plan's constants, or none.
type constant int64

const none constant = -1

// constants collects the data to upload.
type constants struct{ data []byte }

// reserve returns n bytes of zeros that are valid until the next call.
func (c *constants) reserve(n int) (constant, []byte) {
	at := roundUp(len(c.data), 256)
	c.data = append(c.data, make([]byte, at+n-len(c.data))...)
	return constant(at), c.data[at:]
}

// vector adds x, padded so that it can be read in fours.
func (c *constants) vector(x []float32) constant { return c.padded(x, roundUp(len(x), 4)) }

// padded adds x and zeros up to n values.
func (c *constants) padded(x []float32, n int) constant {
	at, b := c.reserve(4 * n)
	for i, v := range x {
		opFP32.put(b[4*i:], v)
	}
	return at
}

// integers adds a list.
func (c *constants) integers(x []int) constant {
	at, b := c.reserve(8 * len(x))
	for i, v := range x {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
	return at
}

// matrix is one part of a product's right side: taps of channels each, and columns.
type matrix struct {
	taps, channels, columns int
	at                      func(tap, channel, column int) float32
}

// k returns the columns of the left side, with its padding.
func (m matrix) k(f form) int { return m.taps * f.row(m.channels) }

// steps returns the number of the kernels' steps.
func (m matrix) steps(f form) int { return (m.k(f)*f.bytes() + stepBytes - 1) / stepBytes }

// matrices adds the parts in the kernels' layout: (steps of all parts, columns, depth of a step),
// with columns rounded up to whole tiles.
func (c *constants) matrices(f form, parts []matrix) constant {
	columns, depth, size := roundUp(parts[0].columns, tileColumns), stepBytes/f.bytes(), f.bytes()
	total := 0
	for _, p := range parts {
		total += p.steps(f)
	}
	at, b := c.reserve(total * columns * stepBytes)
	for _, p := range parts {
		row := f.row(p.channels)
		for tap := range p.taps {
			for ch := range p.channels {
				k := tap*row + ch
				to := b[(k/depth*columns*depth+k%depth)*size:]
				for col := range p.columns {
					f.put(to[col*stepBytes:], p.at(tap, ch, col))
				}
			}
		}
		b = b[p.steps(f)*columns*stepBytes:]
	}
	return at
}
