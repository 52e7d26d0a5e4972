package manifold

import (
	"errors"
	"fmt"
	"time"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// context is the number of frames before and after a motion that its networks see: the reach of
// their filters.
const context = 60

// DefaultIterations is the number of edit steps after which little changes. The cost is then below
// that of the 250 steps of Adam in the authors' release (docs/manifold.md).
const DefaultIterations = 40

// CrowdIterations is the number of edit steps for people seen from afar. The authors' release takes
// ten steps of Adam.
const CrowdIterations = 4

// Locomotion synthesizes walking and running along trajectories: the networks of footsteps and of
// motion, then an edit that keeps contacts in place and bone lengths. It belongs to one goroutine.
type Locomotion struct {
	Model  *Model
	Walker *Walker
	Editor *Editor

	body, moved, rows, contacts []float32 // of bodies on their curves, and of those that sway
	want, weight                []float32 // for the edit
	sway                        []sway
	knees                       []int // joints
	toes                        int   // number of contacts that are toes
	variety                     variety
	fidgets                     fidgets
	stands                      []float64
}

// LocomotionOptions are the options of NewLocomotion.
type LocomotionOptions struct {
	Batch   int               // maximum number of trajectories, at least 1
	Frames  int               // maximum number of frames
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // opens sessions; nil: on the CPU
	BF16    bool              // see netruntime.SessionOptions
}

// NewLocomotion returns a Locomotion.
func (n *Networks) NewLocomotion(o LocomotionOptions) (*Locomotion, error) {
	if n.Model == nil {
		return nil, errZeroNetworks
	}
	m := n.Model
	if o.Frames < 1 {
		return nil, fmt.Errorf("manifold: trajectories of up to %d frames, want at least 1", o.Frames)
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
	var knees []int
	for _, side := range []string{"Left", "Right"} {
		if j := m.Layout.Joint(side + "Leg"); j >= 0 {
			knees = append(knees, j)
		}
	}
	toes := 0
	for _, toe := range w.toe {
		if toe {
			toes++
		}
	}
	return &Locomotion{Model: m, Walker: w, Editor: e, knees: knees, toes: toes, variety: newVariety(m), fidgets: newFidgets(m), stands: make([]float64, length),
		body: make([]float32, size*feature.MotionLen), moved: make([]float32, size*feature.MotionLen), sway: make([]sway, size), rows: make([]float32, size*m.Layout.Columns()),
		want: make([]float32, size*m.Layout.Columns()), weight: make([]float32, size*m.Layout.Columns()),
		contacts: make([]float32, size*len(m.Layout.Contacts))}, nil
}

// padded returns the length of the motion that is made for a number of frames.
func padded(frames int) int { return (frames + 2*context + 1) &^ 1 }

// Close stops its workers.
func (l *Locomotion) Close() error {
	if l.Walker == nil {
		return nil
	}
	return errors.Join(l.Walker.Close(), l.Editor.Close())
}

// LocomotionClip is motion along a trajectory. The body sways about it, by a centimetre or two.
type LocomotionClip struct {
	Start    feature.Place // of the first frame
	Frames   int
	Rows     []float32 // (Frames, columns) raw
	Contacts []float32 // (Frames, contacts) 1 if a contact stands, else 0
}

// LocomotionReport has the time of each stage, by the clock given to Make, and the result of the
// edit.
type LocomotionReport struct {
	Synthesis, Editing time.Duration
	Edit               EditReport
}

// Make returns motion along trajectories of equal length. gaits has one for each, or is nil.
// iterations are those of the edit; 0 leaves it out. now may be nil: then nothing is timed.
func (l *Locomotion) Make(courses []Trajectory, gaits []Gait, iterations int, now func() time.Time) ([]LocomotionClip, LocomotionReport, error) {
	var r LocomotionReport
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
		return nil, r, fmt.Errorf("manifold: %d trajectories of %d frames: none, or more than LocomotionOptions allow", len(courses), frames)
	}
	for b, c := range courses {
		if len(c) != frames {
			return nil, r, fmt.Errorf("manifold: trajectory %d has %d frames, trajectory 0 has %d: want equal lengths in a batch", b, len(c), frames)
		}
		body := l.body[b*length*feature.MotionLen:][:length*feature.MotionLen]
		c.BodyMotion(body[context*feature.MotionLen:][:frames*feature.MotionLen])
		for f := range length { // beyond its ends a trajectory continues as there
			if at := min(max(f, context), context+frames-1); at != f {
				copy(body[f*feature.MotionLen:][:feature.MotionLen], body[at*feature.MotionLen:])
			}
		}
	}
	batch := len(courses)
	walk := &Walk{Batch: batch, Length: length, Body: l.body[:batch*length*feature.MotionLen], Gaits: gaits,
		Rows: l.rows[:batch*length*cols], Contacts: l.contacts[:batch*length*n], sway: l.sway[:batch*length]}
	at := now()
	if err := l.Walker.Run(walk); err != nil {
		return nil, r, err
	}
	l.Editor.centre(walk.Rows, batch, length)
	want, weight := l.want[:len(walk.Rows)], l.weight[:len(walk.Rows)]
	moved := l.moved[:len(walk.Body)]
	for b := range batch {
		of, at := l.sway[b*length:][:length], b*length*feature.MotionLen
		var person uint32
		if len(gaits) > 0 {
			person = gaits[b].Person
		}
		l.Walker.sidestep(walk.Rows[b*length*cols:][:length*cols], walk.Body[at:], 0)
		l.stand(walk.Rows[b*length*cols:][:length*cols], walk.Body[at:], of, person)
		rest := l.stands[:length]
		for f := range rest {
			rest[f] = stays(walk.Body[at+f*feature.MotionLen:])
		}
		l.variety.run(l.Model.Layout, walk.Rows[b*length*cols:][:length*cols], rest, person)
		l.fidgets.run(l.Model.Layout, walk.Rows[b*length*cols:][:length*cols], rest, person, 0)
		addSway(moved[at:], walk.Body[at:], of)
		if iterations > 0 {
			l.Walker.plantRunners(walk.Rows[b*length*cols:][:length*cols], want[b*length*cols:][:length*cols], weight[b*length*cols:][:length*cols],
				walk.Body[at:][:length*feature.MotionLen], walk.Contacts[b*length*n:][:length*n])
		}
		for f := range of {
			copy(walk.Rows[(b*length+f)*cols+l.Model.Layout.Body():], moved[at+f*feature.MotionLen:][:feature.MotionLen])
		}
	}
	r.Synthesis = now().Sub(at)
	if iterations > 0 {
		at = now()
		var err error
		if r.Edit, err = l.Editor.RunCentred(&Edit{Batch: batch, Length: length, Rows: walk.Rows, Body: moved,
			Want: want, Weight: weight, Stand: walk.Contacts, CalmLimbs: true, Iterations: iterations}); err != nil {
			return nil, r, err
		}
		r.Editing = now().Sub(at)
	}
	made := make([]LocomotionClip, batch)
	for b, c := range courses {
		from := b*length + context
		made[b] = LocomotionClip{Start: l.sway[from].on(c[0]), Frames: frames,
			Rows:     append([]float32(nil), walk.Rows[from*cols:(from+frames)*cols]...),
			Contacts: append([]float32(nil), walk.Contacts[from*n:(from+frames)*n]...)}
	}
	return made, r, nil
}
