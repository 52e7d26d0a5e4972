package pool

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkRun measures the cost of a call of two short tasks: directly after the last call, after
// a pause shorter than the workers' patience, and after a frame of 60 Hz, when the workers are
// parked.
func BenchmarkRun(b *testing.B) {
	var sink [2]struct {
		x float64
		_ [120]byte // another cache line
	}
	task := func(_, i int) {
		x := 1.0
		for range 2500 {
			x += 1 / x
		}
		sink[i].x = x
	}
	for _, c := range []struct {
		name  string
		pause time.Duration
	}{{"0", 0}, {"20µs", 20 * time.Microsecond}, {"16ms", 16 * time.Millisecond}} {
		for workers := 1; workers <= 2; workers++ {
			b.Run(fmt.Sprintf("pause=%s/workers=%d", c.name, workers), func(b *testing.B) {
				p := New(workers)
				defer p.Close()
				best, sum := time.Duration(1<<62), time.Duration(0)
				for b.Loop() {
					if c.pause < time.Millisecond {
						for t := time.Now(); time.Since(t) < c.pause; {
						}
					} else {
						time.Sleep(c.pause)
					}
					t := time.Now()
					p.Run(2, task)
					d := time.Since(t)
					sum += d
					best = min(best, d)
				}
				b.ReportMetric(float64(best.Nanoseconds())/1e3, "µs-min")
				b.ReportMetric(float64(sum.Nanoseconds())/1e3/float64(b.N), "µs-mean")
			})
		}
	}
}

// BenchmarkSteps measures one barrier: steps of one empty task for each worker.
func BenchmarkSteps(b *testing.B) {
	p := New(2)
	defer p.Close()
	counts := make([]int, 1000)
	for i := range counts {
		counts[i] = 2
	}
	f := func(_, _, _ int) {}
	for b.Loop() {
		p.Steps(counts, f)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(counts)), "ns/step")
}
