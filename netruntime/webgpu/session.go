//go:build webgpu

package webgpu

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/gogpu/gputypes"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
	"mannequin/netruntime/internal/reserve"
)

const (
	// chunkRows is about the number of frames that the GPU computes at once.
	chunkRows = 16 << 10
	// maxMemory is the most bytes of a session's values on the device.
	maxMemory = 1 << 30
	// maxCalls is the most calls of kernels of a chunk.
	maxCalls = 8 << 10
)

// session runs a network on the GPU, in chunks of its sequences.
type session struct {
	reserve.Session
	part
	net     *netruntime.Net
	weights *weights
	plan    *program.Program

	values, ops, args, run *buffer
	bindings               *group
	called                 []*group // the arguments of each call

	most      int // most sequences of a chunk
	length    int // the length that the calls are for, or 0
	sequences int // the number that is on the device, or 0
	layout    *program.Layout
	requested *program.Layout // of the requested run
	writer    writer
	words     [runBytes / 4]uint32 // what run has
	chunk     chunk

	gating []float32
}

// chunk is n sequences of a run, from one on.
type chunk struct {
	out, in         [][]float32
	from, n, length int
}

// NewSession returns a session of n on the GPU, or on the processor if there is none;
// Session.Kernel returns which. It returns netruntime's error for invalid options.
func NewSession(n *netruntime.Net, o Options) (netruntime.Session, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	cpu, err := n.NewSession(o.SessionOptions)
	if err != nil {
		return nil, err
	}
	s := &session{net: n}
	if !s.place(&o, "a network", s) {
		return cpu, nil
	}
	kernel := "webgpu"
	if s.uses(sums16) {
		kernel = "webgpu_f16"
	}
	s.warn()
	s.Open("webgpu", kernel, s, n, cpu, o.SessionOptions, &state.Fallbacks)
	return s, nil
}

var notHalf sync.Once

// warn logs once that products were to be computed in float16, and are not.
func (s *session) warn() {
	if s.uses(halves) && !s.uses(sums16) {
		notHalf.Do(func() {
			s.opt.Log.Warn("the GPU has no float16: weights are, products are computed in float32", "device", s.device.name)
		})
	}
}

// uses reports whether products of a format are computed.
func (s *session) uses(f format) bool {
	return slices.ContainsFunc(s.writer.calls, func(c call) bool { return c.format == f })
}

// pairs returns which weights have 16 bits.
func (o *Options) pairs() program.Pairs {
	switch {
	case o.F16:
		return program.Half
	case o.BF16:
		return program.Always
	}
	return program.Exact
}

// errPlan is wrapped by errors about networks that the GPU cannot compute.
var errPlan = errors.New("the network does not fit the GPU")

// open allocates everything that runs need.
func (s *session) open() (err error) {
	d := s.device
	if s.weights, err = d.weightsOf(weightsKey{s.net, s.opt.SkipBelow, s.opt.pairs()}); err != nil {
		return err
	}
	s.plan = s.weights.plan
	s.layout, s.requested = program.NewLayout(s.plan), program.NewLayout(s.plan)
	length := s.opt.Length
	for length > 0 && !s.layout.Place(1, length) {
		length--
	}
	if length == 0 {
		return fmt.Errorf("webgpu: no length up to %d can be halved as often as the network does: %w", s.opt.Length, errPlan)
	}
	most := min(d.most, maxMemory)
	if s.layout.Size > most {
		return fmt.Errorf("webgpu: a sequence of %d frames takes %d bytes, at most %d are possible: %w", length, s.layout.Size, most, errPlan)
	}
	s.most = max(1, min(s.opt.Batch, chunkRows/length, int(most/max(1, s.layout.Size))))
	for s.layout.Place(s.most, length); s.layout.Size > most; s.layout.Place(s.most, length) {
		s.most--
	}
	s.writer.Layout, s.writer.half = s.layout, d.half
	s.writer.writeAll()
	if n := len(s.writer.calls); n > maxCalls {
		return fmt.Errorf("webgpu: %d frames take %d calls of recurrent layers, at most %d are possible: %w", length, n, maxCalls, errPlan)
	}
	results := int64(0)
	for _, v := range s.plan.Outputs {
		results += s.resultBytes(v)
	}
	if v := s.plan.Omega; v >= 0 {
		results += s.resultBytes(v)
		s.gating = make([]float32, s.opt.Batch*s.layout.Floats(v))
	}
	for _, b := range []struct {
		to    **buffer
		label string
		size  int64
		usage gputypes.BufferUsage
	}{
		{&s.values, "values", s.layout.Size, storage},
		{&s.ops, "operations", int64(len(s.writer.ops)), input},
		{&s.args, "arguments", int64(len(s.writer.args)), uniform},
		{&s.run, "run", runBytes, uniform},
		{&s.results, "results", results, readable},
	} {
		if *b.to, err = s.memory(b.label, b.size, b.usage); err != nil {
			return err
		}
	}
	if s.bindings, err = s.group(false, binding{bindMemory, s.values, 0, 0}, binding{bindConstants, s.weights.memory, 0, 0},
		binding{bindOps, s.ops, 0, 0}, binding{bindRun, s.run, 0, runBytes}); err != nil {
		return err
	}
	s.called = make([]*group, len(s.writer.calls))
	for i := range s.called {
		if s.called[i], err = s.group(true, binding{bindCall, s.args, int64(i * callStride), callBytes}); err != nil {
			return err
		}
	}
	return s.layOut(length)
}

// resultBytes returns the size of a chunk of v in results, whose parts begin at multiples of eight.
func (s *session) resultBytes(v int) int64 {
	return program.RoundUp(4*int64(s.most)*int64(s.layout.Floats(v)), 8)
}

// layOut prepares runs of a length.
func (s *session) layOut(length int) error {
	if s.length == length {
		return nil
	}
	s.length = 0
	s.layout.Place(s.most, length)
	s.writer.writeAll()
	if err := s.device.write(s.ops, 0, s.writer.ops); err != nil {
		return err
	}
	if err := s.device.write(s.args, 0, s.writer.args); err != nil {
		return err
	}
	s.length = length
	return nil
}

func (s *session) Ready() bool { return !state.Lost.Load() }

func (s *session) Failed(err error, _ [][]float32) { fail(s.opt.Log, err) }

func (s *session) Fits(out, in [][]float32, batch, length int) bool {
	l := s.layout
	if length != s.length {
		if l = s.requested; !l.Place(1, length) {
			return false
		}
	}
	return l.Holds(out, in, batch)
}

// Compute computes a run. The GPU has copies of the caller's memory: it never reads or writes that
// memory itself.
func (s *session) Compute(out, in [][]float32, batch, length int) error {
	for from := 0; from < batch; from += s.most {
		s.chunk = chunk{out, in, from, min(s.most, batch-from), length}
		err := s.do(s)
		s.chunk = chunk{}
		if err != nil {
			return err
		}
	}
	if s.plan.Omega >= 0 {
		s.Gates = s.gating[:batch*s.layout.Floats(s.plan.Omega)]
	}
	return nil
}

// send submits the work for a chunk, and asks for the results.
func (s *session) send() (m mapping, err error) {
	c := &s.chunk
	if err := s.layOut(c.length); err != nil {
		return m, err
	}
	if err := s.count(c.n); err != nil {
		return m, err
	}
	for i, v := range s.plan.Inputs {
		k := s.layout.Floats(v)
		if err := s.device.write(s.values, s.layout.At[v][program.Plain], asBytes(c.in[i][c.from*k:(c.from+c.n)*k])); err != nil {
			return m, err
		}
	}
	return s.submit(c.n)
}

// count prepares runs of n sequences.
func (s *session) count(n int) error {
	if s.sequences == n {
		return nil
	}
	s.words[0] = uint32(n)
	if err := s.device.write(s.run, 0, unsafe.Slice((*byte)(unsafe.Pointer(&s.words)), runBytes)); err != nil {
		return err
	}
	s.sequences = n
	return nil
}

func asBytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// submit submits the kernels, and the copies of the results.
func (s *session) submit(n int) (m mapping, err error) {
	c, err := s.device.begin(s.results)
	if err != nil {
		return m, err
	}
	s.encode(&c, n)
	if err := c.endKernels(); err != nil {
		return m, err
	}
	at := int64(0)
	for _, v := range s.plan.Outputs {
		at += s.copyResult(&c, v, n, at)
	}
	if s.plan.Omega >= 0 {
		s.copyResult(&c, s.plan.Omega, n, at)
	}
	return s.device.run(&c, s.results)
}

// encode adds the calls of a run of n sequences, from the inputs among the values to the outputs there.
func (s *session) encode(c *commands, n int) {
	var last *pipeline
	for i := range s.writer.calls {
		call := &s.writer.calls[i]
		rows := n * call.rows
		kernel, x, y := s.device.chain, (rows+chainRows-1)/chainRows, 1
		if call.columns > 0 {
			t := tileOf(rows)
			kernel = s.device.products[call.format][t]
			x, y = (call.columns+tileColumns-1)/tileColumns, (rows+tiles[t].rows()-1)/tiles[t].rows()
		}
		if kernel != last {
			c.kernel(kernel)
			if last == nil {
				c.bind(0, s.bindings)
			}
			last = kernel
		}
		c.bind(1, s.called[i])
		c.dispatch(x, y)
	}
}

// copyResult copies n sequences of v to the results, and returns the bytes that a chunk takes there.
func (s *session) copyResult(c *commands, v, n int, at int64) int64 {
	c.copy(s.values, s.layout.At[v][program.Plain], s.results, at, int64(4*n*s.layout.Floats(v)))
	return s.resultBytes(v)
}

// receive copies the results to the caller.
func (s *session) receive(m mapping) error {
	out, from, n := s.chunk.out, s.chunk.from, s.chunk.n
	results, err := s.device.mapped(s.results, m)
	if err != nil {
		return err
	}
	at := int64(0)
	for i, v := range s.plan.Outputs {
		k := s.layout.Floats(v)
		results.read(asBytes(out[i][from*k:(from+n)*k]), at)
		at += s.resultBytes(v)
	}
	if v := s.plan.Omega; v >= 0 {
		k := s.layout.Floats(v)
		results.read(asBytes(s.gating[from*k:(from+n)*k]), at)
	}
	return results.unmap()
}

// Free frees the session's memory on the GPU, unless the GPU is lost.
func (s *session) Free() {
	s.free(s, func() {
		if s.weights != nil {
			s.weights.release()
		}
	})
}
