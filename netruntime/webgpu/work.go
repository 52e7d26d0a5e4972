//go:build webgpu

package webgpu

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gogpu/gputypes"

	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
	"mannequin/netruntime/internal/reserve"
)

// setDefaults sets defaults.
func (o *WorkOptions) setDefaults() error {
	o.Log, o.Timeout = cmp.Or(o.Log, slog.Default()), cmp.Or(o.Timeout, defaultTimeout)
	if o.Timeout < 0 {
		return fmt.Errorf("webgpu: a timeout of %v", o.Timeout)
	}
	return nil
}

// Work is work of one's own on the GPU: kernels in WGSL, and networks between them, on memory that stays there. It belongs to one
// goroutine. After an error that wraps ErrLost nothing works any more.
type Work struct {
	opt      WorkOptions
	device   *device
	access   []Access
	bindings *bindings
	layout   *layout
	memory   []*Memory
	networks []*Network
	kernels  []*Kernel
	groups   []*Bound
	results  []*Results
	gl       *glWork // nil: WebGPU
	closed   bool
}

// Memory is memory of the GPU.
type Memory struct {
	*buffer
	bytes int64
	gl    uint32
}

// Kernel is a compiled kernel.
type Kernel struct {
	*pipeline
	gl uint32
}

// Bound is the memory that kernels of a Work see.
type Bound struct {
	*group
	gl []uint32
}

// Network is a network in the memory of the GPU.
type Network struct {
	*session
	// Values has the inputs and outputs, among other values: row r of the input begins at In + r·inputs, in float32s, row r of the
	// output at Out + r·outputs.
	Values  *Memory
	In, Out int
	Rows    int // the most rows of a run

	gl *glNetwork
}

// Results is what a submission copies for the processor.
type Results struct {
	of      *buffer
	gl      uint32
	room    int64
	bytes   int64 // of the last submission
	mapping mapping
	pending bool
}

// NewWork opens the GPU for kernels that see memory in the given ways: binding number i of group 0 is access[i]. The error wraps
// ErrLost if there is no GPU.
func NewWork(o WorkOptions, access ...Access) (*Work, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	if o.OpenGL != nil {
		return openGL(o, access)
	}
	if err := held(); err != nil {
		return nil, noGPU(err)
	}
	d, err := theDevice()
	if err != nil {
		return nil, noGPU(err)
	}
	w := &Work{opt: o, device: d, access: access}
	if o.F16 {
		if err := w.compiling(d.float16); err != nil {
			return nil, err
		}
	}
	return w, w.do(func() (err error) {
		if w.bindings, err = d.describe(access); err == nil {
			w.layout, err = d.layoutOf(w.bindings)
		}
		return err
	})
}

// Device returns the name of the GPU.
func (w *Work) Device() string {
	if w.gl != nil {
		return w.gl.Name()
	}
	return w.device.name
}

// MaxBytes returns the most bytes of a memory.
func (w *Work) MaxBytes() int64 {
	if w.gl != nil {
		return w.gl.MaxBytes()
	}
	return w.device.most
}

// do calls f, which makes something on the device.
func (w *Work) do(f func() error) error {
	d := w.device
	return w.checked(func() error {
		return w.device.within(w.opt.Timeout, func() error {
			return d.scoped(w.opt.Timeout, func() error {
				if err := d.enter(w.opt.Timeout); err != nil {
					return err
				}
				defer d.leave()
				return f()
			})
		})
	})
}

// checked calls f unless the GPU is lost, and loses it after an error.
func (w *Work) checked(f func() error) error {
	if w.closed {
		return errors.New("webgpu: the work is closed")
	}
	if state.Lost.Load() {
		return ErrLost
	}
	err := held()
	if err == nil {
		if err = f(); err == nil {
			return nil
		}
	}
	if errors.Is(err, errPlan) || errors.Is(err, errKernel) {
		return err
	}
	fail(w.opt.Log, err)
	return &gpuError{"webgpu: the GPU was lost: " + strings.TrimPrefix(err.Error(), "webgpu: "), err}
}

// Memory makes memory.
func (w *Work) Memory(label string, bytes int64) (*Memory, error) {
	if w.gl != nil {
		b, err := w.gl.buffer(bytes)
		return &Memory{bytes: bytes, gl: b}, err
	}
	if bytes > w.device.most {
		return nil, fmt.Errorf("webgpu: %d bytes of %s, at most %d are possible: %w", bytes, label, w.device.most, errPlan)
	}
	m := &Memory{bytes: bytes}
	err := w.do(func() (err error) {
		m.buffer, err = w.device.buffer(label, bytes, gputypes.BufferUsageStorage|gputypes.BufferUsageVertex|gputypes.BufferUsageCopyDst|gputypes.BufferUsageCopySrc)
		return err
	})
	if err == nil {
		w.memory = append(w.memory, m)
	}
	return m, err
}

// errKernel is wrapped by errors of kernels that are none. The GPU stays in use.
var errKernel = errors.New("the kernel does not compile")

// Kernel compiles the entry point called name.
func (w *Work) Kernel(name, source string) (*Kernel, error) {
	k := new(Kernel)
	if w.gl != nil {
		var err error
		k.gl, err = w.gl.program(name, source)
		return k, err
	}
	err := w.compiling(func() (err error) {
		defer w.device.compile()()
		if k.pipeline, err = w.device.pipelineOf(w.layout, name, source); err != nil {
			return fmt.Errorf("webgpu: %s: %s: %w: %w", w.device.name, name, errKernel, err)
		}
		return nil
	})
	if err == nil {
		w.kernels = append(w.kernels, k)
	}
	return k, err
}

// compiling calls f, which compiles kernels: that takes its time.
func (w *Work) compiling(f func() error) error {
	return w.checked(func() error {
		return reserve.Within(startTimeout, func() error {
			return w.device.scoped(startTimeout, func() error {
				if err := w.device.enter(w.opt.Timeout); err != nil {
					return err
				}
				defer w.device.leave()
				return f()
			})
		})
	})
}

// Network puts a network of one input and one output on the GPU, for runs of at most rows rows at once.
func (w *Work) Network(n *netruntime.Net, rows int) (*Network, error) {
	if g := n.Graph(); len(g.Inputs) != 1 || len(g.Outputs) != 1 {
		return nil, errors.New("webgpu: a network of several inputs or outputs")
	}
	if w.gl != nil {
		g, err := w.gl.network(n, rows)
		if err != nil {
			return nil, err
		}
		place := func(v int) int { return int(g.layout.At[v][program.Plain] / 4) }
		return &Network{Rows: rows, In: place(g.plan.Inputs[0]), Out: place(g.plan.Outputs[0]), Values: &Memory{bytes: g.layout.Size, gl: g.memory}, gl: g}, nil
	}
	k := &Network{session: &session{net: n}, Rows: rows}
	k.device, k.opt = w.device, Options{SessionOptions: netruntime.SessionOptions{Batch: rows, Length: 1, Workers: 1}, Log: w.opt.Log, Timeout: w.opt.Timeout, F16: w.opt.F16}
	err := w.do(k.open)
	if err == nil && k.most < rows {
		err = fmt.Errorf("webgpu: %d rows of a network, at most %d are possible at once: %w", rows, k.most, errPlan)
	}
	if errors.Is(err, errPlan) {
		k.Free()
		return nil, err
	}
	if err != nil {
		abandon(k)
		return nil, err
	}
	place := func(v int) int { return int(k.layout.At[v][program.Plain] / 4) }
	k.In, k.Out = place(k.plan.Inputs[0]), place(k.plan.Outputs[0])
	k.Values = &Memory{buffer: k.session.values, bytes: k.layout.Size}
	w.networks = append(w.networks, k)
	k.warn()
	return k, nil
}

// Bind gives kernels memory, in the order of the Work's accesses.
func (w *Work) Bind(memory ...*Memory) (*Bound, error) {
	b := new(Bound)
	if w.gl != nil {
		for _, m := range memory {
			b.gl = append(b.gl, m.gl)
		}
		return b, nil
	}
	err := w.do(func() (err error) {
		var all []binding
		for i, m := range memory {
			all = append(all, binding{number: uint32(i), of: m.buffer})
		}
		b.group, err = w.device.groupOf(w.bindings, all...)
		return err
	})
	if err == nil {
		w.groups = append(w.groups, b)
	}
	return b, err
}

// Results makes room for copies of so many bytes.
func (w *Work) Results(bytes int64) (*Results, error) {
	r := &Results{room: max(bytes, 256)}
	if w.gl != nil {
		var err error
		r.gl, err = w.gl.buffer(bytes)
		return r, err
	}
	err := w.do(func() (err error) {
		r.of, err = w.device.buffer("results", bytes, gputypes.BufferUsageMapRead|gputypes.BufferUsageCopyDst)
		return err
	})
	if err == nil {
		w.results = append(w.results, r)
	}
	return r, err
}

// Write copies data to the GPU, before what is submitted next. It does not use data afterwards. The place is a multiple of four, and
// so is the length.
func (w *Work) Write(to *Memory, at int64, data []byte) error {
	if w.gl != nil {
		if w.gl.lost == nil && len(data) > 0 {
			w.gl.OpenGL.Write(to.gl, at, data)
		}
		return w.gl.check()
	}
	return w.checked(func() error {
		if err := w.device.enter(w.opt.Timeout); err != nil {
			return err
		}
		defer w.device.leave()
		return w.device.write(to.buffer, at, data)
	})
}

// Submit launches kernels and networks one after another, and then copies memory to the results, one part after another. Read waits for
// them. No results may be pending there.
func (w *Work) Submit(launches []Launch, copies []Copy, to *Results) error {
	all := int64(0)
	for _, c := range copies {
		all += c.Bytes
	}
	if all > to.room || to.pending {
		panic(fmt.Sprintf("webgpu: Submit copies %d bytes, the results have room for %d, or are pending: %v", all, to.room, to.pending))
	}
	if w.gl != nil {
		return w.gl.submit(launches, copies, to)
	}
	return w.checked(func() error {
		d := w.device
		if err := d.enter(w.opt.Timeout); err != nil {
			return err
		}
		defer d.leave()
		for i := range launches {
			if n := launches[i].Network; n != nil && launches[i].Rows > 0 {
				if err := n.count(launches[i].Rows); err != nil {
					return err
				}
			}
		}
		c, err := d.begin(to.of)
		if err != nil {
			return err
		}
		for i := range launches {
			l := &launches[i]
			switch {
			case l.Network != nil && l.Rows > 0:
				l.Network.encode(&c, l.Rows)
			case l.Kernel != nil && l.Groups > 0:
				c.kernel(l.Kernel.pipeline)
				c.bind(0, l.Bound.group)
				c.dispatch(l.Groups, max(1, l.Layers))
			}
		}
		if err := c.endKernels(); err != nil {
			return err
		}
		to.bytes = 0
		for _, p := range copies {
			c.copy(p.From.buffer, p.At, to.of, to.bytes, p.Bytes)
			to.bytes += p.Bytes
		}
		to.mapping, err = d.run(&c, to.of)
		to.pending = err == nil
		return err
	})
}

// Pending reports whether there are results that Read has not read.
func (r *Results) Pending() bool { return r.pending }

// Start is Submit and Read before the first tick: it waits longer than the timeout, because drivers compile kernels when they first run.
func (w *Work) Start(launches []Launch, to *Results) error {
	if err := w.Submit(launches, nil, to); err != nil {
		return err
	}
	return w.read(nil, to, max(startTimeout, w.opt.Timeout))
}

// Read waits for the last submission and reads what it copied into dst.
func (w *Work) Read(dst []byte, from *Results) error { return w.read(dst, from, w.opt.Timeout) }

func (w *Work) read(dst []byte, from *Results, limit time.Duration) error {
	if w.gl != nil {
		return w.gl.read(dst, from)
	}
	return w.checked(func() error {
		from.pending = false
		d := w.device
		if err := d.wait(limit, from.mapping); err != nil {
			return err
		}
		if err := d.enter(w.opt.Timeout); err != nil {
			return err
		}
		defer d.leave()
		m, err := d.mapped(from.of, from.mapping)
		if err != nil {
			return err
		}
		m.read(dst[:min(int64(len(dst)), from.bytes)], 0)
		return m.unmap()
	})
}

// Free frees memory, what kernels see of it, and results, once the GPU has done everything: they are of no use afterwards. nil is none. Close
// frees what is left.
func (w *Work) Free(memory []*Memory, bound []*Bound, results []*Results) error {
	if w.gl != nil {
		for _, m := range memory {
			if m != nil {
				w.gl.free(m.gl)
				m.gl = 0 // OpenGL gives names out again
			}
		}
		for _, r := range results {
			if r != nil {
				w.gl.free(r.gl)
				r.gl = 0
			}
		}
		return w.gl.check()
	}
	return w.checked(func() error {
		return w.freeing(func() {
			for _, g := range bound {
				if drop(&w.groups, g) {
					g.Release()
				}
			}
			for _, r := range results {
				if drop(&w.results, r) {
					r.of.Release()
				}
			}
			for _, m := range memory {
				if drop(&w.memory, m) {
					m.Release()
				}
			}
		})
	})
}

// drop takes x out of all, and reports whether it was there.
func drop[T comparable](all *[]T, x T) bool {
	i := slices.Index(*all, x)
	if i >= 0 {
		*all = slices.Delete(*all, i, i+1)
	}
	return i >= 0
}

// Close frees the memory, unless the GPU is lost.
func (w *Work) Close() {
	if w.closed {
		return
	}
	w.closed = true
	if w.gl != nil {
		w.gl.close()
		return
	}
	if state.Lost.Load() {
		abandon(w)
		return
	}
	for _, n := range w.networks {
		n.Free()
	}
	err := w.freeing(func() {
		for _, g := range w.groups {
			g.Release()
		}
		for _, r := range w.results {
			r.of.Release()
		}
		for _, m := range w.memory {
			m.Release()
		}
		for _, k := range w.kernels {
			k.Release()
		}
	})
	if err != nil {
		lose(w.opt.Log, err)
		abandon(w)
	}
}

// freeing calls release once the GPU has done everything.
func (w *Work) freeing(release func()) error {
	return w.device.within(w.opt.Timeout, func() error {
		d := w.device
		if err := d.finish(w.opt.Timeout); err != nil {
			return err
		}
		if err := d.enter(w.opt.Timeout); err != nil {
			return err
		}
		defer d.leave()
		release()
		return nil
	})
}

// OpenGL returns the name of the memory's buffer in OpenGL; 0 in WebGPU, and of no memory.
func (m *Memory) OpenGL() uint32 {
	if m == nil {
		return 0
	}
	return m.gl
}
