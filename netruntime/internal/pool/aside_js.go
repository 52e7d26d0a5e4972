package pool

import "time"

// slice is the time after which work that runs aside pauses. It leaves half of a frame for the
// display. A browser wakes a sleeper after 1 to 4 ms.
const slice = 4 * time.Millisecond

// There is only one thread. Goroutines switch only when one waits: inside Aside, when Rest sleeps.
var (
	aside   bool // the current work was started by Aside
	began   time.Time
	awaited int // goroutines in Await
)

// Aside runs f beside the ticks: work for a later tick. Pools of one worker inside f pause every
// few milliseconds.
func Aside(f func() error) error {
	aside, began = true, time.Now()
	defer func() { aside = false }()
	return f()
}

// Await receives from c. Work that runs aside does not pause while it waits, and waits for no events if
// they cannot come.
func Await[T any](c <-chan T) T {
	awaited++
	defer func() { awaited-- }()
	if called() {
		if holders++; holders == 1 {
			close(held)
		}
		defer func() {
			if holders--; holders == 0 {
				held = make(chan struct{})
			}
		}()
	}
	return <-c
}

// Rests reports whether Rest may pause: whether this goroutine runs aside and is the pool's only
// worker.
func (p *Pool) Rests() bool { return aside && p.workers == 1 }

// Rest pauses work that has run aside for a while. Run and Steps call it after each call of f.
func (p *Pool) Rest() {
	if !p.Rests() || awaited > 0 || time.Since(began) < slice {
		return
	}
	aside = false
	time.Sleep(time.Millisecond)
	aside, began = true, time.Now()
}
