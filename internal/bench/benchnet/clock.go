package benchnet

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"mannequin/netruntime"
)

// Candidate is a function to be timed beside others.
type Candidate struct {
	Name string
	Run  func() error

	samples []float64 // ms
}

// Min returns the shortest run in milliseconds.
func (c *Candidate) Min() float64 { return slices.Min(c.samples) }

// Median returns the median run in milliseconds.
func (c *Candidate) Median() float64 {
	v := slices.Sorted(slices.Values(c.samples))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Clock times candidates in turns, so that quiet moments of the machine favour none of them.
type Clock struct {
	Rounds int           // turns of each candidate
	Block  time.Duration // of one turn, which has at least two runs
	Rest   time.Duration // before each turn, so that spinning threads go to sleep
}

// Time adds samples to every candidate. It stops when ctx is done.
func (c Clock) Time(ctx context.Context, candidates []*Candidate) error {
	for range c.Rounds {
		for _, k := range candidates {
			if err := ctx.Err(); err != nil {
				return err
			}
			time.Sleep(c.Rest)
			// In the first run, threads are asleep and weights are not in the cache.
			if err := k.Run(); err != nil {
				return fmt.Errorf("%s: %w", k.Name, err)
			}
			begin := time.Now()
			for n := 0; n < 2 || time.Since(begin) < c.Block; n++ {
				t := time.Now()
				if err := k.Run(); err != nil {
					return fmt.Errorf("%s: %w", k.Name, err)
				}
				k.samples = append(k.samples, float64(time.Since(t).Nanoseconds())/1e6)
			}
		}
	}
	return nil
}

// Allocs returns the heap allocations of a run.
func Allocs(run func() error) (float64, error) {
	const runs = 4
	if err := run(); err != nil {
		return 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		if err := run(); err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&after)
	return float64((after.Mallocs - before.Mallocs) / runs), nil
}

// Peak measures the GFLOP/s that the given number of cores reach together on multiplications and
// additions, in float32 or bfloat16.
func Peak(bf16 bool, threads int, d time.Duration) float64 {
	each := make([]float64, threads)
	var wg sync.WaitGroup
	for i := range each {
		wg.Go(func() { each[i] = netruntime.PeakGFLOPS(bf16, d) })
	}
	wg.Wait()
	sum := 0.0
	for _, p := range each {
		sum += p
	}
	return sum
}
