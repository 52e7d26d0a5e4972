package netruntime

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"mannequin/netruntime/internal/kernel"
	"mannequin/netruntime/internal/pool"
)

// SessionOptions sets the size and the arithmetic of a session.
type SessionOptions struct {
	Batch   int // most sequences, or rows, of a run: at least 1
	Length  int // most frames of a sequence; 0 means 1
	Workers int // goroutines that compute, the caller's included: at least 1
	// BF16 asks for products in bfloat16: half the memory to read and twice the arithmetic, for 8
	// bits of mantissa in weights and inputs (sums stay float32). It applies to products of at
	// least 32,768 weights if the processor has the instructions. The rest stays float32.
	// Session.Kernel returns what a session uses.
	BF16 bool
	// SkipBelow skips an expert of OpBlend for every row whose gating weight for it is smaller. The
	// other weights stay as they are, so they then add up to less than 1. Whether a row skips an
	// expert depends only on that row. In [0, 1); 0 skips nothing.
	SkipBelow float32
}

// Session computes a network for up to Batch sequences at a time. It belongs
// to one goroutine: a run beside another is ErrBusy. It allocates nothing after NewSession.
type Session interface {
	// Run computes y (rows, Outputs) from x (rows, Inputs) for a network of one input and one
	// output. Both are raw: the network normalises inside and x is not modified. y and x must not
	// overlap. rows is 0 to MaxRows. Slices that are too short, other numbers of rows and a closed
	// session are errors. Nothing is computed then.
	Run(y, x []float32, rows int) error
	// RunSequences computes out from in. in[i] (batch, length, channels) is the graph's i-th input
	// and out[i] its i-th output. Their lengths are those that Graph.Length returns for a run of
	// the given length. No slice may overlap one of out. It is an error, and nothing is computed,
	// if the session does not hold the batch or the length, if the length cannot be halved as often
	// as the network does, or if slices are too short or too few.
	RunSequences(out, in [][]float32, batch, length int) error
	// Gating returns the experts' weights (rows, K) of the last run, including those that SkipBelow
	// skipped. They are valid until the next run. It returns nil if the network has no blends or if
	// its blends do not all use the same weights.
	Gating() []float32
	// MaxRows returns the session's batch.
	MaxRows() int
	// Kernel returns the kernels that compute the products, such as "avx512_bf16", "avx512", "avx2"
	// or "generic".
	Kernel() string
	// Close ends the session's workers. A later run is an error. Close beside a run is ErrBusy.
	Close() error
}

const (
	maxBatch   = 1 << 20
	maxLength  = 1 << 16
	maxWorkers = pool.Most
	maxSession = 4 << 30 // bytes
	maxSteps   = 1 << 19 // barriers of a run
)

// NewSession returns a session of n on the processor, with all the memory that its runs need. It is
// an error to ask for less than one sequence, frame or worker, for a length at which n cannot be
// halved, or for more than 4 GiB. The first session of a family of kernels packs n's weights, and
// later sessions share them.
func (n *Net) NewSession(o SessionOptions) (Session, error) {
	o.Length = cmp.Or(o.Length, 1)
	switch {
	case o.Batch < 1 || o.Length < 1 || o.Workers < 1:
		return nil, fmt.Errorf("netruntime: a session of %d sequences of %d frames and %d workers: all must be at least 1",
			o.Batch, o.Length, o.Workers)
	case o.Batch > maxBatch || o.Length > maxLength || o.Workers > maxWorkers:
		return nil, fmt.Errorf("netruntime: a session of %d sequences of %d frames and %d workers: at most %d, %d and %d",
			o.Batch, o.Length, o.Workers, maxBatch, maxLength, maxWorkers)
	case !(o.SkipBelow >= 0 && o.SkipBelow < 1):
		return nil, fmt.Errorf("netruntime: SkipBelow is %g, want a number from 0 to below 1", o.SkipBelow)
	case n.plans == nil:
		return nil, errors.New("netruntime: the zero Net has no network: make one with New")
	}
	key := planKey{kernel.Active(), o.BF16 && kernel.BF16()}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.plans[key] == nil {
		n.plans[key] = compile(n, key)
	}
	return newSession(n.plans[key], o)
}

// session runs a plan, in one of two ways.
//
// A run of few rows is limited by reading the weights. The workers then share the columns of each
// heavy product, so that every weight is read once for all rows.
//
// A run of many rows is limited by arithmetic. Each worker then takes blocks of whole sequences
// through the network, in memory of its own that stays in the cache, and no worker waits between
// the layers.
//
// An element's sum is the same either way.
type session struct {
	plan    *plan
	opt     SessionOptions
	pool    *kernel.Pool
	tasks   []task // by worker
	buffers [][]float32
	views   []view // by value

	gates    []float32 // of the LSTMs, by worker
	gateSize int
	stepSize int // of a frame of an LSTM's operand

	omegaRows int          // rows of the last run's gating weights
	out, in   [1][]float32 // of Run
	closed    bool
	busy      atomic.Bool // a run is in progress

	// The run in progress.
	batch, length int
	blocks        int // of all sequences
	steps         []step
	counts        []int // of tasks, by step

	byBlock func(worker, i int) // bound once
	byStep  func(worker, step, i int)
}

var errClosed = errors.New("netruntime: the session is closed")

// ErrBusy is the error of a run, or of Close, while another goroutine runs the session.
var ErrBusy = errors.New("netruntime: the session is in use: a session belongs to one goroutine, open another for each")

func newSession(p *plan, o SessionOptions) (*session, error) {
	s := &session{plan: p, opt: o, views: make([]view, len(p.values)), buffers: make([][]float32, p.buffers)}
	if err := s.allocate(); err != nil {
		return nil, err
	}
	s.pool = kernel.NewPool(o.Workers)
	s.tasks = make([]task, o.Workers)
	for w := range s.tasks {
		s.tasks[w] = task{s: s, scratch: &kernel.Scratch{}, worker: w, steps: make([]float32, s.stepSize)}
		s.tasks[w].scratch.Reserve(p.filters)
		if p.bf16 {
			s.tasks[w].steps16 = make([]uint16, s.stepSize)
		}
		if s.opt.SkipBelow > 0 {
			s.tasks[w].some = newSomeExperts(p.scratch)
		}
	}
	s.byBlock, s.byStep = s.runBlock, s.runStep
	return s, nil
}

// allocate makes the buffers for runs of every length up to the session's. A longer run holds fewer
// sequences at once. Each step of the loop covers a few lengths together, and assumes the longest
// of them and the number of sequences of the shortest.
func (s *session) allocate() error {
	p, o := s.plan, s.opt
	if !s.anyLength() {
		return fmt.Errorf("netruntime: no length up to %d can be halved as often as the network does", o.Length)
	}
	if err := s.checkSizes(); err != nil {
		return err
	}
	need := make([]int64, p.buffers)
	half, kept := make([]int64, len(p.values)), make([]int64, len(p.values))
	var gates, operand int64
	for length, next := 1, 0; length <= o.Length; length = next {
		next = length + 1 + length/16
		longest := min(next-1, o.Length)
		slots := int64(s.slots(length))
		for i := range p.values {
			v := &p.values[i]
			seq := int64(v.sequence(longest))
			switch v.at {
			case buffer:
				need[v.index] = max(need[v.index], slots*seq)
			case whole:
				kept[i] = max(kept[i], int64(o.Batch)*seq)
			}
			if v.half {
				half[i] = max(half[i], slots*seq)
			}
		}
		if p.gates > 0 {
			gates = max(gates, gateFloats, int64(p.gates)*slots)
			operand = max(operand, int64(p.steps)*slots)
		}
	}
	// Each worker's part begins on a cache line.
	for i := range need {
		need[i] = roundUp(need[i], 16*int64(o.Workers))
	}
	for i := range half {
		half[i] = roundUp(half[i], 32*int64(o.Workers))
	}
	steps := s.most(o.Length)
	worker := float64(4*gates + 6*operand)
	if s.opt.SkipBelow > 0 {
		worker += bytesOfSomeExperts(p.scratch)
	}
	total := worker*float64(o.Workers) + float64(steps)*float64(unsafe.Sizeof(step{})+unsafe.Sizeof(int(0)))
	for _, n := range need {
		total += 4 * float64(n)
	}
	for i := range half {
		total += 2*float64(half[i]) + 4*float64(kept[i])
	}
	switch {
	case total > min(maxSession, math.MaxInt):
		return s.tooLarge(total)
	case steps > maxSteps:
		return fmt.Errorf("netruntime: sequences of %d frames take %d steps of recurrent layers, at most %d are allowed", o.Length, steps, maxSteps)
	}
	for i, n := range need {
		s.buffers[i] = make([]float32, n)
	}
	for i := range p.values {
		v := &p.values[i]
		switch v.at {
		case buffer:
			s.views[i].data = s.buffers[v.index]
		case whole:
			s.views[i].data = make([]float32, kept[i])
		}
		if v.half {
			s.views[i].half = make([]uint16, half[i])
		}
		s.views[i].bySlot = v.at == buffer
		s.views[i].part, s.views[i].half16 = len(s.views[i].data)/o.Workers, len(s.views[i].half)/o.Workers
		s.views[i].width = v.channels
	}
	s.gateSize, s.stepSize = int(gates), int(operand)
	s.gates = make([]float32, s.gateSize*o.Workers)
	s.steps, s.counts = make([]step, 0, steps), make([]int, 0, steps)
	return nil
}

// checkSizes refuses sizes that could overflow. A sequence of each value, also of a value in the
// caller's memory, must fit the limit for the whole session, and a batch of it must fit the address
// space.
func (s *session) checkSizes() error {
	for i := range s.plan.values {
		v := &s.plan.values[i]
		bytes := 4 * (float64(v.lead) + float64(v.span.most(s.opt.Length)) + float64(v.trail)) * float64(v.channels)
		if bytes > maxSession || bytes*float64(s.opt.Batch) > math.MaxInt {
			return s.tooLarge(bytes * float64(s.opt.Batch))
		}
	}
	return nil
}

func (s *session) tooLarge(bytes float64) error {
	return fmt.Errorf("netruntime: a session of %d sequences of %d frames takes %.3g bytes, at most %d are allowed",
		s.opt.Batch, s.opt.Length, bytes, int64(min(maxSession, math.MaxInt)))
}

func roundUp[N int | int64](n, to N) N { return (n + to - 1) / to * to }

// anyLength reports whether the session can run at any length.
func (s *session) anyLength() bool {
	for length := 1; length <= min(s.opt.Length, 1<<maxHalvings); length *= 2 {
		if s.plan.fits(length) {
			return true
		}
	}
	return false
}

// sequence returns the number of floats of a sequence with its padding.
func (v *place) sequence(length int) int {
	return (v.lead + v.span.most(length) + v.trail) * v.channels
}

// fits reports whether all values have whole lengths in a run of the given length.
func (p *plan) fits(length int) bool {
	for i := range p.values {
		if p.values[i].span.frames(length) == 0 {
			return false
		}
	}
	return true
}

func (s *session) MaxRows() int   { return s.opt.Batch }
func (s *session) Kernel() string { return s.plan.kernel }

func (s *session) Gating() []float32 {
	if s.plan.omega < 0 {
		return nil
	}
	v := &s.views[s.plan.omega]
	return v.data[:s.omegaRows*v.width]
}

func (s *session) Close() error {
	if !s.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	defer s.busy.Store(false)
	s.closed = true
	s.pool.Close()
	return nil
}

func (s *session) Run(y, x []float32, rows int) error {
	if !s.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	defer s.busy.Store(false)
	if len(s.plan.inputs) != 1 || len(s.plan.outputs) != 1 {
		return fmt.Errorf("netruntime: Run of a network with %d inputs and %d outputs: use RunSequences", len(s.plan.inputs), len(s.plan.outputs))
	}
	s.out[0], s.in[0] = y, x
	err := s.run(s.out[:], s.in[:], rows, 1)
	s.out[0], s.in[0] = nil, nil
	return err
}

func (s *session) RunSequences(out, in [][]float32, batch, length int) error {
	if !s.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	defer s.busy.Store(false)
	return s.run(out, in, batch, length)
}

func (s *session) run(out, in [][]float32, batch, length int) error {
	p := s.plan
	switch {
	case s.closed:
		return errClosed
	case batch < 0 || batch > s.opt.Batch:
		return fmt.Errorf("netruntime: %d sequences, the session holds 0 to %d", batch, s.opt.Batch)
	case length < 1 || length > s.opt.Length:
		return fmt.Errorf("netruntime: sequences of length %d, the session holds 1 to %d", length, s.opt.Length)
	case len(in) != len(p.inputs) || len(out) != len(p.outputs):
		return fmt.Errorf("netruntime: %d inputs and %d outputs, the network has %d and %d", len(in), len(out), len(p.inputs), len(p.outputs))
	case !p.fits(length):
		return fmt.Errorf("netruntime: a length of %d cannot be halved as often as the network does", length)
	}
	for i, v := range p.inputs {
		if n := batch * p.values[v].span.frames(length) * p.values[v].channels; len(in[i]) < n {
			return fmt.Errorf("netruntime: input %d has %d values, %d sequences of length %d need %d", i, len(in[i]), batch, length, n)
		}
	}
	for i, v := range p.outputs {
		if n := batch * p.values[v].span.frames(length) * p.values[v].channels; len(out[i]) < n {
			return fmt.Errorf("netruntime: output %d has %d values, %d sequences of length %d need %d", i, len(out[i]), batch, length, n)
		}
	}
	s.omegaRows = 0
	if p.omega >= 0 {
		s.omegaRows = batch * p.values[p.omega].span.frames(length)
	}
	if batch == 0 {
		return nil
	}
	s.begin(out, in, batch, length)
	if s.blocks > 0 {
		s.pool.Run(s.blocks, s.byBlock)
	} else {
		s.pool.Steps(s.counts, s.byStep)
	}
	s.begin(nil, nil, batch, length)
	return nil
}

// begin sets the views for a run. After it, with nil, it drops the caller's memory.
func (s *session) begin(out, in [][]float32, batch, length int) {
	for i := range s.views {
		x, v := &s.views[i], &s.plan.values[i]
		switch {
		case v.at == input && in != nil:
			x.data = in[v.index]
		case v.at == output && out != nil:
			x.data = out[v.index]
		case v.at == input || v.at == output:
			x.data = nil
		}
		x.frames = v.span.frames(length)
		x.start, x.trail, x.seq = v.lead*v.channels, v.trail*v.channels, v.sequence(length)
	}
	if in != nil && (batch != s.batch || length != s.length) {
		s.batch, s.length = batch, length
		s.schedule()
	}
}

// Opener opens sessions of networks, on the processor or elsewhere. Net.NewSession is the
// processor's.
type Opener func(n *Net, o SessionOptions) (Session, error)

// Session opens a session of n. A nil Opener is Net.NewSession.
func (open Opener) Session(n *Net, o SessionOptions) (Session, error) {
	if open == nil {
		return n.NewSession(o)
	}
	return open(n, o)
}

// Buffered is a session with memory of its own that it reads faster than other memory: the GPU copies
// it directly.
type Buffered interface {
	Session
	// Buffer returns n zeros, valid until the session is closed.
	Buffer(n int) ([]float32, error)
}

// Buffer returns n zeros for rows of s: the session's own memory if s is Buffered, ordinary memory
// otherwise. Do not use them after s is closed.
func Buffer(s Session, n int) ([]float32, error) {
	if n < 0 {
		return nil, fmt.Errorf("netruntime: a buffer of %d values", n)
	}
	if b, ok := s.(Buffered); ok {
		return b.Buffer(n)
	}
	return make([]float32, n), nil
}
