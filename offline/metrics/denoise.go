package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/offline/dataset"
)

// Noise is the noise of each value, in deviations of a set's columns (Wang et al. 2019, sec. 6.3).
type Noise struct {
	Joints   float64 `json:"joints"`
	Contacts float64 `json:"contacts"`
}

// PaperNoise is the noise of the paper, with less and more of it.
var PaperNoise = []Noise{{0.1, 3}, {0.3, 3}, {0.3, 5}, {0.5, 3}}

// Sample chooses N random stretches of recordings, each of Frames at dataset.Rate, an even number.
type Sample struct {
	N, Frames int
	Seed      uint64
}

// draw returns the stretches, (Frames, columns) raw each.
func (s Sample) draw(set *dataset.MotionSet) ([][]float32, error) {
	cols := set.Layout.Columns()
	places := 0
	for _, c := range set.Clips {
		places += max(0, c.Frames-s.Frames+1)
	}
	if s.N < 1 || s.Frames < 2 || s.Frames%2 != 0 || places == 0 {
		return nil, fmt.Errorf("metrics: %d stretches of %d frames from recordings with %d of them: "+
			"want at least one, of an even number of frames", s.N, s.Frames, places)
	}
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	var out [][]float32
	for range s.N {
		at := rng.IntN(places)
		for _, c := range set.Clips {
			n := max(0, c.Frames-s.Frames+1)
			if at < n {
				out = append(out, c.Rows[at*cols:][:s.Frames*cols])
				break
			}
			at -= n
		}
	}
	return out, nil
}

// Restored is the error of restored motion.
type Restored struct {
	Name     string  `json:"name"`
	Mean     float64 `json:"mean_cm"`  // distance of joints, seen from the body, over frames and joints
	RMS      float64 `json:"rms_cm"`   //
	Contacts float64 `json:"contacts"` // share of wrong ones; a value above 0.5 is a contact
	Jerk     float64 `json:"jerk"`     // mean magnitude of the joints' third differences, cm per frame³
}

// restoreSums sums errors for Restored.
type restoreSums struct {
	l                            *feature.Motion
	sum, square, joints          float64
	wrong, contacts, jerk, jerks float64
}

// add adds motion, (frames, columns) raw, and its truth. If missing is not nil, only it counts.
func (o *restoreSums) add(rows, truth []float32, missing []bool) {
	cols := o.l.Columns()
	for f := range len(rows) / cols {
		for j := range o.l.Joints {
			at := f*cols + o.l.Pos(j)
			if missing != nil && !missing[at] {
				continue
			}
			d := 100 * float64(vec(rows[at:]).Dist(vec(truth[at:])))
			o.sum, o.square, o.joints = o.sum+d, o.square+d*d, o.joints+1
			if f >= 3 {
				x := func(k int) m3.Vec3 { return vec(rows[at-k*cols:]) }
				o.jerk += 100 * float64(x(0).Sub(x(3)).Sub(x(1).Sub(x(2)).Scale(3)).Len())
				o.jerks++
			}
		}
		for i := range o.l.Contacts {
			c := f*cols + o.l.Contact(i)
			if missing != nil && !missing[c] {
				continue
			}
			if o.contacts++; (rows[c] > 0.5) != (truth[c] > 0.5) {
				o.wrong++
			}
		}
	}
}

func vec(v []float32) m3.Vec3 { return m3.V(v[0], v[1], v[2]) }

func (o *restoreSums) result(name string) Restored {
	n := math.Max(1, o.joints)
	return Restored{name, o.sum / n, math.Sqrt(o.square / n), o.wrong / math.Max(1, o.contacts), o.jerk / math.Max(1, o.jerks)}
}

// MeasureDenoise restores the same noisy stretches in each way and returns the errors in the order
// of ways (Wang et al. 2019, sec. 6.3: 512 motions). The body's motion gets no noise.
func MeasureDenoise(set *dataset.MotionSet, s Sample, noise Noise, ways ...Restorer) ([]Restored, error) {
	l := set.Layout
	return s.measure(set, ways, func(x []float32, rng *rand.Rand) []manifold.Gap {
		for i := range x {
			switch c := i % l.Columns(); {
			case c < l.Body():
				x[i] += float32(noise.Joints*rng.NormFloat64()) * set.Std[c]
			case c >= l.Contact(0):
				x[i] += float32(noise.Contacts*rng.NormFloat64()) * set.Std[c]
			}
		}
		return nil
	})
}

// MeasureFill fills the same gaps in each way and returns the errors inside. Each stretch has a gap
// of some joints (none: all) at a random place, a quarter of the stretch or more from both ends.
func MeasureFill(set *dataset.MotionSet, s Sample, frames int, joints []string, ways ...Restorer) ([]Restored, error) {
	for _, name := range joints {
		if set.Layout.Joint(name) < 0 {
			return nil, fmt.Errorf("metrics: no joint is called %q", name)
		}
	}
	if frames < 1 || frames > s.Frames/2 {
		return nil, fmt.Errorf("metrics: a gap of %d frames in %d: want at least 1, at most half of them", frames, s.Frames)
	}
	return s.measure(set, ways, func(x []float32, rng *rand.Rand) []manifold.Gap {
		from := s.Frames/4 + rng.IntN(s.Frames/2-frames+1)
		gaps := []manifold.Gap{{Joints: joints, From: from, To: from + frames}}
		for i, gone := range missingOf(set.Layout, gaps, s.Frames) {
			if c := i % set.Layout.Columns(); gone && (c < set.Layout.Body() || c >= set.Layout.Contact(0)) {
				x[i] = float32(math.NaN())
			}
		}
		return gaps
	})
}

// measure spoils the stretches and lets each way fill the gaps if spoil made any, or remove noise.
func (s Sample) measure(set *dataset.MotionSet, ways []Restorer, spoil func(x []float32, rng *rand.Rand) []manifold.Gap) ([]Restored, error) {
	stretches, err := s.draw(set)
	if err != nil {
		return nil, err
	}
	sums := make([]restoreSums, len(ways))
	for i, truth := range stretches {
		x := slices.Clone(truth)
		gaps := spoil(x, rand.New(rand.NewPCG(s.Seed, uint64(i)+2)))
		var missing []bool
		if gaps != nil {
			missing = missingOf(set.Layout, gaps, s.Frames)
		}
		for k, w := range ways {
			sums[k].l = set.Layout
			var y []float32
			switch {
			case gaps == nil && w.Denoise != nil:
				y, err = w.Denoise(x)
			case gaps != nil && w.Fill != nil:
				y, err = w.Fill(x, gaps)
			default:
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.Name, err)
			}
			sums[k].add(y, truth, missing)
		}
	}
	var out []Restored
	for k, w := range ways {
		if sums[k].joints > 0 {
			out = append(out, sums[k].result(w.Name))
		}
	}
	return out, nil
}
