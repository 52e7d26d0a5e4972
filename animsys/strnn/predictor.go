package strnn

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"mannequin/netruntime"
)

// Predictor goes on from motions, in batches. It belongs to one goroutine; Predict and
// Extend allocate nothing.
type Predictor struct {
	m       *Model
	batch   int
	near    int // frames that the filter sees before those that are made
	predict netruntime.Session
	filter  netruntime.Session // nil: none
	latent  []float32          // (batch, Encode, max(1, Latent))
	after   []float32          // (batch, Encode, columns)
	z       []float32          // (batch, near+Predict, columns)
	made    []float32          // the same, filtered
	work    []float32          // (Encode, columns)
	in      [2][]float32
	out     [1][]float32

	// Extend's.
	seen   []float32 // (batch, Encode, columns)
	next   []float32 // (batch, Predict, columns)
	ways   []float32 // (batch, Latent)
	seed   uint64
	spread float32
	pcg    rand.PCG
	rand   *rand.Rand
}

// PredictorOptions say what a predictor is for.
type PredictorOptions struct {
	Batch   int               // most motions at a time, at least 1
	Workers int               // goroutines, at least 1
	Open    netruntime.Opener // what computes networks; nil is the processor
	BF16    bool              // see netruntime.SessionOptions
}

// NewPredictor returns a predictor with the memory that it takes.
func (m *Model) NewPredictor(o PredictorOptions) (*Predictor, error) {
	if o.Batch < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("strnn: %d motions at a time on %d workers: want at least one of both", o.Batch, o.Workers)
	}
	open := o.Open
	if open == nil {
		open = (*netruntime.Net).NewSession
	}
	cols, near := m.Layout.Columns(), min(FilterNear, m.Encode)
	values := func(frames, columns int) []float32 { return make([]float32, o.Batch*frames*columns) }
	p := &Predictor{m: m, batch: o.Batch, near: near,
		latent: values(m.Encode, max(1, m.Latent)), after: values(m.Encode, cols), z: values(near+m.Predict, cols), work: make([]float32, m.Encode*cols),
		seen: values(m.Encode, cols), next: values(m.Predict, cols), ways: values(1, m.Latent)}
	p.rand = rand.New(&p.pcg)
	so := netruntime.SessionOptions{Batch: o.Batch, Length: m.Encode, Workers: o.Workers, BF16: o.BF16}
	var err error
	if p.predict, err = open(m.predict, so); err != nil {
		return nil, err
	}
	if m.filter != nil {
		so.Length = near + m.Predict
		p.made = values(so.Length, cols)
		if p.filter, err = open(m.filter, so); err != nil {
			return nil, errors.Join(err, p.predict.Close())
		}
	}
	return p, nil
}

// Close ends the predictor's workers.
func (p *Predictor) Close() error {
	err := p.predict.Close()
	if p.filter != nil {
		err = errors.Join(err, p.filter.Close())
	}
	return err
}

// Predict writes the frames that follow, (n, Predict, columns) raw, those of n motions,
// (n, Encode, columns) raw. latent, (n, Latent), says in which of the ways that it may
// each goes on; nil is the mean of all. A motion's result has the same bits alone or
// among others.
func (p *Predictor) Predict(next, seen, latent []float32, n int) error {
	m := p.m
	cols := m.Layout.Columns()
	encode, predict := m.Encode*cols, m.Predict*cols
	if n < 0 || n > p.batch || len(seen) != n*encode || len(next) != n*predict || latent != nil && len(latent) != n*m.Latent {
		return fmt.Errorf("strnn: %d motions of %d values with %d to come and %d latent values: want up to %d of %d each, %d to come and %d or no latent values", n, len(seen), len(next), len(latent), p.batch, encode, predict, m.Latent)
	}
	values := max(1, m.Latent)
	clear(p.latent[:n*m.Encode*values])
	if latent != nil {
		for i := range n {
			for f := range m.Encode {
				copy(p.latent[(i*m.Encode+f)*values:][:m.Latent], latent[i*m.Latent:])
			}
		}
	}
	p.in[0], p.in[1], p.out[0] = seen, p.latent[:n*m.Encode*values], p.after[:n*encode]
	if err := p.predict.RunSequences(p.out[:], p.in[:], n, m.Encode); err != nil {
		return err
	}
	lead := p.near * cols
	for i := range n {
		was, to, made := seen[i*encode:][:encode], next[i*predict:][:predict], p.after[i*encode:][:predict]
		if m.linear == nil {
			copy(to, made)
		} else {
			m.linear.Apply(to, was, m.mean, p.work, m.Encode)
			for k, v := range made {
				to[k] += v
			}
		}
		if p.filter != nil {
			z := p.z[i*(lead+predict):][:lead+predict]
			copy(z, was[encode-lead:])
			copy(z[lead:], to)
		}
	}
	if p.filter == nil {
		return nil
	}
	p.in[0], p.out[0] = p.z[:n*(lead+predict)], p.made[:n*(lead+predict)]
	if err := p.filter.RunSequences(p.out[:], p.in[:1], n, p.near+m.Predict); err != nil {
		return err
	}
	for i := range n {
		copy(next[i*predict:][:predict], p.made[i*(lead+predict)+lead:])
	}
	return nil
}

// Draw lets Extend draw latent values, normal with a deviation of spread, by seed; 0 is
// none, with which motions go on in the mean of all ways. It is so until it is called
// again.
func (p *Predictor) Draw(seed uint64, spread float32) { p.seed, p.spread = seed, spread }

// Extend makes n motions of have frames each frames long, rows (n, frames, columns) raw,
// of which the first have, at least Encode, are given: by as many as Predict at a time,
// each from the last Encode frames, in an open loop. What is drawn for a motion follows
// from the seed, its place among the n and the frame.
func (p *Predictor) Extend(rows []float32, n, have, frames int) error {
	m := p.m
	cols := m.Layout.Columns()
	if n < 0 || n > p.batch || have < m.Encode || frames < have || len(rows) != n*frames*cols {
		return fmt.Errorf("strnn: %d motions of %d values in all, of %d frames to go on from to %d: want up to %d motions, from at least %d frames, to no fewer", n, len(rows), have, frames, p.batch, m.Encode)
	}
	seen, next, ways := p.seen[:n*m.Encode*cols], p.next[:n*m.Predict*cols], p.ways[:n*m.Latent]
	if p.spread == 0 {
		ways = nil
	}
	for at := have; at < frames; at += m.Predict {
		for i := range n {
			copy(seen[i*m.Encode*cols:][:m.Encode*cols], rows[(i*frames+at-m.Encode)*cols:])
			if ways != nil {
				p.draw(ways[i*m.Latent:][:m.Latent], i, at)
			}
		}
		if err := p.Predict(next, seen, ways, n); err != nil {
			return err
		}
		k := min(m.Predict, frames-at) * cols
		for i := range n {
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
