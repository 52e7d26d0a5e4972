//go:build !js

package pool

// Aside runs f beside the ticks: work for a later tick. In a browser, which has one thread, pools
// of one worker inside f pause every few milliseconds, so that frames and input get their turn.
func Aside(f func() error) error { return f() }

// Await receives from c. In a browser, work that runs aside does not pause while it waits.
func Await[T any](c <-chan T) T { return <-c }

// Rests reports whether Rest may pause: whether this goroutine runs aside, on one thread.
func (p *Pool) Rests() bool { return false }

// Rest is called between the parts of a long call of f, to let other goroutines run.
func (p *Pool) Rest() {}
