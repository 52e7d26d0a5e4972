// Package kernel is the arithmetic under the networks: matrix products,
// activations and the optimiser's update, in assembly for AVX-512 and AVX2 with
// a plain Go twin, and for browsers in WebAssembly's vectors (simd128/simd128.c). All is float32, but for products of packed matrices that may
// be rounded to bfloat16 where the processor multiplies those.
//
// Every result is reproducible: an output element is one sum over k in order,
// in blocks of fixed size, so that a row has the same bits alone or among a
// thousand others, at any position and for any number of workers. AVX-512 and
// AVX2 agree bit for bit; plain Go rounds each product and so differs in the
// last places, and SIMD128 agrees with it but for what has an e^x in it.
//
// Slices that are too short for the sizes given are programmer errors and
// panic.
package kernel

import (
	"fmt"
	"slices"
)

//go:generate env GOFLAGS=-tags=noasm go run asm/gemm.go -out gemm_amd64.s -stubs gemm_amd64.go -pkg kernel
//go:generate env GOFLAGS=-tags=noasm go run asm/elem.go asm/act.go asm/isa.go -out elem_amd64.s -stubs elem_amd64.go -pkg kernel
//go:generate env GOFLAGS=-tags=noasm go run asm/packed.go -out packed_amd64.s -stubs packed_amd64.go -pkg kernel

// BlockK is how many products Gemm sums in a register before the block's sum is
// added to the output.
const BlockK = 256

// Kind names a family of kernels.
type Kind uint8

// The families, slowest first.
const (
	Generic Kind = iota
	SIMD128      // WebAssembly's vectors of four, in a browser
	AVX2         // AVX2 and FMA
	AVX512       // AVX-512 F, BW, DQ and VL
)

// String returns the family's name as reports print it.
func (k Kind) String() string {
	switch k {
	case Generic:
		return "generic"
	case SIMD128:
		return "simd128"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return fmt.Sprintf("kernel.Kind(%d)", uint8(k))
}

// kinds are the families that this machine can run, slowest first.
var kinds = families()

// Best returns the fastest family that this machine runs.
func Best() Kind { return kinds[len(kinds)-1] }

// active is what new pools and the elementwise functions use.
var active = Best()

// Active returns the family in use: the best one, unless Force chose another.
func Active() Kind { return active }

// Kinds lists the families that this machine can run, slowest first.
func Kinds() []Kind { return slices.Clone(kinds) }

// Force makes k the active family until the returned function is called. It
// is for tests and benchmarks: nothing else may use the package meanwhile. It
// panics where the machine cannot run k.
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

// PanelCols returns how many columns of B a packed panel holds.
func (k Kind) PanelCols() int {
	_, n := k.tile()
	return n
}
