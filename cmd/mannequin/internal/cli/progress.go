package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress is a bar on a terminal, and does nothing elsewhere.
type Progress struct {
	ctx context.Context
	bar *progressbar.ProgressBar // nil without a terminal
}

func NewProgress(ctx context.Context, w io.Writer) *Progress {
	p := &Progress{ctx: ctx}
	if IsTerminal(w) {
		p.bar = progressbar.NewOptions64(1, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(24), progressbar.OptionUseANSICodes(true),
			progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(200e6), progressbar.OptionClearOnFinish())
	}
	return p
}

func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Total sets the approximate number of all steps.
func (p *Progress) Total(n int64) {
	if p.bar != nil {
		p.bar.ChangeMax64(n)
	}
}

// Stage names the next stage.
func (p *Progress) Stage(name string) {
	if p.bar != nil {
		p.bar.Describe(name)
	}
}

// Tick counts n more as done. It returns an error if the command was interrupted.
func (p *Progress) Tick(n int) error {
	if p.ctx.Err() != nil {
		return errors.New("interrupted, nothing measured")
	}
	if p.bar != nil {
		// The estimate of the whole may be too small.
		if s := p.bar.State(); s.CurrentNum+int64(n) < s.Max {
			p.bar.Add(n)
		}
	}
	return nil
}

// Step shows that done of n are done.
func (p *Progress) Step(done, n int) {
	if p.bar != nil {
		p.bar.ChangeMax(n)
		p.bar.Set(done)
	}
}

// Finish removes the bar.
func (p *Progress) Finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
