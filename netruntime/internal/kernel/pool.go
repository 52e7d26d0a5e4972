package kernel

import (
	"sync"

	"mannequin/netruntime/internal/pool"
)

// Pool is a pool of workers that multiplies matrices too, with the kernels that
// were active when it was made.
type Pool struct {
	*pool.Pool
	kind Kind

	mu      sync.Mutex // held for a whole product
	job     gemmJob
	gemm    func(worker, i int) // bound once so that Gemm allocates nothing
	scratch []Scratch           // by worker
}

// NewPool starts a pool of the given number of workers, the caller being one of
// them; fewer than one means one.
func NewPool(workers int) *Pool {
	p := &Pool{Pool: pool.New(workers), kind: active}
	p.gemm, p.scratch = p.gemmTask, make([]Scratch, p.Workers())
	return p
}

// Kind returns the family of kernels that the pool uses.
func (p *Pool) Kind() Kind { return p.kind }
