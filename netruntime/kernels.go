package netruntime

import (
	"fmt"
	"runtime"
	"time"

	"mannequin/netruntime/internal/kernel"
	"mannequin/netruntime/internal/pool"
)

// Rounding names how the program rounds float32. Programs with the same answer give the same bits on
// all processors. It is "float32" if every operation in Go code is rounded. Go's compiler may fuse
// products and sums on some processors, such as arm64, unless the program is built with
// -gcflags=all=-d=fmahash=qn: then the answer names the processor. In browsers without relaxed
// WebAssembly vectors it names the kernels.
func Rounding() string {
	x := float32(1) + 1./4096
	name := "float32"
	if mulAdd(x, x, -1-1./2048) != 0 {
		name += " with fused operations of " + runtime.GOARCH
	}
	if k := Kernels(); k == "simd128-unfused" {
		name += " with " + k + " kernels"
	}
	return name
}

// mulAdd is for the compiler to fuse.
//
//go:noinline
func mulAdd(x, y, z float32) float32 { return x*y + z }

// Kernels returns the name of the active kernel family, such as "avx512". Session.Kernel returns the
// kernels of one session.
func Kernels() string { return kernel.Active().String() }

// KernelFamilies returns the names of the families that this processor can run, slowest first.
func KernelFamilies() []string {
	var names []string
	for _, k := range kernel.Kinds() {
		names = append(names, k.String())
	}
	return names
}

// ForceKernels makes a family the active one until restore is called. It is for tests and
// benchmarks: nothing else may compute at the same time. It panics if the processor cannot run the
// family.
func ForceKernels(name string) (restore func()) {
	for _, k := range kernel.Kinds() {
		if k.String() == name {
			return kernel.Force(k)
		}
	}
	panic(fmt.Sprintf("netruntime: this machine cannot run %q kernels", name))
}

// HasBF16 reports whether the processor multiplies bfloat16 numbers and the active family uses it.
func HasBF16() bool { return kernel.BF16() }

// PeakGFLOPS measures how many billion floating-point operations per second one core reaches with
// the active family's multiply-adds, in bfloat16 or float32. It returns the best of many short runs
// within d.
func PeakGFLOPS(bf16 bool, d time.Duration) float64 { return kernel.Peak(bf16, d) }

// Pool is a fixed set of workers that runs loops without allocating. Sessions compute on one; games
// can use another for the rest of a tick's work.
type Pool = pool.Pool

// NewPool starts a pool of the given number of workers, at most 4,096. The caller of Run is one of
// them, and fewer than one means one. Close ends the pool.
func NewPool(workers int) *Pool { return pool.New(workers) }

// Aside runs f on a goroutine beside the ticks: work for a later tick. In a browser, which has one
// thread, pools of one worker inside f pause every few milliseconds, so that frames and input get
// their turn.
func Aside(f func() error) error { return pool.Aside(f) }

// Await receives from c. In a browser, work that runs aside does not pause while it waits.
func Await[T any](c <-chan T) T { return pool.Await(c) }
