package metrics

import (
	"fmt"
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/keypose"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
)

// Sparse is the error of motion made from evenly spaced recorded poses (Lüdi 2016, sec. 5.1).
type Sparse struct {
	Frames int     `json:"frames"`
	Body   float64 `json:"body_cm"`  // mean distance of joints between the poses, in the body's own frame
	World  float64 `json:"world_cm"` // the same in the world, after the body's velocities
	Key    float64 `json:"key_cm"`   // mean distance of joints at the poses, in the body's own frame
	At     float64 `json:"at_cm"`    // the same in the world
	Speed  float64 `json:"speed"`    // distance covered by the body, over the recording's

	Drift2  Drift `json:"drift_2_s"`
	Drift10 Drift `json:"drift_10_s"`
}

// Drift is the mean difference in position and heading a while after two motions were at one place.
// Stretches begin with a pose. Recordings shorter than that time have none.
type Drift struct {
	Stretches int     `json:"stretches"`
	Distance  float64 `json:"cm"`
	Turn      float64 `json:"degrees"`
}

// driftAfter returns the drift after some seconds.
func driftAfter(seconds int, went, goes manifold.Trajectory, every int) (d Drift) {
	after := seconds * manifold.Rate
	for from := 0; from+after < len(goes); from += every {
		p, q := seenFrom(went[from], went[from+after]), seenFrom(goes[from], goes[from+after])
		d.Distance += 100 * float64(p.Pos.Dist(q.Pos))
		d.Turn += math.Abs(float64(m3.WrapAngle(p.Yaw-q.Yaw))) * 180 / math.Pi
		d.Stretches++
	}
	d.Distance, d.Turn = d.Distance/float64(max(1, d.Stretches)), d.Turn/float64(max(1, d.Stretches))
	return d
}

// meanDrift returns the mean over recordings, weighted by stretches.
func meanDrift(of []Drift) (mean Drift) {
	for _, d := range of {
		mean.Stretches += d.Stretches
		mean.Distance, mean.Turn = mean.Distance+float64(d.Stretches)*d.Distance, mean.Turn+float64(d.Stretches)*d.Turn
	}
	n := float64(max(1, mean.Stretches))
	mean.Distance, mean.Turn = mean.Distance/n, mean.Turn/n
	return mean
}

// MeasureSparse compares made with the recording rec that it was made from: rows of l, (frames,
// columns) raw, of one length, with poses at multiples of every. Both begin at one place.
func MeasureSparse(l *feature.Motion, made, rec []float32, every int) (Sparse, error) {
	cols, n := l.Columns(), len(l.Joints)
	frames, err := sparseFrames(l, made, rec, every, 1)
	if err != nil {
		return Sparse{}, err
	}
	a, b := make([]m3.Vec3, frames*n), make([]m3.Vec3, frames*n)
	l.ToWorld(a, made, manifold.Rate, feature.Place{})
	l.ToWorld(b, rec, manifold.Rate, feature.Place{})
	s := Sparse{Frames: frames}
	keys := 0
	for f := range frames {
		body, world := 0.0, 0.0
		for j := range n {
			k := f*cols + l.Pos(j)
			body += float64(vec(made[k:]).Dist(vec(rec[k:])))
			world += float64(a[f*n+j].Dist(b[f*n+j]))
		}
		if f%every == 0 {
			keys, s.Key, s.At = keys+1, s.Key+body, s.At+world
		} else {
			s.Body, s.World = s.Body+body, s.World+world
		}
	}
	for _, v := range []struct {
		sum    *float64
		frames int
	}{{&s.Body, frames - keys}, {&s.World, frames - keys}, {&s.Key, keys}, {&s.At, keys}} {
		*v.sum *= 100 / float64(n*max(1, v.frames))
	}
	went, goes := courseOf(l, made), courseOf(l, rec)
	way := func(c manifold.Trajectory) (sum float64) {
		for f := range frames - 1 {
			sum += float64(c[f].Pos.Dist(c[f+1].Pos))
		}
		return sum
	}
	if way(goes) > 0 {
		s.Speed = way(went) / way(goes)
	}
	s.Drift2, s.Drift10 = driftAfter(2, went, goes, every), driftAfter(10, went, goes, every)
	return s, nil
}

// sparseFrames returns the number of frames of two motions of one length, at least least.
func sparseFrames(l *feature.Motion, made, rec []float32, every, least int) (int, error) {
	cols := l.Columns()
	frames := len(rec) / cols
	if frames < least || len(rec) != frames*cols || len(made) != len(rec) || every < 1 {
		return 0, fmt.Errorf("metrics: motions of %d and %d values with a pose in every %d frames: want one length, in rows of %d",
			len(made), len(rec), every, cols)
	}
	return frames, nil
}

// means returns the fields that are means over frames.
func (s *Sparse) means() []*float64 { return []*float64{&s.Body, &s.World, &s.Key, &s.At, &s.Speed} }

// MeanSparse returns the mean over recordings, weighted by frames, and drifts by stretches.
func MeanSparse(of []Sparse) (mean Sparse) {
	var two, ten []Drift
	for _, s := range of {
		mean.Frames, two, ten = mean.Frames+s.Frames, append(two, s.Drift2), append(ten, s.Drift10)
		for i, sum := range mean.means() {
			*sum += float64(s.Frames) * *s.means()[i]
		}
	}
	for _, sum := range mean.means() {
		*sum /= float64(max(1, mean.Frames))
	}
	mean.Drift2, mean.Drift10 = meanDrift(two), meanDrift(ten)
	return mean
}

// FromSparse makes a recording's motion again from its evenly spaced poses. It returns that and the
// part of the recording that it spans: rows of the network's layout, raw.
func FromSparse(net *keypose.SparseModel, maker *keypose.SparseInbetweener, rec []float32) (made, part []float32, err error) {
	poses, part, err := sparsePoses(net.Layout, rec, net.Segments.Every)
	if err != nil {
		return nil, nil, err
	}
	made = make([]float32, len(part))
	return made, part, maker.Make(made, poses)
}

// sparsePoses returns the frames of rec at multiples of every, and the rows from first to last.
func sparsePoses(l *feature.Motion, rec []float32, every int) (poses, part []float32, err error) {
	cols := l.Columns()
	n := (len(rec)/cols-1)/every + 1
	if n < 2 {
		return nil, nil, fmt.Errorf("metrics: %d frames have no two poses %d frames apart", len(rec)/cols, every)
	}
	for i := range n {
		poses = append(poses, rec[i*every*cols:][:cols]...)
	}
	return poses, rec[:((n-1)*every+1)*cols], nil
}

// BetweenSparse is FromSparse without a network: all values are interpolated linearly.
func BetweenSparse(l *feature.Motion, rec []float32, every int) (made, part []float32, err error) {
	poses, part, err := sparsePoses(l, rec, every)
	if err != nil {
		return nil, nil, err
	}
	cols := l.Columns()
	made = make([]float32, len(part))
	for f := range len(part) / cols {
		a, u := f/every, float32(f%every)/float32(every)
		b := min(a+1, len(poses)/cols-1)
		for c := range cols {
			made[f*cols+c] = m3.Lerp(poses[a*cols+c], poses[b*cols+c], u)
		}
	}
	return made, part, nil
}

// pullFrames is the number of frames before and after a pose that it affects.
const pullFrames = 8

// CorrectSparse edits made on a motion manifold (proposed by Lüdi 2016, sec. 6.1.1). It meets the
// poses of rec at multiples of every, and their places. In between, the body moves as in made, seen
// from the pose before and, increasingly, the one after. Contacts of made stay locked.
func CorrectSparse(m *manifold.Model, made, rec []float32, every, iterations, workers int) ([]float32, error) {
	l := m.Layout
	cols := l.Columns()
	frames, err := sparseFrames(l, made, rec, every, 2)
	if err != nil {
		return nil, err
	}
	length := (frames + 1) &^ 1 // an edit needs an even length: the last frame is repeated
	e, err := m.NewEditor(manifold.EditorOptions{Batch: 1, Length: length, Workers: workers})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	n := len(l.Contacts)
	job := manifold.Edit{Batch: 1, Length: length, Rows: make([]float32, length*cols), Body: make([]float32, length*feature.MotionLen),
		Stand: make([]float32, length*n), Want: make([]float32, length*cols), Weight: make([]float32, length*cols), Iterations: iterations}
	copy(job.Rows, made)
	copy(job.Rows[(length-1)*cols:], made[(frames-1)*cols:])
	throughPlaces(courseOf(l, made), courseOf(l, rec), every, length).BodyMotion(job.Body)
	for f := range length {
		row := job.Rows[f*cols:][:cols]
		for i := range n {
			if row[l.Contact(i)] > 0.5 {
				job.Stand[f*n+i] = 1
			}
		}
		key := (f + every/2) / every * every // the nearest
		away := max(f-key, key-f)
		if key >= frames || away >= min(pullFrames, (every+1)/2) {
			continue
		}
		share := 1 - float32(away)/pullFrames
		share *= share * (3 - 2*share)
		for c := range l.Body() {
			job.Want[f*cols+c] = row[c] + share*(rec[key*cols+c]-made[key*cols+c])
			job.Weight[f*cols+c] = share
		}
	}
	if _, err := e.Run(&job); err != nil {
		return nil, err
	}
	return job.Rows[:frames*cols], nil
}

// courseOf returns the place of the body in each frame of rows, from the origin.
func courseOf(l *feature.Motion, rows []float32) manifold.Trajectory {
	cols := l.Columns()
	c := make(manifold.Trajectory, len(rows)/cols)
	for f := 1; f < len(c); f++ {
		c[f] = c[f-1].Advance(rows[(f-1)*cols+l.Body():], 1.0/manifold.Rate)
	}
	return c
}

func seenFrom(from, to feature.Place) feature.Place {
	return feature.Place{Pos: m3.YawQuat(-from.Yaw).Rotate(to.Pos.Sub(from.Pos)), Yaw: to.Yaw - from.Yaw}
}

// throughPlaces returns a course of at most one frame more than went. It moves like went and is at
// to in multiples of every.
func throughPlaces(went, to manifold.Trajectory, every, frames int) manifold.Trajectory {
	placed := func(key, f int) feature.Place {
		p := seenFrom(went[key], went[f])
		return feature.Place{Pos: to[key].Pos.Add(m3.YawQuat(to[key].Yaw).Rotate(p.Pos)), Yaw: to[key].Yaw + p.Yaw}
	}
	c := make(manifold.Trajectory, frames)
	for f := range c {
		at := min(f, len(went)-1)
		a := at / every * every
		b := a + every
		if b >= len(went) {
			c[f] = placed(a, at)
			continue
		}
		u := float32(at-a) / float32(every)
		u *= u * (3 - 2*u)
		p, q := placed(a, at), placed(b, at)
		c[f] = feature.Place{Pos: p.Pos.Lerp(q.Pos, u), Yaw: p.Yaw + u*m3.WrapAngle(q.Yaw-p.Yaw)}
	}
	return c
}
