//go:build mpi

package mpi

// #cgo pkg-config: ompi-c
// #include <mpi.h>
//
// static int begin(int *given, int *rank, int *count) {
// 	int err = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, given);
// 	if (!err) err = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
// 	if (!err) err = MPI_Comm_rank(MPI_COMM_WORLD, rank);
// 	if (!err) err = MPI_Comm_size(MPI_COMM_WORLD, count);
// 	return err;
// }
//
// static int send(void *b, int n, int to, int tag, MPI_Request *r) {
// 	return MPI_Isend(b, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, r);
// }
//
// static int receive(void *b, int n, int from, int tag, MPI_Request *r) {
// 	return MPI_Irecv(b, n, MPI_BYTE, from, tag, MPI_COMM_WORLD, r);
// }
//
// static int received(MPI_Status *s) {
// 	int n = -1;
// 	MPI_Get_count(s, MPI_BYTE, &n);
// 	return n;
// }
//
// static int share(void *b, int n) { return MPI_Bcast(b, n, MPI_BYTE, 0, MPI_COMM_WORLD); }
//
// // allot gives each process of this machine n bytes, which all of them see: at[k] is that of rank k, or NULL on another
// // machine or where there is no room.
// static int allot(MPI_Aint n, int count, void **at) {
// 	MPI_Comm machine;
// 	MPI_Group all, here;
// 	MPI_Win window;
// 	void *own;
// 	int room, rooms;
// 	int err = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
// 	if (err) return err;
// 	room = !MPI_Win_allocate_shared(n, 1, MPI_INFO_NULL, machine, &own, &window);
// 	err = MPI_Allreduce(&room, &rooms, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
// 	if (err || !rooms) return err;
// 	err = MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
// 	if (!err) err = MPI_Comm_group(MPI_COMM_WORLD, &all);
// 	if (!err) err = MPI_Comm_group(machine, &here);
// 	for (int k = 0; k < count && !err; k++) {
// 		MPI_Aint size;
// 		int unit, local;
// 		err = MPI_Group_translate_ranks(all, 1, &k, here, &local);
// 		if (!err && local != MPI_UNDEFINED) err = MPI_Win_shared_query(window, local, &size, &unit, &at[k]);
// 	}
// 	return err;
// }
//
// static void giveUp(int code) { MPI_Abort(MPI_COMM_WORLD, code); }
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// World is all processes of a run. Several goroutines may call Send, and one at a time the other methods.
type World struct {
	rank, count int
	calls       chan func() // for the thread of MPI
	done        chan struct{}
	result      error
	close       func() error

	// Of MPI's thread:
	messages []message // that have begun
	requests []C.MPI_Request
	sends    bool // some of them are this process's own
	statuses []C.MPI_Status
	pins     runtime.Pinner
	broken   error // the first error of a message
}

// message is one that this process sends or receives.
type message struct {
	bytes int
	from  int // -1: it is sent
}

// The time between looks at messages while the process computes. Open MPI moves large messages only when it is called.
// A process that has sent nothing yet looks less often: most of its step is still to come, and that of the others, too.
const (
	pollTime = 200 * time.Microsecond
	waitTime = time.Millisecond
)

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
	w := &World{calls: make(chan func(), 256), done: make(chan struct{})}
	w.close = sync.OnceValue(func() error {
		err := w.do(func() error { return failed("MPI_Finalize", C.MPI_Finalize()) })
		close(w.calls)
		return err
	})
	go w.serve()
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

// serve makes the calls of MPI, and looks at messages in between.
func (w *World) serve() {
	runtime.LockOSThread() // MPI wants all calls from the thread that has started it
	for call := range w.calls {
		call()
		for len(w.messages) > 0 {
			select {
			case call, ok := <-w.calls:
				if !ok {
					return
				}
				call()
			case <-time.After(w.pause()):
				w.poll()
			}
		}
	}
}

func (w *World) pause() time.Duration {
	if w.sends {
		return pollTime
	}
	return waitTime
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

// Send begins to send b to a rank.
func (w *World) Send(to, tag int, b []byte) {
	w.calls <- func() {
		w.begin(message{len(b), -1}, b, "MPI_Isend", func(at unsafe.Pointer, r *C.MPI_Request) C.int {
			return C.send(at, C.int(len(b)), C.int(to), C.int(tag), r)
		})
	}
}

// Receive begins to fill b with what a rank sends here with the same tag.
func (w *World) Receive(from, tag int, b []byte) {
	w.calls <- func() {
		w.begin(message{len(b), from}, b, "MPI_Irecv", func(at unsafe.Pointer, r *C.MPI_Request) C.int {
			return C.receive(at, C.int(len(b)), C.int(from), C.int(tag), r)
		})
	}
}

// begin begins a message.
func (w *World) begin(m message, b []byte, name string, call func(at unsafe.Pointer, r *C.MPI_Request) C.int) {
	if w.broken != nil {
		return
	}
	if len(b) > math.MaxInt32 {
		w.broken = fmt.Errorf("mpi: %d bytes in a message, at most %d", len(b), math.MaxInt32)
		return
	}
	at := unsafe.Pointer(unsafe.SliceData(b))
	if len(b) > 0 {
		w.pins.Pin(at)
	}
	var r C.MPI_Request
	if w.broken = failed(name, call(at, &r)); w.broken == nil {
		w.messages, w.requests = append(w.messages, m), append(w.requests, r)
		w.sends = w.sends || m.from < 0
	}
}

// poll looks whether all messages are done.
func (w *World) poll() {
	var done C.int
	err := failed("MPI_Testall", C.MPI_Testall(w.waiting(), &w.requests[0], &done, &w.statuses[0]))
	if err != nil || done != 0 {
		w.end(err)
	}
}

// waiting returns the number of messages, and makes room for their statuses.
func (w *World) waiting() C.int {
	w.statuses = slices.Grow(w.statuses[:0], len(w.requests))[:len(w.requests)]
	return C.int(len(w.requests))
}

// end ends all messages.
func (w *World) end(err error) {
	for i, m := range w.messages {
		if got := C.received(&w.statuses[i]); err == nil && m.from >= 0 && int(got) != m.bytes {
			err = fmt.Errorf("mpi: rank %d sends %d bytes to rank %d, which wants %d: the ranks do not run the same command", m.from, got, w.rank, m.bytes)
		}
	}
	w.broken = cmp.Or(w.broken, err)
	w.messages, w.requests, w.sends = w.messages[:0], w.requests[:0], false
	w.pins.Unpin()
}

// Wait returns when all messages that have begun are done.
func (w *World) Wait() error {
	return w.do(func() error {
		if w.broken == nil && len(w.requests) > 0 {
			w.end(failed("MPI_Waitall", C.MPI_Waitall(w.waiting(), &w.requests[0], &w.statuses[0])))
		}
		return w.broken
	})
}

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

// Memory returns n values for each process of this machine, this one included, which all of them read and write, and nil for
// the others; and only this one's where the machine has no room for shared memory. It stays until the process ends.
func (w *World) Memory(n int) ([][]float32, error) {
	at, out := make([]unsafe.Pointer, w.count), make([][]float32, w.count)
	err := w.do(func() error {
		return failed("MPI_Win_allocate_shared", C.allot(C.MPI_Aint(n*int(unsafe.Sizeof(float32(0)))), C.int(w.count), &at[0]))
	})
	for k, p := range at {
		if p != nil {
			out[k] = unsafe.Slice((*float32)(p), n)
		}
	}
	if out[w.rank] == nil {
		out[w.rank] = make([]float32, n)
	}
	return out, err
}
