package turns

import "mannequin/netruntime"

// errand runs one function on a goroutine of its own, beside what its owner does
// meanwhile. Calls allocate nothing. All methods belong to one goroutine.
type errand struct {
	to    chan struct{}
	done  chan error
	under bool
}

func newErrand(f func() error) *errand {
	e := &errand{to: make(chan struct{}, 1), done: make(chan error, 1)}
	go func() {
		for range e.to {
			e.done <- netruntime.Aside(f)
		}
		close(e.done)
	}()
	return e
}

// begin has f run. The run before must have been waited for.
func (e *errand) begin() {
	e.under = true
	e.to <- struct{}{}
}

// wait returns what f does, once it has; where it does not run, nil at once.
func (e *errand) wait() error {
	if !e.under {
		return nil
	}
	e.under = false
	return netruntime.Await(e.done)
}

// close ends the goroutine, after what is under way.
func (e *errand) close() {
	close(e.to)
	for range e.done {
	}
}
