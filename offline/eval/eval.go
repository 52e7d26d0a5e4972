package eval

import (
	"errors"
)

// Progress shows how far an evaluation is, and ends it when it is interrupted.
type Progress interface {
	// Total sets about how many ticks of one agent there will be in all.
	Total(rows int64)
	// Stage names what comes next.
	Stage(name string)
	// Tick counts a tick of rows agents. Its error ends the evaluation.
	Tick(rows int) error
}

// ErrInterrupted ends an evaluation whose context is done.
var ErrInterrupted = errors.New("interrupted, nothing measured")
