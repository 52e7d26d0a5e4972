package grad

import "mannequin/netruntime/internal/kernel"

// Pool is the workers that tapes compute on. Tapes on several goroutines may
// share one: their operations take turns.
type Pool = kernel.Pool

// NewPool starts a pool of so many workers, the tape's goroutine being one of
// them; fewer than one means one. Close ends it.
func NewPool(workers int) *Pool { return kernel.NewPool(workers) }
