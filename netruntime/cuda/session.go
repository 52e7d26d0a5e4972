//go:build cuda

package cuda

// #include "ops.h"
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"gorgonia.org/cu"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
	"mannequin/netruntime/internal/reserve"
)

const (
	// chunkRows is about the number of frames that the GPU computes at once: enough to fill it, and
	// few enough that copies and kernels of neighbouring chunks overlap. In a layer of 256 columns it
	// is one round of the large tile on an H100's 132 multiprocessors.
	chunkRows = 132 * 128
	// splitRows is the least number of frames of a run that is split for this overlap.
	splitRows = 4 << 10
	// mostLanes is the number of lanes of a session that splits runs.
	mostLanes = 3
	// maxLane is the most bytes of a lane's memory on the device.
	maxLane = 1 << 30
)

// session runs a network on the GPU. Lanes take turns with chunks of the sequences: while one
// computes, others send or receive.
type session struct {
	reserve.Session
	opt     Options
	net     *netruntime.Net
	device  *device
	weights *weights
	plan    *program.Program

	lanes     []lane
	most      int // most sequences of a chunk
	length    int // the length for which the lanes are laid out, or 0
	layout    *program.Layout
	requested *program.Layout // layout of the requested run
	calls     []call
	ops       []byte

	buffers []buffer  // for the caller
	gating  []float32 // pinned (rows, experts)
}

// lane is a stream with the memory of a chunk.
type lane struct {
	stream cu.Stream
	memory cu.DevicePtr
	size   int64
	ops    cu.DevicePtr

	hostOps []float32   // pinned: the bytes of the operations
	in      [][]float32 // pinned copies of the caller's memory, if that is not pinned
	out     [][]float32 // pinned copies of the results, likewise
	from, n int         // sequences of the chunk in flight, 0 for none

	// A launch's arguments.
	op, count, rows, frame int64
	product, chain         []unsafe.Pointer
}

// NewSession returns a session of n on the GPU, or on the processor if there is none;
// Session.Kernel returns which. It returns netruntime's error for invalid options, and an error for
// an unknown o.Precision.
func NewSession(n *netruntime.Net, o Options) (netruntime.Session, error) {
	o.Length = cmp.Or(o.Length, 1)
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	f := map[Precision]program.Form{FP32: program.FP32, TF32: program.TF32, BF16: program.BF16}[o.Precision]
	cpu, err := n.NewSession(o.SessionOptions)
	if err != nil {
		return nil, err
	}
	d, err := theDevice()
	state.Announce(o.Log, d.called(), err)
	if err != nil || state.Lost.Load() {
		return cpu, nil
	}
	s := &session{opt: o, net: n, device: d}
	s.Open("cuda", "cuda_"+string(o.Precision), s, n, cpu, o.SessionOptions, &state.Fallbacks)
	if err := d.do(o.Timeout, func() error { return s.open(f) }); err != nil {
		s.refuse("a network", err)
		s.Free()
		return cpu, nil
	}
	return s, nil
}

// refuse logs that the GPU has no room for something. Any other error of CUDA may be permanent, and
// the GPU counts as lost.
func (s *session) refuse(what string, err error) {
	if errors.Is(err, cu.OutOfMemory) || errors.Is(err, errPlan) {
		s.opt.Log.Warn("the GPU cannot take "+what+", the processor does", "err", err)
		return
	}
	lose(s.opt.Log, err)
}

// errPlan is wrapped by errors about networks that the GPU cannot compute.
var errPlan = errors.New("the network does not fit the GPU")

// open allocates everything that runs need.
func (s *session) open(f program.Form) (err error) {
	if s.weights, err = upload(s.net, f, s.opt.SkipBelow); err != nil {
		return err
	}
	s.plan = s.weights.plan
	s.layout, s.requested = program.NewLayout(s.plan), program.NewLayout(s.plan)
	length := s.opt.Length
	for length > 0 && !s.layout.Place(1, length) {
		length--
	}
	if length == 0 {
		return fmt.Errorf("cuda: no length up to %d can be halved as often as the network does: %w", s.opt.Length, errPlan)
	}
	s.most = max(1, min(s.opt.Batch, chunkRows/length, int(maxLane/max(1, s.layout.Size))))
	lanes := 1
	if s.opt.Batch > s.most || s.most*length >= splitRows {
		lanes = mostLanes
	}
	s.lanes = make([]lane, lanes)
	for i := range s.lanes {
		if err := s.openLane(&s.lanes[i], length); err != nil {
			return err
		}
	}
	if s.plan.Omega >= 0 {
		if s.gating, err = pinned(s.opt.Batch * s.layout.Floats(s.plan.Omega)); err != nil {
			return err
		}
	}
	return s.layOut(length)
}

func (s *session) openLane(l *lane, length int) (err error) {
	if l.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return fmt.Errorf("cuda: stream: %w", err)
	}
	at := s.layout
	at.Place(s.most, length)
	l.size = max(at.Size, program.Align)
	if l.memory, err = cu.MemAlloc(l.size); err != nil {
		return fmt.Errorf("cuda: %d bytes for %d sequences: %w", l.size, s.most, err)
	}
	calls, ops := appendCalls(s.calls[:0], s.ops[:0], at, 0, 0)
	s.calls, s.ops = calls, ops
	if l.ops, err = cu.MemAlloc(int64(max(len(ops), 1))); err != nil {
		return fmt.Errorf("cuda: %d bytes of operations: %w", len(ops), err)
	}
	if l.hostOps, err = pinned((len(ops) + 3) / 4); err != nil {
		return err
	}
	for _, side := range []struct {
		of *[][]float32
		at []int
	}{{&l.in, s.plan.Inputs}, {&l.out, s.plan.Outputs}} {
		for _, v := range side.at {
			b, err := pinned(s.most * at.Floats(v))
			if err != nil {
				return err
			}
			*side.of = append(*side.of, b)
		}
	}
	l.product = []unsafe.Pointer{unsafe.Pointer(&l.op), unsafe.Pointer(&l.rows), unsafe.Pointer(&l.frame)}
	l.chain = []unsafe.Pointer{unsafe.Pointer(&l.op), unsafe.Pointer(&l.count), unsafe.Pointer(&l.rows), unsafe.Pointer(&l.frame)}
	return nil
}

// layOut prepares the lanes for runs of a length, in the order of their streams.
func (s *session) layOut(length int) error {
	if s.length == length {
		return nil
	}
	s.length = 0
	at := s.layout
	at.Place(s.most, length)
	for i := range s.lanes {
		l := &s.lanes[i]
		if at.Size > l.size {
			return fmt.Errorf("cuda: runs of length %d take %d bytes, a lane has %d", length, at.Size, l.size)
		}
		s.calls, s.ops = appendCalls(s.calls[:0], s.ops[:0], at, deviceAddress(s.weights.memory), deviceAddress(l.memory))
		if n := len(s.ops); n > 0 {
			// A lane that the last run has not used may still read them.
			if err := wait(l.stream, s.opt.Timeout); err != nil {
				return err
			}
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&l.hostOps[0])), n), s.ops)
			if err := wrap(cu.MemcpyHtoDAsync(l.ops, unsafe.Pointer(&l.hostOps[0]), int64(n), l.stream), "operations"); err != nil {
				return err
			}
		}
		// The padding of an operand's rows is zero and stays zero.
		if err := wrap(cu.MemsetD8Async(l.memory, 0, l.size, l.stream), "clear"); err != nil {
			return err
		}
	}
	s.length = length
	return nil
}

// Buffer returns memory for n values that the GPU reads and writes directly in Run and
// RunSequences. It is valid until the session is closed.
func (s *session) Buffer(n int) ([]float32, error) {
	if s.Closed {
		return nil, s.ErrClosed()
	}
	if n < 0 || n > maxPinned/4 {
		return nil, fmt.Errorf("cuda: a buffer of %d values: want 0 to %d", n, maxPinned/4)
	}
	if n == 0 || state.Lost.Load() {
		return make([]float32, n), nil
	}
	var b buffer
	err := s.device.do(s.opt.Timeout, func() (err error) {
		b, err = newBuffer(n)
		return err
	})
	if err != nil {
		// Runs accept any memory.
		s.refuse("a buffer", err)
		return make([]float32, n), nil
	}
	s.buffers = append(s.buffers, b)
	return b, nil
}

// direct reports whether x lies in one of the session's buffers.
func (s *session) direct(x []float32) bool {
	return slices.ContainsFunc(s.buffers, func(b buffer) bool { return b.holds(x) })
}

// detach takes the outputs of a run that failed from the GPU, which may still write to them.
func (s *session) detach(out [][]float32) {
	for _, b := range s.buffers {
		if !slices.ContainsFunc(out, func(y []float32) bool { return len(y) > 0 && b.holds(y[:1]) }) {
			continue
		}
		if err := b.detach(); err != nil {
			s.opt.Log.Error("the GPU may still write to the results", "err", err)
		}
	}
}

func (s *session) Ready() bool { return !state.Lost.Load() }

func (s *session) Failed(err error, out [][]float32) {
	lose(s.opt.Log, err)
	s.detach(out)
}

func (s *session) Fits(out, in [][]float32, batch, length int) bool {
	l := s.layout
	if length != s.length {
		if l = s.requested; !l.Place(1, length) {
			return false
		}
	}
	return l.Holds(out, in, batch)
}

// Compute computes a run. After an error, the GPU may still read the caller's memory, and write to
// the results if they lie in buffers.
func (s *session) Compute(out, in [][]float32, batch, length int) error {
	if err := s.device.enter(); err != nil {
		return err
	}
	defer runtime.UnlockOSThread()
	if err := s.layOut(length); err != nil {
		return err
	}
	n := (batch + s.most - 1) / s.most
	if rows := batch * s.length; len(s.lanes) > 1 && rows >= splitRows {
		n = max(n, min(len(s.lanes), batch, rows/(splitRows/2)))
	}
	each := (batch + n - 1) / n
	lane := 0
	for from := 0; from < batch; from += each {
		l := &s.lanes[lane%len(s.lanes)]
		if err := s.collect(l, out); err != nil {
			return err
		}
		l.from, l.n = from, min(each, batch-from)
		if err := s.submit(l, out, in); err != nil {
			return err
		}
		lane++
	}
	for range s.lanes {
		if err := s.collect(&s.lanes[lane%len(s.lanes)], out); err != nil {
			return err
		}
		lane++
	}
	if s.plan.Omega >= 0 {
		s.Gates = s.gating[:batch*s.layout.Floats(s.plan.Omega)]
	}
	return nil
}

// submit submits the work of a chunk: copies and kernels.
func (s *session) submit(l *lane, out, in [][]float32) error {
	if err := s.send(l, in); err != nil {
		return err
	}
	if err := s.compute(l, both); err != nil {
		return err
	}
	return s.receive(l, out)
}

func (s *session) send(l *lane, in [][]float32) error {
	at := s.layout
	for i, v := range s.plan.Inputs {
		n := at.Floats(v)
		x := in[i][l.from*n : (l.from+l.n)*n]
		if !s.direct(x) {
			copy(l.in[i], x)
			x = l.in[i][:len(x)]
		}
		if err := l.put(x, at.At[v][program.Plain]); err != nil {
			return err
		}
	}
	return nil
}

// put copies to the lane's memory.
func (l *lane) put(x []float32, offset int64) error {
	return wrap(cu.MemcpyHtoDAsync(l.memory+cu.DevicePtr(offset), unsafe.Pointer(&x[0]), int64(4*len(x)), l.stream), "copy to the GPU")
}

// kinds are launches to compute.
type kinds int

const (
	products kinds = 1 << iota
	chains
	both = products | chains
)

func (s *session) compute(l *lane, which kinds) error {
	for i := range s.calls {
		c := &s.calls[i]
		if c.chain > 0 && which&chains == 0 || c.chain == 0 && which&products == 0 {
			continue
		}
		if err := s.launch(l, c); err != nil {
			return err
		}
		if i%maxQueued == maxQueued-1 {
			if err := wait(l.stream, s.opt.Timeout); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) receive(l *lane, out [][]float32) error {
	at := s.layout
	for i, v := range s.plan.Outputs {
		n := at.Floats(v)
		y := out[i][l.from*n : (l.from+l.n)*n]
		if !s.direct(y) {
			y = l.out[i][:len(y)]
		}
		if err := l.fetch(y, at.At[v][program.Plain]); err != nil {
			return err
		}
	}
	if v := s.plan.Omega; v >= 0 {
		n := at.Floats(v)
		return l.fetch(s.gating[l.from*n:(l.from+l.n)*n], at.At[v][program.Plain])
	}
	return nil
}

// fetch copies from the lane's memory.
func (l *lane) fetch(y []float32, offset int64) error {
	return wrap(cu.MemcpyDtoHAsync(unsafe.Pointer(&y[0]), l.memory+cu.DevicePtr(offset), int64(4*len(y)), l.stream), "copy from the GPU")
}

func (s *session) launch(l *lane, c *call) error {
	rows := l.n * c.rows
	l.op, l.count, l.rows, l.frame = int64(l.ops)+int64(c.op), int64(c.chain), int64(rows), int64(c.frame)
	if c.chain > 0 {
		return wrap(s.device.chain.Launch((rows+C.LIGHT_ROWS-1)/C.LIGHT_ROWS, 1, 1, C.LIGHT_THREADS, 1, 1, 0, l.stream, l.chain), "launch")
	}
	i := s.device.tile(c.form, rows, c.n)
	t := &tiles[i]
	return wrap(s.device.kernels[c.form][i].function.Launch(t.blocks(rows, c.n), 1, 1, t.threads, 1, 1, t.shared(), l.stream, l.product), "launch")
}

// collect waits for a lane's chunk and copies its results to the caller.
func (s *session) collect(l *lane, out [][]float32) error {
	n := l.n
	l.n = 0
	if n == 0 {
		return nil
	}
	if err := wait(l.stream, s.opt.Timeout); err != nil {
		return err
	}
	for i, v := range s.plan.Outputs {
		k := s.layout.Floats(v)
		if y := out[i][l.from*k : (l.from+n)*k]; !s.direct(y) {
			copy(y, l.out[i])
		}
	}
	return nil
}

// Free frees the session's memory on the GPU, unless the GPU is lost.
func (s *session) Free() {
	if state.Lost.Load() {
		return
	}
	// Memory that cannot be freed ends with the process.
	err := s.device.do(s.opt.Timeout, func() error {
		for i := range s.lanes {
			l := &s.lanes[i]
			if l.stream != (cu.Stream{}) {
				_ = l.stream.Synchronize()
				_ = l.stream.Destroy()
			}
			for _, b := range slices.Concat(l.in, l.out, [][]float32{l.hostOps}) {
				_ = unpin(b)
			}
			for _, p := range []cu.DevicePtr{l.memory, l.ops} {
				if p != 0 {
					_ = cu.MemFree(p)
				}
			}
		}
		_ = unpin(s.gating)
		for _, b := range s.buffers {
			b.free()
		}
		if s.weights != nil {
			s.weights.release()
		}
		return nil
	})
	if err != nil {
		lose(s.opt.Log, err)
		return
	}
	s.lanes, s.buffers, s.gating, s.weights = nil, nil, nil, nil
}
