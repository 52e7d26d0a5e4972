package netruntime

import (
	"fmt"
	"time"

	"mannequin/netruntime/internal/kernel"
	"mannequin/netruntime/internal/pool"
)

// Kernels returns the name of the kernel family that networks are computed
// with, such as "avx512". Processors of one family round alike and give the same
// bits. Session.Kernel returns what the products of one session run on.
func Kernels() string { return kernel.Active().String() }

// KernelFamilies returns the names of the families that this processor runs,
// slowest first.
func KernelFamilies() []string {
	var names []string
	for _, k := range kernel.Kinds() {
		names = append(names, k.String())
	}
	return names
}

// ForceKernels makes a family the active one until restore is called. It is for
// tests and benchmarks: nothing else may compute meanwhile. It panics if the
// processor does not run the family.
func ForceKernels(name string) (restore func()) {
	for _, k := range kernel.Kinds() {
		if k.String() == name {
			return kernel.Force(k)
		}
	}
	panic(fmt.Sprintf("netruntime: this machine cannot run %q kernels", name))
}

// HasBF16 reports whether the processor multiplies bfloat16 numbers.
func HasBF16() bool { return kernel.BF16() }

// PeakGFLOPS measures how many billion floating-point operations a second one
// core makes in the active family's multiply-adds, in bfloat16 or float32. It
// takes the best of many short runs within d.
func PeakGFLOPS(bf16 bool, d time.Duration) float64 { return kernel.Peak(bf16, d) }

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
