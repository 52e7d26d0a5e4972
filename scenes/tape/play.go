package tape

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mannequin/scenes"
)

// Recorder is a scene that records its steps.
type Recorder struct {
	scenes.Scene
	w *Writer
}

// Record returns s as a scene that records its steps to w.
func Record(s scenes.Scene, w *Writer) *Recorder { return &Recorder{s, w} }

// Step runs one tick and records it.
func (r *Recorder) Step(in scenes.Input) error {
	if err := r.Scene.Step(in); err != nil {
		return err
	}
	return r.w.Tick(in, r.Scene.Hash())
}

// Player is a scene that plays a tape and ignores its input. After the last tick it stands still.
type Player struct {
	scenes.Scene
	Ticks int64          // played
	Over  bool           // no ticks are left
	Wrong *MismatchError // the first tick that differs from the recording; nil so far

	r *Reader
}

// Play returns s as a scene that plays r. s must be newly opened.
func Play(s scenes.Scene, r *Reader) *Player { return &Player{Scene: s, r: r} }

// MismatchError reports the first tick that differs from the recording.
type MismatchError struct {
	Tick      int64  // from 0
	Want, Got uint64 // the hashes after it
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("tick %d, at %.2f s, is not as it was recorded, those before it are: its hash is %016x, not %016x", e.Tick, seconds(e.Tick), e.Got, e.Want)
}

func seconds(ticks int64) float64 { return float64(ticks) / scenes.TickRate }

// Step runs the next tick of the tape. A tape without an end is over after its last tick.
func (p *Player) Step(scenes.Input) error {
	if p.Over {
		return nil
	}
	t, err := p.r.Next()
	if cut := (*CutError)(nil); err == io.EOF || errors.As(err, &cut) {
		p.Over = true
		return nil
	}
	if err != nil {
		return err
	}
	if err := p.Scene.Step(t.Input); err != nil {
		return fmt.Errorf("tick %d of the tape: %w", p.Ticks, err)
	}
	if got := p.Scene.Hash(); got != t.Hash && p.Wrong == nil {
		p.Wrong = &MismatchError{p.Ticks, t.Hash, got}
	}
	p.Ticks++
	return nil
}

// Frame describes what to draw, with the tape's time. There is no help: the scene's keys do nothing.
func (p *Player) Frame(dst *scenes.Frame, alpha float32) {
	if p.Over {
		alpha = 1
	}
	p.Scene.Frame(dst, alpha)
	at := fmt.Sprintf("replay: %.1f s", seconds(p.Ticks))
	if p.Over {
		at += ", the end"
	}
	if p.Wrong != nil {
		at += fmt.Sprintf("; not as recorded since %.1f s", seconds(p.Wrong.Tick))
	}
	dst.HUD, dst.Help = append(dst.HUD, at), dst.Help[:0]
}

// Verify plays a tape and returns its number of ticks. The error is a *MismatchError for the first
// tick that differs from the recording, or a *CutError if none does and the tape's end is missing.
// s must be newly opened.
func Verify(ctx context.Context, s scenes.Scene, r *Reader) (ticks int64, err error) {
	p := Play(s, r)
	for !p.Over && p.Wrong == nil {
		if err := ctx.Err(); err != nil {
			return p.Ticks, fmt.Errorf("stopped after %d ticks, which are as recorded", p.Ticks)
		}
		if err := p.Step(scenes.Input{}); err != nil {
			return p.Ticks, err
		}
	}
	if p.Wrong != nil {
		return p.Wrong.Tick, p.Wrong
	}
	if _, err := r.Next(); err != io.EOF {
		return p.Ticks, err
	}
	return p.Ticks, nil
}

// Length reads a tape and returns its number of ticks. The error is a *CutError if its end is
// missing.
func Length(r *Reader) (ticks int64, err error) {
	for {
		if _, err := r.Next(); err == io.EOF {
			return ticks, nil
		} else if err != nil {
			return ticks, err
		}
		ticks++
	}
}
