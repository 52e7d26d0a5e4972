package turns

import (
	"errors"
	"testing"
)

func TestErrand(t *testing.T) {
	runs, want := 0, error(nil)
	e := newErrand(func() error { runs++; return want })
	if err := e.wait(); err != nil || runs != 0 {
		t.Fatalf("before anything is begun: %v after %d runs", err, runs)
	}
	for i := range 3 {
		if want = nil; i == 1 {
			want = errors.New("lost")
		}
		e.begin()
		if err := e.wait(); err != want || runs != i+1 {
			t.Fatalf("run %d: %v after %d runs, want %v", i, err, runs, want)
		}
	}
	if err := e.wait(); err != nil {
		t.Fatalf("waited for twice: %v", err)
	}
	if n := testing.AllocsPerRun(100, func() { e.begin(); e.wait() }); n != 0 {
		t.Errorf("%g allocations a run", n)
	}
	before := runs
	e.begin() // and left under way
	e.close()
	if runs != before+1 {
		t.Errorf("%d runs when closed, %d before", runs, before)
	}
}
