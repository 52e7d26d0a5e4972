package metrics

import (
	"fmt"
	"math"
	"slices"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// ControlledRunner predicts motion under control: strnn.Controller and strnn.FineTuner are runners.
type ControlledRunner interface {
	Run(next, seen []float32, n int, job *strnn.Control) (cost float64, err error)
}

// Controlled is how well predicted people follow paths.
type Controlled struct {
	People  int     `json:"people"`
	Seconds float64 `json:"seconds"`
	Mean    float64 `json:"mean_cm"`           // distance of the body from its path, over all frames
	Last    float64 `json:"last_cm"`           // the same over the last second
	P95     float64 `json:"p95_cm"`            // 95th percentile
	Slide   float64 `json:"slide_cm"`          // of contacts that stand, per frame at strnn.Rate
	Held    float64 `json:"held_cm"`           // the same with locked feet, as a game shows them
	Jerk    float64 `json:"jerk_m_s3"`         // 99.9th percentile, as in Liveliness
	Rate    float64 `json:"frames_per_second"` // of all people together
}

// ControlPaths returns a path per person at a speed in m/s. Paths swing left and right, each at its
// own phase. They have one place per frame at strnn.Rate and one more at the end.
func ControlPaths(people, frames int, speed float32) [][]feature.Place {
	paths := make([][]feature.Place, people)
	for i := range paths {
		p := feature.Place{}
		for f := range frames + 1 {
			paths[i] = append(paths[i], p)
			turn := controlTurn * math.Sin(2*math.Pi*float64(f)/(controlSway*strnn.Rate)+float64(i))
			p = p.Advance([]float32{0, speed, float32(turn)}, 1.0/strnn.Rate)
		}
	}
	return paths
}

// How the paths turn.
const (
	controlTurn = 0.6 // rad/s at most
	controlSway = 8.0 // s to and fro
)

// MeasureControlled lets people continue recorded walks from one second in, along ControlPaths.
func MeasureControlled(run ControlledRunner, m *strnn.Model, set *dataset.MotionSet, people int, seconds float64,
	speed float32, job strnn.Control) (Controlled, error) {
	l := m.Layout
	cols, size := l.Columns(), m.Predict*l.Columns()
	turns := int(math.Ceil(seconds * strnn.Rate / float64(m.Predict)))
	r := Controlled{People: people, Seconds: float64(turns*m.Predict) / strnn.Rate}
	seen, err := controlPrefixes(set, people, m.Encode)
	if err != nil {
		return r, err
	}
	paths := ControlPaths(people, turns*m.Predict, speed)
	at := make([]feature.Place, people)
	next, body := make([]float32, people*size), make([]float32, people*m.Predict*feature.MotionLen)
	motions := make([][]float32, people)
	var off []float32
	took := time.Duration(0)
	for turn := range turns {
		for i := range people {
			lead := body[i*m.Predict*feature.MotionLen:][:m.Predict*feature.MotionLen]
			path := paths[i][turn*m.Predict:][:m.Predict+1]
			strnn.BodyMotionAlong(lead, at[i], path[0], path[1:])
		}
		job.Body, job.Seed = body, uint64(turn)
		begin := time.Now()
		if _, err := run.Run(next, seen, people, &job); err != nil {
			return r, err
		}
		took += time.Since(begin)
		for i := range people {
			rows := next[i*size:][:size]
			motions[i] = append(motions[i], rows...)
			for f := range m.Predict {
				at[i] = at[i].Advance(rows[f*cols+l.Body():], 1.0/strnn.Rate)
				off = append(off, 100*at[i].Pos.Dist(paths[i][turn*m.Predict+f+1].Pos))
			}
			was := seen[i*m.Encode*cols:][:m.Encode*cols]
			keep := max(0, m.Encode-m.Predict) * cols
			copy(was, was[len(was)-keep:])
			copy(was[keep:], rows[len(rows)-(len(was)-keep):])
		}
	}
	lively := newLivelinessSums(l)
	var slid, held feet
	for _, rows := range motions {
		lively.add(rows)
		slid.slide(l, rows)
		if err := held.hold(m.Person, rows); err != nil {
			return r, err
		}
	}
	r.Mean, r.Slide, r.Held, r.Jerk = meanOf(off), slid.mean(), held.mean(), lively.result().Jerk
	r.Last = meanOf(off[len(off)-min(len(off), people*strnn.Rate):])
	slices.Sort(off)
	r.P95 = float64(off[len(off)*95/100])
	r.Rate = float64(people*turns*m.Predict) / took.Seconds()
	return r, nil
}

// controlPrefixes returns the first frames of walks, (people, frames, columns) raw.
func controlPrefixes(set *dataset.MotionSet, people, frames int) ([]float32, error) {
	const from, least, most = dataset.Rate, 0.7, 2.0 // frame; m/s of a walk
	l := set.Layout
	cols := l.Columns()
	var rows []float32
	for c := range set.Clips {
		clip := &set.Clips[c]
		if clip.Frames < from+2*frames {
			continue
		}
		if speed := l.MeanSpeed(clip.Rows[from*cols:][:2*frames*cols]); speed < least || speed > most {
			continue
		}
		at := len(rows)
		rows = append(rows, make([]float32, frames*cols)...)
		strnn.HalveRate(rows[at:], clip.Rows[from*cols:], l)
		if len(rows) == people*frames*cols {
			return rows, nil
		}
	}
	have := len(rows) / (frames * cols)
	if have == 0 {
		return nil, fmt.Errorf("metrics: no recording walks at %g to %g m/s from its first second on", least, most)
	}
	for i := have; i < people; i++ {
		rows = append(rows, rows[(i-have)*frames*cols:][:frames*cols]...)
	}
	return rows, nil
}

// feet sums the slide of contacts that stand, m, over frames at strnn.Rate.
type feet struct{ sum, frames float64 }

// mean returns the slide per frame, cm.
func (s *feet) mean() float64 { return 100 * s.sum / math.Max(1, s.frames) }

// slide adds a motion at strnn.Rate without foot lock.
func (s *feet) slide(l *feature.Motion, rows []float32) {
	cols, joints := l.Columns(), len(l.Joints)
	n := len(rows) / cols
	world := make([]m3.Vec3, n*joints)
	l.ToWorld(world, rows, strnn.Rate, feature.Place{})
	for k, c := range l.Contacts {
		j := l.Joint(c.Joint)
		for f := 1; f < n; f++ {
			if stands(rows[f*cols:], rows[(f-1)*cols:], l.Contact(k)) {
				s.sum += float64(world[f*joints+j].Sub(world[(f-1)*joints+j]).Flat().Len())
				s.frames++
			}
		}
	}
}

// hold adds a motion at strnn.Rate with foot lock: see animsys.StandClip.
func (s *feet) hold(p *feature.Person, rows []float32) error {
	l := p.Layout
	cols := l.Columns()
	double := make([]float32, 2*len(rows))
	strnn.DoubleRate(double, rows, l)
	clip, err := p.Clip(double, dataset.Rate, feature.Place{})
	if err != nil {
		return err
	}
	if clip, err = animsys.StandClip(clip, l, double); err != nil {
		return err
	}
	was, is := make([]m3.Xform, p.Skel.Len()), make([]m3.Xform, p.Skel.Len())
	for f := range clip.Frames {
		pos, rot := clip.Frame(f)
		p.Skel.LocalToModel(is, pos, rot)
		for k, c := range l.Contacts {
			if j := p.Skel.Index(c.Joint); f > 0 && stands(double[f*cols:], double[(f-1)*cols:], l.Contact(k)) {
				s.sum += float64(is[j].Pos.Sub(was[j].Pos).Flat().Len())
				s.frames += float64(strnn.Rate) / dataset.Rate
			}
		}
		was, is = is, was
	}
	return nil
}

func stands(row, before []float32, contact int) bool {
	return row[contact] > 0.5 && before[contact] > 0.5
}

func meanOf(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	return sum / math.Max(1, float64(len(v)))
}
