//go:build webgpu

package webgpu

import (
	"errors"
	"time"

	"github.com/gogpu/gputypes"

	"mannequin/netruntime/internal/reserve"
)

// part is what a session or a search has on the device.
type part struct {
	opt     Options
	device  *device
	results *buffer // for the caller to read
	buffers []*buffer
	groups  []*group
}

// owner is a session or a search.
type owner interface {
	open() error // makes what it needs on the device
	Free()
}

// place opens x, which has p, on the device, and reports whether x is there. What is not is the processor's.
func (p *part) place(o *Options, what string, x owner) bool {
	if err := held(); err != nil {
		fail(o.Log, err)
		return false
	}
	d, err := theDevice()
	state.Announce(o.Log, d.called(), err)
	if err != nil || state.Lost.Load() {
		return false
	}
	p.opt, p.device = *o, d
	do := func(within func(time.Duration, func() error) error, limit time.Duration, f func() error) error {
		return within(limit, func() error {
			return d.scoped(limit, func() error {
				if err := d.enter(o.Timeout); err != nil {
					return err
				}
				defer d.leave()
				return f()
			})
		})
	}
	if o.F16 {
		err = do(reserve.Within, startTimeout, d.float16)
	}
	if err == nil {
		err = do(d.within, o.Timeout, x.open)
	}
	switch {
	case err == nil:
		return true
	case errors.Is(err, errPlan):
		o.Log.Warn("the GPU cannot take "+what+", the processor does", "err", err)
		x.Free()
	default:
		fail(o.Log, err)
		abandon(x)
	}
	return false
}

// How buffers are used.
const (
	storage  = gputypes.BufferUsageStorage | gputypes.BufferUsageCopyDst | gputypes.BufferUsageCopySrc
	input    = gputypes.BufferUsageStorage | gputypes.BufferUsageCopyDst
	uniform  = gputypes.BufferUsageUniform | gputypes.BufferUsageCopyDst
	readable = gputypes.BufferUsageMapRead | gputypes.BufferUsageCopyDst
)

// memory makes a buffer of the part's own.
func (p *part) memory(label string, bytes int64, usage gputypes.BufferUsage) (*buffer, error) {
	b, err := p.device.buffer(label, bytes, usage)
	if err == nil {
		p.buffers = append(p.buffers, b)
	}
	return b, err
}

// group binds buffers, for all calls or for one.
func (p *part) group(call bool, bindings ...binding) (*group, error) {
	g, err := p.device.group(call, bindings...)
	if err == nil {
		p.groups = append(p.groups, g)
	}
	return g, err
}

// work is done on the device in one go.
type work interface {
	send() (mapping, error)  // submits it, and asks for the results
	receive(m mapping) error // copies the results to the caller
}

// do does w, and waits for the results.
func (p *part) do(w work) error {
	d := p.device
	if err := held(); err != nil {
		return err
	}
	if err := d.enter(p.opt.Timeout); err != nil {
		return err
	}
	m, err := w.send()
	d.leave()
	if err != nil {
		return err
	}
	if err := d.wait(p.opt.Timeout, m); err != nil {
		return err
	}
	if err := d.enter(p.opt.Timeout); err != nil {
		return err
	}
	defer d.leave()
	return w.receive(m)
}

// free frees the memory of x on the GPU, and what also frees, unless the GPU is lost.
func (p *part) free(x owner, also func()) {
	if state.Lost.Load() {
		abandon(x)
		return
	}
	err := p.device.within(p.opt.Timeout, func() error {
		if err := p.device.finish(p.opt.Timeout); err != nil {
			return err
		}
		if err := p.device.enter(p.opt.Timeout); err != nil {
			return err
		}
		defer p.device.leave()
		for _, g := range p.groups {
			g.Release()
		}
		for _, b := range p.buffers {
			b.Release()
		}
		also()
		return nil
	})
	if err != nil {
		lose(p.opt.Log, err)
		abandon(x)
	}
}
