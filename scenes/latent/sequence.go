package latent

import (
	"slices"

	"mannequin/animsys/latent"
)

// sequence is the chain of added clips. A goroutine fits the beginning of the next clip to the end
// of the chain, which takes longer than a tick. The clip is added a fixed number of ticks after the
// request, so that results do not depend on the machine's speed.
type sequence struct {
	coder *latent.Coder
	cols  int
	rows  []float32 // (frames, columns) raw
	next  []float32 // the same with the requested clip
	undo  []undo    // one per clip, oldest first
	due   int       // ticks until the requested clip is added; 0: there is none
	miss  float64   // of the last clip: see latent.Coder.Append, m

	intent, found []float32 // (values) components of the requested clip: as requested, and as fitted

	work chan request
	done chan request
}

// undo is what is needed to remove a clip.
type undo struct {
	tail       []float32 // (overlap, columns) the frames that the clip was blended into
	components []float32 // (values) as requested
}

// request is a clip to append.
type request struct {
	rows, components []float32
	fixed            []bool
	miss             float64
	err              error
}

// latency is the number of ticks from a request until the clip is added.
const latency = 60

// newSequence returns an empty sequence. It owns the coder.
func newSequence(c *latent.Coder, cols int) *sequence {
	s := &sequence{coder: c, cols: cols, work: make(chan request, 1), done: make(chan request, 1)}
	go func() {
		for o := range s.work {
			o.rows, o.miss, o.err = s.coder.Append(o.rows, o.components, o.fixed)
			s.done <- o
		}
		close(s.done)
	}()
	return s
}

// frames returns the length.
func (s *sequence) frames() int { return len(s.rows) / s.cols }

// add requests a clip; see latent.Coder.Append. There may be only one request at a time.
func (s *sequence) add(components []float32, fixed []bool) {
	s.due = latency
	s.next = append(s.next[:0], s.rows...) // s.rows is shown meanwhile
	s.intent, s.found = append(s.intent[:0], components...), append(s.found[:0], components...)
	s.work <- request{rows: s.next, components: s.found, fixed: fixed}
}

// take runs a tick. If a clip is due it is added, and took are its components.
func (s *sequence) take() (took []float32, err error) {
	if s.due == 0 {
		return nil, nil
	}
	if s.due--; s.due > 0 {
		return nil, nil
	}
	o := <-s.done
	if o.err != nil {
		return nil, o.err
	}
	n := max(0, s.frames()-latent.Overlap) * s.cols
	s.undo = slices.Grow(s.undo, 1)[:len(s.undo)+1]
	u := &s.undo[len(s.undo)-1] // reuses the memory of a removed clip
	u.tail, u.components = append(u.tail[:0], s.rows[n:]...), append(u.components[:0], s.intent...)
	s.rows, s.next, s.miss = o.rows, s.rows, o.miss
	return o.components, nil
}

// asked returns the last clip's components as requested. There is at least one clip.
func (s *sequence) asked() []float32 { return s.undo[len(s.undo)-1].components }

// back removes the last clip, and returns its components as requested. There is at least one clip.
func (s *sequence) back() []float32 {
	last := s.undo[len(s.undo)-1]
	s.undo = s.undo[:len(s.undo)-1]
	s.rows = append(s.rows[:len(s.rows)-latent.Frames*s.cols], last.tail...)
	return last.components
}

// close waits for the request.
func (s *sequence) close() error {
	close(s.work)
	for range s.done {
	}
	return s.coder.Close()
}
