// Package statehash sums up a world's state in 64 bits: two runs of the same program
// that are the same to the bit have the same sums, on any machine. It tells accidents
// apart, not forgeries.
package statehash

import (
	"math"
	"math/bits"

	"mannequin/engine/m3"
)

// Hash is a sum of what has been added to it, in that order. It begins as New.
type Hash uint64

// New is the sum of nothing.
const New Hash = 0x9e3779b97f4a7c15

// Uint returns the sum with v added.
func (h Hash) Uint(v uint64) Hash {
	// Both halves of the product: each bit reaches others above it and below it, the
	// signs of floats too, which are the highest.
	hi, lo := bits.Mul64(uint64(h)^v, 0xd6e8feb86659fd93)
	return Hash(hi ^ lo)
}

// Int returns the sum with v added.
func (h Hash) Int(v int) Hash { return h.Uint(uint64(v)) }

// Bool returns the sum with v added.
func (h Hash) Bool(v bool) Hash {
	if v {
		return h.Uint(1)
	}
	return h.Uint(0)
}

// Floats returns the sum with the bits of v added: −0 is not 0.
func (h Hash) Floats(v ...float32) Hash {
	for _, f := range v {
		h = h.Uint(uint64(math.Float32bits(f)))
	}
	return h
}

// Xforms returns the sum with the bits of x added.
func (h Hash) Xforms(x []m3.Xform) Hash {
	for i := range x {
		p, q := &x[i].Pos, &x[i].Rot
		h = h.Uint(pair(p.X, p.Y)).Uint(pair(p.Z, q.X)).Uint(pair(q.Y, q.Z)).Uint(uint64(math.Float32bits(q.W)))
	}
	return h
}

func pair(a, b float32) uint64 {
	return uint64(math.Float32bits(a)) | uint64(math.Float32bits(b))<<32
}
