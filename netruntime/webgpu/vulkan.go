//go:build webgpu && !js

package webgpu

import (
	"errors"
	"fmt"
	"time"

	"github.com/gogpu/gputypes"
	"github.com/gogpu/wgpu"
	_ "github.com/gogpu/wgpu/hal/vulkan" // the driver's interface

	"mannequin/netruntime/internal/reserve"
)

type (
	openGPU  = *wgpu.Device
	buffer   = wgpu.Buffer
	group    = wgpu.BindGroup
	bindings = wgpu.BindGroupLayout
	layout   = wgpu.PipelineLayout
	pipeline = wgpu.ComputePipeline
	mapping  = *wgpu.MapPending
)

// gpu is a device of the library.
type gpu struct {
	gpu     *wgpu.Device
	queue   *wgpu.Queue
	session *bindings
	call    *bindings
	layout  *layout
	last    uint64 // submission
	pending bool   // copies wait for the next
}

// openDevice opens the fastest device that the Vulkan driver has.
func openDevice() (*device, error) {
	enlarge(0)
	instance, err := wgpu.CreateInstance(&wgpu.InstanceDescriptor{Backends: wgpu.BackendsVulkan})
	if err != nil {
		return nil, fmt.Errorf("webgpu: no Vulkan driver: %w", err)
	}
	adapter, err := instance.RequestAdapter(&wgpu.RequestAdapterOptions{PowerPreference: wgpu.PowerPreferenceHighPerformance})
	if err != nil {
		return nil, fmt.Errorf("webgpu: no device of a Vulkan driver: %w", err)
	}
	info := adapter.Info()
	d := newDevice(info.Name)
	if info.DeviceType == gputypes.DeviceTypeCPU {
		d.name += software
	}
	gpu, err := adapter.RequestDevice(&wgpu.DeviceDescriptor{RequiredLimits: adapter.Limits()})
	if err != nil {
		return nil, fmt.Errorf("webgpu: %s: %w", d.name, err)
	}
	return d, d.use(gpu)
}

// held is for browsers.
func held() error { return nil }

// init takes an open device, and describes the kernels' bindings.
func (d *device) init(open openGPU) (err error) {
	limits := open.Limits()
	d.gpu.gpu, d.queue, d.most = open, open.Queue(), int64(min(limits.MaxStorageBufferBindingSize, limits.MaxBufferSize))
	if d.session, err = d.describe(
		described{bindMemory, gputypes.BufferBindingTypeStorage, 4}, described{bindConstants, gputypes.BufferBindingTypeReadOnlyStorage, 4},
		described{bindOps, gputypes.BufferBindingTypeReadOnlyStorage, 4}, described{bindRun, gputypes.BufferBindingTypeUniform, runBytes},
	); err != nil {
		return err
	}
	// The library's dynamic offsets do not reach Vulkan: each call has a group of its own.
	if d.call, err = d.describe(described{bindCall, gputypes.BufferBindingTypeUniform, callBytes}); err != nil {
		return err
	}
	d.layout, err = d.layoutOf(d.session, d.call)
	return err
}

// describe describes the bindings of a group.
func (d *device) describe(all ...described) (*bindings, error) {
	var entries []wgpu.BindGroupLayoutEntry
	for _, b := range all {
		entries = append(entries, wgpu.BindGroupLayoutEntry{Binding: b.number, Visibility: wgpu.ShaderStageCompute,
			Buffer: &gputypes.BufferBindingLayout{Type: b.kind, MinBindingSize: uint64(b.least)}})
	}
	return d.gpu.gpu.CreateBindGroupLayout(&wgpu.BindGroupLayoutDescriptor{Label: "bindings", Entries: entries})
}

// layoutOf returns the layout of kernels with such groups.
func (d *device) layoutOf(groups ...*bindings) (*layout, error) {
	return d.gpu.gpu.CreatePipelineLayout(&wgpu.PipelineLayoutDescriptor{Label: "kernels", BindGroupLayouts: groups})
}

// pipeline compiles a kernel.
func (d *device) pipeline(of *layout, name, source string) (*pipeline, error) {
	module, err := d.gpu.gpu.CreateShaderModule(&wgpu.ShaderModuleDescriptor{Label: name, WGSL: source})
	if err != nil {
		return nil, err
	}
	return d.gpu.gpu.CreateComputePipeline(&wgpu.ComputePipelineDescriptor{Label: name, Layout: of, Module: module, EntryPoint: name})
}

// scoped calls f, which makes what a session needs.
func (d *device) scoped(limit time.Duration, f func() error) error { return f() }

// buffer makes memory on the device, of zero or more bytes. The library does not tell apart why there
// is none: most often there is no room.
func (d *device) buffer(label string, bytes int64, usage gputypes.BufferUsage) (*buffer, error) {
	b, err := d.gpu.gpu.CreateBuffer(&wgpu.BufferDescriptor{Label: label, Size: uint64(max(bytes, 256)), Usage: usage})
	if err != nil {
		return nil, fmt.Errorf("webgpu: %d bytes of %s: %w: %w", bytes, label, err, errPlan)
	}
	return b, nil
}

// group binds buffers.
func (d *device) group(of *bindings, all ...binding) (*group, error) {
	desc := &wgpu.BindGroupDescriptor{Label: "group", Layout: of}
	for _, b := range all {
		desc.Entries = append(desc.Entries, wgpu.BindGroupEntry{Binding: b.number, Buffer: b.of, Offset: uint64(b.offset), Size: uint64(b.size)})
	}
	g, err := d.gpu.gpu.CreateBindGroup(desc)
	if err != nil {
		return nil, fmt.Errorf("webgpu: bindings: %w", err)
	}
	return g, nil
}

// write copies data to the device before what is submitted next. It does not use data afterwards.
func (d *device) write(to *buffer, offset int64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if err := d.queue.WriteBuffer(to, uint64(offset), data); err != nil {
		return fmt.Errorf("webgpu: copy to the GPU: %w", err)
	}
	d.pending = true
	return nil
}

// flush submits the copies that wait.
func (d *device) flush() error { return d.submit() }

// submit submits commands, and the copies that wait for them. There must be one of both: if there is
// nothing, the library takes the copies of earlier submissions for done.
func (d *device) submit(commands ...*wgpu.CommandBuffer) (err error) {
	if d.last, err = d.queue.Submit(commands...); err != nil {
		return fmt.Errorf("webgpu: submit: %w", err)
	}
	d.pending = false
	return nil
}

// finish waits until the device has done everything: the library keeps copies for the next submission,
// but not the memory that they are for.
func (d *device) finish(limit time.Duration) error {
	if err := d.enter(limit); err != nil {
		return err
	}
	var err error
	if d.pending {
		err = d.submit()
	}
	last := d.last
	d.leave()
	if err != nil {
		return err
	}
	return d.poll(limit, func() (bool, error) { return d.queue.Poll() >= last, nil })
}

// wait waits for results.
func (d *device) wait(limit time.Duration, m mapping) error { return d.poll(limit, m.Status) }

// nap is the shortest sleep between two queries. Queries allocate memory, and a software driver
// needs the processor.
const nap = 20 * time.Microsecond

// poll waits until ready. The library's own waits have no limit.
func (d *device) poll(limit time.Duration, ready func() (bool, error)) error {
	for begin := time.Now(); ; {
		// The query comes after the clock: a process that was stopped in between still learns that the
		// work is done.
		waited := time.Since(begin)
		if err := d.enter(limit); err != nil {
			return err
		}
		d.gpu.gpu.Poll(wgpu.PollPoll)
		done, err := ready()
		d.leave()
		switch {
		case err != nil:
			return fmt.Errorf("webgpu: wait for the GPU: %w", err)
		case done:
			return nil
		case waited > limit:
			return reserve.ErrHang(limit)
		}
		time.Sleep(max(nap, waited/8))
	}
}

// commands are calls of kernels, and then copies.
type commands struct {
	encoder *wgpu.CommandEncoder
	pass    *wgpu.ComputePassEncoder
}

func (d *device) begin() (c commands, err error) {
	if c.encoder, err = d.gpu.gpu.CreateCommandEncoder(nil); err == nil {
		c.pass, err = c.encoder.BeginComputePass(nil)
	}
	return c, commandsError(err)
}

func commandsError(err error) error {
	if err != nil {
		return fmt.Errorf("webgpu: commands: %w", err)
	}
	return nil
}

func (c *commands) kernel(p *pipeline)       { c.pass.SetPipeline(p) }
func (c *commands) bind(index int, g *group) { c.pass.SetBindGroup(uint32(index), g, nil) }
func (c *commands) dispatch(x, y int)        { c.pass.Dispatch(uint32(x), uint32(y), 1) }
func (c *commands) endKernels() error        { return commandsError(c.pass.End()) }
func (c *commands) copy(from *buffer, at int64, to *buffer, toAt, bytes int64) {
	c.encoder.CopyBufferToBuffer(from, uint64(at), to, uint64(toAt), uint64(bytes))
}

// run submits c, and asks for the results.
func (d *device) run(c *commands, results *buffer) (mapping, error) {
	buffer, err := c.encoder.Finish()
	if err != nil {
		return nil, commandsError(err)
	}
	if err := d.submit(buffer); err != nil {
		return nil, err
	}
	m, err := results.MapAsync(wgpu.MapModeRead, 0, results.Size())
	return m, readError(err)
}

func readError(err error) error {
	if err != nil {
		return fmt.Errorf("webgpu: copy from the GPU: %w", err)
	}
	return nil
}

// mapped are results.
type mapped struct {
	of    *buffer
	whole *wgpu.MappedRange
	data  []byte
}

// mapped returns the results that wait has waited for.
func (d *device) mapped(of *buffer, m mapping) (mapped, error) {
	m.Release()
	whole, err := of.MappedRange(0, of.Size())
	if err != nil {
		return mapped{}, readError(err)
	}
	return mapped{of, whole, whole.Bytes()}, nil
}

func (m *mapped) read(to []byte, at int64) { copy(to, m.data[at:]) }

func (m *mapped) unmap() error {
	m.whole.Release()
	return readError(m.of.Unmap())
}

// Use calls f with the device of the library, for a renderer of one's own on it. Nobody else calls the library meanwhile, and f may not
// keep the device: all calls of it belong into Use. An error of f means that the GPU is lost.
func (w *Work) Use(f func(gpu *wgpu.Device) error) error {
	if w.gl != nil {
		return errors.New("webgpu: a Work on OpenGL has no device of the library")
	}
	return w.checked(func() error {
		if err := w.device.enter(w.opt.Timeout); err != nil {
			return err
		}
		defer w.device.leave()
		return f(w.device.gpu.gpu)
	})
}

// Buffer returns the library's buffer, for Use: a storage and a vertex buffer.
func (m *Memory) Buffer() *wgpu.Buffer { return m.buffer }
