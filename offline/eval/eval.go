package eval

import (
	"context"
	"errors"
	"time"
)

// Progress shows the progress of an evaluation, and ends it when it is interrupted.
type Progress interface {
	// Total sets the approximate number of all ticks of one agent.
	Total(rows int64)
	// Stage names the next stage.
	Stage(name string)
	// Tick counts a tick of rows agents. Its error ends the evaluation.
	Tick(rows int) error
}

// ErrInterrupted ends an evaluation whose context is done.
var ErrInterrupted = errors.New("interrupted, nothing measured")

// Stages runs the stages of an evaluation in order, until one fails or ctx is done.
func Stages(ctx context.Context, stages ...func() error) error {
	for _, stage := range stages {
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		if err := stage(); err != nil {
			return err
		}
	}
	return nil
}

// Fastest returns the shortest time of several runs.
func Fastest(runs int, run func() error) (best time.Duration, err error) {
	for i := range runs {
		begin := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		if took := time.Since(begin); i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}
