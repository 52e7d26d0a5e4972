package strnn

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Predictor goes on from motions, in batches. It belongs to one goroutine; nothing but
// NewPredictor allocates.
type Predictor struct {
	m       *Model
	batch   int
	ways    int
	near    int                // frames that the filter sees before those that are made
	encode  netruntime.Session // frames to states
	predict netruntime.Session // states to frames
	prior   netruntime.Session // nil: there are no latent values
	filter  netruntime.Session // nil: none

	state  [2][]float32 // (batch, units) h and c of the motions seen
	likely [2][]float32 // (batch, Latent) means of latent values, and logarithms of their variances
	base   []float32    // (batch, Predict, columns) what the frames made of each are differences from
	lead   []float32    // (batch, near, columns) the last frames of each
	each   [2][]float32 // (batch·ways, units) states again, for each way
	latent []float32    // (batch·ways, Predict, max(1, Latent))
	net    []float32    // (batch·ways, Predict, columns) what the network says
	z      []float32    // (batch·ways, near+Predict, columns)
	made   []float32    // the same, filtered
	work   []float32    // (Encode, columns)
	in     [4][]float32
	out    [2][]float32

	// Extend's.
	seen   []float32 // (batch, Encode, columns)
	next   []float32 // (batch, Predict, columns)
	drawn  []float32 // (batch, Latent)
	settle *settling // nil: frames are as the network has them
	seed   uint64
	spread float32
	pcg    rand.PCG
	rand   *rand.Rand
}

// PredictorOptions say what a predictor is for.
type PredictorOptions struct {
	Batch      int               // most motions at a time, at least 1
	Samples    int               // most ways in which each goes on at a time; 0 is 1
	Workers    int               // goroutines, at least 1
	Open       netruntime.Opener // what computes networks; nil is the processor
	BF16       bool              // see netruntime.SessionOptions
	SkipFilter bool              // without the residual network: a little faster
	CleanUp    bool              // Extend makes frames a person's before it goes on from them: bones keep their length, the lower foot is on the ground, contacts are what is low and slow. What a network makes of its own frames drifts without
}

// NewPredictor returns a predictor with the memory that it takes.
func (m *Model) NewPredictor(o PredictorOptions) (*Predictor, error) {
	if o.Samples == 0 {
		o.Samples = 1
	}
	if o.Batch < 1 || o.Workers < 1 || o.Samples < 1 {
		return nil, fmt.Errorf("strnn: %d motions at a time in %d ways on %d workers: want at least one of each", o.Batch, o.Samples, o.Workers)
	}
	open := o.Open
	if open == nil {
		open = (*netruntime.Net).NewSession
	}
	cols, near, ways := m.Layout.Columns(), min(FilterNear, m.Encode), o.Batch*o.Samples
	p := &Predictor{m: m, batch: o.Batch, ways: o.Samples, near: near,
		base: make([]float32, o.Batch*m.Predict*cols), lead: make([]float32, o.Batch*near*cols), net: make([]float32, ways*m.Predict*cols),
		latent: make([]float32, ways*m.Predict*max(1, m.Latent)),
		work:   make([]float32, m.Encode*cols),
		seen:   make([]float32, o.Batch*m.Encode*cols), next: make([]float32, o.Batch*m.Predict*cols), drawn: make([]float32, o.Batch*m.Latent)}
	for i := range p.state {
		p.state[i], p.each[i] = make([]float32, o.Batch*m.units), make([]float32, ways*m.units)
	}
	p.rand = rand.New(&p.pcg)
	if o.CleanUp {
		p.settle = m.newSettling()
	}
	session := func(to *netruntime.Session, n *netruntime.Net, batch, length int) (err error) {
		*to, err = open(n, netruntime.SessionOptions{Batch: batch, Length: length, Workers: o.Workers, BF16: o.BF16})
		return err
	}
	err := session(&p.encode, m.encode, o.Batch, m.Encode)
	if err == nil {
		err = session(&p.predict, m.predict, ways, m.Predict)
	}
	if err == nil && m.prior != nil {
		p.likely = [2][]float32{make([]float32, o.Batch*m.Latent), make([]float32, o.Batch*m.Latent)}
		err = session(&p.prior, m.prior, o.Batch, 1)
	}
	if err == nil && m.filter != nil && !o.SkipFilter {
		p.z, p.made = make([]float32, ways*(near+m.Predict)*cols), make([]float32, ways*(near+m.Predict)*cols)
		err = session(&p.filter, m.filter, ways, near+m.Predict)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Close ends the predictor's workers.
func (p *Predictor) Close() error {
	var err error
	for _, s := range []netruntime.Session{p.encode, p.predict, p.prior, p.filter} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// Predict writes the frames that follow, (n, Predict, columns) raw, those of n motions,
// (n, Encode, columns) raw. latent, (n, Latent), says in which of the ways that it may
// each goes on; nil is the mean of all. A motion's result has the same bits alone or
// among others.
func (p *Predictor) Predict(next, seen, latent []float32, n int) error {
	if err := p.Observe(seen, n); err != nil {
		return err
	}
	return p.Next(next, latent, n, 1)
}

// See looks at n motions, (n, Encode, columns) raw, from which Next goes on.
func (p *Predictor) Observe(seen []float32, n int) error {
	m := p.m
	cols := m.Layout.Columns()
	size, made, lead := m.Encode*cols, m.Predict*cols, p.near*cols
	if n < 0 || n > p.batch || len(seen) != n*size {
		return fmt.Errorf("strnn: %d motions of %d values: want up to %d of %d each", n, len(seen), p.batch, size)
	}
	for i := range n {
		was := seen[i*size:][:size]
		copy(p.lead[i*lead:][:lead], was[size-lead:])
		if m.linear != nil {
			m.linear.Apply(p.base[i*made:][:made], was, m.mean, p.work, m.Encode)
		}
	}
	p.in[0], p.out[0], p.out[1] = seen, p.state[0][:n*m.units], p.state[1][:n*m.units]
	if err := p.encode.RunSequences(p.out[:2], p.in[:1], n, m.Encode); err != nil || p.prior == nil {
		return err
	}
	p.in[0], p.out[0], p.out[1] = p.state[0][:n*m.units], p.likely[0][:n*m.Latent], p.likely[1][:n*m.Latent]
	return p.prior.RunSequences(p.out[:2], p.in[:1], n, 1)
}

// Next writes the frames that follow those seen, (n, ways, Predict, columns) raw: each of
// the n motions goes on in so many ways, which latent, (n, ways, Latent), says; nil is
// the mean of all. The n are those of See, or the first ones of them.
func (p *Predictor) Next(next, latent []float32, n, ways int) error {
	m := p.m
	cols, values := m.Layout.Columns(), max(1, m.Latent)
	made, lead, k := m.Predict*cols, p.near*cols, n*ways
	if n < 0 || n > p.batch || ways < 1 || ways > p.ways || len(next) != k*made || latent != nil && len(latent) != k*m.Latent {
		return fmt.Errorf("strnn: %d values to come of %d motions in %d ways, with %d latent values: want up to %d motions in up to %d ways of %d each, and %d or no latent values",
			len(next), n, ways, len(latent), p.batch, p.ways, made, m.Latent)
	}
	for i := range k {
		held := p.latent[i*m.Predict*values:][:m.Predict*values]
		for v := range m.Latent {
			at := i/ways*m.Latent + v
			if held[v] = p.likely[0][at]; latent != nil {
				held[v] += latent[i*m.Latent+v] * m3.Exp(p.likely[1][at]/2)
			}
		}
		for f := values; f < len(held); f += values {
			copy(held[f:], held[:values])
		}
		for s := range p.each {
			copy(p.each[s][i*m.units:][:m.units], p.state[s][i/ways*m.units:])
		}
	}
	p.in[0], p.in[1], p.in[2], p.out[0] = p.latent[:k*m.Predict*values], p.each[0][:k*m.units], p.each[1][:k*m.units], next
	in := p.in[:3]
	if m.linear != nil {
		for i := range k {
			copy(next[i*made:][:made], p.base[i/ways*made:])
		}
		p.in[3], p.out[0], in = next, p.net[:len(next)], p.in[:4]
	}
	if err := p.predict.RunSequences(p.out[:1], in, k, m.Predict); err != nil {
		return err
	}
	if m.linear != nil {
		for i := range k {
			m.linear.Add(next[i*made:][:made], p.net[i*made:][:made], m.Encode)
		}
	}
	if p.filter == nil {
		return nil
	}
	for i := range k {
		z := p.z[i*(lead+made):][:lead+made]
		copy(z, p.lead[i/ways*lead:][:lead])
		copy(z[lead:], next[i*made:][:made])
	}
	p.in[0], p.out[0] = p.z[:k*(lead+made)], p.made[:k*(lead+made)]
	if err := p.filter.RunSequences(p.out[:1], p.in[:1], k, p.near+m.Predict); err != nil {
		return err
	}
	for i := range k {
		copy(next[i*made:][:made], p.made[i*(lead+made)+lead:])
	}
	return nil
}

// Draw lets Extend draw latent values, normal with a deviation of spread, by seed; 0 is
// none, with which motions go on in the mean of all ways. It is so until it is called
// again.
func (p *Predictor) SetSampling(seed uint64, spread float32) { p.seed, p.spread = seed, spread }

// Extend makes n motions of have frames each frames long, rows (n, frames, columns) raw,
// of which the first have, at least Encode, are given: by as many as Predict at a time,
// each from the last Encode frames, in an open loop. Where they are settled, the first one
// that no longer is a person's ends it for all. What is drawn for a motion follows
// from the seed, its place among the n and the frame.
func (p *Predictor) Extend(rows []float32, n, have, frames int) error {
	m := p.m
	cols := m.Layout.Columns()
	if n < 0 || n > p.batch || have < m.Encode || frames < have || len(rows) != n*frames*cols {
		return fmt.Errorf("strnn: %d motions of %d values in all, of %d frames to go on from to %d: want up to %d motions, from at least %d frames, to no fewer", n, len(rows), have, frames, p.batch, m.Encode)
	}
	seen, next, latent := p.seen[:n*m.Encode*cols], p.next[:n*m.Predict*cols], p.drawn[:n*m.Latent]
	if p.spread == 0 {
		latent = nil
	}
	for at := have; at < frames; at += m.Predict {
		for i := range n {
			copy(seen[i*m.Encode*cols:][:m.Encode*cols], rows[(i*frames+at-m.Encode)*cols:])
			if latent != nil {
				p.draw(latent[i*m.Latent:][:m.Latent], i, at)
			}
		}
		if err := p.Predict(next, seen, latent, n); err != nil {
			return err
		}
		k := min(m.Predict, frames-at) * cols
		for i := range n {
			if made := next[i*m.Predict*cols:][:m.Predict*cols]; p.settle != nil && !p.settle.run(made, seen[i*m.Encode*cols:][:m.Encode*cols], nil) {
				return fmt.Errorf("strnn: what follows frame %d of motion %d is none of a person's", at-1, i)
			}
			copy(rows[(i*frames+at)*cols:][:k], next[i*m.Predict*cols:][:k])
		}
	}
	return nil
}

// draw draws the latent values of motion i at a frame.
func (p *Predictor) draw(z []float32, i, frame int) {
	p.pcg.Seed(p.seed, uint64(i)<<32|uint64(frame))
	for k := range z {
		z[k] = p.spread * float32(p.rand.NormFloat64())
	}
}
