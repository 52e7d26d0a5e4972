package metrics

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// Extender goes on from motions in a batch: strnn.Predictor is one.
type Extender interface {
	// Extend makes n motions of have frames each frames long: see strnn.Predictor.
	Extend(rows []float32, n, have, frames int) error
}

// StandStill is the prediction that everything stays as it is: zero velocity.
type StandStill struct{ Layout *feature.Motion }

// Extend holds the last frame, and the body where it is.
func (s StandStill) Extend(rows []float32, n, have, frames int) error {
	cols, body := s.Layout.Columns(), s.Layout.Body()
	for i := range n {
		motion := rows[i*frames*cols:][:frames*cols]
		for f := have; f < frames; f++ {
			copy(motion[f*cols:][:cols], motion[(have-1)*cols:])
			clear(motion[f*cols+body:][:feature.MotionLen])
		}
	}
	return nil
}

// Horizons are those at which predictions are compared, s (Fragkiadaki et al. 2015).
var Horizons = [...]float64{0.08, 0.16, 0.24, 0.32, 0.40, 0.48, 0.56}

// Forecast is how far predicted joints are from recorded ones, cm, at Horizons.
type Forecast struct {
	Prefixes int
	Body     [len(Horizons)]float64 // seen from the body
	World    [len(Horizons)]float64 // in the world, from where the prefix ends
}

// MeasureForecast has p go on from prefixes of the recordings of a set, of so many
// frames at strnn.Rate, one every half second.
func MeasureForecast(p Extender, set *dataset.Motion, prefix int) (Forecast, error) {
	var r Forecast
	l := set.Layout
	cols, joints := l.Columns(), len(l.Joints)
	last := int(math.Round(Horizons[len(Horizons)-1] * strnn.Rate))
	n := prefix + last
	truth, made := make([]float32, n*cols), make([]float32, n*cols)
	a, b := make([]m3.Vec3, n*joints), make([]m3.Vec3, n*joints)
	for c := range set.Clips {
		clip := &set.Clips[c]
		for from := 0; from+2*n <= clip.Frames; from += dataset.Rate / 2 {
			strnn.Halve(truth, clip.Rows[from*cols:][:2*n*cols], l)
			copy(made, truth[:prefix*cols])
			if err := p.Extend(made, 1, prefix, n); err != nil {
				return r, err
			}
			r.Prefixes++
			l.ToWorld(a, truth, strnn.Rate, feature.Place{})
			l.ToWorld(b, made, strnn.Rate, feature.Place{})
			for h, s := range Horizons {
				f := prefix + int(math.Round(s*strnn.Rate)) - 1
				for j := range joints {
					at := f*cols + l.Pos(j)
					d := m3.V(truth[at]-made[at], truth[at+1]-made[at+1], truth[at+2]-made[at+2])
					r.Body[h] += 100 * float64(d.Len()) / float64(joints)
					r.World[h] += 100 * float64(a[f*joints+j].Dist(b[f*joints+j])) / float64(joints)
				}
			}
		}
	}
	for h := range Horizons {
		r.Body[h] /= max(1, float64(r.Prefixes))
		r.World[h] /= max(1, float64(r.Prefixes))
	}
	return r, nil
}
