package style

import (
	"bytes"
	"errors"
	"fmt"

	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	evalmanifold "mannequin/offline/eval/manifold"
	"mannequin/offline/metrics"
)

// The lanes of crowds that transfers are found from, and measured on.
var (
	contentSpeeds = []float32{1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.6, 3.4}
	contentRadii  = []float32{8, 12, 6, 16, 10, 14, 12, 18}
	otherSpeeds   = []float32{1.15, 1.5, 1.85, 2.8}
	otherRadii    = []float32{9, 15, 20, 20}
)

// lanes returns the motion of the networks of crowds around circles.
func (o *transferFlags) lanes(m *manifold.Networks, speeds, radii []float32, frames int) ([]manifold.LocomotionClip, error) {
	l, err := m.NewLocomotion(manifold.LocomotionOptions{Batch: len(speeds), Frames: frames, Workers: o.threads})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var courses []manifold.Trajectory
	for i, speed := range speeds {
		path, err := control.Circle(radii[i])
		if err != nil {
			return nil, err
		}
		c, err := manifold.AlongPath(path, frames, func(int) float32 { return speed }, func(int) float32 { return 0 })
		if err != nil {
			return nil, err
		}
		courses = append(courses, c)
	}
	made, _, err := l.Make(courses, nil, manifold.CrowdIterations, nil)
	if err != nil {
		return nil, err
	}
	return made, nil
}

// contents returns the motions that transfers are found from, one after the other.
func (o *transferFlags) contents(m *manifold.Networks) (all []float32, err error) {
	for _, file := range o.content {
		rows, _, err := evalmanifold.OpenPerson(m.Model, file, o.read)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	if len(o.content) > 0 {
		return all, nil
	}
	made, err := o.lanes(m, contentSpeeds, contentRadii, 4*manifold.Rate)
	for i := range made {
		all = append(all, made[i].Rows...)
	}
	return all, err
}

// written returns transfers as stored in their file.
func written(ts *manifold.StyleSet, m *manifold.Model) ([]*manifold.StyleTransfer, error) {
	var b bytes.Buffer
	if err := ts.Encode(&b); err != nil {
		return nil, err
	}
	again, err := manifold.DecodeStyleSet(b.Bytes())
	if err != nil {
		return nil, err
	}
	return again.For(m)
}

// measure measures the style on other motion.
func (o *transferFlags) measure(m *manifold.Model, t *manifold.StyleTransfer, style *manifold.Style, others []manifold.LocomotionClip) (list []transferOther, err error) {
	for i, c := range others {
		gone := func(rows []float32) float64 {
			p, e := metrics.MeasurePeople(m, rows, c.Contacts, c.Start, nil)
			err = errors.Join(err, e)
			return p.Skate
		}
		distance := func(rows []float32) float64 {
			s, e := m.NewStyle(rows, o.threads)
			if e != nil {
				err = errors.Join(err, e)
				return 0
			}
			return s.Distance(style)
		}
		raw, e1 := m.Restyle(c.Rows, manifold.WeightedStyle{Transfer: t, Weight: 1}, 0, o.threads)
		held, e2 := m.Restyle(c.Rows, manifold.WeightedStyle{Transfer: t, Weight: 1}, manifold.DefaultIterations, o.threads)
		if err = errors.Join(e1, e2); err != nil {
			return nil, fmt.Errorf("%s: a motion at %g m/s: %w", t.Name, otherSpeeds[i], err)
		}
		x := transferOther{float64(otherSpeeds[i]), distance(raw) / distance(c.Rows), gone(c.Rows), gone(raw), gone(held)}
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}
