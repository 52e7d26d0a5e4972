package pool

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

func TestPoolRunsEveryIndexOnce(t *testing.T) {
	for workers := 1; workers <= 4; workers++ {
		p := New(workers)
		var busy [4]atomic.Bool
		for n := range 50 {
			hits := make([]atomic.Int32, n)
			p.Run(n, func(worker, i int) {
				if busy[worker].Swap(true) {
					t.Errorf("worker %d is in two calls", worker)
				}
				hits[i].Add(1)
				busy[worker].Store(false)
			})
			for i := range hits {
				if hits[i].Load() != 1 {
					t.Fatalf("%d workers, n = %d: index %d ran %d times", workers, n, i, hits[i].Load())
				}
			}
		}
		p.Close()
		p.Close()
	}
}

func TestPoolTakesTurns(t *testing.T) {
	p := New(2)
	defer p.Close()
	done := make(chan int)
	for range 4 {
		go func() {
			sum := 0
			for range 200 {
				var s [2]int
				p.Run(10, func(worker, i int) { s[worker] += i })
				sum += s[0] + s[1]
			}
			done <- sum
		}()
	}
	for range 4 {
		if got := <-done; got != 200*45 {
			t.Fatalf("sum %d, want %d", got, 200*45)
		}
	}
}

func TestPoolAllocatesNothing(t *testing.T) {
	p := New(2)
	defer p.Close()
	var x [8]float32
	f := func(_, i int) { x[i]++ }
	if n := testing.AllocsPerRun(100, func() { p.Run(len(x), f) }); n != 0 {
		t.Fatalf("%v allocations per run", n)
	}
	g, counts := func(_, step, i int) { x[i] += float32(step) }, []int{8, 2, 8}
	if n := testing.AllocsPerRun(100, func() { p.Steps(counts, g) }); n != 0 {
		t.Fatalf("%v allocations per sequence of steps", n)
	}
}

// TestPoolSteps checks that every call is made once and that no step begins
// before the one ahead of it has ended.
func TestPoolSteps(t *testing.T) {
	for workers := 1; workers <= 4; workers++ {
		p := New(workers)
		defer p.Close()
		for round := range 200 {
			counts := []int{round % 5, 3, 0, round % 17, 1, 0}
			var ended [6]atomic.Int32
			hits := make([]atomic.Int32, 6*17)
			p.Steps(counts, func(_, step, i int) {
				for s := range step {
					if n := int(ended[s].Load()); n != counts[s] {
						t.Errorf("step %d began when %d of step %d's %d calls had ended", step, n, s, counts[s])
					}
				}
				hits[step*17+i].Add(1)
				ended[step].Add(1)
			})
			for step, n := range counts {
				for i := range n {
					if hits[step*17+i].Load() != 1 {
						t.Fatalf("%d workers: call %d of step %d ran %d times", workers, i, step, hits[step*17+i].Load())
					}
				}
			}
		}
		p.Steps(nil, nil)
	}
}

// TestPoolTakesFromBothEnds lets two workers wait for each other: what each of
// them does must be on its side.
func TestPoolTakesFromBothEnds(t *testing.T) {
	p := New(2)
	defer p.Close()
	for range 20 {
		var ready atomic.Int32
		var by [8]int
		p.Run(len(by), func(worker, i int) {
			by[i] = worker
			for ready.Add(1); ready.Load() < 2; {
				runtime.Gosched()
			}
		})
		for i := 1; i < len(by); i++ {
			if by[i] < by[i-1] {
				t.Fatalf("calls were made by workers %v", by)
			}
		}
		if by[0] != 0 || by[len(by)-1] != 1 {
			t.Fatalf("calls were made by workers %v", by)
		}
	}
}

func TestPoolRefusesWhatItCannotCount(t *testing.T) {
	p := New(2)
	defer p.Close()
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
		p.Run(1, func(_, _ int) {}) // still works
	}()
	p.Run(maxIndex+1, func(_, _ int) {})
}

// A panic of a call is one of Run, whichever worker makes the call, and the other calls are made. The pool goes on.
func TestPoolPanics(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		p := New(workers)
		defer p.Close()
		for _, bad := range []int{0, 17, 99} {
			var calls atomic.Int32
			caught := func() (v any) {
				defer func() { v = recover() }()
				p.Run(100, func(_, i int) {
					calls.Add(1)
					if i == bad || i == 50 {
						panic(errBad)
					}
				})
				return nil
			}()
			err, ok := caught.(*Panic)
			if !ok || !errors.Is(err, errBad) || !strings.Contains(err.Error(), "pool_test.go") {
				t.Fatalf("%d workers, call %d: Run panics with %v", workers, bad, caught)
			}
			if n := calls.Load(); n != 100 {
				t.Errorf("%d workers, call %d: %d calls", workers, bad, n)
			}
			caught = func() (v any) {
				defer func() { v = recover() }()
				p.Steps([]int{3, 0, 40, 2}, func(_, step, i int) {
					if step == 2 && i == bad%40 {
						panic("a step")
					}
				})
				return nil
			}()
			if err, ok := caught.(*Panic); !ok || err.Value != "a step" {
				t.Fatalf("%d workers: Steps panics with %v", workers, caught)
			}
			var sum atomic.Int64
			p.Run(100, func(_, i int) { sum.Add(int64(i)) })
			if sum.Load() != 4950 {
				t.Errorf("%d workers: after a panic the sum is %d", workers, sum.Load())
			}
		}
	}
}

var errBad = errors.New("bad")
