package strnn

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// GuideOptions say how a guide is learnt.
type GuideOptions struct {
	People  int               // who walk at a time; 0 is 32
	Windows int               // that each makes in a round; 0 is 30
	Rounds  int               // 0 is 4
	Samples int               // ways drawn for each window; 0 is 8
	Steps   int               // of the search from the best of them; 0 is 2
	Seed    uint64            // of what they are asked for, and of what is drawn
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // what computes networks; nil is the processor

	Progress func(done, all int) // where not nil, called after each window
	Stop     func() bool         // where not nil, asked before each window; then learning is an error
}

// guideAside is the share of the mean square of a value that is added to it before the
// guide is fitted: ridge regression.
const guideAside = 0.03

// How a guide's teacher searches: farther than for one motion, and for feet that stand.
const (
	guideSpread = 0.8
	guideSlide  = 4     // ControlWeights.Slide
	guideLatent = 0.003 // ControlWeights.Latent: arms, of which nothing is asked, do what is likely
)

// TrainGuide learns a guide from what a Controller finds: people walk as they are asked to,
// now so, now so, by its search, and the guide is the linear map that comes nearest to the
// latent values that it finds. In the rounds after the first every second person walks by
// the guide of the round before, so that it learns to find back from where it leads people,
// and the guide learns from all.
func (m *Model) TrainGuide(o GuideOptions) (*Guide, error) {
	for _, n := range []struct {
		of    *int
		usual int
	}{{&o.People, 32}, {&o.Windows, 30}, {&o.Rounds, 4}, {&o.Samples, 8}, {&o.Steps, 2}} {
		if *n.of == 0 {
			*n.of = n.usual
		}
		if *n.of < 0 {
			return nil, fmt.Errorf("strnn: a guide of %d people, %d windows, %d rounds, %d draws and %d steps: want none less than 0", o.People, o.Windows, o.Rounds, o.Samples, o.Steps)
		}
	}
	s, err := m.newStream(StreamOptions{People: o.People, Workers: o.Workers, Seed: o.Seed, Samples: o.Samples, Steps: o.Steps, Spread: guideSpread, Open: o.Open}, max(o.People, streamStarts))
	if err != nil {
		return nil, err
	}
	s.search.Weights.Slide, s.search.Weights.Latent = guideSlide, guideLatent
	s.guide = nil
	l := lessons{m: m, stream: s, options: &o, first: make([]float32, o.People*m.Latent), next: make([]float32, o.People*m.Predict*m.Layout.Columns())}
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

// lessons are what a guide learns from.
type lessons struct {
	m       *Model
	stream  *Stream
	options *GuideOptions
	done    int         // windows
	sees    [][]float32 // by window and person, (GuideInputs)
	z       [][]float32 // (Latent)

	first []float32 // (people, Latent) what the guide says
	next  []float32 // (people, Predict, columns) what it leads to
}

// walk has people walk for a round.
func (l *lessons) walk() error {
	s, o := l.stream, l.options
	for s.rows > 0 {
		s.Remove(s.rows - 1)
	}
	for range o.People {
		if _, err := s.Add(feature.Place{}, nil); err != nil {
			return err
		}
	}
	r := rand.New(rand.NewPCG(o.Seed, uint64(l.done)))
	for window := range o.Windows {
		if o.Stop != nil && o.Stop() {
			return fmt.Errorf("strnn: learning the guide was stopped")
		}
		for i := range o.People {
			if (window+i)%(4+i%12) == 0 { // some are soon asked for something else, others walk on
				s.wanders[i] = asking(r)
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

// note notes what the search found, and has every second person do as the guide says.
func (l *lessons) note() error {
	s, m := l.stream, l.m
	n := GuideInputs(m.Layout)
	for i := range s.led {
		if b := &s.search.best[i]; !math.IsInf(b.cost, 1) {
			l.sees, l.z = append(l.sees, slices.Clone(s.sees[i*n:][:n])), append(l.z, slices.Clone(b.z))
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

// asking returns what somebody may be asked for: most walk, and most of these turn.
func asking(r *rand.Rand) Steer {
	switch u := r.Float32(); {
	case u < 0.12:
		return Steer{}
	case u < 0.35:
		return Steer{Speed: 0.6 + 1.2*r.Float32()}
	default:
		return Steer{Speed: 0.6 + 1.2*r.Float32(), Turn: (2*r.Float32() - 1) * MaxTurn}
	}
}

// fit returns the guide that comes nearest to all that was found.
func (l *lessons) fit() (*Guide, error) {
	n, latent, count := GuideInputs(l.m.Layout), l.m.Latent, len(l.sees)
	if count < n {
		return nil, fmt.Errorf("strnn: a guide of %d values from %d windows: want more people, windows or rounds", n, count)
	}
	g := &Guide{Mean: make([]float32, n), Scale: make([]float32, n), Bias: make([]float32, latent), Weight: make([]float32, guideGates*n*latent)}
	for i := range n {
		sum, squares := 0.0, 0.0
		for _, v := range l.sees {
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
	for c, sees := range l.sees {
		for j, gate := range g.gates(sees) {
			for i := range inputs {
				row[j*inputs+i] = float64(gate * g.value(i, sees))
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
		square[i*n+i] += guideAside * float64(count)
	}
	if !factor(square, n) {
		return nil, fmt.Errorf("strnn: no guide comes nearest to what was found")
	}
	for k := range latent {
		w := right[k*n:][:n]
		substitute(square, w, n)
		for i, v := range w {
			g.Weight[i*latent+k] = float32(v)
		}
	}
	return g, l.m.checkGuide(g)
}
