// Package clock turns uneven frame times into fixed simulation steps.
//
// Time is injected: nothing here reads the wall clock, so that equal frame times give equal steps.
package clock

import (
	"fmt"
	"time"
)

// Fixed accumulates frame time and divides it into equal steps. Elapsed time is kept in whole
// nanoseconds and compared with rate·time. So a rate such as 60 Hz, whose step is not a whole
// number of nanoseconds, never drifts.
//
// The zero value is not usable; see New.
type Fixed struct {
	rate    int64 // steps per second
	maxStep int64
	acc     int64 // elapsed·rate not yet stepped, in ns·Hz: one step is 1e9
}

const second = int64(time.Second)

// New returns a clock of rate steps per second. It takes at most maxSteps steps per frame and drops
// the remaining time: a program that was stopped in a debugger does not have to catch up.
func New(rate, maxSteps int) (*Fixed, error) {
	if rate < 1 || rate > 1000 {
		return nil, fmt.Errorf("clock: rate %d steps/s, want 1 to 1000", rate)
	}
	if maxSteps < 1 {
		return nil, fmt.Errorf("clock: %d steps per frame, want at least 1", maxSteps)
	}
	return &Fixed{rate: int64(rate), maxStep: int64(maxSteps)}, nil
}

// Advance adds the frame time dt, at least 0, and returns the number of steps to take now.
func (c *Fixed) Advance(dt time.Duration) int {
	// An hour is far beyond any catch-up limit and keeps dt·rate in range.
	dt = min(max(dt, 0), time.Hour)
	c.acc += int64(dt) * c.rate
	n := c.acc / second
	c.acc -= n * second
	return int(min(n, c.maxStep))
}

// Alpha returns the time since the last step as a share of a step, in [0, 1): the weight of the
// newer state when rendering interpolates.
func (c *Fixed) Alpha() float32 { return min(float32(c.acc)/float32(second), 1-0x1p-24) }
