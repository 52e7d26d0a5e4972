// Package statehash hashes a world's state to 64 bits. Two runs of the same program with the same
// bits have the same hash, on any machine. It detects accidents, not forgeries.
package statehash

import (
	"math"
	"math/bits"

	"mannequin/engine/m3"
)

// Hash is the hash of the values added to it, in order. It begins as New.
type Hash uint64

// New is the hash of nothing.
const New Hash = 0x9e3779b97f4a7c15

// Uint returns the hash with v added.
func (h Hash) Uint(v uint64) Hash {
	// Both halves of the product. So each bit affects bits above and below it. This includes the
	// signs of floats, which are the highest bits.
	hi, lo := bits.Mul64(uint64(h)^v, 0xd6e8feb86659fd93)
	return Hash(hi ^ lo)
}

// Int returns the hash with v added.
func (h Hash) Int(v int) Hash { return h.Uint(uint64(v)) }

// Bool returns the hash with v added.
func (h Hash) Bool(v bool) Hash {
	if v {
		return h.Uint(1)
	}
	return h.Uint(0)
}

// Floats returns the hash with the bits of v added: −0 is not 0.
func (h Hash) Floats(v ...float32) Hash {
	for _, f := range v {
		h = h.Uint(uint64(math.Float32bits(f)))
	}
	return h
}

// Xforms returns the hash with the bits of x added.
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
