package pool

import "time"

// slice is for how long one works aside until the others have their turn. Half of what a
// picture lasts is left for what is shown; a browser wakes a sleeper after 1 to 4 ms.
const slice = 4 * time.Millisecond

// There is one thread, and goroutines only change in it where one waits: inside Aside
// that is where Rest sleeps.
var (
	aside   bool // what runs was begun by Aside
	began   time.Time
	awaited int // goroutines in Await
)

// Aside runs f, which works for a later time, beside what the program shows. Calls of
// pools of one worker inside f rest every few milliseconds.
func Aside(f func() error) error {
	aside, began = true, time.Now()
	defer func() { aside = false }()
	return f()
}

// Await receives from c. Who works aside does not rest meanwhile.
func Await[T any](c <-chan T) T {
	awaited++
	defer func() { awaited-- }()
	return <-c
}

// Rests tells whether Rest may do anything: whether this goroutine works aside, and is
// all that the pool has.
func (p *Pool) Rests() bool { return aside && p.workers == 1 }

// Rest gives way to the others, where one works aside and has done so for a while. Run and
// Steps do after each call of f.
func (p *Pool) Rest() {
	if !p.Rests() || awaited > 0 || time.Since(began) < slice {
		return
	}
	aside = false
	time.Sleep(time.Millisecond)
	aside, began = true, time.Now()
}
