package windows

import (
	"errors"
	"testing"
)

func TestWorker(t *testing.T) {
	runs, want := 0, error(nil)
	w := newWorker(func() error { runs++; return want })
	if err := w.wait(); err != nil || runs != 0 {
		t.Fatalf("before any run: %v after %d runs", err, runs)
	}
	for i := range 3 {
		if want = nil; i == 1 {
			want = errors.New("lost")
		}
		w.begin()
		if err := w.wait(); err != want || runs != i+1 {
			t.Fatalf("run %d: %v after %d runs, want %v", i, err, runs, want)
		}
	}
	if err := w.wait(); err != nil {
		t.Fatalf("waited for twice: %v", err)
	}
	if n := testing.AllocsPerRun(100, func() { w.begin(); w.wait() }); n != 0 {
		t.Errorf("%g allocations a run", n)
	}
	before := runs
	w.begin() // and left running
	w.close()
	if runs != before+1 {
		t.Errorf("%d runs when closed, %d before", runs, before)
	}
}
