package pool

import (
	"testing"
	"time"
)

// turns returns how often another goroutine runs during f.
func turns(f func()) int {
	n, stop, stopped := 0, false, make(chan bool)
	go func() {
		for ; !stop; n++ {
			time.Sleep(time.Millisecond)
		}
		close(stopped)
	}()
	time.Sleep(5 * time.Millisecond) // it has begun
	before := n
	f()
	after := n
	stop = true
	<-stopped
	return after - before
}

// work is a call that lasts 2 ms.
func work(_, _ int) {
	for began := time.Now(); time.Since(began) < 2*time.Millisecond; {
	}
}

func TestAsideRests(t *testing.T) {
	p := New(1)
	defer p.Close()
	aside := func() error { p.Run(60, work); return nil }
	if n := turns(func() { p.Run(40, work) }); n != 0 {
		t.Errorf("a call that is waited for gave way %d times", n)
	}
	if n := turns(func() { Aside(aside) }); n < 10 {
		t.Errorf("120 ms of work aside gave way %d times, want every 4 ms", n)
	}
	if n := turns(func() { p.Run(40, work) }); n != 0 {
		t.Errorf("after Aside a call gave way %d times", n)
	}
	done := make(chan error, 1)
	go func() { done <- Aside(aside) }()
	time.Sleep(10 * time.Millisecond)
	other := New(1)
	defer other.Close()
	if n := turns(func() { other.Run(3, work) }); n != 0 {
		t.Errorf("a call that is waited for, beside what is done aside, gave way %d times", n)
	}
	if n := turns(func() { Await(done) }); n > 3 {
		t.Errorf("what is awaited gave way %d times", n)
	}
}
