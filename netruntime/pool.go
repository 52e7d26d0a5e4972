package netruntime

import "mannequin/netruntime/internal/pool"

// Pool is a fixed set of workers that runs loops without allocating: what
// sessions compute on, for the rest of a tick's work.
type Pool = pool.Pool

// NewPool starts a pool of the given number of workers, the caller of Run being
// one of them; fewer than one means one. Close ends it.
func NewPool(workers int) *Pool { return pool.New(workers) }

// Aside runs f, work for a later tick, on a goroutine beside the ticks. In a
// browser, which has one thread, pools of one worker inside f pause every few
// milliseconds so that frames and input get their turn.
func Aside(f func() error) error { return pool.Aside(f) }

// Await receives from c. In a browser, work aside does not pause meanwhile.
func Await[T any](c <-chan T) T { return pool.Await(c) }
