package reserve

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// GPU is what a package knows of the process's GPU.
type GPU struct {
	Lost      atomic.Bool  // after an error: the GPU is not called again
	Fallbacks atomic.Int64 // runs of the processor because the GPU was lost

	announced sync.Once
}

// Announce logs once what networks run on: the device with a name, or the processor because of err.
func (g *GPU) Announce(log *slog.Logger, device string, err error) {
	g.announced.Do(func() {
		if err != nil {
			log.Warn("no GPU, the processor computes the networks", "err", err)
		} else {
			log.Info("networks run on the GPU", "device", device)
		}
	})
}

// Lose ends the use of the GPU after an error. The first time it logs that, and returns true.
func (g *GPU) Lose(log *slog.Logger, err error) bool {
	if g.Lost.Swap(true) {
		return false
	}
	log.Error("the GPU is lost, the processor computes the networks from here on", "err", err)
	return true
}

// Within runs f and waits for at most limit. If f hangs, it keeps its goroutine, and must leave alone what the caller uses afterwards.
func Within(limit time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return ErrHang(limit)
	}
}

// ErrHang returns the error of a GPU that hangs.
func ErrHang(limit time.Duration) error { return fmt.Errorf("the GPU has not answered for %v", limit) }
