package grad

import "mannequin/netruntime/internal/kernel"

// Pool is the workers on which tapes compute. Tapes on several goroutines may share one: their
// operations take turns.
type Pool = kernel.Pool

// NewPool starts a pool of the given number of workers. The tape's goroutine is one of them, and
// fewer than one means one. Close ends it.
func NewPool(workers int) *Pool { return kernel.NewPool(workers) }
