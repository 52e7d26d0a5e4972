package pool

import (
	"runtime"
	"slices"
	"syscall/js"
	"time"
)

// JavaScript's events wait for the functions that they call (js.FuncOf). So nothing that comes with an
// event comes while such a function waits, itself or in Await.
var (
	holders int                   // such functions in Await
	held    = make(chan struct{}) // closed while there are any

	handler uintptr         // where the language's own code calls such functions
	callers [1 << 8]uintptr // of called
)

// called reports whether JavaScript has called this goroutine, and waits for it.
func called() bool {
	if handler == 0 {
		handler = findHandler()
	}
	n := runtime.Callers(1, callers[:])
	return n == len(callers) || slices.Contains(callers[:n], handler)
}

// findHandler lets JavaScript call a function, and looks at its callers.
func findHandler() (at uintptr) {
	at = 1 // none, if another version of Go has no such function: TestHeld
	f := js.FuncOf(func(js.Value, []js.Value) any {
		n := runtime.Callers(1, callers[:])
		for i := range n {
			if frame, _ := runtime.CallersFrames(callers[i : i+1]).Next(); frame.Function == "syscall/js.handleEvent" {
				at = callers[i]
				break
			}
		}
		return nil
	})
	defer f.Release()
	f.Invoke()
	return at
}

// Held reports whether this goroutine can wait for no event of JavaScript: a function that JavaScript
// has called waits for it.
func Held() bool { return holders > 0 || called() }

// Event is how a wait for an event has ended.
type Event int

const (
	Came Event = iota
	Late
	Never // it cannot come: see Held
)

// WaitFor receives from c what a function sends that JavaScript calls, but waits for no longer than limit.
// Others compute meanwhile.
func WaitFor[T any](c <-chan T, limit time.Duration) (v T, _ Event) {
	if Held() {
		return v, Never
	}
	if aside {
		aside = false
		defer func() { aside, began = true, time.Now() }()
	}
	// A page that was frozen may see the time pass before the event. That is one part of the limit.
	const parts = 10
	timer := time.NewTimer(limit / parts)
	defer timer.Stop()
	for part := 1; ; part++ {
		select {
		case v = <-c:
			return v, Came
		case <-held:
			return v, Never
		case <-timer.C:
			if part == parts {
				return v, Late
			}
			timer.Reset(limit / parts)
		}
	}
}
