//go:build webgpu

package webgpu

import (
	"errors"
	"fmt"
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
	opt     Options
	net     *netruntime.Net
	device  *device
	weights *weights
	plan    *program.Program

	memory, ops, args, run *buffer
	results                *buffer // for the caller to read
	bindings               *group
	called                 []*group // the arguments of each call

	most      int // most sequences of a chunk
	length    int // the length that the calls are for, or 0
	sequences int // the number that is on the device, or 0
	layout    *program.Layout
	requested *program.Layout // of the requested run
	writer    writer
	words     [runBytes / 4]uint32 // what run has

	gating []float32
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
	if err := held(); err != nil {
		fail(o.Log, err)
		return cpu, nil
	}
	d, err := theDevice()
	state.Announce(o.Log, d.called(), err)
	if err != nil || state.Lost.Load() {
		return cpu, nil
	}
	s := &session{opt: o, net: n, device: d}
	s.Open("webgpu", "webgpu", s, n, cpu, o.SessionOptions, &state.Fallbacks)
	if err := reserve.Within(o.Timeout, func() error { return d.scoped(o.Timeout, s.open) }); err != nil {
		if errors.Is(err, errPlan) {
			o.Log.Warn("the GPU cannot take a network, the processor does", "err", err)
			s.Free()
		} else {
			fail(o.Log, err)
			abandon(s)
		}
		return cpu, nil
	}
	return s, nil
}

// errPlan is wrapped by errors about networks that the GPU cannot compute.
var errPlan = errors.New("the network does not fit the GPU")

// open allocates everything that runs need.
func (s *session) open() (err error) {
	d := s.device
	if err := d.enter(s.opt.Timeout); err != nil {
		return err
	}
	defer d.leave()
	if s.weights, err = d.upload(s.net, s.opt.SkipBelow); err != nil {
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
	s.writer.Layout = s.layout
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
		{&s.memory, "values", s.layout.Size, gputypes.BufferUsageStorage | gputypes.BufferUsageCopyDst | gputypes.BufferUsageCopySrc},
		{&s.ops, "operations", int64(len(s.writer.ops)), gputypes.BufferUsageStorage | gputypes.BufferUsageCopyDst},
		{&s.args, "arguments", int64(len(s.writer.args)), gputypes.BufferUsageUniform | gputypes.BufferUsageCopyDst},
		{&s.run, "run", runBytes, gputypes.BufferUsageUniform | gputypes.BufferUsageCopyDst},
		{&s.results, "results", results, gputypes.BufferUsageMapRead | gputypes.BufferUsageCopyDst},
	} {
		if *b.to, err = d.buffer(b.label, b.size, b.usage); err != nil {
			return err
		}
	}
	if s.bindings, err = d.group(false, binding{bindMemory, s.memory, 0, 0}, binding{bindConstants, s.weights.memory, 0, 0},
		binding{bindOps, s.ops, 0, 0}, binding{bindRun, s.run, 0, runBytes}); err != nil {
		return err
	}
	s.called = make([]*group, len(s.writer.calls))
	for i := range s.called {
		if s.called[i], err = d.group(true, binding{bindCall, s.args, int64(i * callStride), callBytes}); err != nil {
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
		if err := s.chunk(out, in, from, min(s.most, batch-from), length); err != nil {
			return err
		}
	}
	if s.plan.Omega >= 0 {
		s.Gates = s.gating[:batch*s.layout.Floats(s.plan.Omega)]
	}
	return nil
}

// chunk computes n sequences.
func (s *session) chunk(out, in [][]float32, from, n, length int) error {
	d := s.device
	if err := held(); err != nil {
		return err
	}
	if err := d.enter(s.opt.Timeout); err != nil {
		return err
	}
	m, err := s.send(in, from, n, length)
	d.leave()
	if err != nil {
		return err
	}
	if err := d.wait(s.opt.Timeout, m); err != nil {
		return err
	}
	if err := d.enter(s.opt.Timeout); err != nil {
		return err
	}
	defer d.leave()
	return s.receive(m, out, from, n)
}

// send submits the work for n sequences, and asks for the results.
func (s *session) send(in [][]float32, from, n, length int) (m mapping, err error) {
	if err := s.layOut(length); err != nil {
		return m, err
	}
	if s.sequences != n {
		s.words[0] = uint32(n)
		if err := s.device.write(s.run, 0, unsafe.Slice((*byte)(unsafe.Pointer(&s.words)), runBytes)); err != nil {
			return m, err
		}
		s.sequences = n
	}
	for i, v := range s.plan.Inputs {
		k := s.layout.Floats(v)
		if err := s.device.write(s.memory, s.layout.At[v][program.Plain], asBytes(in[i][from*k:(from+n)*k])); err != nil {
			return m, err
		}
	}
	return s.submit(n)
}

func asBytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// submit submits the kernels, and the copies of the results.
func (s *session) submit(n int) (m mapping, err error) {
	c, err := s.device.begin()
	if err != nil {
		return m, err
	}
	var last *pipeline
	for i := range s.writer.calls {
		call := &s.writer.calls[i]
		rows := n * call.rows
		kernel, x, y := s.device.chain, (rows+chainRows-1)/chainRows, 1
		if call.columns > 0 {
			t := tileOf(rows)
			kernel, x, y = s.device.products[t], (call.columns+tileColumns-1)/tileColumns, (rows+tiles[t].rows()-1)/tiles[t].rows()
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

// copyResult copies n sequences of v to the results, and returns the bytes that a chunk takes there.
func (s *session) copyResult(c *commands, v, n int, at int64) int64 {
	c.copy(s.memory, s.layout.At[v][program.Plain], s.results, at, int64(4*n*s.layout.Floats(v)))
	return s.resultBytes(v)
}

// receive copies the results to the caller.
func (s *session) receive(m mapping, out [][]float32, from, n int) error {
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
	if state.Lost.Load() {
		abandon(s)
		return
	}
	err := reserve.Within(s.opt.Timeout, func() error {
		if err := s.device.finish(s.opt.Timeout); err != nil {
			return err
		}
		if err := s.device.enter(s.opt.Timeout); err != nil {
			return err
		}
		defer s.device.leave()
		for _, b := range append(s.called, s.bindings) {
			if b != nil {
				b.Release()
			}
		}
		for _, b := range []*buffer{s.memory, s.ops, s.args, s.run, s.results} {
			if b != nil {
				b.Release()
			}
		}
		if s.weights != nil {
			s.weights.release()
		}
		return nil
	})
	if err != nil {
		lose(s.opt.Log, err)
		abandon(s)
	}
}
