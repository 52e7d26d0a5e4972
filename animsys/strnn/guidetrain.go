package strnn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/animsys/internal/linsolve"
	"mannequin/netruntime"
)

// GuideOptions are the options of TrainGuide.
type GuideOptions struct {
	People  int               // agents that walk at a time; 0: 32
	Windows int               // windows per agent and round; 0: 30
	Rounds  int               // 0: 4
	Samples int               // samples for each window; 0: 8
	Steps   int               // of the search from the best of them; 0: 2
	Seed    uint64            // of the wanted motion and of the samples
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // opens sessions; nil: on the CPU

	Progress func(done, all int) // called after each window; may be nil
	Stop     func() bool         // called before each window; true ends training with an error; may be nil
}

// guideRidge is the penalty of the ridge regression, as a share of the mean square of a value.
const guideRidge = 0.03

// The teacher's search is wider than for single motions and weighs contacts more.
const (
	guideSpread = 0.8
	guideSlide  = 4     // ControlWeights.Slide
	guideLatent = 0.003 // ControlWeights.Latent: keeps unconstrained arms likely
)

// TrainGuide trains a guide on the results of a Controller. Agents walk with changing wanted
// motions by the controller's search, and the guide is the linear map nearest to the latent values
// found. After the first round every second agent walks by the guide of the round before, so that
// the guide learns to recover from its own errors. It is fitted to all rounds.
func (m *Model) TrainGuide(o GuideOptions) (*Guide, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	o.People, o.Windows, o.Rounds = cmp.Or(o.People, 32), cmp.Or(o.Windows, 30), cmp.Or(o.Rounds, 4)
	o.Samples, o.Steps = cmp.Or(o.Samples, 8), cmp.Or(o.Steps, 2)
	if min(o.People, o.Windows, o.Rounds, o.Samples, o.Steps) < 0 {
		return nil, fmt.Errorf("strnn: a guide of %d people, %d windows, %d rounds, %d samples and %d steps: want none less than 0",
			o.People, o.Windows, o.Rounds, o.Samples, o.Steps)
	}
	s, err := m.newStream(StreamOptions{Capacity: o.People, Workers: o.Workers, Seed: o.Seed, Samples: o.Samples,
		Steps: o.Steps, Spread: guideSpread, Open: o.Open}, max(o.People, streamStarts))
	if err != nil {
		return nil, err
	}
	s.search.Weights.Slide, s.search.Weights.Latent = guideSlide, guideLatent
	s.guide = nil
	l := guideTraining{m: m, stream: s, options: &o, first: make([]float32, o.People*m.Latent),
		next: make([]float32, o.People*m.Predict*m.Layout.Columns())}
	s.found = l.note
	for range o.Rounds {
		if err := l.walk(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if s.guide, err = l.fit(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s.guide, s.Close()
}

// guideTraining holds the training data of a guide.
type guideTraining struct {
	m       *Model
	stream  *Stream
	options *GuideOptions
	done    int         // windows
	inputs  [][]float32 // by window and agent, (GuideInputs)
	z       [][]float32 // (Latent)

	first []float32 // (people, Latent) the guide's latent values
	next  []float32 // (people, Predict, columns) their frames
}

// walk runs a round.
func (l *guideTraining) walk() error {
	s, o := l.stream, l.options
	s.clear()
	for range o.People {
		if _, err := s.Add(feature.Place{}, nil); err != nil {
			return err
		}
	}
	r := rand.New(rand.NewPCG(o.Seed, uint64(l.done)))
	for window := range o.Windows {
		if o.Stop != nil && o.Stop() {
			return fmt.Errorf("strnn: training the guide was stopped")
		}
		for i := range o.People {
			if (window+i)%(4+i%12) == 0 { // some change their wanted motion often, others rarely
				s.wanders[i] = randomSteer(r)
			}
		}
		if err := s.goOn(o.People); err != nil {
			return err
		}
		if l.done++; o.Progress != nil {
			o.Progress(l.done, o.Rounds*o.Windows)
		}
	}
	return nil
}

// note records the search's results, and makes every second agent follow the guide.
func (l *guideTraining) note() error {
	s, m := l.stream, l.m
	n := GuideInputs(m.Layout)
	for i := range s.led {
		if b := &s.search.best[i]; !math.IsInf(b.cost, 1) {
			l.inputs, l.z = append(l.inputs, slices.Clone(s.sees[i*n:][:n])), append(l.z, slices.Clone(b.z))
		}
	}
	if s.guide == nil {
		return nil
	}
	for i := range s.led {
		copy(l.first[i*m.Latent:][:m.Latent], s.ways[i*s.draws*m.Latent:])
	}
	size := m.Predict * m.Layout.Columns()
	if err := s.search.predict.Next(l.next[:s.led*size], l.first[:s.led*m.Latent], s.led, 1); err != nil {
		return err
	}
	for i := 0; i < s.led; i += 2 {
		copy(s.next[i*size:][:size], l.next[i*size:])
	}
	return nil
}

// randomSteer returns a random wanted motion: most walk, and most of these turn.
func randomSteer(r *rand.Rand) Steer {
	switch u := r.Float32(); {
	case u < 0.12:
		return Steer{}
	case u < 0.35:
		return Steer{Speed: 0.6 + 1.2*r.Float32()}
	default:
		return Steer{Speed: 0.6 + 1.2*r.Float32(), Turn: (2*r.Float32() - 1) * MaxTurn}
	}
}

// fit returns the guide nearest to all results.
func (l *guideTraining) fit() (*Guide, error) {
	n, latent, count := GuideInputs(l.m.Layout), l.m.Latent, len(l.inputs)
	if count < n {
		return nil, fmt.Errorf("strnn: a guide of %d values from %d windows: want more people, windows or rounds", n, count)
	}
	g := &Guide{Mean: make([]float32, n), Scale: make([]float32, n), Bias: make([]float32, latent), Weight: make([]float32, guideGates*n*latent)}
	for i := range n {
		sum, squares := 0.0, 0.0
		for _, v := range l.inputs {
			sum += float64(v[i])
			squares += float64(v[i]) * float64(v[i])
		}
		mean := sum / float64(count)
		g.Mean[i], g.Scale[i] = float32(mean), float32(max(1e-3, math.Sqrt(max(0, squares/float64(count)-mean*mean))))
	}
	for k := range latent {
		sum := 0.0
		for _, z := range l.z {
			sum += float64(z[k])
		}
		g.Bias[k] = float32(sum / float64(count))
	}
	inputs := n
	n *= guideGates
	// (XᵀX + aside)·w = Xᵀz
	square, right, row := make([]float64, n*n), make([]float64, latent*n), make([]float64, n)
	for c, input := range l.inputs {
		for j, gate := range g.gates(input) {
			for i := range inputs {
				row[j*inputs+i] = float64(gate * g.value(i, input))
			}
		}
		for i, v := range row {
			to := square[i*n:][:i+1]
			for j, u := range row[:i+1] {
				to[j] += v * u
			}
			for k, z := range l.z[c] {
				right[k*n+i] += v * float64(z-g.Bias[k])
			}
		}
	}
	for i := range n {
		square[i*n+i] += guideRidge * float64(count)
	}
	if !linsolve.Factor(square, n, 0) {
		return nil, fmt.Errorf("strnn: the guide cannot be fitted: its normal equations are singular")
	}
	for k := range latent {
		w := right[k*n:][:n]
		linsolve.Substitute(square, w, n, 1)
		for i, v := range w {
			g.Weight[i*latent+k] = float32(v)
		}
	}
	return g, l.m.checkGuide(g)
}
