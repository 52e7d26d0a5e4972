package metrics

import (
	"math"

	"mannequin/animsys/feature"
	"mannequin/animsys/strnn"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// Extender continues motions in a batch: strnn.Predictor is one.
type Extender interface {
	// Extend extends n motions from have to frames frames: see strnn.Predictor.
	Extend(rows []float32, n, have, frames int) error
}

// StandStill predicts that nothing moves.
type StandStill struct{ Layout *feature.Motion }

// Extend repeats the last frame and stops the body.
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

// Horizons are the times at which predictions are compared, s (Fragkiadaki et al. 2015).
var Horizons = [...]float64{0.08, 0.16, 0.24, 0.32, 0.40, 0.48, 0.56}

// Forecast is the distance between predicted and recorded joints, cm, at Horizons.
type Forecast struct {
	Prefixes int                    `json:"prefixes"`
	Body     [len(Horizons)]float64 `json:"body_cm"`  // seen from the body
	World    [len(Horizons)]float64 `json:"world_cm"` // in the world, from the end of the prefix
}

// forecastBatch is the batch size.
const forecastBatch = 32

// MeasureForecast lets p continue prefixes of the recordings and their mirror images, one every
// half second. A prefix has prefix frames at strnn.Rate. Joints are interpolated linearly between
// frames. p takes forecastBatch motions at a time.
func MeasureForecast(p Extender, set *dataset.MotionSet, prefix int) (Forecast, error) {
	var r Forecast
	l := set.Layout
	cols := l.Columns()
	n := prefix + int(math.Ceil(Horizons[len(Horizons)-1]*strnn.Rate))
	var truth, made []float32
	flush := func() error {
		k := len(truth) / (n * cols)
		made = append(made[:0], truth...)
		if err := p.Extend(made, k, prefix, n); err != nil {
			return err
		}
		for i := range k {
			r.add(l, truth[i*n*cols:][:n*cols], made[i*n*cols:][:n*cols], prefix)
		}
		truth = truth[:0]
		return nil
	}
	for c := range set.Clips {
		clip := &set.Clips[c]
		for from := 0; from+2*n <= clip.Frames; from += dataset.Rate / 2 {
			at := len(truth)
			truth = append(truth, make([]float32, n*cols)...)
			strnn.HalveRate(truth[at:], clip.Rows[from*cols:][:2*n*cols], l)
			if len(truth) == forecastBatch*n*cols {
				if err := flush(); err != nil {
					return r, err
				}
			}
		}
	}
	if err := flush(); err != nil {
		return r, err
	}
	for h := range Horizons {
		r.Body[h] /= math.Max(1, float64(r.Prefixes))
		r.World[h] /= math.Max(1, float64(r.Prefixes))
	}
	return r, nil
}

func (r *Forecast) add(l *feature.Motion, truth, made []float32, prefix int) {
	joints, cols := len(l.Joints), l.Columns()
	frames := len(truth) / cols
	a, b := make([]m3.Vec3, frames*joints), make([]m3.Vec3, frames*joints)
	l.ToWorld(a, truth, strnn.Rate, feature.Place{})
	l.ToWorld(b, made, strnn.Rate, feature.Place{})
	r.Prefixes++
	for h, s := range Horizons {
		at := float64(prefix-1) + s*strnn.Rate
		f := min(int(at), frames-2)
		share := float32(at - float64(f))
		for j := range joints {
			off := func(f int) m3.Vec3 {
				k := f*cols + l.Pos(j)
				return vec(made[k:]).Sub(vec(truth[k:]))
			}
			world := func(f int) m3.Vec3 { return b[f*joints+j].Sub(a[f*joints+j]) }
			r.Body[h] += 100 * float64(off(f).Lerp(off(f+1), share).Len()) / float64(joints)
			r.World[h] += 100 * float64(world(f).Lerp(world(f+1), share).Len()) / float64(joints)
		}
	}
}
