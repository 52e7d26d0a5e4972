//go:build simd128

package kernel

// The kernels of simd128/simd128.c, which the page links to the program.

// simdReady returns 0 if the page has linked no kernels, because the browser lacks the vectors. It
// returns 2 if they round products and sums once, and 1 if they round each.
//
//go:wasmimport simd128 ready
func simdReady() int32

//go:wasmimport simd128 tile
//go:noescape
func simdTile(rows, k int32, a *float32, rs, as int32, b *float32, bs int32, c *float32, ldc int32, w *float32, ws int32, first bool)

//go:wasmimport simd128 strip
//go:noescape
func simdStrip(rows, panels, tiles, k int32, a *float32, rs, hop int32, b *float32, ps int32, c *float32, cs int32, w *float32, ws int32, first bool)

//go:wasmimport simd128 expArray
//go:noescape
func simdExp(dst, x *float32, n int32)

//go:wasmimport simd128 eluArray
//go:noescape
func simdELU(dst, x *float32, n int32)

//go:wasmimport simd128 sigmoidArray
//go:noescape
func simdSigmoid(dst, x *float32, n int32)

//go:wasmimport simd128 tanhArray
//go:noescape
func simdTanh(dst, x *float32, n int32)

//go:wasmimport simd128 lstmCells
//go:noescape
func simdLSTMCells(h *float32, hs int32, c *float32, cs int32, gates *float32, gs int32, bias *float32, bs, rows int32)

//go:wasmimport simd128 axpy
//go:noescape
func simdAxpy(dst *float32, a float32, x *float32, n int32)

//go:wasmimport simd128 scale
//go:noescape
func simdScale(dst *float32, a float32, x *float32, n int32)

//go:wasmimport simd128 addArrays
//go:noescape
func simdAdd(dst, x, y *float32, n int32)

//go:wasmimport simd128 subArrays
//go:noescape
func simdSub(dst, x, y *float32, n int32)

//go:wasmimport simd128 mulArrays
//go:noescape
func simdMul(dst, x, y *float32, n int32)

//go:wasmimport simd128 mulAdd
//go:noescape
func simdMulAdd(dst, x, y *float32, n int32)

//go:wasmimport simd128 normalize
//go:noescape
func simdNormalize(dst, x, mean, inv *float32, n int32)

//go:wasmimport simd128 affine
//go:noescape
func simdAffine(dst, x, scale, shift *float32, n int32)

//go:wasmimport simd128 dot
//go:noescape
func simdDot(sums, x, y *float32, n int32)

//go:wasmimport simd128 distances16
//go:noescape
func simdDistances16(d, sums, x, q, turned *float32, plane, tall int32)
