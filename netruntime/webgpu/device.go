//go:build webgpu

package webgpu

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gogpu/gputypes"
	"github.com/gogpu/wgpu"
	_ "github.com/gogpu/wgpu/hal/vulkan" // the driver's interface

	"mannequin/netruntime/internal/reserve"
)

// Built reports whether the program was built with the tag webgpu.
const Built = true

// device is the process's GPU.
type device struct {
	busy     chan struct{} // holds one: the library is not for several goroutines
	name     string
	gpu      *wgpu.Device
	queue    *wgpu.Queue
	session  *wgpu.BindGroupLayout
	call     *wgpu.BindGroupLayout
	products [len(tiles)]*wgpu.ComputePipeline
	chain    *wgpu.ComputePipeline
	limits   wgpu.Limits
	last     uint64 // submission
	pending  bool   // copies wait for the next
}

var state reserve.GPU

// startTimeout is the longest wait for the driver to compile the kernels.
const startTimeout = 2 * time.Minute

var theDevice = sync.OnceValues(func() (*device, error) {
	var d *device
	if err := reserve.Within(startTimeout, func() (err error) {
		d, err = openDevice()
		return err
	}); err != nil {
		return nil, err
	}
	return d, nil
})

var errLost = errors.New("webgpu: the GPU was lost")

// lose ends the use of the GPU after an error, and logs it once.
func lose(log *slog.Logger, err error) {
	if state.Lose(log, err) {
		forget()
	}
}

// called returns the device's name; nil has none.
func (d *device) called() string {
	if d == nil {
		return ""
	}
	return d.name
}

// Device returns the name of the GPU that sessions run on, or an error that says why there is none.
func Device() (string, error) {
	d, err := theDevice()
	if err != nil {
		return "", err
	}
	if state.Lost.Load() {
		return "", errLost
	}
	return d.name, nil
}

// Fallbacks returns the number of runs that the processor has computed because the GPU was lost.
func Fallbacks() int64 { return state.Fallbacks.Load() }

// openDevice opens the fastest device that the Vulkan driver has.
func openDevice() (*device, error) {
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
		d.name += ", software on the processor"
	}
	gpu, err := adapter.RequestDevice(&wgpu.DeviceDescriptor{RequiredLimits: adapter.Limits()})
	if err != nil {
		return nil, fmt.Errorf("webgpu: %s: %w", d.name, err)
	}
	return d, d.use(gpu)
}

func newDevice(name string) *device { return &device{name: name, busy: make(chan struct{}, 1)} }

// enter waits until no other goroutine calls the library. One that hangs there never leaves.
func (d *device) enter(limit time.Duration) error {
	select {
	case d.busy <- struct{}{}:
		return nil
	default:
	}
	select {
	case d.busy <- struct{}{}:
		return nil
	case <-time.After(limit):
		return reserve.ErrHang(limit)
	}
}

func (d *device) leave() { <-d.busy }

// use prepares d for an open device.
func (d *device) use(gpu *wgpu.Device) error {
	d.gpu, d.queue, d.limits = gpu, gpu.Queue(), gpu.Limits()
	if err := d.compile(); err != nil {
		return fmt.Errorf("webgpu: %s: %w", d.name, err)
	}
	return nil
}

// The bindings of all kernels, as in kernels/common.wgsl: a session's, and a call's.
const (
	bindMemory = iota
	bindConstants
	bindOps
	bindRun

	bindCall = 0
)

func (d *device) compile() (err error) {
	entry := func(binding uint32, kind gputypes.BufferBindingType, size uint64) wgpu.BindGroupLayoutEntry {
		return wgpu.BindGroupLayoutEntry{Binding: binding, Visibility: wgpu.ShaderStageCompute,
			Buffer: &gputypes.BufferBindingLayout{Type: kind, MinBindingSize: size}}
	}
	if d.session, err = d.gpu.CreateBindGroupLayout(&wgpu.BindGroupLayoutDescriptor{Label: "session", Entries: []wgpu.BindGroupLayoutEntry{
		entry(bindMemory, gputypes.BufferBindingTypeStorage, 4),
		entry(bindConstants, gputypes.BufferBindingTypeReadOnlyStorage, 4),
		entry(bindOps, gputypes.BufferBindingTypeReadOnlyStorage, 4),
		entry(bindRun, gputypes.BufferBindingTypeUniform, runBytes),
	}}); err != nil {
		return err
	}
	// The library's dynamic offsets do not reach Vulkan: each call has a group of its own.
	if d.call, err = d.gpu.CreateBindGroupLayout(&wgpu.BindGroupLayoutDescriptor{Label: "call", Entries: []wgpu.BindGroupLayoutEntry{
		entry(bindCall, gputypes.BufferBindingTypeUniform, callBytes),
	}}); err != nil {
		return err
	}
	layout, err := d.gpu.CreatePipelineLayout(&wgpu.PipelineLayoutDescriptor{Label: "kernels", BindGroupLayouts: []*wgpu.BindGroupLayout{d.session, d.call}})
	if err != nil {
		return err
	}
	pipeline := func(name, source string) (*wgpu.ComputePipeline, error) {
		module, err := d.gpu.CreateShaderModule(&wgpu.ShaderModuleDescriptor{Label: name, WGSL: source})
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", name, err)
		}
		p, err := d.gpu.CreateComputePipeline(&wgpu.ComputePipelineDescriptor{Label: name, Layout: layout, Module: module, EntryPoint: name})
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", name, err)
		}
		return p, nil
	}
	if d.chain, err = pipeline("chain", commonSource+chainSource); err != nil {
		return err
	}
	for i, t := range tiles {
		source, err := t.source()
		if err != nil {
			return err
		}
		if d.products[i], err = pipeline("product", source); err != nil {
			return err
		}
	}
	return nil
}

// buffer makes memory on the device, of zero or more bytes. The library does not tell apart why there
// is none: most often there is no room.
func (d *device) buffer(label string, bytes int64, usage wgpu.BufferUsage) (*wgpu.Buffer, error) {
	b, err := d.gpu.CreateBuffer(&wgpu.BufferDescriptor{Label: label, Size: uint64(max(bytes, 256)), Usage: usage})
	if err != nil {
		return nil, fmt.Errorf("webgpu: %d bytes of %s: %w: %w", bytes, label, err, errPlan)
	}
	return b, nil
}

// write copies data to the device before what is submitted next. It does not use data afterwards.
func (d *device) write(to *wgpu.Buffer, offset int64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if err := d.queue.WriteBuffer(to, uint64(offset), data); err != nil {
		return fmt.Errorf("webgpu: copy to the GPU: %w", err)
	}
	d.pending = true
	return nil
}

// submit submits commands, and the copies that wait for them. There must be one of both: if there is
// nothing, the library takes the copies of earlier submissions for done.
func (d *device) submit(commands ...*wgpu.CommandBuffer) (err error) {
	if d.last, err = d.queue.Submit(commands...); err != nil {
		return fmt.Errorf("webgpu: submit: %w", err)
	}
	d.pending = false
	return nil
}

// finish waits until the device has done everything.
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
	return d.wait(limit, nil, last)
}

// nap is the shortest sleep between two queries. Queries allocate memory, and a software driver
// needs the processor.
const nap = 20 * time.Microsecond

// wait waits for a mapping, or if that is nil for a submission. The library's own waits have no limit.
func (d *device) wait(limit time.Duration, mapping *wgpu.MapPending, submission uint64) (err error) {
	for begin := time.Now(); ; {
		// The query comes after the clock: a process that was stopped in between still learns that the
		// work is done.
		waited := time.Since(begin)
		if err := d.enter(limit); err != nil {
			return err
		}
		d.gpu.Poll(wgpu.PollPoll)
		ready := false
		if mapping != nil {
			ready, err = mapping.Status()
		} else {
			ready = d.queue.Poll() >= submission
		}
		d.leave()
		switch {
		case err != nil:
			return fmt.Errorf("webgpu: wait for the GPU: %w", err)
		case ready:
			return nil
		case waited > limit:
			return reserve.ErrHang(limit)
		}
		time.Sleep(max(nap, waited/8))
	}
}
