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
// steps people shuffle. The body goes as far as its feet carry it (Model.Carry), and
// the two are cross-faded. miss is the RMS
// distance of joints between both over the overlap, seen from the body, m.
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
	clip := make([]float32, size)
	if frames == 0 {
		if err := c.decodeComponents(clip, components, 1); err != nil {
			return nil, 0, err
		}
		m.Carry(clip)
		return clip, 0, nil
	}
	end := rows[(frames-Overlap)*cols:]
	f := Fit{Fixed: fixed, Want: make([]float32, size), Weight: make([]float32, Frames), Prior: ChainPrior, Iterations: matching}
	copy(f.Want, end)
	for i := range Overlap {
		f.Weight[i] = OverlapWeight(i)
	}
	starts, err := c.starts(components, fixed, &f)
	if err != nil {
		return nil, 0, err
	}
	best := -1.0
	for _, start := range starts {
		f.Components = start
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
	m.Carry(clip)
	motion = append(slices.Clone(rows[:(frames-Overlap)*cols]), clip...)
	sum, joints := 0.0, len(m.Layout.Joints)
	for i := range Overlap {
		was, is, to := end[i*cols:][:cols], clip[i*cols:][:cols], motion[(frames-Overlap+i)*cols:][:cols]
		for j := range joints {
			at := m.Layout.Pos(j)
			d := m3.V(was[at], was[at+1], was[at+2]).Sub(m3.V(is[at], is[at+1], is[at+2]))
			sum += float64(d.Dot(d))
		}
		fade(to, was, is, i)
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

// starts returns the components from which to fit a clip: those of the given ones and
// of a standard normal sample that come nearest to what f wants.
func (c *Coder) starts(components []float32, fixed []bool, f *Fit) ([][]float32, error) {
	m := c.m
	cols := m.Layout.Columns()
	rng := rand.New(rand.NewPCG(1, 1))
	all, rows := make([]float32, starts*m.Values), make([]float32, starts*Frames*cols)
	for i := range starts {
		to := all[i*m.Values:][:m.Values]
		copy(to, components)
		for k := range to {
			if v := float32(rng.NormFloat64()); i > 0 && !fixed[k] {
				to[k] = v
			}
		}
	}
	if err := c.decodeComponents(rows, all, starts); err != nil {
		return nil, err
	}
	order, cost := make([]int, starts), make([]float32, starts)
	for i := range starts {
		order[i] = i
		for k, v := range rows[i*Frames*cols:][:Overlap*cols] {
			cost[i] += f.Weight[k/cols] * m.weight[k%cols] * (v - f.Want[k]) * (v - f.Want[k])
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cost[a], cost[b]) })
	var best [][]float32
	for _, i := range order[:descents] {
		best = append(best, all[i*m.Values:][:m.Values])
	}
	return best, nil
}
