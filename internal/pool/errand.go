package pool

// Errand runs one function on a goroutine of its own, beside what its owner does
// meanwhile. Calls allocate nothing. All methods belong to one goroutine.
type Errand struct {
	begin chan struct{}
	done  chan error
	under bool
}

// NewErrand returns an errand that runs f.
func NewErrand(f func() error) *Errand {
	e := &Errand{begin: make(chan struct{}, 1), done: make(chan error, 1)}
	go func() {
		for range e.begin {
			e.done <- f()
		}
		close(e.done)
	}()
	return e
}

// Begin has f run. The run before must have been waited for.
func (e *Errand) Begin() {
	if e.under {
		panic("pool: an errand is begun while it is under way")
	}
	e.under = true
	e.begin <- struct{}{}
}

// Wait returns what f does, once it has; where it does not run, nil at once.
func (e *Errand) Wait() error {
	if !e.under {
		return nil
	}
	e.under = false
	return <-e.done
}

// Close ends the goroutine, after what is under way. Closing twice is harmless.
func (e *Errand) Close() {
	if e.begin == nil {
		return
	}
	close(e.begin)
	for range e.done {
	}
	e.begin, e.under = nil, false
}
