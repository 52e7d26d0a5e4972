//go:build webgpu && !js

package webgpu

import (
	"fmt"
	"slices"
	"time"

	"github.com/gogpu/gputypes"
	"github.com/gogpu/wgpu/hal/vulkan/vk"

	"mannequin/netruntime/internal/reserve"
)

// flight is commands of which one submission can be under way.
type flight struct {
	commands vk.CommandBuffer
	fence    vk.Fence
	staged   []*buffer // that its copies read
}

// pendingCopy copies bytes, or clears a buffer.
type pendingCopy struct {
	from, to        *buffer
	at, toAt, bytes int64
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
	d      *device
	f      *flight
	places vk.PipelineLayout // of the kernel
	err    error
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

func (c *commands) kernel(p *pipeline) {
	c.places = p.places
	c.then(c.d.open.bindPipeline(c.f.commands, p.vk))
}

func (c *commands) bind(index int, g *group) {
	c.then(c.d.open.bindGroup(c.f.commands, c.places, index, g.set))
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
