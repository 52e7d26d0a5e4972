package animsys

import (
	"sync"
	"sync/atomic"
)

// grain is the fewest rows worth handing to another core.
const grain = 4

// pool spreads rows over a fixed set of goroutines. It allocates nothing per
// run. The caller works too, so one worker means no goroutine at all.
type pool struct {
	wake []chan struct{} // one per extra goroutine
	done sync.WaitGroup
	work func(r0, r1 int)
	rows int
	next atomic.Int64
	once sync.Once
}

func newPool(workers int) *pool {
	p := &pool{}
	for range workers - 1 {
		wake := make(chan struct{}, 1)
		p.wake = append(p.wake, wake)
		go func() {
			for range wake {
				p.drain()
				p.done.Done()
			}
		}()
	}
	return p
}

// run calls work on ranges that cover the rows from 0 up to rows, each once.
// work must touch nothing outside its rows.
func (p *pool) run(rows int, work func(r0, r1 int)) {
	helpers := min(len(p.wake), (rows-1)/grain)
	if helpers <= 0 {
		if rows > 0 {
			work(0, rows)
		}
		return
	}
	p.work, p.rows = work, rows
	p.next.Store(0)
	p.done.Add(helpers)
	for _, wake := range p.wake[:helpers] {
		wake <- struct{}{}
	}
	p.drain()
	p.done.Wait()
}

func (p *pool) drain() {
	for {
		r1 := int(p.next.Add(grain))
		r0 := r1 - grain
		if r0 >= p.rows {
			return
		}
		p.work(r0, min(r1, p.rows))
	}
}

// close ends the goroutines. The pool must not run afterwards.
func (p *pool) close() {
	p.once.Do(func() {
		for _, wake := range p.wake {
			close(wake)
		}
	})
}
