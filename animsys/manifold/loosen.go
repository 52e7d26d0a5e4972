package manifold

import (
	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// RunCentred is Run in two halves. Between them the poses are centred in the body's frame, because
// an edit turns them a little. Use it if the body moves differently than before.
func (e *Editor) RunCentred(job *Edit) (EditReport, error) { return e.runParts(job, true) }

// loosenParts is the number of parts of an edit with Edit.Loosen, even.
const loosenParts = 4

// runParts runs an edit in parts, which each begin a descent of their own.
func (e *Editor) runParts(job *Edit, centred bool) (EditReport, error) {
	if err := e.check(job); err != nil {
		return EditReport{}, err
	}
	parts, loosen := 1, job.Loosen > 0 && job.Stand != nil
	if loosen {
		parts = loosenParts
	} else if centred {
		parts = 2
	}
	e.job, e.smoother, e.loosened = job, nil, false
	if job.CalmLimbs {
		e.smoother = &e.smoothers[1]
	} else if job.Calm {
		e.smoother = &e.smoothers[0]
	}
	defer func() { e.job, e.loosened = nil, false }()
	var total EditReport
	for i, done := 0, 0; i < parts; i++ {
		to := ((i+1)*job.Iterations + parts - 1) / parts
		if i > 0 {
			if done == job.Iterations {
				break
			}
			if centred && i == parts/2 {
				e.centre(job.Rows, job.Batch, job.Length)
			}
			if loosen {
				e.pool.Run(job.Batch, e.loosen)
				e.loosened = true
			}
		}
		r, ended, err := e.descend(job, to-done)
		if err != nil {
			return total, err
		}
		if i == 0 {
			total.Before = r.Before
		}
		if total.After, total.Steps, total.Failed, done = r.After, total.Steps+r.Steps, r.Failed, to; ended {
			break
		}
	}
	if e.loosened { // After is comparable with Before: all contacts count in full
		e.loosened, total.After = false, 0
		e.pool.Run(job.Batch, e.begin)
		for _, s := range e.state[:job.Batch] {
			if finite(s.cost) {
				total.After += s.cost / float64(job.Batch*job.Length)
			}
		}
	}
	return total, nil
}

// DefaultLoosen is an Edit.Loosen for recorded motions of people, m/s.
const DefaultLoosen = 0.08

// loosenFrames is the number of frames before and after a pair of frames over which Edit.Loosen takes the
// mean speed: noise does not loosen a contact.
const loosenFrames = 2

// loosenMotion weighs the contacts of motion b by how they slide in job.Rows: Cauchy's weights for
// least squares that are weighted again after each round.
func (e *Editor) loosenMotion(job *Edit, b int, at []m3.Vec3) {
	l := e.model.Layout
	cols, n := l.Columns(), len(l.Contacts)
	rows := job.Rows[b*job.Length*cols:][:job.Length*cols]
	for i, c := range l.Contacts {
		var place feature.Place
		for f := range job.Length {
			row := rows[f*cols:][:cols]
			at[f] = m3.YawQuat(place.Yaw).Rotate(vec(row, l.Pos(l.Joint(c.Joint)))).Add(place.Pos)
			place = place.Advance(row[l.Body():], 1.0/Rate)
		}
		for f := range job.Length {
			k := b*job.Length*n + f*n + i
			e.loose[k] = 0
			if w := max(job.Stand[k], 0); w > 0 {
				from, to := max(f-loosenFrames, 0), min(f+1+loosenFrames, job.Length-1)
				v := at[to].Sub(at[from]).Flat().Len() * Rate / float32(max(1, to-from)) / job.Loosen
				e.loose[k] = w / (1 + v*v)
			}
		}
	}
}
