// Package pool runs loops on a fixed set of workers that are parked between
// calls. It allocates nothing per call.
package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a fixed set of workers. Between calls they are parked. Calls from
// several goroutines take turns.
type Pool struct {
	workers int
	wake    chan struct{} // one token asks one parked helper to join
	done    chan struct{} // the last participant to leave a call tells the caller

	mu       sync.Mutex // held for a whole call
	one      func(worker, i int)
	steps    func(worker, step, i int) // where one is nil
	counts   []int                     // calls by step
	state    atomic.Uint64             // step<<32 | first index that nobody has claimed
	finished atomic.Int64              // calls of the current step that have returned
	left     atomic.Int32              // participants that have not left

	single [1]int // counts of a call with one step
	closed bool
}

// New starts a pool of the given number of workers, the caller of Run being one
// of them; fewer than one means one.
func New(workers int) *Pool {
	p := &Pool{workers: max(workers, 1), done: make(chan struct{}, 1)}
	p.wake = make(chan struct{}, p.workers) // a token per helper, never blocks
	for w := 1; w < p.workers; w++ {
		go p.help(w)
	}
	return p
}

// Workers returns the number of workers.
func (p *Pool) Workers() int { return p.workers }

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
	p.single[0] = n
	p.one, p.counts = f, p.single[:]
	p.start()
	p.one = nil
}

// Steps is a sequence of Runs: counts[0] calls f(worker, 0, i), then, when all
// have returned, counts[1] calls f(worker, 1, i), and so on. It wakes the
// workers once, which costs tens of microseconds.
func (p *Pool) Steps(counts []int, f func(worker, step, i int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps, p.counts = f, counts
	p.start()
	p.steps = nil
}

func (p *Pool) start() {
	widest := 0
	for _, n := range p.counts {
		widest = max(widest, n)
	}
	helpers := max(0, min(p.workers, widest)-1)
	p.finished.Store(0)
	p.open(0)
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
	p.counts = nil
}

// open lets the workers claim the calls of the first step from the given one
// on that has any.
func (p *Pool) open(step int) {
	for step < len(p.counts) && p.counts[step] <= 0 {
		step++
	}
	p.state.Store(uint64(step) << 32)
}

func (p *Pool) help(worker int) {
	for range p.wake {
		p.work(worker)
		if p.left.Add(-1) == 0 {
			p.done <- struct{}{}
		}
	}
}

// work claims and makes calls until none is left to claim in any step.
func (p *Pool) work(worker int) {
	for idle := 0; ; {
		v := p.state.Load()
		step, i := int(v>>32), int(uint32(v))
		switch {
		case step >= len(p.counts):
			return
		case i < p.counts[step]:
			if !p.state.CompareAndSwap(v, v+1) {
				continue
			}
			idle = 0
			if p.one != nil {
				p.one(worker, i)
			} else {
				p.steps(worker, step, i)
			}
			if p.finished.Add(1) == int64(p.counts[step]) {
				p.finished.Store(0)
				p.open(step + 1)
			}
		case step == len(p.counts)-1:
			return
		default:
			// The others are in the step's last calls: shorter than a wake-up,
			// unless the machine has given their processor away.
			idle++
			pause(idle)
		}
	}
}

// pause waits for the n-th time: busily at first, then asleep.
func pause(n int) {
	switch {
	case n > 1<<13:
		time.Sleep(20 * time.Microsecond)
	case n%32 == 0:
		runtime.Gosched()
	}
}
