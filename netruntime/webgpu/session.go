//go:build webgpu

package webgpu

import (
	"errors"

	"github.com/gogpu/gputypes"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
	"mannequin/netruntime/internal/reserve"
)

// session runs a network on the GPU, in chunks of its sequences.
type session struct {
	reserve.Session
	network
	opt       Options
	results   *buffer         // for the caller to read
	requested *program.Layout // of the requested run
	gating    []float32
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
	s := &session{opt: o, network: network{device: d}}
	s.Open("webgpu", "webgpu", s, n, cpu, o.SessionOptions, &state.Fallbacks)
	if err := reserve.Within(o.Timeout, func() error { return d.scoped(o.Timeout, func() error { return s.open(n) }) }); err != nil {
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

// open allocates everything that runs need.
func (s *session) open(n *netruntime.Net) error {
	d := s.device
	if err := d.enter(s.opt.Timeout); err != nil {
		return err
	}
	defer d.leave()
	if err := s.network.open(n, s.opt.SkipBelow, s.opt.Batch, s.opt.Length); err != nil {
		return err
	}
	s.requested = program.NewLayout(s.plan)
	results := int64(0)
	for _, v := range s.plan.Outputs {
		results += s.resultBytes(v)
	}
	if v := s.plan.Omega; v >= 0 {
		results += s.resultBytes(v)
		s.gating = make([]float32, s.opt.Batch*s.layout.Floats(v))
	}
	var err error
	s.results, err = d.buffer("results", results, gputypes.BufferUsageMapRead|gputypes.BufferUsageCopyDst)
	return err
}

// resultBytes returns the size of a chunk of v in results, whose parts begin at multiples of eight.
func (s *session) resultBytes(v int) int64 {
	return program.RoundUp(4*int64(s.most)*int64(s.layout.Floats(v)), 8)
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
	if err := s.count(n); err != nil {
		return m, err
	}
	for i, v := range s.plan.Inputs {
		k := s.layout.Floats(v)
		if err := s.device.write(s.memory, s.layout.At[v][program.Plain], asBytes(in[i][from*k:(from+n)*k])); err != nil {
			return m, err
		}
	}
	return s.submit(n)
}

// submit submits the kernels, and the copies of the results.
func (s *session) submit(n int) (m mapping, err error) {
	c, err := s.device.begin()
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
		if s.results != nil {
			s.results.Release()
		}
		s.network.release()
		return nil
	})
	if err != nil {
		lose(s.opt.Log, err)
		abandon(s)
	}
}
