//go:build cuda

package cuda

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
//
// // What we use of cuBLAS, the GPU vendor's library: the peer of our products.
// typedef int (*create_function)(void **handle);
// typedef int (*destroy_function)(void *handle);
// typedef int (*stream_function)(void *handle, void *stream);
// typedef int (*product_function)(void *handle, int transa, int transb, int m, int n, int k, const void *alpha,
// 	const void *a, int typea, int lda, const void *b, int typeb, int ldb, const void *beta, void *c, int typec, int ldc,
// 	int compute, int algorithm);
//
// static struct {
// 	void *so;
// 	create_function create;
// 	destroy_function destroy;
// 	stream_function stream;
// 	product_function product;
// } blas;
//
// static int blas_open(const char *name) {
// 	if (!(blas.so = dlopen(name, RTLD_NOW | RTLD_LOCAL))) return 0;
// 	blas.create = (create_function)dlsym(blas.so, "cublasCreate_v2");
// 	blas.destroy = (destroy_function)dlsym(blas.so, "cublasDestroy_v2");
// 	blas.stream = (stream_function)dlsym(blas.so, "cublasSetStream_v2");
// 	blas.product = (product_function)dlsym(blas.so, "cublasGemmEx");
// 	return blas.create && blas.destroy && blas.stream && blas.product;
// }
// static int blas_create(void **handle) { return blas.create(handle); }
// static int blas_destroy(void *handle) { return blas.destroy(handle); }
// static int blas_square(void *handle, void *stream, int n, unsigned long long memory, int in, int out, int compute) {
// 	const float one = 1, zero = 0;
// 	const unsigned long long bytes = 4ull * n * n;
// 	const int rc = blas.stream(handle, stream);
// 	// The left side is transposed: both sides have the inner dimension together,
// 	// as ours do.
// 	return rc ? rc : blas.product(handle, 1, 0, n, n, n, &one, (void *)memory, in, n, (void *)(memory + bytes), in, n, &zero,
// 		(void *)(memory + 2 * bytes), out, n, compute, -1);
// }
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"gorgonia.org/cu"
)

// cuBLAS is a handle of the vendor's library.
type cuBLAS struct{ handle unsafe.Pointer }

// openBLAS opens the library that CUBLAS_LIB names, or one of the known versions, for the current
// context.
func openBLAS() (*cuBLAS, error) {
	names := []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}
	if lib := os.Getenv("CUBLAS_LIB"); lib != "" {
		names = []string{lib}
	}
	for _, name := range names {
		c := C.CString(name)
		ok := C.blas_open(c)
		C.free(unsafe.Pointer(c))
		if ok == 0 {
			continue
		}
		b := &cuBLAS{}
		if rc := C.blas_create(&b.handle); rc != 0 {
			return nil, fmt.Errorf("cuda: %s: error %d", name, rc)
		}
		return b, nil
	}
	return nil, errors.New("cuda: there is no cuBLAS")
}

func (b *cuBLAS) close() { C.blas_destroy(b.handle) }

// square submits a product of n by n matrices that follow each other in memory, each in 4·n·n
// bytes.
func (b *cuBLAS) square(p Precision, n int, memory cu.DevicePtr, stream cu.Stream) error {
	const (
		realFloat, realBF16           = 0, 14  // cudaDataType
		computeFloat, computeFastTF32 = 68, 77 // cublasComputeType_t
	)
	in, out, compute := realFloat, realFloat, computeFloat
	switch p {
	case TF32:
		compute = computeFastTF32
	case BF16:
		in, out = realBF16, realBF16
	}
	if rc := C.blas_square(b.handle, unsafe.Pointer(stream.C()), C.int(n), C.ulonglong(memory), C.int(in), C.int(out), C.int(compute)); rc != 0 {
		return fmt.Errorf("cuda: cuBLAS: error %d", rc)
	}
	return nil
}
