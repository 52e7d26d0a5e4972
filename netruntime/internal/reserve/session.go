// Package reserve is what sessions elsewhere have in common, on a GPU or on another machine: the processor computes the
// runs that cannot be computed there.
package reserve

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"mannequin/netruntime"
)

// Device computes runs of a network elsewhere, for a Session that is part of it.
type Device interface {
	// Ready reports whether there is a device, at the moment.
	Ready() bool
	// Fits reports whether inputs and outputs are right for a run of a length, if neither batch nor length is too large.
	Fits(out, in [][]float32, batch, length int) bool
	// Compute computes a run of at least one sequence. It sets Session.Gates.
	Compute(out, in [][]float32, batch, length int) error
	// Failed is called after an error of Compute, before the processor repeats the run.
	Failed(err error, out [][]float32)
	// Free ends the use of the device.
	Free()
}

// Session is a netruntime.Session on a device. The processor computes what the device does not.
type Session struct {
	CPU    netruntime.Session
	Gates  []float32 // the experts' weights of the last run on the device
	Closed bool

	name, kernel    string
	device          Device
	batch, length   int
	inputs, outputs int
	fallbacks       *atomic.Int64
	onDevice        bool         // which computed the last run
	out, in         [1][]float32 // of Run
	busy            atomic.Bool  // a run is in progress
}

// Open makes s the session of n with the processor's session cpu. name is the package, kernel what Kernel returns for the device.
// fallbacks counts runs of the processor.
func (s *Session) Open(name, kernel string, d Device, n *netruntime.Net, cpu netruntime.Session, o netruntime.SessionOptions, fallbacks *atomic.Int64) {
	g := n.Graph()
	s.name, s.kernel, s.device, s.CPU, s.fallbacks = name, kernel, d, cpu, fallbacks
	s.batch, s.length, s.inputs, s.outputs = o.Batch, cmp.Or(o.Length, 1), len(g.Inputs), len(g.Outputs)
}

// MaxRows implements netruntime.Session.
func (s *Session) MaxRows() int { return s.batch }

// Kernel implements netruntime.Session.
func (s *Session) Kernel() string {
	if s.device.Ready() {
		return s.kernel
	}
	return s.CPU.Kernel()
}

// Gating implements netruntime.Session.
func (s *Session) Gating() []float32 {
	if s.onDevice {
		return s.Gates
	}
	return s.CPU.Gating()
}

// Run implements netruntime.Session.
func (s *Session) Run(y, x []float32, rows int) error {
	if !s.busy.CompareAndSwap(false, true) {
		return netruntime.ErrBusy
	}
	defer s.busy.Store(false)
	if s.inputs != 1 || s.outputs != 1 {
		return fmt.Errorf("%s: Run of a network with %d inputs and %d outputs: use RunSequences", s.name, s.inputs, s.outputs)
	}
	s.out[0], s.in[0] = y, x
	err := s.run(s.out[:], s.in[:], rows, 1)
	s.out[0], s.in[0] = nil, nil
	return err
}

// RunSequences implements netruntime.Session.
func (s *Session) RunSequences(out, in [][]float32, batch, length int) error {
	if !s.busy.CompareAndSwap(false, true) {
		return netruntime.ErrBusy
	}
	defer s.busy.Store(false)
	return s.run(out, in, batch, length)
}

func (s *Session) run(out, in [][]float32, batch, length int) error {
	if s.Closed {
		return s.ErrClosed()
	}
	if s.device.Ready() && batch >= 1 && batch <= s.batch && length >= 1 && length <= s.length && s.device.Fits(out, in, batch, length) {
		err := s.device.Compute(out, in, batch, length)
		if s.onDevice = err == nil; s.onDevice {
			return nil
		}
		s.device.Failed(err, out)
	}
	// The processor's session also reports invalid arguments.
	if err := s.CPU.RunSequences(out, in, batch, length); err != nil {
		return err
	}
	s.onDevice = false
	if batch > 0 {
		s.fallbacks.Add(1)
	}
	return nil
}

// ErrClosed returns the error of a closed session.
func (s *Session) ErrClosed() error { return fmt.Errorf("%s: the session is closed", s.name) }

// Close implements netruntime.Session.
func (s *Session) Close() error {
	if !s.busy.CompareAndSwap(false, true) {
		return netruntime.ErrBusy
	}
	defer s.busy.Store(false)
	if s.Closed {
		return nil
	}
	s.Closed, s.Gates = true, nil
	s.device.Free()
	return s.CPU.Close()
}
