package netruntime

import (
	"math"
	"testing"
)

func TestRunAllocatesNothing(t *testing.T) {
	n := odd.net(t, 10)
	for _, rows := range []int{1, 64, 300} {
		for _, workers := range []int{1, 2} {
			s := open(t, n, rows, workers)
			x, y := make([]float32, rows*odd.in), make([]float32, rows*odd.out)
			if got := testing.AllocsPerRun(10, func() { _ = s.Run(y, x, rows) }); got != 0 {
				t.Errorf("%d rows, %d workers: %v allocations per run", rows, workers, got)
			}
		}
	}
}

func TestRunChecksLengths(t *testing.T) {
	n := tiny.net(t, 1)
	s := open(t, n, 4, 2)
	x, y := make([]float32, 4*tiny.in), make([]float32, 4*tiny.out)
	if err := s.Run(y, x, 0); err != nil {
		t.Fatal(err)
	}
	if len(s.Gating()) != 0 {
		t.Fatal("gating of no rows")
	}
	for name, f := range map[string]func() error{
		"rows":     func() error { return s.Run(y, x, 5) },
		"negative": func() error { return s.Run(y, x, -1) },
		"x":        func() error { return s.Run(y, x[1:], 4) },
		"y":        func() error { return s.Run(y[1:], x, 4) },
		"session":  func() error { _, err := n.NewSession(SessionOptions{Batch: 0, Workers: 1}); return err },
		"workers":  func() error { _, err := n.NewSession(SessionOptions{Batch: 1, Workers: 0}); return err },
		"giant":    func() error { _, err := n.NewSession(SessionOptions{Batch: math.MaxInt, Workers: 1}); return err },
		"many":     func() error { _, err := n.NewSession(SessionOptions{Batch: 1, Workers: math.MaxInt}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for range 2 {
		if s.Close() != nil || s.Run(y, x, 4) == nil {
			t.Error("a closed session runs, or closes with an error")
		}
	}
}

// TestSessionsShareANet runs sessions of one network at the same time.
func TestSessionsShareANet(t *testing.T) {
	n := odd.net(t, 12)
	x := randomRows(1, 10*odd.in)
	out := make(chan []float32)
	for range 4 {
		go func() {
			s, err := n.NewSession(SessionOptions{Batch: 10, Workers: 2})
			if err != nil {
				panic(err)
			}
			defer s.Close()
			y := make([]float32, 10*odd.out)
			for range 20 {
				if err := s.Run(y, x, 10); err != nil {
					panic(err)
				}
			}
			out <- y
		}()
	}
	first := <-out
	for range 3 {
		if different(first, <-out) >= 0 {
			t.Fatal("two sessions disagree")
		}
	}
}
