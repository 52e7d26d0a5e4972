package latent

import (
	"slices"

	"mannequin/animsys/latent"
)

// sequence is the clips that were added, chained. A goroutine of its own finds how
// the next one begins where they end, which takes longer than a tick: what is asked
// for is taken a fixed number of ticks later, so that the same inputs give the same
// motion however fast that was.
type sequence struct {
	coder *latent.Coder
	cols  int
	rows  []float32 // (frames, columns) raw
	next  []float32 // the same with what is under way
	undo  []undo    // of the clips, oldest first
	due   int       // ticks until what is under way is taken; 0: nothing is
	miss  float64   // of the last clip: see latent.Coder.Append, m

	wish, found []float32 // (values) of the clip under way: as asked for, and as it came out

	work chan order
	done chan order
}

// undo is what takes a clip away again.
type undo struct {
	tail       []float32 // (overlap, columns) the frames that it was faded into
	components []float32 // (values) as the player had them
}

// order is a clip to append.
type order struct {
	rows, components []float32
	fixed            []bool
	miss             float64
	err              error
}

// patience is how many ticks an added clip takes.
const patience = 60

// newSequence returns an empty one. It closes the coder when it is closed.
func newSequence(c *latent.Coder, cols int) *sequence {
	s := &sequence{coder: c, cols: cols, work: make(chan order, 1), done: make(chan order, 1)}
	go func() {
		for o := range s.work {
			o.rows, o.miss, o.err = s.coder.Append(o.rows, o.components, o.fixed)
			s.done <- o
		}
		close(s.done)
	}()
	return s
}

// frames returns its length.
func (s *sequence) frames() int { return len(s.rows) / s.cols }

// add begins to append a clip; see latent.Coder.Append. Nothing else may be under
// way.
func (s *sequence) add(components []float32, fixed []bool) {
	s.due = patience
	s.next = append(s.next[:0], s.rows...) // s.rows is shown meanwhile
	s.wish, s.found = append(s.wish[:0], components...), append(s.found[:0], components...)
	s.work <- order{rows: s.next, components: s.found, fixed: fixed}
}

// take passes a tick. Where a clip is due it is added, and took are its components.
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
	u := &s.undo[len(s.undo)-1] // with the memory of one that was undone
	u.tail, u.components = append(u.tail[:0], s.rows[n:]...), append(u.components[:0], s.wish...)
	s.rows, s.next, s.miss = o.rows, s.rows, o.miss
	return o.components, nil
}

// asked returns the last clip's components, of at least one, as they were asked for.
func (s *sequence) asked() []float32 { return s.undo[len(s.undo)-1].components }

// back takes the last clip away, of at least one, and returns its components as they
// were asked for.
func (s *sequence) back() []float32 {
	last := s.undo[len(s.undo)-1]
	s.undo = s.undo[:len(s.undo)-1]
	s.rows = append(s.rows[:len(s.rows)-latent.Frames*s.cols], last.tail...)
	return last.components
}

// close waits for what is under way.
func (s *sequence) close() error {
	close(s.work)
	for range s.done {
	}
	return s.coder.Close()
}
