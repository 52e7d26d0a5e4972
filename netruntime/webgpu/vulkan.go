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
)

// openGPU is a device of the library's lower half.
type openGPU struct {
	hal.OpenDevice
	limits gputypes.Limits
	half   bool // it has float16
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

// buffer is memory on the device.
type buffer struct {
	hal.Buffer
	d      *device
	vk     vk.Buffer
	size   int64
	mapped []byte  // of memory that the processor sees
	whole  bool    // it sees what the device writes, and the other way round, without a call
	used   int64   // of staging memory
	flight *flight // of results
}

// group is a set of bindings.
type group struct {
	hal.BindGroup
	d   *device
	set vk.DescriptorSet
}

// bindings and layout are those of kernels of a Work.
type (
	bindings struct{ hal.BindGroupLayout }
	layout   struct {
		hal.PipelineLayout
		places vk.PipelineLayout
	}
)

type pipeline struct {
	hal.ComputePipeline
	d      *device
	vk     vk.Pipeline
	places vk.PipelineLayout // of its bindings
}

type mapping = *flight

// openDevice opens the fastest device that the Vulkan driver has.
func openDevice() (*device, error) {
	enlarge(0)
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
	switch t {
	case gputypes.DeviceTypeDiscreteGPU:
		return 0
	case gputypes.DeviceTypeIntegratedGPU:
		return 1
	case gputypes.DeviceTypeCPU:
		return 3
	}
	return 2
}

func openAdapter(a hal.ExposedAdapter) (open openGPU, err error) {
	open.limits = a.Capabilities.Limits
	if open.OpenDevice, open.half, err = openFloat16(a.Adapter, open.limits); err == nil {
		open.native, err = newNative(open.OpenDevice)
	}
	return open, err
}

// held is for browsers.
func held() error { return nil }

// init takes an open device, and describes the kernels' bindings.
func (d *device) init(open openGPU) (err error) {
	d.open, d.start, d.done = open, open.start, open.native.done
	d.half = open.half
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

// pipeline compiles a kernel.
func (d *device) pipeline(name, source string) (*pipeline, error) {
	return d.pipelineOf(&layout{d.layout, d.places}, name, source)
}

// describe describes the bindings of a group of storage buffers.
func (d *device) describe(access []Access) (*bindings, error) {
	var entries []gputypes.BindGroupLayoutEntry
	for i, a := range access {
		kind := gputypes.BufferBindingTypeStorage
		if a == ReadOnly {
			kind = gputypes.BufferBindingTypeReadOnlyStorage
		}
		entries = append(entries, gputypes.BindGroupLayoutEntry{Binding: uint32(i), Visibility: gputypes.ShaderStageCompute,
			Buffer: &gputypes.BufferBindingLayout{Type: kind, MinBindingSize: 4}})
	}
	l, err := d.open.Device.CreateBindGroupLayout(&hal.BindGroupLayoutDescriptor{Label: "work", Entries: entries})
	return &bindings{l}, err
}

// layoutOf returns the layout of kernels with such a group.
func (d *device) layoutOf(of *bindings) (*layout, error) {
	l, err := d.open.Device.CreatePipelineLayout(&hal.PipelineLayoutDescriptor{Label: "work", BindGroupLayouts: []hal.BindGroupLayout{of.BindGroupLayout}})
	if err != nil {
		return nil, err
	}
	return &layout{l, l.(interface{ Handle() vk.PipelineLayout }).Handle()}, nil
}

// pipelineOf compiles a kernel with a layout.
func (d *device) pipelineOf(of *layout, name, source string) (*pipeline, error) {
	compiled, err := spirvOf(source, d.half)
	if err != nil {
		return nil, err
	}
	module, err := d.open.Device.CreateShaderModule(&hal.ShaderModuleDescriptor{Label: name, Source: hal.ShaderSource{SPIRV: compiled}})
	if err != nil {
		return nil, err
	}
	defer d.open.Device.DestroyShaderModule(module) // the pipeline does not need it
	p, err := d.open.Device.CreateComputePipeline(&hal.ComputePipelineDescriptor{Label: name, Layout: of.PipelineLayout, Compute: hal.ComputeState{Module: module, EntryPoint: name}})
	if err != nil {
		return nil, err
	}
	at, err := private(p, "handle")
	return &pipeline{p, d, vk.Pipeline(at), of.places}, err
}

// Release frees the kernel, which the device no longer uses.
func (p *pipeline) Release() { p.d.open.Device.DestroyComputePipeline(p.ComputePipeline) }

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
func (d *device) group(call bool, all ...binding) (*group, error) {
	if call {
		return d.groupOf(&bindings{d.call}, all...)
	}
	return d.groupOf(&bindings{d.session}, all...)
}

// groupOf binds buffers.
func (d *device) groupOf(of *bindings, all ...binding) (*group, error) {
	desc := &hal.BindGroupDescriptor{Label: "group", Layout: of.BindGroupLayout}
	for _, b := range all {
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

// Use calls f with the library's device and queue, for a renderer of one's own on them. Nobody else calls the library meanwhile, and f may not
// keep them: all calls belong into Use. An error of f means that the GPU is lost.
func (w *Work) Use(f func(gpu hal.Device, queue hal.Queue) error) error {
	if w.gl != nil {
		return errors.New("webgpu: a Work on OpenGL has no device of the library")
	}
	return w.checked(func() error {
		if err := w.device.enter(w.opt.Timeout); err != nil {
			return err
		}
		defer w.device.leave()
		return f(w.device.open.Device, w.device.open.Queue)
	})
}

// Buffer returns the library's buffer, for Use: a storage and a vertex buffer.
func (m *Memory) Buffer() hal.Buffer { return m.buffer.Buffer }
