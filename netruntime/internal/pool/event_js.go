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

// alarm is a timer. It stays set from one wait to the next: to set it costs an allocation.
type alarm struct {
	*time.Timer
	at time.Time // when it rings
}

var alarms []*alarm // the free ones

// newAlarm returns an alarm that rings by a time.
func newAlarm(by time.Time) *alarm {
	n := len(alarms)
	if n == 0 {
		return &alarm{time.NewTimer(time.Until(by)), by}
	}
	a := alarms[n-1]
	alarms = alarms[:n-1]
	if a.at.After(by) || !a.at.After(time.Now()) {
		a.set(by)
	}
	return a
}

func (a *alarm) set(at time.Time) {
	a.Reset(time.Until(at))
	a.at = at
}

// free lets others use an alarm.
func (a *alarm) free() { alarms = append(alarms, a) }

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
	end := time.Now().Add(limit / parts)
	a := newAlarm(end)
	defer a.free()
	for part := 1; ; {
		select {
		case v = <-c:
			return v, Came
		case <-held:
			return v, Never
		case <-a.C:
			if now := time.Now(); !now.Before(end) { // else it was set for an earlier wait
				if part++; part > parts {
					return v, Late
				}
				end = now.Add(limit / parts)
			}
			a.set(end)
		}
	}
}
