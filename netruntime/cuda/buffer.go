//go:build cuda

package cuda

// #define _GNU_SOURCE
// #include <cuda.h>
// #include <string.h>
// #include <sys/mman.h>
//
// static void *map_pages(size_t bytes) {
// 	void *p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
// 	return p == MAP_FAILED ? 0 : p;
// }
//
// // replace_pages returns 0 if it was able to.
// static int replace_pages(void *p, size_t bytes) {
// 	void *q = map_pages(bytes);
// 	if (!q) return 1;
// 	memcpy(q, p, bytes);
// 	if (mremap(q, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, p) != MAP_FAILED) return 0;
// 	munmap(q, bytes);
// 	return 1;
// }
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// buffer is memory of the host on pages of its own that the GPU reads and writes directly.
type buffer []float32

// newBuffer returns n > 0 zeros.
func newBuffer(n int) (buffer, error) {
	p := C.map_pages(C.size_t(4 * n))
	if p == nil {
		return nil, fmt.Errorf("cuda: %d bytes of memory: %w", 4*n, cu.OutOfMemory)
	}
	switch rc := C.cuMemHostRegister(p, C.size_t(4*n), C.CU_MEMHOSTREGISTER_PORTABLE); rc {
	case C.CUDA_SUCCESS:
		return unsafe.Slice((*float32)(p), n), nil
	case C.CUDA_ERROR_OUT_OF_MEMORY:
		C.munmap(p, C.size_t(4*n))
		return nil, fmt.Errorf("cuda: %d bytes of pinned memory: %w", 4*n, cu.OutOfMemory)
	default: // it may be pinned yet, and is not given back
		return nil, fmt.Errorf("cuda: %d bytes of pinned memory: %w", 4*n, result(rc))
	}
}

// free gives the memory back, unless the GPU may still use it.
func (b buffer) free() {
	p := unsafe.Pointer(unsafe.SliceData(b))
	if C.cuMemHostUnregister(p) == C.CUDA_SUCCESS {
		C.munmap(p, C.size_t(4*len(b)))
	}
}

// holds reports whether x lies in b.
func (b buffer) holds(x []float32) bool {
	p, at := uintptr(unsafe.Pointer(unsafe.SliceData(x))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return p >= at && p+4*uintptr(len(x)) <= at+4*uintptr(len(b))
}

// detach replaces the memory's pages by others with the same content. A GPU that hangs has the old
// ones, which are pinned: what it writes later is not seen.
func (b buffer) detach() error {
	if C.replace_pages(unsafe.Pointer(unsafe.SliceData(b)), C.size_t(4*len(b))) != 0 {
		return fmt.Errorf("cuda: no memory for %d values", len(b))
	}
	return nil
}
