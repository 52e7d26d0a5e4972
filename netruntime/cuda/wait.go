//go:build cuda

package cuda

// #include <cuda.h>
// #include <sched.h>
// #include <time.h>
//
// static double now(void) {
// 	struct timespec t;
// 	clock_gettime(CLOCK_MONOTONIC, &t);
// 	return t.tv_sec + 1e-9 * t.tv_nsec;
// }
//
// // wait_stream waits until a stream has no work, for at most a number of
// // seconds. Short waits spin, because a sleep ends 50 microseconds late.
// static CUresult wait_stream(CUstream stream, double limit) {
// 	const struct timespec nap = {0, 20000};
// 	const double begin = now();
// 	for (;;) {
// 		// The query comes after the clock: a process that was stopped in
// 		// between still learns that the work is done.
// 		const double waited = now() - begin;
// 		const CUresult rc = cuStreamQuery(stream);
// 		if (rc != CUDA_ERROR_NOT_READY || waited > limit) return rc;
// 		if (waited < 2e-3) sched_yield(); else nanosleep(&nap, 0);
// 	}
// }
import "C"

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"mannequin/netruntime/internal/reserve"
)

// startTimeout is the longest wait for the driver to compile the kernels.
const startTimeout = 2 * time.Minute

// maxQueued is the most launches that wait in a lane: about 1,000 fill the driver's queue, and the
// next launch waits for the GPU.
const maxQueued = 512

// wait waits for all work of a stream. The driver's own waits have no limit.
func wait(stream cu.Stream, limit time.Duration) error {
	switch rc := C.wait_stream(C.CUstream(unsafe.Pointer(stream.C())), C.double(limit.Seconds())); rc {
	case C.CUDA_SUCCESS:
		return nil
	case C.CUDA_ERROR_NOT_READY:
		return reserve.ErrHang(limit)
	default:
		return wrap(result(rc), "wait for the GPU")
	}
}

// result returns an error with the driver's text for a code.
func result(rc C.CUresult) error {
	var text *C.char
	if C.cuGetErrorString(rc, &text) != C.CUDA_SUCCESS {
		return fmt.Errorf("error %d", rc)
	}
	return fmt.Errorf("error %d, %s", rc, C.GoString(text))
}

// within runs f on a thread of its own, for calls that may wait for the GPU and have no limit.
func within(limit time.Duration, f func() error) error {
	return reserve.Within(limit, func() error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return f()
	})
}
