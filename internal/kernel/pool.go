package kernel

import (
	"sync"
	"sync/atomic"
)

// Pool runs loops and matrix products on a fixed set of workers. Between
// calls the workers are parked. Calls from several goroutines take turns.
type Pool struct {
	kind    Kind
	workers int
	wake    chan struct{} // one token asks one parked helper to join
	done    chan struct{} // the last participant to leave a loop tells the caller

	mu   sync.Mutex // held for a whole call
	f    func(worker, i int)
	n    int64
	next atomic.Int64 // first index that no worker has claimed
	left atomic.Int32 // participants that have not finished

	job     gemmJob
	gemm    func(worker, i int) // bound once so that Gemm allocates nothing
	scratch []Scratch           // by worker
	closed  bool
}

// NewPool starts a pool of the given number of workers, the caller of Run
// being one of them; fewer than one means one. It uses the active kernels.
func NewPool(workers int) *Pool {
	p := &Pool{kind: active, workers: max(workers, 1), done: make(chan struct{}, 1)}
	p.gemm = p.gemmTask
	p.scratch = make([]Scratch, p.workers)
	p.wake = make(chan struct{}, p.workers) // a token per helper, never blocks
	for w := 1; w < p.workers; w++ {
		go p.help(w)
	}
	return p
}

// Workers returns the number of workers.
func (p *Pool) Workers() int { return p.workers }

// Kind returns the family of kernels that the pool uses.
func (p *Pool) Kind() Kind { return p.kind }

// Close ends the workers. The pool must not be used afterwards; closing twice
// is harmless.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		close(p.wake)
	}
}

// Run calls f once for every i in [0, n), on several workers at once; worker
// is in [0, Workers()) and is never in two calls at a time. It returns when
// all calls have. f must not call the pool again. Run itself allocates
// nothing.
func (p *Pool) Run(n int, f func(worker, i int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run(n, f)
}

// run is Run for a caller that holds the lock.
func (p *Pool) run(n int, f func(worker, i int)) {
	helpers := min(p.workers, n) - 1
	if helpers < 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	p.f, p.n = f, int64(n)
	p.next.Store(0)
	p.left.Store(int32(helpers) + 1)
	for range helpers {
		p.wake <- struct{}{}
	}
	p.work(0)
	// Helpers that the scheduler has not woken yet would find nothing to do:
	// take their tokens back instead of waiting for them.
	leave := int32(1)
	for range helpers {
		select {
		case <-p.wake:
			leave++
		default:
		}
	}
	if p.left.Add(-leave) != 0 {
		<-p.done
	}
	p.f = nil
}

func (p *Pool) help(worker int) {
	for range p.wake {
		p.work(worker)
		if p.left.Add(-1) == 0 {
			p.done <- struct{}{}
		}
	}
}

func (p *Pool) work(worker int) {
	for {
		i := p.next.Add(1) - 1
		if i >= p.n {
			return
		}
		p.f(worker, int(i))
	}
}
