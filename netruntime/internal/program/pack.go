package program

import (
	"encoding/binary"
	"math"
)

// Form is the storage of a value: float32 for light operations and for the caller, or the operand
// of products in one of the types.
type Form int

// The forms.
const (
	Plain Form = iota
	FP32
	TF32
	BF16
	Forms = 4
)

// A product's right side is in steps of its inner dimension, and operands' rows are whole chunks.
const (
	StepBytes   = 64 // of operands' forms
	ChunkBytes  = 16
	TileColumns = 128 // the right side's columns are a multiple of these
)

// Bytes returns the size of an element.
func (f Form) Bytes() int {
	if f == BF16 {
		return 2
	}
	return 4
}

// Row returns the distance from a row to the next. An operand's rows are whole chunks.
func (f Form) Row(channels int) int {
	if f == Plain {
		return channels
	}
	return RoundUp(channels, ChunkBytes/f.Bytes())
}

// RoundUp returns the least multiple of to that is not below n.
func RoundUp[N int | int64](n, to N) N { return (n + to - 1) / to * to }

// step returns the bytes of a product's step: one element of Plain, so that neighbouring columns of a
// row of the right side are neighbours.
func (f Form) step() int {
	if f == Plain {
		return f.Bytes()
	}
	return StepBytes
}

// put stores v in b.
func (f Form) put(b []byte, v float32) {
	switch f {
	case BF16:
		binary.LittleEndian.PutUint16(b, toBF16(v))
	case TF32:
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

// Constant is the offset of a constant in a program's constants, or None.
type Constant int64

// None is no constant.
const None Constant = -1

// Constants is the data to upload.
type Constants struct{ Data []byte }

// reserve returns n bytes of zeros that are valid until the next call.
func (c *Constants) reserve(n int) (Constant, []byte) {
	at := RoundUp(len(c.Data), 256)
	c.Data = append(c.Data, make([]byte, at+n-len(c.Data))...)
	return Constant(at), c.Data[at:]
}

// vector adds x, padded so that it can be read in fours.
func (c *Constants) vector(x []float32) Constant { return c.padded(x, RoundUp(len(x), 4)) }

// padded adds x and zeros up to n values.
func (c *Constants) padded(x []float32, n int) Constant {
	at, b := c.reserve(4 * n)
	for i, v := range x {
		FP32.put(b[4*i:], v)
	}
	return at
}

// integers adds a list.
func (c *Constants) integers(x []int) Constant {
	at, b := c.reserve(8 * len(x))
	for i, v := range x {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
	return at
}

// Matrix is one part of a product's right side: taps of channels each, and columns.
type Matrix struct {
	Taps, Channels int
	columns        int
	at             func(tap, channel, column int) float32
}

// K returns the columns of the left side, with its padding.
func (m Matrix) K(f Form) int { return m.Taps * f.Row(m.Channels) }

// Steps returns the number of the kernels' steps.
func (m Matrix) Steps(f Form) int { return (m.K(f)*f.Bytes() + f.step() - 1) / f.step() }

// matrices adds the parts in the kernels' layout: (steps of all parts, columns, depth of a step),
// with columns rounded up to whole tiles.
func (c *Constants) matrices(f Form, parts []Matrix) Constant {
	columns, depth, size := RoundUp(parts[0].columns, TileColumns), f.step()/f.Bytes(), f.Bytes()
	total := 0
	for _, p := range parts {
		total += p.Steps(f)
	}
	at, b := c.reserve(total * columns * f.step())
	for _, p := range parts {
		row := f.Row(p.Channels)
		for tap := range p.Taps {
			for ch := range p.Channels {
				k := tap*row + ch
				to := b[(k/depth*columns*depth+k%depth)*size:]
				for col := range p.columns {
					f.put(to[col*f.step():], p.at(tap, ch, col))
				}
			}
		}
		b = b[p.Steps(f)*columns*f.step():]
	}
	return at
}

// Pairs says which right sides of heavy products of Plain have 16 bits, in half the memory.
type Pairs int

// The choices.
const (
	Never  Pairs = iota
	Exact        // those whose values all are bfloat16, as in files that have it
	Always       // all of them, rounded to bfloat16
	Half         // all of them, rounded to float16
)

// Words says what the words of a product's right side are.
type Words int

// The words.
const (
	Singles Words = iota
	Brains        // two bfloat16, as Constants.pair writes them
	Halves        // two float16, likewise
)

const pairBytes = 2

// pair adds the parts, two numbers of put's to a word of 32 bits: (rows of all parts, columns / 64, 2, 16) words, of columns c and c + 16.
func (c *Constants) pair(parts []Matrix, put func(float32) uint16) Constant {
	columns, total := RoundUp(parts[0].columns, TileColumns), 0
	for _, p := range parts {
		total += p.K(Plain)
	}
	at, b := c.reserve(total * columns * pairBytes)
	for _, p := range parts {
		for k := range p.K(Plain) {
			for col := range p.columns {
				word := col/64*32 + col/32%2*16 + col%16
				binary.LittleEndian.PutUint16(b[4*word+col/16%2*pairBytes:], put(p.at(k/p.Channels, k%p.Channels, col)))
			}
			b = b[columns*pairBytes:]
		}
	}
	return at
}

// halfScale returns the power of two by which values up to most are divided so that they are at most 16. Then sums of eight products with values
// up to 500 are below 65,504, the largest float16, and all but the smallest keep 11 bits. It is 0 for what is not finite.
func halfScale(most float32) float32 {
	if !(most <= math.MaxFloat32) {
		return 0
	}
	_, e := math.Frexp(float64(most)) // most is below 2ᵉ
	return float32(math.Ldexp(1, max(-120, e)-4))
}

// toHalf rounds a value up to 65,504 to float16, to nearest, ties to even.
func toHalf(v float32) uint16 {
	sign := uint16(math.Float32bits(v) >> 16 & 0x8000)
	x := math.Abs(float64(v))
	if x == 0 {
		return sign
	}
	_, e := math.Frexp(x)
	unit := max(e-11, -24) // the exponent of the last of 11 bits
	n := uint16(math.RoundToEven(math.Ldexp(x, -unit)))
	// n has its leading bit at 2¹⁰, at 2¹¹ if it was rounded up to a power of two, or below for the least numbers.
	return sign | uint16(unit+24)<<10 + n
}
