//go:build webgpu

package webgpu

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gogpu/gputypes"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
)

const (
	// chunkRows is about the number of frames that the GPU computes at once.
	chunkRows = 16 << 10
	// maxMemory is the most bytes of a session's values on the device.
	maxMemory = 1 << 30
	// maxCalls is the most calls of kernels of a chunk.
	maxCalls = 8 << 10
)

// errPlan is wrapped by errors about networks that the GPU cannot compute.
var errPlan = errors.New("the network does not fit the GPU")

// network is a network in the memory of the GPU: its values, weights and calls of kernels.
type network struct {
	device  *device
	weights *weights
	plan    *program.Program

	memory, ops, args, run *buffer
	bindings               *group
	called                 []*group // the arguments of each call

	most      int // most sequences at once
	length    int // the length that the calls are for, or 0
	sequences int // the number that is on the device, or 0
	layout    *program.Layout
	writer    writer
	words     [runBytes / 4]uint32 // what run has
}

// open allocates what runs of up to batch sequences of a length need. most may be less.
func (s *network) open(n *netruntime.Net, skip float32, batch, longest int) (err error) {
	d := s.device
	if s.weights, err = d.upload(n, skip); err != nil {
		return err
	}
	s.plan = s.weights.plan
	s.layout = program.NewLayout(s.plan)
	length := longest
	for length > 0 && !s.layout.Place(1, length) {
		length--
	}
	if length == 0 {
		return fmt.Errorf("webgpu: no length up to %d can be halved as often as the network does: %w", longest, errPlan)
	}
	most := min(d.most, maxMemory)
	if s.layout.Size > most {
		return fmt.Errorf("webgpu: a sequence of %d frames takes %d bytes, at most %d are possible: %w", length, s.layout.Size, most, errPlan)
	}
	s.most = max(1, min(batch, chunkRows/length, int(most/max(1, s.layout.Size))))
	for s.layout.Place(s.most, length); s.layout.Size > most; s.layout.Place(s.most, length) {
		s.most--
	}
	s.writer.Layout = s.layout
	s.writer.writeAll()
	if n := len(s.writer.calls); n > maxCalls {
		return fmt.Errorf("webgpu: %d frames take %d calls of recurrent layers, at most %d are possible: %w", length, n, maxCalls, errPlan)
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
	} {
		if *b.to, err = d.buffer(b.label, b.size, b.usage); err != nil {
			return err
		}
	}
	if s.bindings, err = d.group(d.session, binding{bindMemory, s.memory, 0, 0}, binding{bindConstants, s.weights.memory, 0, 0},
		binding{bindOps, s.ops, 0, 0}, binding{bindRun, s.run, 0, runBytes}); err != nil {
		return err
	}
	s.called = make([]*group, len(s.writer.calls))
	for i := range s.called {
		if s.called[i], err = d.group(d.call, binding{bindCall, s.args, int64(i * callStride), callBytes}); err != nil {
			return err
		}
	}
	return s.layOut(length)
}

// layOut prepares runs of a length.
func (s *network) layOut(length int) error {
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

// count prepares runs of n sequences.
func (s *network) count(n int) error {
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

// encode adds the calls of a run of n sequences, from the inputs in memory to the outputs there.
func (s *network) encode(c *commands, n int) {
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
}

// release frees the memory, as far as there is any.
func (s *network) release() {
	for _, b := range append(s.called, s.bindings) {
		if b != nil {
			b.Release()
		}
	}
	for _, b := range []*buffer{s.memory, s.ops, s.args, s.run} {
		if b != nil {
			b.Release()
		}
	}
	if s.weights != nil {
		s.weights.release()
	}
}

func asBytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
