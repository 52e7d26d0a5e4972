package baseline

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls f for 0 to n-1 on so many workers, by default one per processor,
// and returns the error of the lowest index, so that errors do not depend on who
// was faster either.
func each(n, workers int, f func(i int) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	errs := make([]error, n)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(workers, n) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				errs[i] = f(i)
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
