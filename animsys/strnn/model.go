// Package strnn predicts people's motion, 30 frames per second: a spatio-temporal
// recurrent network goes on from some frames by some more, again and again (Wang, Ho,
// Shum and Zhu 2019).
package strnn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mannequin/animsys/feature"
	"mannequin/netruntime"
)

// Rate is the rate of frames, per second.
const Rate = 30

// Names of the values that the network's graph must have.
const (
	ValueX        = "x"        // frames to go on from, raw, (Encode, columns)
	ValueClock    = "clock"    // 0 for each frame that is made, (Encode, 1)
	ValueBefore   = "before"   // the frames of x again, (Encode, columns)
	ValueAfter    = "after"    // the next ones, (Encode, columns), of which the first Predict count
	ValueZ        = "z"        // frames seen and predicted, (Encode+Predict, columns)
	ValueFiltered = "filtered" // the same without noise
)

// Keys of the extra metadata.
const (
	KeyEncode  = "encode"  // frames
	KeyPredict = "predict" // frames
	KeyOffset  = "offset"  // "1": before and after are differences from the last frame of x
)

// Model is a predictor. It is immutable and safe to share.
type Model struct {
	*feature.Person // the layout of its frames, and the skeleton that they pose

	Net             *netruntime.Net
	Encode, Predict int // frames

	decode, predict, filter *netruntime.Net // filter may be nil
	offset                  bool
}

// SchemaError says that a model file does not hold what this package can use, and in
// what it differs.
type SchemaError struct {
	Model string
	Diff  []string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("strnn: model %q does not fit: %s", e.Model, strings.Join(e.Diff, "; "))
}

// Describe writes into meta what New reads.
func Describe(meta *netruntime.Meta, p *feature.Person, encode, predict int, offset bool) error {
	var err error
	if meta.Schema, meta.SchemaHash, meta.Skeleton, err = feature.DescribePerson(p.Layout, p.Skel); err != nil {
		return fmt.Errorf("strnn: %w", err)
	}
	if meta.Extra == nil {
		meta.Extra = map[string]string{}
	}
	meta.Extra[KeyEncode], meta.Extra[KeyPredict] = strconv.Itoa(encode), strconv.Itoa(predict)
	if offset {
		meta.Extra[KeyOffset] = "1"
	}
	return nil
}

// maxFrames bounds the frames that a network sees or makes at a time.
const maxFrames = 1024

// New returns the network as a predictor. A *SchemaError lists everything in which its
// metadata, its shapes and this package differ.
func New(net *netruntime.Net) (*Model, error) {
	meta := net.Meta()
	e := &SchemaError{Model: meta.Name}
	differ := func(format string, args ...any) { e.Diff = append(e.Diff, fmt.Sprintf(format, args...)) }
	m := &Model{Net: net, offset: meta.Extra[KeyOffset] == "1"}
	if m.Person, e.Diff = feature.ReadPerson(meta.Schema, meta.SchemaHash, meta.Skeleton); m.Person == nil {
		return nil, e
	}
	for key, to := range map[string]*int{KeyEncode: &m.Encode, KeyPredict: &m.Predict} {
		n, err := strconv.Atoi(meta.Extra[key])
		if err != nil || n < 1 || n > maxFrames {
			differ("its metadata %q is %.20q, want a number of frames from 1 to %d", key, meta.Extra[key], maxFrames)
		}
		*to = n
	}
	if m.Predict > m.Encode {
		differ("it predicts %d frames from %d, want no more", m.Predict, m.Encode)
	}
	part := func(to **netruntime.Net, inputs []string, output string) {
		var err error
		if *to, err = net.Part(inputs, []string{output}); err != nil {
			differ("it makes no %q of %s: %v", output, strings.Join(inputs, " and "), err)
		}
	}
	part(&m.decode, []string{ValueX, ValueClock}, ValueBefore)
	part(&m.predict, []string{ValueX, ValueClock}, ValueAfter)
	for _, in := range net.Graph().Inputs {
		if in.Name == ValueZ {
			part(&m.filter, []string{ValueZ}, ValueFiltered)
		}
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	for _, p := range []*netruntime.Net{m.decode, m.predict, m.filter} {
		if p != nil && p.Outputs() != m.Layout.Columns() {
			differ("its frames have %d values, those of its schema %d", p.Outputs(), m.Layout.Columns())
		}
	}
	if len(e.Diff) > 0 {
		return nil, e
	}
	return m, nil
}

// Predictor goes on from motions, in batches. It belongs to one goroutine; Predict
// allocates nothing.
type Predictor struct {
	m       *Model
	batch   int
	predict netruntime.Session
	filter  netruntime.Session // nil: none
	clock   []float32 // (batch, Encode, 1)
	after   []float32 // (batch, Encode, columns)
	z       []float32 // (batch, Encode+Predict, columns) frames seen and predicted
	made    []float32 // the same, filtered
	seen    []float32 // (batch, Encode, columns) Extend's
	next    []float32 // (batch, Predict, columns) likewise
	in      [2][]float32
	out     [1][]float32
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
	cols := m.Layout.Columns()
	p := &Predictor{m: m, batch: o.Batch, clock: make([]float32, o.Batch*m.Encode), after: make([]float32, o.Batch*m.Encode*cols), z: make([]float32, o.Batch*(m.Encode+m.Predict)*cols),
		seen: make([]float32, o.Batch*m.Encode*cols), next: make([]float32, o.Batch*m.Predict*cols)}
	so := netruntime.SessionOptions{Batch: o.Batch, Length: m.Encode, Workers: o.Workers, BF16: o.BF16}
	var err error
	if p.predict, err = open(m.predict, so); err != nil {
		return nil, err
	}
	if m.filter != nil {
		so.Length = m.Encode + m.Predict
		p.made = make([]float32, len(p.z))
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
// (n, Encode, columns) raw. A motion's result has the same bits alone or among others.
func (p *Predictor) Predict(next, seen []float32, n int) error {
	m := p.m
	cols := m.Layout.Columns()
	encode, predict := m.Encode*cols, m.Predict*cols
	if n < 0 || n > p.batch || len(seen) != n*encode || len(next) != n*predict {
		return fmt.Errorf("strnn: %d motions of %d values with %d to come: want up to %d of %d each, and %d to come", n, len(seen), len(next), p.batch, encode, predict)
	}
	p.in[0], p.in[1], p.out[0] = seen, p.clock[:n*m.Encode], p.after[:n*encode]
	if err := p.predict.RunSequences(p.out[:], p.in[:], n, m.Encode); err != nil {
		return err
	}
	z := encode + predict
	for i := range n {
		was, to := seen[i*encode:][:encode], p.z[i*z:][:z]
		copy(to, was)
		copy(to[encode:], p.after[i*encode:][:predict])
		if m.offset {
			last := was[encode-cols:]
			for k := range to[encode:] {
				to[encode+k] += last[k%cols]
			}
		}
	}
	made := p.z
	if p.filter != nil {
		made = p.made
		p.in[0], p.out[0] = p.z[:n*z], made[:n*z]
		if err := p.filter.RunSequences(p.out[:], p.in[:1], n, m.Encode+m.Predict); err != nil {
			return err
		}
	}
	for i := range n {
		copy(next[i*predict:][:predict], made[i*z+encode:])
	}
	return nil
}
