//go:build mpi

package mpi

// #cgo pkg-config: ompi-c
// #include <mpi.h>
//
//
// static int begin(int *given, int *rank, int *count) {
// 	int err = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, given);
// 	if (!err) err = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
// 	if (!err) err = MPI_Comm_rank(MPI_COMM_WORLD, rank);
// 	if (!err) err = MPI_Comm_size(MPI_COMM_WORLD, count);
// 	return err;
// }
//
// static int swap(float *send, int n, int to, float *receive, int m, int from, int *got) {
// 	MPI_Status status;
// 	int err = MPI_Sendrecv(send, n, MPI_FLOAT, to, 0, receive, m, MPI_FLOAT, from, 0, MPI_COMM_WORLD, &status);
// 	if (!err) err = MPI_Get_count(&status, MPI_FLOAT, got);
// 	return err;
// }
//
// static int share(void *b, int n) { return MPI_Bcast(b, n, MPI_BYTE, 0, MPI_COMM_WORLD); }
//
// static void giveUp(int code) { MPI_Abort(MPI_COMM_WORLD, code); }
import "C"

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// World is all processes of a run. One goroutine at a time may call it.
type World struct {
	rank, count int
	calls       chan func() // for the thread of MPI
	done        chan struct{}
	result      error
	close       func() error
}

// Started reports whether mpirun or srun has started this process as one of several, or as the only rank.
func Started() bool {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// Init starts MPI. A process may do it once.
func Init() (*World, error) {
	w := &World{calls: make(chan func()), done: make(chan struct{})}
	w.close = sync.OnceValue(func() error {
		err := w.do(func() error { return failed("MPI_Finalize", C.MPI_Finalize()) })
		close(w.calls)
		return err
	})
	go func() {
		runtime.LockOSThread() // MPI wants all calls from the thread that has started it
		for call := range w.calls {
			call()
		}
	}()
	err := w.do(func() error {
		var given, rank, count C.int
		if err := failed("MPI_Init_thread", C.begin(&given, &rank, &count)); err != nil {
			return err
		}
		w.rank, w.count = int(rank), int(count)
		if given < C.MPI_THREAD_FUNNELED {
			return errors.New("mpi: this Open MPI does not work in a program with threads")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// do runs a call on MPI's thread.
func (w *World) do(call func() error) error {
	w.calls <- func() {
		w.result = call()
		w.done <- struct{}{}
	}
	<-w.done
	return w.result
}

// failed returns the error of an MPI call by its code.
func failed(call string, code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	var text [C.MPI_MAX_ERROR_STRING]C.char
	var n C.int
	C.MPI_Error_string(code, &text[0], &n)
	return fmt.Errorf("mpi: %s: %s", call, C.GoStringN(&text[0], n))
}

// Close ends MPI. It waits until all processes call it.
func (w *World) Close() error { return w.close() }

// Abort ends all processes of the run at once, with an exit status.
func (w *World) Abort(status int) {
	w.do(func() error { C.giveUp(C.int(status)); return nil })
}

// Rank returns the number of this process, from 0.
func (w *World) Rank() int { return w.rank }

// Count returns the number of processes.
func (w *World) Count() int { return w.count }

// Exchange sends send[i] to rank i, and fills receive[i] with what rank i sends here. Both have an entry for each
// rank.
func (w *World) Exchange(send, receive [][]float32) error {
	if len(send) != w.count || len(receive) != w.count {
		return fmt.Errorf("mpi: %d slices to send and %d to receive, want one for each of %d ranks", len(send), len(receive), w.count)
	}
	for i := range send {
		if max(len(send[i]), len(receive[i])) > math.MaxInt32 {
			return fmt.Errorf("mpi: %d values in a message, at most %d", max(len(send[i]), len(receive[i])), math.MaxInt32)
		}
	}
	if len(send[w.rank]) != len(receive[w.rank]) {
		return fmt.Errorf("mpi: rank %d sends %d values to itself and wants %d", w.rank, len(send[w.rank]), len(receive[w.rank]))
	}
	copy(receive[w.rank], send[w.rank])
	return w.do(func() error {
		for k := 1; k < w.count; k++ { // in each round all send, and all receive
			to, from := (w.rank+k)%w.count, (w.rank-k+w.count)%w.count
			var got C.int
			if err := failed("MPI_Sendrecv", C.swap(start(send[to]), C.int(len(send[to])), C.int(to), start(receive[from]), C.int(len(receive[from])), C.int(from), &got)); err != nil {
				return err
			}
			if int(got) != len(receive[from]) {
				return fmt.Errorf("mpi: rank %d sends %d values to rank %d, which wants %d: the ranks do not run the same command", from, got, w.rank, len(receive[from]))
			}
		}
		return nil
	})
}

func start(s []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(s))) }

// Share returns rank 0's bytes on all ranks.
func (w *World) Share(b []byte) ([]byte, error) {
	if w.rank == 0 && len(b) > math.MaxInt32 {
		return nil, fmt.Errorf("mpi: %d bytes to share, at most %d", len(b), math.MaxInt32)
	}
	size := int64(len(b))
	err := w.do(func() error {
		if err := failed("MPI_Bcast", C.share(unsafe.Pointer(&size), C.int(unsafe.Sizeof(size)))); err != nil {
			return err
		}
		if w.rank != 0 {
			b = make([]byte, size)
		}
		if len(b) == 0 {
			return nil
		}
		return failed("MPI_Bcast", C.share(unsafe.Pointer(unsafe.SliceData(b)), C.int(len(b))))
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}
