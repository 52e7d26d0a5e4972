// Package pool runs loops on a fixed set of workers. It allocates nothing per call.
package pool

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a fixed set of workers. Calls from several goroutines take turns.
//
// A worker without work looks for more for some tens of microseconds, about the cost of waking it,
// and is then parked. Between calls that are further apart, nothing runs.
type Pool struct {
	workers int
	wake    chan struct{} // a token wakes one parked helper
	done    chan struct{} // the last helper to leave a call wakes the caller
	parked  atomic.Int32  // helpers that wait for a token that is not yet sent

	mu     sync.Mutex // held for a whole call
	one    func(worker, i int)
	steps  func(worker, step, i int) // if one is nil
	counts []int                     // calls by step

	gate     atomic.Uint64 // the number of the call and its helpers, see below
	state    atomic.Uint64 // the step and its calls that are claimed, see below
	finished atomic.Int64  // calls of the current step that have returned

	single [1]int // counts of a call with one step
	closed bool
	failed atomic.Pointer[Panic] // the first of a call
}

// Panic is what Run and Steps panic with after a call of f has panicked, on whatever worker. It is an error.
type Panic struct {
	Value any
	Stack []byte // of the worker
}

// Error returns the value and the stack.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// Unwrap returns the value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// The gate counts the helpers inside a call in its lower bits, and the calls from gateCall up.
const (
	gateInside  = 1<<16 - 1
	gateOpen    = 1 << 16 // helpers may come in
	gateWaiting = 1 << 17 // the caller sleeps until the last one is out
	gateClosed  = 1 << 18 // the pool has ended
	gateCall    = 1 << 19
)

// The state holds the number of the step in its upper bits. Below it are the number of calls
// claimed from the end, by workers of odd number, and the number claimed from the beginning. So a
// worker's data in one step is near its data in the step before, and still in its cache.
const (
	indexBits = 22
	maxIndex  = 1<<indexBits - 1
	maxStep   = 1<<(64-2*indexBits) - 2
)

const (
	// patience is the time for which a worker looks for work before it is parked.
	patience = 50 * time.Microsecond
	// stepPatience is the time for which a worker of a call in progress waits for the others before
	// it sleeps. It is longer than most calls of f, because a sleep may take a millisecond.
	stepPatience = 2 * time.Millisecond
)

// Most is the largest number of workers of a pool.
const Most = 1 << 12

// New starts a pool of the given number of workers, at most Most. The caller of Run is one of them,
// and fewer than one means one.
func New(workers int) *Pool {
	p := &Pool{workers: min(max(workers, 1), Most), done: make(chan struct{}, 1)}
	p.wake = make(chan struct{}, p.workers) // a token per helper, never blocks
	for w := 1; w < p.workers; w++ {
		go p.help(w)
	}
	return p
}

// Workers returns the number of workers.
func (p *Pool) Workers() int { return p.workers }

// Close ends the workers. Do not use the pool afterwards. Closing twice is harmless.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.gate.Or(gateClosed)
		close(p.wake)
	}
}

// Run calls f once for every i in [0, n), on several workers at once. worker is in [0, Workers())
// and is never in two calls at a time. Run returns when all calls have returned. If some panic, it then
// panics with a *Panic, and the pool can go on. f must not call the pool. Workers of even number take the lowest i that is left, those of odd number the highest.
// Run itself allocates nothing.
func (p *Pool) Run(n int, f func(worker, i int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.single[0] = n
	p.one, p.counts = f, p.single[:]
	p.start()
	p.one = nil
	p.raise()
}

// Steps is a sequence of Runs: counts[0] calls f(worker, 0, i), then, when all have returned,
// counts[1] calls f(worker, 1, i), and so on. The workers stay awake between steps.
func (p *Pool) Steps(counts []int, f func(worker, step, i int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps, p.counts = f, counts
	p.start()
	p.steps = nil
	p.raise()
}

// raise panics if a call of f has.
func (p *Pool) raise() {
	if p.failed.Load() != nil {
		panic(p.failed.Swap(nil))
	}
}

func (p *Pool) start() {
	widest := 0
	for _, n := range p.counts {
		widest = max(widest, n)
	}
	if widest > maxIndex || len(p.counts) > maxStep {
		panic("pool: more calls or steps than can be counted")
	}
	p.finished.Store(0)
	p.open(0)
	if helpers := min(p.workers, widest) - 1; helpers > 0 {
		p.gate.Store((p.gate.Load()/gateCall+1)*gateCall | gateOpen)
		for ; helpers > 0 && p.unpark(); helpers-- {
			p.wake <- struct{}{}
		}
		p.work(0)
		p.leave()
	} else {
		p.work(0)
	}
	p.counts = nil
}

// leave closes the gate and returns when no helper is inside. Helpers that come later find it
// closed.
func (p *Pool) leave() {
	p.gate.And(^uint64(gateOpen))
	for w := (wait{}); p.gate.Load()&gateInside != 0; {
		if !w.spin(stepPatience) {
			if p.gate.Or(gateWaiting)&gateInside != 0 {
				<-p.done
			}
			return
		}
	}
}

// unpark removes one helper from the count of those that wait for a token.
func (p *Pool) unpark() bool {
	for {
		n := p.parked.Load()
		if n == 0 {
			return false
		}
		if p.parked.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// open lets the workers claim the calls of the first step, from the given one on, that has any.
func (p *Pool) open(step int) {
	for step < len(p.counts) && p.counts[step] <= 0 {
		step++
	}
	p.state.Store(uint64(step) << (2 * indexBits))
}

func (p *Pool) help(worker int) {
	served := uint64(0) // the last call
	for {
		for w := (wait{}); ; {
			v := p.gate.Load()
			if v&gateClosed != 0 {
				return
			}
			if v&gateOpen != 0 && v/gateCall != served {
				if !p.gate.CompareAndSwap(v, v+1) {
					continue
				}
				served = v / gateCall
				p.work(worker)
				if v := p.gate.Add(^uint64(0)); v&gateInside == 0 && v&gateWaiting != 0 {
					p.done <- struct{}{}
				}
				w = wait{}
			}
			if !w.spin(patience) {
				break
			}
		}
		p.parked.Add(1)
		// A call that began just now may have missed this helper.
		if v := p.gate.Load(); v&gateOpen != 0 && v/gateCall != served && p.unpark() {
			continue
		}
		if _, ok := <-p.wake; !ok {
			return
		}
	}
}

// work claims and makes calls until no step has any left.
func (p *Pool) work(worker int) {
	for !p.serve(worker) {
	}
}

// serve does the work. It returns false after a panic of f.
func (p *Pool) serve(worker int) (done bool) {
	step, calling := 0, false
	defer func() {
		if !calling {
			return
		}
		if v := recover(); v != nil {
			p.failed.CompareAndSwap(nil, &Panic{v, debug.Stack()})
			p.count(step)
		}
	}()
	for w := (wait{}); ; {
		v := p.state.Load()
		front, back := int(v&maxIndex), int(v>>indexBits&maxIndex)
		step = int(v >> (2 * indexBits))
		switch {
		case step >= len(p.counts):
			return true
		case front+back < p.counts[step]:
			i, claim := front, uint64(1)
			if worker%2 == 1 {
				i, claim = p.counts[step]-1-back, 1<<indexBits
			}
			if !p.state.CompareAndSwap(v, v+claim) {
				continue
			}
			w = wait{}
			calling = true
			if p.one != nil {
				p.one(worker, i)
			} else {
				p.steps(worker, step, i)
			}
			calling = false
			p.Rest()
			p.count(step)
		case step == len(p.counts)-1:
			return true
		default:
			// The other workers are in the step's last calls.
			if !w.spin(stepPatience) {
				time.Sleep(patience)
			}
		}
	}
}

// count counts a call of a step that has ended.
func (p *Pool) count(step int) {
	if p.finished.Add(1) == int64(p.counts[step]) {
		p.finished.Store(0)
		p.open(step + 1)
	}
}

// wait is a wait for something that should happen within microseconds.
type wait struct {
	n     int
	since time.Time
}

// spin waits a little, and sometimes yields to other goroutines. It reports whether it has waited
// for less than the limit.
func (w *wait) spin(limit time.Duration) bool {
	w.n++
	if w.n%32 != 0 {
		return true
	}
	runtime.Gosched()
	switch {
	case w.n == 32:
		w.since = time.Now()
	case w.n%256 == 0:
		return time.Since(w.since) < limit
	}
	return true
}
