package latent

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mannequin/engine/m3"
)

// Overlap is the number of frames that a clip shares with the one before: half a second (Lüdi 2016,
// sec. 4.2.3).
const Overlap = 31

// Constants of the search for the start of a clip.
const (
	candidateCount = 96 // candidates
	fitCount       = 3  // fits, from the best candidates
	fitIterations  = 6  // iterations of each fit
)

// ChainPrior is the weight of large components in the search for the next clip: see Fit.Prior.
const ChainPrior = 0.01

// OverlapWeight is the weight of errors in frame i of the overlap. It is larger near the start,
// where the old motion is more visible.
func OverlapWeight(i int) float32 { return 1 - float32(i)/Overlap }

// Append appends a clip to a motion, rows, (frames, columns) raw, of at least Overlap frames, and
// returns it; if rows is empty it begins a motion. components, (values), describe the clip. Those
// marked by fixed, (values), stay. The others change so that the clip's first half second matches
// the end of the motion. The first clip keeps all; its lead should not be 0, because people shuffle
// at the mean of both legs.
//
// The body moves as far as its feet carry it (Model.MatchRootToFeet), and the clips are
// cross-faded. miss is the RMS distance of joints between both over the overlap, in the body's
// frame, m. Like append, Append uses the capacity of rows if there is room, and it changes the
// overlap there. After an error rows is unchanged.
//
// The thesis swaps the two components of the legs by hand. This search tries many starts and fits
// from the best ones. The same arguments give the same motion.
func (c *Coder) Append(rows, components []float32, fixed []bool) (motion []float32, miss float64, err error) {
	if c.m == nil {
		return nil, 0, errZeroModel
	}
	m := c.m
	cols := m.Layout.Columns()
	size, frames := Frames*cols, len(rows)/cols
	if len(components) != m.Values || len(fixed) != m.Values || len(rows) != frames*cols || frames > 0 && frames < Overlap {
		return nil, 0, fmt.Errorf("latent: a motion of %d values, %d components and %d marks: want no frames or at least %d of %d values, and %d components and marks",
			len(rows), len(components), len(fixed), Overlap, cols, m.Values)
	}
	t := &c.chaining
	resize(&t.clip, size)
	clip := t.clip
	if frames == 0 {
		if err := c.decodeComponents(clip, components, 1); err != nil {
			return nil, 0, err
		}
		m.MatchRootToFeet(clip)
		return append(rows, clip...), 0, nil
	}
	resize(&t.want, size)
	copy(t.want, rows[(frames-Overlap)*cols:])
	for i := range Overlap {
		t.weight[i] = OverlapWeight(i)
	}
	f := Fit{Fixed: fixed, Want: t.want, Weight: t.weight[:], Prior: ChainPrior, Iterations: fitIterations}
	if err := c.findCandidates(components, fixed, &f); err != nil {
		return nil, 0, err
	}
	best := -1.0
	for _, i := range t.order[:fitCount] {
		f.Components = t.candidates[i*m.Values:][:m.Values]
		if err := c.Fit(&f); err != nil {
			return nil, 0, err
		}
		if best < 0 || f.After < best {
			best = f.After
			copy(components, f.Components)
		}
	}
	if err := c.decodeComponents(clip, components, 1); err != nil {
		return nil, 0, err
	}
	m.MatchRootToFeet(clip)
	motion = append(rows, clip[Overlap*cols:]...)
	sum, joints := 0.0, len(m.Layout.Joints)
	for i := range Overlap {
		was, is := motion[(frames-Overlap+i)*cols:][:cols], clip[i*cols:][:cols]
		for j := range joints {
			at := m.Layout.Pos(j)
			d := m3.V(was[at], was[at+1], was[at+2]).Sub(m3.V(is[at], is[at+1], is[at+2]))
			sum += float64(d.Dot(d))
		}
		fade(was, was, is, i)
	}
	return motion, math.Sqrt(sum / float64(Overlap*joints)), nil
}

// fade writes frame i of the overlap, cross-faded from was to is.
func fade(to, was, is []float32, i int) {
	s := fadedIn(i)
	for k := range to {
		to[k] = was[k] + s*(is[k]-was[k])
	}
}

// fadedIn returns the share of the new clip in frame i of the overlap.
func fadedIn(i int) float32 {
	s := (float32(i) + 1) / (Overlap + 1)
	return s * s * (3 - 2*s)
}

// chaining is the scratch of Append.
type chaining struct {
	clip, want       []float32 // (Frames, columns)
	weight           [Frames]float32
	candidates, rows []float32 // (starts, values) components, and (starts, Frames, columns)
	order            [candidateCount]int
	cost             [candidateCount]float32
	random           rand.PCG
}

// findCandidates finds the components from which to fit a clip: the nearest to f.Want among the given
// ones and a standard normal sample. They come first in order.
func (c *Coder) findCandidates(components []float32, fixed []bool, f *Fit) error {
	m, t := c.m, &c.chaining
	cols := m.Layout.Columns()
	t.random.Seed(1, 1)
	rng := rand.New(&t.random)
	resize(&t.candidates, candidateCount*m.Values)
	resize(&t.rows, candidateCount*Frames*cols)
	for i := range candidateCount {
		to := t.candidates[i*m.Values:][:m.Values]
		copy(to, components)
		for k := range to {
			if v := float32(rng.NormFloat64()); i > 0 && !fixed[k] {
				to[k] = v
			}
		}
	}
	if err := c.decodeComponents(t.rows, t.candidates, candidateCount); err != nil {
		return err
	}
	for i := range candidateCount {
		t.order[i], t.cost[i] = i, 0
		for k, v := range t.rows[i*Frames*cols:][:Overlap*cols] {
			t.cost[i] += f.Weight[k/cols] * m.weight[k%cols] * (v - f.Want[k]) * (v - f.Want[k])
		}
	}
	slices.SortStableFunc(t.order[:], func(a, b int) int { return cmp.Compare(t.cost[a], t.cost[b]) })
	return nil
}
