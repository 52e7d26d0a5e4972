package pool

import (
	"syscall/js"
	"testing"
	"time"
)

// later lets JavaScript call f after some milliseconds.
func later(t *testing.T, ms int, f func()) {
	call := js.FuncOf(func(js.Value, []js.Value) any {
		f()
		return nil
	})
	t.Cleanup(call.Release)
	js.Global().Call("setTimeout", call, ms)
}

func wants(t *testing.T, what string, got, want Event) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

const long = time.Minute

func waitFor(c <-chan struct{}, limit time.Duration) Event {
	_, how := WaitFor(c, limit)
	return how
}

func TestWaitFor(t *testing.T) {
	c := make(chan struct{}, 1)
	later(t, 20, func() { c <- struct{}{} })
	wants(t, "an event", waitFor(c, long), Came)
	began := time.Now()
	wants(t, "none", waitFor(c, 50*time.Millisecond), Late)
	if d := time.Since(began); d < 50*time.Millisecond || d > 5*time.Second {
		t.Errorf("waited %v of 50 ms", d)
	}
}

// The alarm of an earlier wait may ring in a later one: that waits for as long as it would.
func TestWaitForAgain(t *testing.T) {
	c := make(chan struct{}, 1)
	for _, limit := range []time.Duration{2 * time.Second, 40 * time.Millisecond} {
		c <- struct{}{}
		wants(t, "what is there", waitFor(c, 200*time.Millisecond), Came)
		began := time.Now()
		wants(t, "none", waitFor(c, limit), Late)
		if d := time.Since(began); d < limit || d > 5*time.Second {
			t.Errorf("waited %v of %v", d, limit)
		}
	}
	if len(alarms) != 1 {
		t.Errorf("%d alarms after waits one after another", len(alarms))
	}
}

// A function that JavaScript calls waits for no event, nor does what it waits for.
func TestWaitForHeld(t *testing.T) {
	if Held() {
		t.Error("the test is held")
	}
	never := make(chan struct{})
	done := make(chan bool, 1)
	later(t, 1, func() {
		wants(t, "in a call of JavaScript", waitFor(never, long), Never)
		func() { wants(t, "deeper in it", waitFor(never, long), Never) }()
		answer := make(chan Event, 1)
		go func() { answer <- waitFor(never, long) }()
		wants(t, "what begins while it waits", Await(answer), Never)
		done <- Held()
	})
	if !<-done {
		t.Error("a call of JavaScript is not held")
	}

	answer := make(chan Event, 1)
	go func() { answer <- waitFor(never, long) }()
	later(t, 20, func() {
		wants(t, "what has begun before", Await(answer), Never)
		done <- true
	})
	<-done

	// A call in a call: from Go to JavaScript, and back.
	f := js.FuncOf(func(js.Value, []js.Value) any { return Held() })
	defer f.Release()
	if !f.Invoke().Bool() {
		t.Error("a call from Go through JavaScript is not held")
	}
	if Held() || holders != 0 {
		t.Error("the test is held afterwards")
	}
	c := make(chan struct{}, 1)
	later(t, 1, func() { c <- struct{}{} })
	wants(t, "an event afterwards", waitFor(c, long), Came)

	// What a goroutine waits for that JavaScript did not call goes on.
	go func() { answer <- waitFor(c, long) }()
	later(t, 20, func() { c <- struct{}{} })
	wants(t, "what the test waits for", Await(answer), Came)
}

// Others do not pause while what runs aside waits for an event, and it pauses again afterwards.
func TestWaitForAside(t *testing.T) {
	p := New(1)
	defer p.Close()
	c, done := make(chan struct{}, 1), make(chan bool, 1)
	go Aside(func() error {
		wants(t, "aside", waitFor(c, long), Came)
		done <- p.Rests()
		return nil
	})
	time.Sleep(time.Millisecond)
	if p.Rests() {
		t.Error("others rest")
	}
	c <- struct{}{}
	if !<-done {
		t.Error("what runs aside does not rest after an event")
	}
}
