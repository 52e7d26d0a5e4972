package latent

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mannequin/engine/m3"
)

// Overlap is how many frames a clip shares with the one before it: half a second
// (Lüdi 2016, sec. 4.2.3).
const Overlap = 31

// How the start of a clip is found.
const (
	starts   = 96 // that are looked at
	descents = 3  // of the best of them
	matching = 6  // iterations of each
)

// ChainPrior is the weight of how large components are, where a clip is to begin as
// another ends: see Fit.Prior.
const ChainPrior = 0.01

// OverlapWeight is that of the errors of frame i of the overlap: the nearer to its
// start, the more of the old motion is seen.
func OverlapWeight(i int) float32 { return 1 - float32(i)/Overlap }

// Append appends a clip to a motion, rows, (frames, columns) raw, of at least
// Overlap frames, or begins one where rows is empty, and returns it. components,
// (values), say which clip: those that fixed, (values), marks stay as they are, and
// the others are changed such that its first half second is what the motion ends
// with; the first clip keeps all, and should lead with a leg: at the mean of all
// steps people shuffle. The body goes as far as its feet carry it (Model.MatchRootToFeet), and
// the two are cross-faded. miss is the RMS
// distance of joints between both over the overlap, seen from the body, m. Like append
// it goes on in the array of rows where there is room, and changes the overlap there;
// after an error rows is as it was.
//
// The thesis exchanges the two components of the legs by hand. Here many starts are
// looked at, and from the best ones a fit goes on. The same arguments give the same
// motion.
func (c *Coder) Append(rows, components []float32, fixed []bool) (motion []float32, miss float64, err error) {
	m := c.m
	cols := m.Layout.Columns()
	size, frames := Frames*cols, len(rows)/cols
	if len(components) != m.Values || len(fixed) != m.Values || len(rows) != frames*cols || frames > 0 && frames < Overlap {
		return nil, 0, fmt.Errorf("latent: a motion of %d values with a clip of %d components, %d of them marked: want no frames or %d of %d, and %d components", len(rows), len(components), len(fixed), Overlap, cols, m.Values)
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
	f := Fit{Fixed: fixed, Want: t.want, Weight: t.weight[:], Prior: ChainPrior, Iterations: matching}
	if err := c.starts(components, fixed, &f); err != nil {
		return nil, 0, err
	}
	best := -1.0
	for _, i := range t.order[:descents] {
		f.Components = t.starts[i*m.Values:][:m.Values]
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

// fade writes frame i of the overlap: on the way from what was to what is.
func fade(to, was, is []float32, i int) {
	s := (float32(i) + 1) / (Overlap + 1)
	s *= s * (3 - 2*s)
	for k := range to {
		to[k] = was[k] + s*(is[k]-was[k])
	}
}

// chaining is the memory of Append.
type chaining struct {
	clip, want   []float32 // (Frames, columns)
	weight       [Frames]float32
	starts, rows []float32 // (starts, values) components, and (starts, Frames, columns)
	order        [starts]int
	cost         [starts]float32
	random       rand.PCG
}

// starts finds the components from which to fit a clip: of the given ones and a standard
// normal sample those that come nearest to what f wants. They are first in the order.
func (c *Coder) starts(components []float32, fixed []bool, f *Fit) error {
	m, t := c.m, &c.chaining
	cols := m.Layout.Columns()
	t.random.Seed(1, 1)
	rng := rand.New(&t.random)
	resize(&t.starts, starts*m.Values)
	resize(&t.rows, starts*Frames*cols)
	for i := range starts {
		to := t.starts[i*m.Values:][:m.Values]
		copy(to, components)
		for k := range to {
			if v := float32(rng.NormFloat64()); i > 0 && !fixed[k] {
				to[k] = v
			}
		}
	}
	if err := c.decodeComponents(t.rows, t.starts, starts); err != nil {
		return err
	}
	for i := range starts {
		t.order[i], t.cost[i] = i, 0
		for k, v := range t.rows[i*Frames*cols:][:Overlap*cols] {
			t.cost[i] += f.Weight[k/cols] * m.weight[k%cols] * (v - f.Want[k]) * (v - f.Want[k])
		}
	}
	slices.SortStableFunc(t.order[:], func(a, b int) int { return cmp.Compare(t.cost[a], t.cost[b]) })
	return nil
}
