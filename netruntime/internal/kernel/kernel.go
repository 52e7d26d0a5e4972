// Package kernel is the arithmetic of the networks: matrix products, activations and optimisers. It
// has assembly for AVX-512 and AVX2, WebAssembly vectors for browsers (simd128/simd128.c), and the
// same functions in plain Go. All is float32, except for products of packed matrices in bfloat16,
// on processors that multiply it.
//
// Results are reproducible. Each output element is one sum over k in order, in blocks of fixed
// size. So a row has the same bits alone or among a thousand others, at any position and for any
// number of workers. All families give the same bits in float32: a product and the sum it is added
// to are rounded once, and functions that use e^x are the same sequence of operations everywhere.
// The exception is SIMD128 in browsers without relaxed vectors: it rounds each product, and is named
// simd128-unfused.
//
// Slices that are too short for the given sizes are programmer errors and panic.
package kernel

import (
	"fmt"
	"slices"
)

//go:generate env GOFLAGS=-tags=noasm go run asm/gemm.go asm/isa.go -out gemm_amd64.s -stubs gemm_amd64.go -pkg kernel
//go:generate env GOFLAGS=-tags=noasm go run asm/elem.go asm/act.go asm/isa.go -out elem_amd64.s -stubs elem_amd64.go -pkg kernel
//go:generate env GOFLAGS=-tags=noasm go run asm/packed.go asm/isa.go -out packed_amd64.s -stubs packed_amd64.go -pkg kernel

// BlockK is the number of products that Gemm sums in a register before it adds the sum to the
// output.
const BlockK = 256

// Kind names a family of kernels.
type Kind uint8

// The families, slowest first.
const (
	Generic Kind = iota
	SIMD128      // WebAssembly vectors of four values, in a browser
	AVX2         // AVX2 and FMA
	AVX512       // AVX-512 F, BW, DQ and VL
)

var kindNames = [...]string{"generic", "simd128", "avx2", "avx512"}

// String returns the family's name.
func (k Kind) String() string {
	if k == SIMD128 && unfused {
		return "simd128-unfused"
	}
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kernel.Kind(%d)", uint8(k))
}

// unfused is true if SIMD128 rounds products before it adds them.
var unfused bool

// kinds are the families that this machine can run, slowest first.
var kinds = families()

// Best returns the fastest family that this machine runs.
func Best() Kind { return kinds[len(kinds)-1] }

// active is the family of new pools, packed matrices and elementwise functions.
var active = Best()

// Active returns the family in use: the best one, unless Force chose another.
func Active() Kind { return active }

// Kinds lists the families that this machine can run, slowest first.
func Kinds() []Kind { return slices.Clone(kinds) }

// Force makes k the active family until the returned function is called. It is for tests and
// benchmarks: nothing else may use the package at the same time. It panics if the machine cannot
// run k.
func Force(k Kind) (restore func()) {
	if !slices.Contains(kinds, k) {
		panic(fmt.Sprintf("kernel: this machine cannot run %v kernels", k))
	}
	old := active
	active = k
	return func() { active = old }
}

// tile returns the family's largest register tile: rows of A by columns of B.
func (k Kind) tile() (rows, cols int) {
	switch k {
	case AVX512:
		return 12, 32
	case AVX2:
		return 6, 16
	case SIMD128:
		return 4, 16
	}
	return 2, 4
}

// PanelCols returns the number of columns of a packed panel of B.
func (k Kind) PanelCols() int {
	_, n := k.tile()
	return n
}
