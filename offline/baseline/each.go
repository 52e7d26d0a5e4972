package baseline

import (
	"cmp"
	"runtime"

	"mannequin/netruntime"
)

// each calls f for 0 to n−1 on workers goroutines (0: one per processor). It returns the error of
// the lowest index, so that errors do not depend on timing.
func each(n, workers int, f func(i int) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := netruntime.NewPool(min(workers, n))
	defer p.Close()
	errs := make([]error, n)
	p.Run(n, func(_, i int) { errs[i] = f(i) })
	return cmp.Or(errs...)
}
