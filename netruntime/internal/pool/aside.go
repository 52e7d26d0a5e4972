//go:build !js

package pool

// Aside runs f, which works for a later time, beside what the program shows. Where one
// thread does everything, in a browser, calls of pools of one worker inside f rest every
// few milliseconds, so that pictures and keys have their turn.
func Aside(f func() error) error { return f() }

// Await receives from c. In a browser, who works aside does not rest meanwhile.
func Await[T any](c <-chan T) T { return <-c }

// Rests tells whether Rest may do anything: whether this goroutine works aside, on one
// thread.
func (p *Pool) Rests() bool { return false }

// Rest is called inside a long call of f, between its parts, where others may have their
// turn.
func (p *Pool) Rest() {}
