package strnn

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
	"mannequin/netruntime"
)

// Predictor continues motions, in batches. It belongs to one goroutine; only NewPredictor
// allocates.
type Predictor struct {
	m       *Model
	batch   int
	samples int
	draws   int
	near    int                // frames before the predicted ones that the filter sees
	encode  netruntime.Session // frames to states
	predict netruntime.Session // states to frames
	prior   netruntime.Session // nil: there are no latent values
	manner  netruntime.Session // nil: there are no manners
	filter  netruntime.Session // nil: none

	state  [2][]float32 // (batch, units) h and c of the observed motions
	known  []float32    // (batch, units+Manner) h of the observed motions and the codes of their manners
	codes  []float32    // (batch, Manner) codes of the manners that motions are held to; 0: none
	moves  []float32    // (batch, 2·columns) these manners
	tried  []float32    // (batch·draws, Predict, columns) futures that Extend chooses from
	span   []float32    // (Encode+Predict, columns) frames seen, and one of these futures
	now    []float32    // (2·columns) its manner
	want   []float32    // (2·columns) the manner that is wanted
	likely [2][]float32 // (batch, Latent) means of latent values, and logarithms of their variances
	base   []float32    // (batch, Predict, columns) output of the linear filters
	lead   []float32    // (batch, near, columns) the last frames of each
	each   [2][]float32 // (batch·samples, units) states, repeated for each sample
	latent []float32    // (batch·samples, Predict, max(1, Latent+Manner))
	net    []float32    // (batch·samples, Predict, columns) output of the network
	z      []float32    // (batch·samples, near+Predict, columns) input of the filter
	made   []float32    // its output
	work   []float32    // (Encode, columns)
	in     [4][]float32
	out    [2][]float32

	// Scratch of Extend.
	seen    []float32 // (batch, Encode, columns)
	next    []float32 // (batch, Predict, columns)
	drawn   []float32 // (batch·draws, Latent)
	cleanup *cleanup  // nil: no cleanup
	seed    uint64
	spread  float32
	pcg     rand.PCG
	rand    *rand.Rand
}

// PredictorOptions are the options of NewPredictor.
type PredictorOptions struct {
	Batch      int               // maximum number of motions, at least 1
	Samples    int               // maximum number of futures per motion; 0: 1
	Draws      int               // futures that Extend draws for each window, of which the one most like the motion's manner is taken; 0: 1
	Workers    int               // goroutines, at least 1
	Open       netruntime.Opener // opens sessions; nil: on the CPU
	BF16       bool              // see netruntime.SessionOptions
	SkipFilter bool              // leave out the residual network: a little faster
	CleanUp    bool              // Extend cleans frames up before it continues from them: bone lengths, the lower foot on the ground, contacts where feet are low and slow, a swing of the joints that suits the body's speed. Without it long predictions drift
}

// NewPredictor returns a predictor.
func (m *Model) NewPredictor(o PredictorOptions) (*Predictor, error) {
	if m.Net == nil {
		return nil, errZeroModel
	}
	o.Samples, o.Draws = cmp.Or(o.Samples, 1), cmp.Or(o.Draws, 1)
	if o.Batch < 1 || o.Workers < 1 || o.Samples < 1 || o.Draws < 1 {
		return nil, fmt.Errorf("strnn: %d motions at a time with %d samples and %d draws on %d workers: want at least one of each", o.Batch, o.Samples, o.Draws, o.Workers)
	}
	o.Samples = max(o.Samples, o.Draws)
	cols, near, samples := m.Layout.Columns(), min(FilterNear, m.Encode), o.Batch*o.Samples
	p := &Predictor{m: m, batch: o.Batch, samples: o.Samples, draws: o.Draws, near: near,
		base: make([]float32, o.Batch*m.Predict*cols), lead: make([]float32, o.Batch*near*cols), net: make([]float32, samples*m.Predict*cols),
		latent: make([]float32, samples*m.Predict*m.latents()), codes: make([]float32, o.Batch*m.Manner),
		work: make([]float32, m.Encode*cols),
		seen: make([]float32, o.Batch*m.Encode*cols), next: make([]float32, o.Batch*m.Predict*cols), drawn: make([]float32, o.Batch*o.Draws*m.Latent)}
	for i := range p.state {
		p.state[i], p.each[i] = make([]float32, o.Batch*m.units), make([]float32, samples*m.units)
	}
	p.want = make([]float32, 2*cols)
	p.rand = rand.New(&p.pcg)
	if o.CleanUp {
		p.cleanup = m.newCleanup()
	}
	if m.Manner > 0 || o.Draws > 1 {
		p.moves = make([]float32, o.Batch*2*cols)
	}
	if m.Manner > 0 {
		p.known = make([]float32, o.Batch*(m.units+m.Manner))
	}
	if o.Draws > 1 {
		p.tried, p.span = make([]float32, o.Batch*o.Draws*m.Predict*cols), make([]float32, (m.Encode+m.Predict)*cols)
		p.now = make([]float32, 2*cols)
	}
	for i := range p.likely {
		p.likely[i] = make([]float32, o.Batch*m.Latent)
	}
	filter := m.filter
	if o.SkipFilter {
		filter = nil
	}
	if filter != nil {
		p.z, p.made = make([]float32, samples*(near+m.Predict)*cols), make([]float32, samples*(near+m.Predict)*cols)
	}
	err := openAll(o.Open, netruntime.SessionOptions{Workers: o.Workers, BF16: o.BF16}, []part{
		{&p.encode, m.encode, o.Batch, m.Encode}, {&p.predict, m.predict, samples, m.Predict}, {&p.prior, m.prior, o.Batch, 1}, {&p.manner, m.manner, o.Batch, 1}, {&p.filter, filter, samples, near + m.Predict},
	})
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// part is a session to open for a part of the network.
type part struct {
	session       *netruntime.Session
	net           *netruntime.Net // nil: none
	batch, length int
}

func openAll(open netruntime.Opener, o netruntime.SessionOptions, parts []part) (err error) {
	for _, p := range parts {
		if p.net == nil {
			continue
		}
		o.Batch, o.Length = p.batch, p.length
		if *p.session, err = open.Session(p.net, o); err != nil {
			return err
		}
	}
	return nil
}

// closeAll closes sessions that are not nil.
func closeAll(sessions ...netruntime.Session) (err error) {
	for _, s := range sessions {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// Close stops the predictor's workers.
func (p *Predictor) Close() error { return closeAll(p.encode, p.predict, p.prior, p.manner, p.filter) }

// Predict writes the frames that follow n motions: next, (n, Predict, columns) raw, after seen, (n,
// Encode, columns) raw. latent, (n, Latent), selects each motion's future; nil: the mean. A
// motion's result is bit-identical alone or in a batch.
func (p *Predictor) Predict(next, seen, latent []float32, n int) error {
	if err := p.Observe(seen, n); err != nil {
		return err
	}
	return p.Next(next, latent, n, 1)
}

// Observe encodes n motions, (n, Encode, columns) raw, which Next then continues.
func (p *Predictor) Observe(seen []float32, n int) error {
	if p.m == nil {
		return errZeroModel
	}
	m := p.m
	cols := m.Layout.Columns()
	size, made, lead := m.Encode*cols, m.Predict*cols, p.near*cols
	if n < 0 || n > p.batch || len(seen) != n*size {
		return fmt.Errorf("strnn: %d motions of %d values: want up to %d of %d each", n, len(seen), p.batch, size)
	}
	for i := range n {
		was := seen[i*size:][:size]
		copy(p.lead[i*lead:][:lead], was[size-lead:])
		if m.Linear != nil {
			m.Linear.Apply(p.base[i*made:][:made], was, m.mean, p.work, m.Encode)
		}
	}
	p.in[0], p.out[0], p.out[1] = seen, p.state[0][:n*m.units], p.state[1][:n*m.units]
	if err := p.encode.RunSequences(p.out[:2], p.in[:1], n, m.Encode); err != nil || p.prior == nil {
		return err
	}
	h := p.state[0][:n*m.units]
	if m.Manner > 0 {
		for i := range n {
			known := p.known[i*(m.units+m.Manner):][:m.units+m.Manner]
			copy(known[copy(known, h[i*m.units:][:m.units]):], p.codes[i*m.Manner:])
		}
		h = p.known[:n*(m.units+m.Manner)]
	}
	p.in[0], p.out[0], p.out[1] = h, p.likely[0][:n*m.Latent], p.likely[1][:n*m.Latent]
	return p.prior.RunSequences(p.out[:2], p.in[:1], n, 1)
}

// Next writes futures of the first n observed motions, (n, samples, Predict, columns) raw. latent,
// (n, samples, Latent), selects them; nil: the mean.
func (p *Predictor) Next(next, latent []float32, n, samples int) error {
	if p.m == nil {
		return errZeroModel
	}
	m := p.m
	cols, values := m.Layout.Columns(), m.latents()
	made, lead, k := m.Predict*cols, p.near*cols, n*samples
	if n < 0 || n > p.batch || samples < 1 || samples > p.samples || len(next) != k*made || latent != nil && len(latent) != k*m.Latent {
		return fmt.Errorf("strnn: %d output values of %d motions with %d samples and %d latent values: want up to %d motions with up to %d samples of %d values each, and %d or no latent values",
			len(next), n, samples, len(latent), p.batch, p.samples, made, m.Latent)
	}
	for i := range k {
		held := p.latent[i*m.Predict*values:][:m.Predict*values]
		for v := range m.Latent {
			at := i/samples*m.Latent + v
			if held[v] = p.likely[0][at]; latent != nil {
				held[v] += latent[i*m.Latent+v] * m3.Exp(p.likely[1][at]/2)
			}
		}
		copy(held[m.Latent:values], p.codes[i/samples*m.Manner:][:m.Manner])
		for f := values; f < len(held); f += values {
			copy(held[f:], held[:values])
		}
		for s := range p.each {
			copy(p.each[s][i*m.units:][:m.units], p.state[s][i/samples*m.units:])
		}
	}
	p.in[0], p.in[1], p.in[2], p.out[0] = p.latent[:k*m.Predict*values], p.each[0][:k*m.units], p.each[1][:k*m.units], next
	in := p.in[:3]
	if m.Linear != nil {
		for i := range k {
			copy(next[i*made:][:made], p.base[i/samples*made:])
		}
		p.in[3], p.out[0], in = next, p.net[:len(next)], p.in[:4]
	}
	if err := p.predict.RunSequences(p.out[:1], in, k, m.Predict); err != nil {
		return err
	}
	if m.Linear != nil {
		for i := range k {
			m.Linear.Add(next[i*made:][:made], p.net[i*made:][:made], m.Encode)
		}
	}
	if p.filter == nil {
		return nil
	}
	for i := range k {
		z := p.z[i*(lead+made):][:lead+made]
		copy(z, p.lead[i/samples*lead:][:lead])
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

// SetSampling lets Extend draw latent values from a normal distribution with deviation spread; 0:
// the mean future. It stays in effect until the next call.
func (p *Predictor) SetSampling(seed uint64, spread float32) { p.seed, p.spread = seed, spread }

// Extend extends n motions in rows, (n, frames, columns) raw, from have frames, at least Encode, to
// all frames. It predicts windows of up to Predict frames from the last Encode ones. With cleanup,
// an unusable window of any motion is an error. What is drawn for a motion depends on the seed, its
// index and the frame.
//
// A model with manners holds each motion to how its have frames moved, see MannerOf. So does a choice
// among several Draws. Without either, what a person does is forgotten within seconds.
func (p *Predictor) Extend(rows []float32, n, have, frames int) error {
	if p.m == nil {
		return errZeroModel
	}
	m := p.m
	cols := m.Layout.Columns()
	if n < 0 || n > p.batch || have < m.Encode || frames < have || len(rows) != n*frames*cols {
		return fmt.Errorf("strnn: %d motions of %d values in all, from %d frames to %d: want up to %d motions, from at least %d frames to no fewer",
			n, len(rows), have, frames, p.batch, m.Encode)
	}
	if err := p.hold(rows, n, have, frames); err != nil {
		return err
	}
	defer clear(p.codes)
	draws := p.draws
	if p.spread == 0 || m.Latent == 0 {
		draws = 1
	}
	seen, next, latent := p.seen[:n*m.Encode*cols], p.next[:n*m.Predict*cols], p.drawn[:n*draws*m.Latent]
	if p.spread == 0 {
		latent = nil
	}
	encode, predict := m.Encode*cols, m.Predict*cols
	for i := range n {
		copy(seen[i*encode:][:encode], rows[(i*frames+have-m.Encode)*cols:])
	}
	for at := have; at < frames; at += m.Predict {
		for i := range n {
			if latent != nil {
				p.draw(latent[i*draws*m.Latent:][:draws*m.Latent], i, at)
			}
		}
		if err := p.Observe(seen, n); err != nil {
			return err
		}
		to := next
		if draws > 1 {
			to = p.tried[:n*draws*predict]
		}
		if err := p.Next(to, latent, n, draws); err != nil {
			return err
		}
		if draws > 1 {
			p.choose(next, seen, rows, n, at, frames)
		}
		for i := range n {
			made, was := next[i*predict:][:predict], seen[i*encode:][:encode]
			whole := rows[i*frames*cols:][:frames*cols]
			if p.cleanup != nil && !p.settle(made, was, whole, at) {
				return fmt.Errorf("strnn: the window after frame %d of motion %d: %w", at-1, i, ErrUnusable)
			}
			// The network goes on from its own body's motion. If it saw people rest, those who pause
			// in a walk would stand for ever.
			copy(was, was[min(predict, encode):])
			copy(was[max(0, encode-predict):], made[max(0, predict-encode):])
			if p.cleanup != nil && !p.show(made, whole, i, have, at) {
				return fmt.Errorf("strnn: the window after frame %d of motion %d: %w", at-1, i, ErrUnusable)
			}
			if p.cleanup == nil {
				copy(whole[at*cols:], made)
			}
		}
	}
	return nil
}

// ErrUnusable is returned for predicted frames that CleanUp cannot mend, such as those of a network after very little training.
var ErrUnusable = errors.New("the predicted frames are unusable")

// settle cleans up frames made, (Predict, columns), before frame at of rows, (frames, columns), which
// follow the frames seen. It reports whether they are usable.
func (p *Predictor) settle(made, seen, rows []float32, at int) bool {
	if !p.cleanup.run(made, seen, nil) {
		return false
	}
	cols := p.m.Layout.Columns()
	MannerOf(p.want, rows[max(0, at-MannerFrames)*cols:at*cols], cols)
	if !p.cleanup.stride(made, seen, p.want[:cols]) {
		return false
	}
	p.cleanup.stand(made, seen)
	return true
}

// show writes frames made, (Predict, columns), of motion i to rows, (frames, columns), from frame at, with the
// motion of the body as feet tell. The first have frames of rows are given. It reports whether they are
// usable.
func (p *Predictor) show(made, rows []float32, i, have, at int) bool {
	m := p.m
	cols := m.Layout.Columns()
	frames := len(rows) / cols
	seen, rests := rows[(at-m.Encode)*cols:at*cols], p.mayRest(i)
	if rests {
		p.cleanup.rest(made, seen)
	}
	p.cleanup.follow(made, seen)
	p.cleanup.stand(made, seen)
	copy(rows[at*cols:], made)
	// The last frames have no frames after them yet: their turn is in the next window.
	from, to := max(have, groundReach, at-groundReach), min(at+m.Predict, frames)-groundReach
	return !rests || p.cleanup.calm(rows, from, max(from, to))
}

// restPace is the speed of a manner, m/s, from which a person goes on after a pause, and so is not
// held in place in it.
const restPace = 0.3

// mayRest reports whether motion i is held to a manner that hardly moves over the ground, or to none.
func (p *Predictor) mayRest(i int) bool {
	if p.moves == nil {
		return true
	}
	body := p.moves[i*2*p.m.Layout.Columns()+p.m.Layout.Body():]
	return m3.V(body[feature.MotionX], 0, body[feature.MotionZ]).Len() < restPace
}

// draw draws latent values for motion i at a frame.
func (p *Predictor) draw(z []float32, i, frame int) {
	p.pcg.Seed(p.seed, uint64(i)<<32|uint64(frame))
	for k := range z {
		z[k] = p.spread * float32(p.rand.NormFloat64())
	}
}
