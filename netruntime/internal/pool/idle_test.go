//go:build unix

package pool

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mannequin/internal/testing/must"
)

// TestPoolRestsBetweenCalls measures the process's processor time while the pool has nothing to do.
func TestPoolRestsBetweenCalls(t *testing.T) {
	used := func() time.Duration {
		var u syscall.Rusage
		must.Do(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	p := New(4)
	defer p.Close()
	for range 100 {
		p.Run(4, func(_, _ int) {})
	}
	time.Sleep(20 * patience)
	before := used()
	time.Sleep(200 * time.Millisecond)
	if d := used() - before; d > 4*time.Millisecond {
		t.Fatalf("%v of processor time in 200ms without work", d)
	}
}

// TestPoolWakesParkedWorkers makes calls at the moments at which workers are about to park. No call
// may be lost, and both workers must take part.
func TestPoolWakesParkedWorkers(t *testing.T) {
	p := New(3)
	defer p.Close()
	var shared atomic.Int32
	for round := range 300 {
		time.Sleep(time.Duration(round%100) * time.Microsecond)
		var calls, workers atomic.Int32
		var seen [3]atomic.Bool
		p.Run(8, func(worker, _ int) {
			calls.Add(1)
			if !seen[worker].Swap(true) {
				workers.Add(1)
			}
			if round%10 == 0 {
				time.Sleep(time.Millisecond)
			}
		})
		if calls.Load() != 8 {
			t.Fatalf("round %d: %d calls, want 8", round, calls.Load())
		}
		if workers.Load() > 1 {
			shared.Add(1)
		}
	}
	// The long rounds take one worker eight milliseconds.
	if shared.Load() < 20 {
		t.Fatalf("only %d of 300 calls were shared out", shared.Load())
	}
}
