//go:build openblas

package openblas

/*
#cgo pkg-config: openblas
#include <cblas.h>
*/
import "C"

import "unsafe"

// Sgemm sets C = A·B for row-major A (m, k), B (k, n) and C (m, n), with rows of lda, ldb and ldc
// values. The slices must be long enough.
func Sgemm(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	C.cblas_sgemm(C.CblasRowMajor, C.CblasNoTrans, C.CblasNoTrans, C.blasint(m), C.blasint(n), C.blasint(k),
		1, (*C.float)(unsafe.SliceData(a)), C.blasint(lda), (*C.float)(unsafe.SliceData(b)), C.blasint(ldb),
		0, (*C.float)(unsafe.SliceData(c)), C.blasint(ldc))
}

// Core returns the processor whose kernels OpenBLAS has chosen.
func Core() string { return C.GoString(C.openblas_get_corename()) }
