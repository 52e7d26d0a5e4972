package windows

import "mannequin/netruntime"

// worker runs one function on a goroutine of its own. Calls allocate nothing. All methods belong
// to one goroutine.
type worker struct {
	start chan struct{}
	done  chan error
	busy  bool
}

func newWorker(f func() error) *worker {
	w := &worker{start: make(chan struct{}, 1), done: make(chan error, 1)}
	go func() {
		for range w.start {
			w.done <- netruntime.Aside(f)
		}
		close(w.done)
	}()
	return w
}

// begin starts a run of f. The run before must have been waited for.
func (w *worker) begin() {
	w.busy = true
	w.start <- struct{}{}
}

// wait waits for the run and returns its error; it returns nil at once if f does not run.
func (w *worker) wait() error {
	if !w.busy {
		return nil
	}
	w.busy = false
	return netruntime.Await(w.done)
}

// close waits for the run and ends the goroutine.
func (w *worker) close() {
	_ = w.wait() // inside a callback of a browser, the loop below would be a deadlock; wait is not
	close(w.start)
	for range w.done {
	}
}
