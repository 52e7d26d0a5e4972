//go:build webgpu && !js

package webgpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/gogpu/gputypes"
	"github.com/gogpu/wgpu/hal"
	"github.com/gogpu/wgpu/hal/vulkan"
	"github.com/gogpu/wgpu/hal/vulkan/vk"

	"mannequin/netruntime/internal/reserve"
)

// openGPU is a device of the library's lower half.
type openGPU struct {
	hal.OpenDevice
	limits gputypes.Limits
	*native
}

// gpu is a device. Runs record and submit commands by native; the library does the rest.
type gpu struct {
	open          openGPU
	session, call hal.BindGroupLayout
	layout        hal.PipelineLayout
	places        vk.PipelineLayout // layout
	pool          vk.CommandPool

	// Functions of native, which tests replace.
	start func(vk.CommandBuffer, vk.Fence) error
	done  func(vk.Fence) (bool, error)

	pending []pendingCopy // for the next submission
	staged  []*buffer     // from which they copy; the last one may have room
	free    []*buffer     // from which earlier ones copied
	uploads *flight       // of copies alone
}

// pendingCopy copies bytes, or clears a buffer.
type pendingCopy struct {
	from, to        *buffer
	at, toAt, bytes int64
}

// buffer is memory on the device.
type buffer struct {
	hal.Buffer
	d      *device
	vk     vk.Buffer
	size   int64
	mapped []byte // of memory that the processor sees
	whole  bool   // it sees what the device writes, and the other way round, without a call
	used   int64  // of staging memory
	flight *flight
}

// group is a set of bindings.
type group struct {
	hal.BindGroup
	d   *device
	set vk.DescriptorSet
}

type pipeline struct {
	hal.ComputePipeline
	vk vk.Pipeline
}

// flight is commands of which one submission can be under way.
type flight struct {
	commands vk.CommandBuffer
	fence    vk.Fence
	staged   []*buffer // that its copies read
}

type mapping = *flight

// openDevice opens the fastest device that the Vulkan driver has.
func openDevice() (*device, error) {
	instance, err := vulkan.NewBackend().CreateInstance(&hal.InstanceDescriptor{})
	if err != nil {
		return nil, fmt.Errorf("webgpu: no Vulkan driver: %w", err)
	}
	adapters := instance.EnumerateAdapters(nil)
	if len(adapters) == 0 {
		return nil, errors.New("webgpu: no device of a Vulkan driver")
	}
	best := slices.MinFunc(adapters, func(a, b hal.ExposedAdapter) int {
		return cmp.Compare(slowness(a.Info.DeviceType), slowness(b.Info.DeviceType))
	})
	d := newDevice(best.Info.Name)
	if best.Info.DeviceType == gputypes.DeviceTypeCPU {
		d.name += software
	}
	open, err := openAdapter(best)
	if err != nil {
		return nil, fmt.Errorf("webgpu: %s: %w", d.name, err)
	}
	return d, d.use(open)
}

// slowness orders kinds of devices.
func slowness(t gputypes.DeviceType) int {
	return slices.Index([]gputypes.DeviceType{gputypes.DeviceTypeDiscreteGPU, gputypes.DeviceTypeIntegratedGPU, gputypes.DeviceTypeVirtualGPU, gputypes.DeviceTypeOther, gputypes.DeviceTypeCPU}, t)
}

func openAdapter(a hal.ExposedAdapter) (open openGPU, err error) {
	open.limits = a.Capabilities.Limits
	if open.OpenDevice, err = a.Adapter.Open(0, open.limits); err == nil {
		open.native, err = newNative(open.OpenDevice)
	}
	return open, err
}

// held is for browsers.
func held() error { return nil }

// init takes an open device, and describes the kernels' bindings.
func (d *device) init(open openGPU) (err error) {
	d.open, d.start, d.done = open, open.start, open.native.done
	d.most = int64(min(open.limits.MaxStorageBufferBindingSize, open.limits.MaxBufferSize))
	entry := func(binding uint32, kind gputypes.BufferBindingType, size uint64) gputypes.BindGroupLayoutEntry {
		return gputypes.BindGroupLayoutEntry{Binding: binding, Visibility: gputypes.ShaderStageCompute,
			Buffer: &gputypes.BufferBindingLayout{Type: kind, MinBindingSize: size}}
	}
	if d.session, err = open.Device.CreateBindGroupLayout(&hal.BindGroupLayoutDescriptor{Label: "session", Entries: []gputypes.BindGroupLayoutEntry{
		entry(bindMemory, gputypes.BufferBindingTypeStorage, 4),
		entry(bindConstants, gputypes.BufferBindingTypeReadOnlyStorage, 4),
		entry(bindOps, gputypes.BufferBindingTypeReadOnlyStorage, 4),
		entry(bindRun, gputypes.BufferBindingTypeUniform, runBytes),
	}}); err != nil {
		return err
	}
	if d.call, err = open.Device.CreateBindGroupLayout(&hal.BindGroupLayoutDescriptor{Label: "call", Entries: []gputypes.BindGroupLayoutEntry{
		entry(bindCall, gputypes.BufferBindingTypeUniform, callBytes),
	}}); err != nil {
		return err
	}
	if d.layout, err = open.Device.CreatePipelineLayout(&hal.PipelineLayoutDescriptor{Label: "kernels", BindGroupLayouts: []hal.BindGroupLayout{d.session, d.call}}); err != nil {
		return err
	}
	d.places = d.layout.(interface{ Handle() vk.PipelineLayout }).Handle()
	pool := vk.CommandPoolCreateInfo{SType: vk.StructureTypeCommandPoolCreateInfo, QueueFamilyIndex: open.family,
		Flags: vk.CommandPoolCreateFlags(vk.CommandPoolCreateResetCommandBufferBit)}
	if r := open.make.CreateCommandPool(open.native.device, &pool, nil, &d.pool); r != vk.Success {
		return fmt.Errorf("vkCreateCommandPool: error %d", r)
	}
	d.uploads, err = d.newFlight()
	return err
}

func (d *device) newFlight() (*flight, error) {
	f := &flight{}
	info := vk.CommandBufferAllocateInfo{SType: vk.StructureTypeCommandBufferAllocateInfo, CommandPool: d.pool, Level: vk.CommandBufferLevelPrimary, CommandBufferCount: 1}
	if r := d.open.make.AllocateCommandBuffers(d.open.native.device, &info, &f.commands); r != vk.Success {
		return nil, fmt.Errorf("vkAllocateCommandBuffers: error %d", r)
	}
	fence := vk.FenceCreateInfo{SType: vk.StructureTypeFenceCreateInfo}
	if r := d.open.make.CreateFence(d.open.native.device, &fence, nil, &f.fence); r != vk.Success {
		return nil, fmt.Errorf("vkCreateFence: error %d", r)
	}
	return f, nil
}

// pipeline compiles a kernel.
func (d *device) pipeline(name, source string) (*pipeline, error) {
	module, err := d.open.Device.CreateShaderModule(&hal.ShaderModuleDescriptor{Label: name, Source: hal.ShaderSource{WGSL: source}})
	if err != nil {
		return nil, err
	}
	p, err := d.open.Device.CreateComputePipeline(&hal.ComputePipelineDescriptor{Label: name, Layout: d.layout, Compute: hal.ComputeState{Module: module, EntryPoint: name}})
	if err != nil {
		return nil, err
	}
	at, err := private(p, "handle")
	return &pipeline{p, vk.Pipeline(at)}, err
}

// scoped calls f, which makes what a session needs.
func (d *device) scoped(limit time.Duration, f func() error) error { return f() }

// buffer makes memory on the device, of zero or more bytes, all zeros. The library does not tell apart why there
// is none: most often there is no room.
func (d *device) buffer(label string, bytes int64, usage gputypes.BufferUsage) (*buffer, error) {
	b := &buffer{d: d, size: max((bytes+3)&^3, 256)}
	var err error
	if b.Buffer, err = d.open.Device.CreateBuffer(&hal.BufferDescriptor{Label: label, Size: uint64(b.size), Usage: usage}); err != nil {
		return nil, fmt.Errorf("webgpu: %d bytes of %s: %w: %w", bytes, label, err, errPlan)
	}
	b.vk = vk.Buffer(b.NativeHandle())
	if usage&(gputypes.BufferUsageMapRead|gputypes.BufferUsageMapWrite) == 0 {
		d.pending = append(d.pending, pendingCopy{to: b})
		return b, nil
	}
	m, err := d.open.Device.MapBuffer(b.Buffer, 0, uint64(b.size))
	if err != nil {
		return nil, fmt.Errorf("webgpu: map %s: %w", label, err)
	}
	b.mapped, b.whole = unsafe.Slice((*byte)(m.Ptr), b.size), m.IsCoherent
	if usage&gputypes.BufferUsageMapRead != 0 {
		b.flight, err = d.newFlight()
	}
	return b, err
}

// Release frees the buffer, which the device no longer uses.
func (b *buffer) Release() {
	if f := b.flight; f != nil {
		n := b.d.open.native
		n.make.DestroyFence(n.device, f.fence, nil)
		n.make.FreeCommandBuffers(n.device, b.d.pool, 1, &f.commands)
	}
	b.d.open.Device.DestroyBuffer(b.Buffer)
}

// group binds buffers for a session, or for a call.
func (d *device) group(call bool, bindings ...binding) (*group, error) {
	desc := &hal.BindGroupDescriptor{Label: "session", Layout: d.session}
	if call {
		desc.Label, desc.Layout = "call", d.call
	}
	for _, b := range bindings {
		desc.Entries = append(desc.Entries, gputypes.BindGroupEntry{Binding: b.number, Resource: gputypes.BufferBinding{
			Buffer: b.of.NativeHandle(), Offset: uint64(b.offset), Size: uint64(cmp.Or(b.size, b.of.size-b.offset))}})
	}
	g, err := d.open.Device.CreateBindGroup(desc)
	if err != nil {
		return nil, fmt.Errorf("webgpu: bindings: %w", err)
	}
	return &group{g, d, g.(interface{ Handle() vk.DescriptorSet }).Handle()}, nil
}

// Release frees the bindings, which the device no longer uses.
func (g *group) Release() { g.d.open.Device.DestroyBindGroup(g.BindGroup) }

// leastStaging is the least size of memory through which copies go.
const leastStaging = 1 << 16

// write copies data to the device before what is submitted next. It does not use data afterwards.
func (d *device) write(to *buffer, offset int64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	from, err := d.staging(int64(len(data)))
	if err != nil {
		return err
	}
	copy(from.mapped[from.used:], data)
	d.pending = append(d.pending, pendingCopy{from, to, from.used, offset, int64(len(data))})
	from.used += int64(len(data))
	return nil
}

// staging returns memory with room for some bytes.
func (d *device) staging(bytes int64) (*buffer, error) {
	if n := len(d.staged); n > 0 && d.staged[n-1].size-d.staged[n-1].used >= bytes {
		return d.staged[n-1], nil
	}
	for i, b := range d.free {
		if b.size >= bytes {
			d.free = slices.Delete(d.free, i, i+1)
			d.staged = append(d.staged, b)
			return b, nil
		}
	}
	b, err := d.buffer("staging", max(bytes, leastStaging), gputypes.BufferUsageMapWrite|gputypes.BufferUsageCopySrc)
	if err == nil {
		d.staged = append(d.staged, b)
	}
	return b, err
}

// record begins the commands of a flight with the copies that wait.
func (d *device) record(f *flight) error {
	n := d.open.native
	if err := n.record(f.commands); err != nil {
		return err
	}
	if err := n.wait(f.commands, stages, &n.between); err != nil {
		return err
	}
	for i := range d.pending {
		p := &d.pending[i]
		if p.from != nil {
			continue
		}
		if err := n.clear(f.commands, p.to.vk); err != nil {
			return err
		}
	}
	if err := n.wait(f.commands, stages, &n.between); err != nil {
		return err
	}
	for i := range d.pending {
		p := &d.pending[i]
		if p.from == nil {
			continue
		}
		if err := n.copyBuffer(f.commands, p.from.vk, p.at, p.to.vk, p.toAt, p.bytes); err != nil {
			return err
		}
	}
	return n.wait(f.commands, stages, &n.between)
}

// submit submits the commands of a flight.
func (d *device) submit(f *flight) error {
	n := d.open.native
	if err := n.recorded(f.commands); err != nil {
		return err
	}
	for _, b := range d.staged {
		if !b.whole {
			if err := d.open.Device.UnmapBuffer(b.Buffer); err != nil {
				return err
			}
		}
	}
	if err := d.start(f.commands, f.fence); err != nil {
		return err
	}
	clear(d.pending)
	d.pending = d.pending[:0]
	f.staged = append(f.staged[:0], d.staged...)
	d.staged = d.staged[:0]
	return nil
}

// landed lets others use the memory of a flight that is done.
func (d *device) landed(f *flight) {
	for _, b := range f.staged {
		b.used = 0
		d.free = append(d.free, b)
	}
	f.staged = f.staged[:0]
}

// flush submits the copies that wait, and waits for them.
func (d *device) flush(limit time.Duration) error {
	f := d.uploads
	if err := d.record(f); err != nil {
		return fmt.Errorf("webgpu: copy to the GPU: %w", err)
	}
	if err := d.submit(f); err != nil {
		return fmt.Errorf("webgpu: copy to the GPU: %w", err)
	}
	if err := poll(limit, func() (bool, error) { return d.done(f.fence) }); err != nil {
		return err
	}
	d.landed(f)
	return nil
}

// finish waits until the device has done everything.
func (d *device) finish(limit time.Duration) error {
	if err := d.enter(limit); err != nil {
		return err
	}
	defer d.leave()
	return d.flush(limit)
}

// wait waits for results.
func (d *device) wait(limit time.Duration, m mapping) error {
	return poll(limit, func() (bool, error) {
		if err := d.enter(limit); err != nil {
			return false, err
		}
		defer d.leave()
		return d.done(m.fence)
	})
}

// nap is the shortest sleep between two queries: a software driver needs the processor.
const nap = 20 * time.Microsecond

// poll waits until ready.
func poll(limit time.Duration, ready func() (bool, error)) error {
	for begin := time.Now(); ; {
		// The query comes after the clock: a process that was stopped in between still learns that the
		// work is done.
		waited := time.Since(begin)
		switch done, err := ready(); {
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
	d   *device
	f   *flight
	err error
}

// begin begins commands whose results go to a buffer.
func (d *device) begin(results *buffer) (commands, error) {
	c := commands{d: d, f: results.flight}
	c.then(d.record(c.f))
	return c, c.failed()
}

func (c *commands) then(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *commands) failed() error {
	if c.err != nil {
		return fmt.Errorf("webgpu: commands: %w", c.err)
	}
	return nil
}

func (c *commands) kernel(p *pipeline) { c.then(c.d.open.bindPipeline(c.f.commands, p.vk)) }

func (c *commands) bind(index int, g *group) {
	c.then(c.d.open.bindGroup(c.f.commands, c.d.places, index, g.set))
}

func (c *commands) dispatch(x, y int) {
	n := c.d.open.native
	c.then(n.run(c.f.commands, x, y))
	c.then(n.wait(c.f.commands, stages, &n.between))
}

func (c *commands) endKernels() error { return c.failed() }

func (c *commands) copy(from *buffer, at int64, to *buffer, toAt, bytes int64) {
	c.then(c.d.open.copyBuffer(c.f.commands, from.vk, at, to.vk, toAt, bytes))
}

// run submits c, and asks for the results.
func (d *device) run(c *commands, results *buffer) (mapping, error) {
	n := d.open.native
	c.then(n.wait(c.f.commands, vk.PipelineStageFlags(vk.PipelineStageHostBit), &n.toHost))
	if err := c.failed(); err != nil {
		return nil, err
	}
	if err := d.submit(c.f); err != nil {
		return nil, fmt.Errorf("webgpu: submit: %w", err)
	}
	return c.f, nil
}

// mapped are results.
type mapped struct{ of *buffer }

// mapped returns the results that wait has waited for.
func (d *device) mapped(of *buffer, m mapping) (mapped, error) {
	d.landed(m)
	if !of.whole {
		if _, err := d.open.Device.MapBuffer(of.Buffer, 0, uint64(of.size)); err != nil {
			return mapped{}, fmt.Errorf("webgpu: copy from the GPU: %w", err)
		}
	}
	return mapped{of}, nil
}

func (m *mapped) read(to []byte, at int64) { copy(to, m.of.mapped[at:]) }

func (m *mapped) unmap() error { return nil }
