package manifold

import (
	"errors"
	"fmt"
	"time"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// context is how many frames before and after a motion its networks are given:
// the reach of their filters.
const context = 60

// DefaultIterations are the steps of an edit after which little changes: the
// editor's cost is then below that of the 250 steps of Adam in the authors'
// release (docs/manifold.md).
const DefaultIterations = 40

// CrowdIterations are those for people that are seen from afar, in place of the
// ten steps of Adam in the authors' release.
const CrowdIterations = 4

// Locomotion makes people walk and run along courses: the networks of footsteps
// and of motion, then the edit that keeps standing feet where they are and bones
// as long as they are. It belongs to one goroutine.
type Locomotion struct {
	Model  *Model
	Walker *Walker
	Editor *Editor

	body, rows, contacts []float32
}

// LocomotionOptions say what a Locomotion is for.
type LocomotionOptions struct {
	Batch   int               // most courses at a time, at least 1
	Frames  int               // most frames of a course
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // what computes networks; nil is the processor
	BF16    bool              // see netruntime.SessionOptions
}

// NewLocomotion returns a Locomotion.
func (n *Networks) NewLocomotion(o LocomotionOptions) (*Locomotion, error) {
	m := n.Model
	if o.Frames < 1 {
		return nil, fmt.Errorf("manifold: courses of up to %d frames, want at least 1", o.Frames)
	}
	length := padded(o.Frames)
	w, err := n.NewWalker(WalkerOptions{Batch: o.Batch, Length: length, Workers: o.Workers, Open: o.Open, BF16: o.BF16})
	if err != nil {
		return nil, err
	}
	e, err := m.NewEditor(EditorOptions{Batch: o.Batch, Length: length, Workers: o.Workers, Open: o.Open})
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	size := o.Batch * length
	return &Locomotion{Model: m, Walker: w, Editor: e,
		body: make([]float32, size*feature.MotionLen), rows: make([]float32, size*m.Layout.Columns()), contacts: make([]float32, size*len(m.Layout.Contacts))}, nil
}

// padded is the length of the motion that is made for so many frames.
func padded(frames int) int { return (frames + 2*context + 1) &^ 1 }

// Close ends its workers.
func (l *Locomotion) Close() error {
	return errors.Join(l.Walker.Close(), l.Editor.Close())
}

// Made is motion along a course.
type Made struct {
	Start    feature.Place // of the first frame
	Frames   int
	Rows     []float32 // (Frames, columns) raw
	Contacts []float32 // (Frames, contacts) 1 where a contact stands, else 0
}

// MadeReport is how motion was made: what the stages took, by the clock that Make
// was given, and how the edit went.
type MadeReport struct {
	Synthesis, Editing time.Duration
	Edit               EditReport
}

// Make returns motion along courses of equal length. gaits has one for each, or is
// nil. iterations are those of the edit; 0 leaves it out. now may be nil: then
// nothing is timed.
func (l *Locomotion) Make(courses []Course, gaits []Gait, iterations int, now func() time.Time) ([]Made, MadeReport, error) {
	var r MadeReport
	if len(courses) == 0 {
		return nil, r, nil
	}
	if now == nil {
		now = func() time.Time { return time.Time{} }
	}
	frames := len(courses[0])
	length := padded(frames)
	cols, n := l.Model.Layout.Columns(), len(l.Model.Layout.Contacts)
	if frames == 0 || len(courses)*length > len(l.body)/feature.MotionLen {
		return nil, r, fmt.Errorf("manifold: %d courses of %d frames are none, or more than this Locomotion is for", len(courses), frames)
	}
	for b, c := range courses {
		if len(c) != frames {
			return nil, r, fmt.Errorf("manifold: course %d has %d frames, course 0 has %d: make courses of equal length together", b, len(c), frames)
		}
		body := l.body[b*length*feature.MotionLen:][:length*feature.MotionLen]
		c.Body(body[context*feature.MotionLen:][:frames*feature.MotionLen])
		for f := range length { // beyond its ends a course goes on as it is there
			if at := min(max(f, context), context+frames-1); at != f {
				copy(body[f*feature.MotionLen:][:feature.MotionLen], body[at*feature.MotionLen:])
			}
		}
	}
	batch := len(courses)
	walk := &Walk{Batch: batch, Length: length, Body: l.body[:batch*length*feature.MotionLen], Gaits: gaits,
		Rows: l.rows[:batch*length*cols], Contacts: l.contacts[:batch*length*n]}
	at := now()
	if err := l.Walker.Run(walk); err != nil {
		return nil, r, err
	}
	l.Editor.centre(walk.Rows, batch, length)
	r.Synthesis = now().Sub(at)
	if iterations > 0 {
		at = now()
		var err error
		if r.Edit, err = l.Editor.RunCentred(&Edit{Batch: batch, Length: length, Rows: walk.Rows, Body: walk.Body, Stand: walk.Contacts, Iterations: iterations}); err != nil {
			return nil, r, err
		}
		r.Editing = now().Sub(at)
	}
	made := make([]Made, batch)
	for b, c := range courses {
		from := b*length + context
		made[b] = Made{Start: c[0], Frames: frames,
			Rows:     append([]float32(nil), walk.Rows[from*cols:(from+frames)*cols]...),
			Contacts: append([]float32(nil), walk.Contacts[from*n:(from+frames)*n]...)}
	}
	return made, r, nil
}
