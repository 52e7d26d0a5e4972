package netruntime

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"mannequin/internal/testing/must"
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
	must.Do(t, s.Run(y, x, 0))
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

// Two goroutines that use one session get its results or ErrBusy.
func TestTwoGoroutines(t *testing.T) {
	const rows = 64
	n := odd.net(t, 14)
	s := open(t, n, rows, 2)
	x := randomRows(3, rows*odd.in)
	want := make([]float32, rows*odd.out)
	must.Do(t, s.Run(want, x, rows))
	var busy atomic.Int64
	done := make(chan bool)
	for range 2 {
		go func() {
			defer func() { done <- true }()
			y := make([]float32, rows*odd.out)
			for range 1_000_000 {
				switch err := s.Run(y, x, rows); {
				case errors.Is(err, ErrBusy):
					busy.Add(1)
				case err != nil || !slices.Equal(y, want):
					t.Errorf("a run beside another: %v, or wrong", err)
					return
				}
				if busy.Load() > 0 {
					return
				}
				clear(y)
			}
		}()
	}
	<-done
	<-done
	if busy.Load() == 0 {
		t.Error("no run met another")
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

// TestTurnedTasks checks that the other order has every task once, and that each half begins where
// it ended.
func TestTurnedTasks(t *testing.T) {
	for n := 1; n < 20; n++ {
		seen := make([]bool, n)
		for i := range n {
			j := turned(i, n)
			if seen[j] {
				t.Fatalf("%d tasks: task %d twice", n, j)
			}
			seen[j] = true
			if (i < n/2) != (j < n/2) {
				t.Fatalf("%d tasks: task %d becomes %d, of the other half", n, i, j)
			}
		}
		if n > 1 && (turned(0, n) != n/2-1 || turned(n-1, n) != n/2) {
			t.Fatalf("%d tasks: the ends become %d and %d", n, turned(0, n), turned(n-1, n))
		}
	}
}

// TestNewRejects breaks one thing at a time.
func TestNewRejects(t *testing.T) {
	for want, spoil := range map[string]func(m *Meta, t []Tensor) []Tensor{
		`"lstm"`:                          func(m *Meta, t []Tensor) []Tensor { m.Arch = "lstm"; return t },
		`"experts.1.bias": it is missing`: func(m *Meta, t []Tensor) []Tensor { return slices.Delete(t, 13, 14) },
		`unknown tensors "a", "b"`:        func(m *Meta, t []Tensor) []Tensor { return append(t, Tensor{Name: "b"}, Tensor{Name: "a"}) },
		`"x_std": listed twice`:           func(m *Meta, t []Tensor) []Tensor { return append(t, t[1]) },
		`axis 1 should be 4: "experts.0.weight" has that many (node "experts.0")`: func(m *Meta, t []Tensor) []Tensor { t[11].Shape = []int{2, 3}; t[11].Data = t[11].Data[:6]; return t },
		`has shape [5 1], want 1 axes`:                                            func(m *Meta, t []Tensor) []Tensor { t[0].Shape = []int{5, 1}; return t },
		`shape [5] and 4 values`:                                                  func(m *Meta, t []Tensor) []Tensor { t[0].Data = t[0].Data[:4]; return t },
		`"y_std": value 1 is NaN`:                                                 func(m *Meta, t []Tensor) []Tensor { t[3].Data[1] = float32(math.NaN()); return t },
		`"experts.2.weight": value 0`:                                             func(m *Meta, t []Tensor) []Tensor { t[14].Data[0] = float32(math.Inf(-1)); return t },
		`"x_std": deviation 4 is -1`:                                              func(m *Meta, t []Tensor) []Tensor { t[1].Data[4] = -1; return t },
		`"x_std": deviation 0 is 1e-45`:                                           func(m *Meta, t []Tensor) []Tensor { t[1].Data[0] = 1e-45; return t },
		`"gating.0.weight": has shape [2 2], axis 1 should be 1`:                  func(m *Meta, t []Tensor) []Tensor { m.GatingColumns = m.GatingColumns[:1]; return t },
		`there is no input 5`:                                                     func(m *Meta, t []Tensor) []Tensor { m.GatingColumns[0] = 5; return t },
		`experts = "3"`:                                                           func(m *Meta, t []Tensor) []Tensor { m.Extra = map[string]string{"experts": "3"}; return t },
		`"card" is one of the format's`:                                           func(m *Meta, t []Tensor) []Tensor { m.Extra = map[string]string{"card": ""}; return t },
		`"x_mean": has shape [9223372036854`:                                      func(m *Meta, t []Tensor) []Tensor { t[0].Shape = []int{math.MaxInt}; return t },
	} {
		m := tiny.meta()
		ts := spoil(&m, tiny.tensors(1))
		must.Fail(New(m, ts))(t, want)
	}
}

func TestZeroNetHasNoSessions(t *testing.T) {
	must.Fail(new(Net).NewSession(SessionOptions{Batch: 1, Workers: 1}))(t, "the zero Net")
}

func TestNewCopies(t *testing.T) {
	ts := tiny.tensors(2)
	m := tiny.meta()
	n := must.Get(New(m, ts))(t)
	var a, b bytes.Buffer
	must.Do(t, n.Encode(&a))
	for _, x := range ts {
		clear(x.Data)
		x.Shape[0] = 77
	}
	m.GatingColumns[0] = 99
	got, _ := n.Tensor("x_mean")
	clear(got.Data)
	n.Meta().GatingColumns[0] = 98
	must.Do(t, n.Encode(&b))
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatal("the network changed with its makings")
	}
}
