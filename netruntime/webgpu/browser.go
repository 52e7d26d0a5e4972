//go:build webgpu && js

package webgpu

import (
	"errors"
	"fmt"
	"strings"
	"syscall/js"
	"time"

	"github.com/gogpu/gputypes"

	"mannequin/netruntime/internal/pool"
	"mannequin/netruntime/internal/reserve"
)

// The library for Vulkan has a browser's WebGPU, too, but neither error scopes nor the loss of a device.

type (
	openGPU  = js.Value
	bindings struct{ js.Value }
	layout   struct{ js.Value }
	group    struct{ js.Value }
	pipeline struct{ js.Value }
	mapping  = *buffer
)

// gpu is a GPUDevice.
type gpu struct {
	device, queue         js.Value
	session, call, layout js.Value

	buffers, groups, writes, encoders, submits, push, pop    js.Value // methods
	pass, kernel, bind, dispatch, endKernels, copy, finished js.Value // of any encoder

	scratch  js.Value // Uint8Array, what write copies from
	room     int      // bytes of scratch
	commands js.Value // Array, what run submits
	wrong    error    // the device's first error that no scope has caught, or its loss
}

// buffer is a GPUBuffer.
type buffer struct {
	js.Value
	size int64

	mapAsync, rangeOf, unmap js.Value // methods of results
	*reading
}

// reading has the functions that JavaScript calls when results can be read. One that was given up is
// called, too, and then goes.
type reading struct {
	resolved, rejected js.Func
	done               chan error
	pending, givenUp   bool
}

func newReading() *reading {
	r := &reading{done: make(chan error, 1)}
	r.resolved = js.FuncOf(func(_ js.Value, args []js.Value) any {
		r.settle(failure(args[0].Index(1)))
		return nil
	})
	r.rejected = js.FuncOf(func(_ js.Value, args []js.Value) any {
		r.settle(fmt.Errorf("webgpu: copy from the GPU: %w", js.Error{Value: args[0]}))
		return nil
	})
	return r
}

func (r *reading) settle(err error) {
	r.pending = false
	if r.givenUp {
		r.release()
		return
	}
	r.done <- err
}

func (r *reading) release() {
	r.resolved.Release()
	r.rejected.Release()
}

// held returns an error if no result of the GPU can reach this goroutine.
func held() error {
	if pool.Held() {
		return errHeld
	}
	return nil
}

// caught turns JavaScript's exception into an error.
func caught(err *error) {
	switch v := recover().(type) {
	case nil:
	case js.Error:
		*err = fmt.Errorf("webgpu: %w", v)
	default:
		panic(v)
	}
}

// await returns the result of a promise.
func await(promise js.Value, limit time.Duration) (v js.Value, err error) {
	defer caught(&err)
	done := make(chan error, 1)
	resolved := js.FuncOf(func(_ js.Value, args []js.Value) any {
		v = args[0]
		done <- nil
		return nil
	})
	rejected := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- fmt.Errorf("webgpu: %w", js.Error{Value: args[0]})
		return nil
	})
	promise.Call("then", resolved, rejected)
	settled, err := arrival(done, limit)
	if settled {
		resolved.Release()
		rejected.Release()
	}
	return v, err
}

// arrival receives from c, to which a function of JavaScript's sends.
func arrival(c <-chan error, limit time.Duration) (came bool, err error) {
	switch err, how := pool.WaitFor(c, limit); how {
	case pool.Never:
		return false, errHeld
	case pool.Late:
		return false, reserve.ErrHang(limit)
	default:
		return true, err
	}
}

// shaderFloat16 is a browser's name of float16 in kernels.
const shaderFloat16 = "shader-f16"

// openDevice opens the browser's fastest device.
func openDevice() (d *device, err error) {
	defer caught(&err)
	browser := js.Global().Get("navigator")
	if browser.Truthy() {
		browser = browser.Get("gpu")
	}
	if !browser.Truthy() {
		return nil, errors.New("webgpu: the browser has no WebGPU, or not for this page: it must come from https or localhost")
	}
	adapter, err := await(browser.Call("requestAdapter", map[string]any{"powerPreference": "high-performance"}), startTimeout)
	if err != nil {
		return nil, err
	}
	if !adapter.Truthy() {
		return nil, errors.New("webgpu: the browser finds no GPU that it trusts")
	}
	info := adapter.Get("info")
	var name []string
	for _, key := range []string{"vendor", "architecture", "device", "description"} {
		if s := info.Get(key); s.Truthy() {
			name = append(name, s.String())
		}
	}
	d = newDevice(strings.Join(append(name, "WebGPU"), " "))
	if info.Get("isFallbackAdapter").Truthy() {
		d.name += software
	}
	limits := map[string]any{}
	for _, key := range []string{"maxStorageBufferBindingSize", "maxBufferSize"} {
		limits[key] = adapter.Get("limits").Get(key)
	}
	var features []any
	if adapter.Get("features").Call("has", shaderFloat16).Bool() {
		features = append(features, shaderFloat16)
	}
	open, err := await(adapter.Call("requestDevice", map[string]any{"requiredLimits": limits, "requiredFeatures": features}), startTimeout)
	if err != nil {
		return nil, err
	}
	return d, d.use(open)
}

// method returns a function that calls a method of the class of its first argument. The name does not cross
// to JavaScript in each call.
func method(class, name string) js.Value {
	f := js.Global().Get(class).Get("prototype").Get(name)
	return f.Get("call").Call("bind", f)
}

// bound returns a function that calls a method of x.
func bound(x js.Value, name string) js.Value { return x.Get(name).Call("bind", x) }

// init takes an open device, and describes the kernels' bindings.
func (d *device) init(open openGPU) (err error) {
	defer caught(&err)
	d.device, d.queue = open, open.Get("queue")
	for name, to := range map[string]*js.Value{"createBuffer": &d.buffers, "createBindGroup": &d.groups, "createCommandEncoder": &d.encoders,
		"pushErrorScope": &d.push, "popErrorScope": &d.pop} {
		*to = bound(open, name)
	}
	d.writes, d.submits = bound(d.queue, "writeBuffer"), bound(d.queue, "submit")
	for name, to := range map[string]*js.Value{"beginComputePass": &d.pass, "copyBufferToBuffer": &d.copy, "finish": &d.finished} {
		*to = method("GPUCommandEncoder", name)
	}
	for name, to := range map[string]*js.Value{"setPipeline": &d.kernel, "setBindGroup": &d.bind, "dispatchWorkgroups": &d.dispatch, "end": &d.endKernels} {
		*to = method("GPUComputePassEncoder", name)
	}
	d.commands = js.Global().Get("Array").New(1)
	d.half = open.Get("features").Call("has", shaderFloat16).Bool()
	limits := open.Get("limits")
	d.most = int64(min(limits.Get("maxStorageBufferBindingSize").Float(), limits.Get("maxBufferSize").Float()))
	// Both last as long as the device.
	open.Get("lost").Call("then", js.FuncOf(func(_ js.Value, args []js.Value) any {
		d.fault(fmt.Errorf("webgpu: the browser has lost the device: %s: %s", args[0].Get("reason").String(), args[0].Get("message").String()))
		return nil
	}))
	open.Call("addEventListener", "uncapturederror", js.FuncOf(func(_ js.Value, args []js.Value) any {
		d.fault(failure(args[0].Get("error")))
		return nil
	}))
	entry := func(binding int, kind string, size int) any {
		return map[string]any{"binding": binding, "visibility": js.Global().Get("GPUShaderStage").Get("COMPUTE"),
			"buffer": map[string]any{"type": kind, "minBindingSize": size}}
	}
	layout := func(entries ...any) js.Value {
		return open.Call("createBindGroupLayout", map[string]any{"entries": entries})
	}
	d.session = layout(entry(bindMemory, "storage", 4), entry(bindConstants, "read-only-storage", 4), entry(bindOps, "read-only-storage", 4),
		entry(bindRun, "uniform", runBytes))
	d.call = layout(entry(bindCall, "uniform", callBytes))
	d.layout = open.Call("createPipelineLayout", map[string]any{"bindGroupLayouts": []any{d.session, d.call}})
	return nil
}

// fault keeps an error for the next run, or for the one in progress.
func (d *device) fault(err error) {
	if d.wrong == nil {
		d.wrong = err
	}
}

// failure returns the error that a GPUError describes, nil for null.
func failure(v js.Value) error {
	if !v.Truthy() {
		return nil
	}
	kind := v.Get("constructor").Get("name").String()
	err := fmt.Errorf("webgpu: %s: %s", kind, v.Get("message").String())
	if kind == "GPUOutOfMemoryError" {
		err = fmt.Errorf("%w: %w", err, errPlan)
	}
	return err
}

// pipeline compiles a kernel.
func (d *device) pipeline(name, source string) (p *pipeline, err error) {
	return d.pipelineOf(&layout{d.layout}, name, source)
}

// describe describes the bindings of a group of storage buffers.
func (d *device) describe(access []Access) (b *bindings, err error) {
	defer caught(&err)
	var entries []any
	for i, a := range access {
		kind := "storage"
		if a == ReadOnly {
			kind = "read-only-storage"
		}
		entries = append(entries, map[string]any{"binding": i, "visibility": js.Global().Get("GPUShaderStage").Get("COMPUTE"),
			"buffer": map[string]any{"type": kind, "minBindingSize": 4}})
	}
	return &bindings{d.device.Call("createBindGroupLayout", map[string]any{"entries": entries})}, nil
}

// layoutOf returns the layout of kernels with such a group.
func (d *device) layoutOf(of *bindings) (l *layout, err error) {
	defer caught(&err)
	return &layout{d.device.Call("createPipelineLayout", map[string]any{"bindGroupLayouts": []any{of.Value}})}, nil
}

// Release does nothing: JavaScript frees it.
func (p *pipeline) Release() {}

// pipelineOf compiles a kernel with a layout.
func (d *device) pipelineOf(of *layout, name, source string) (p *pipeline, err error) {
	defer caught(&err)
	module := d.device.Call("createShaderModule", map[string]any{"label": name, "code": source})
	v, err := await(d.device.Call("createComputePipelineAsync", map[string]any{"label": name, "layout": of.Value,
		"compute": map[string]any{"module": module, "entryPoint": name}}), startTimeout)
	return &pipeline{v}, err
}

// scoped calls f, which makes what a session needs. The device says later whether it could.
func (d *device) scoped(limit time.Duration, f func() error) (err error) {
	defer caught(&err)
	if d.wrong != nil {
		return d.wrong
	}
	filters := []string{"internal", "out-of-memory", "validation"}
	for _, filter := range filters {
		d.push.Invoke(filter)
	}
	err = func() (err error) {
		defer caught(&err)
		return f()
	}()
	var failures []any
	for range filters {
		failures = append(failures, d.pop.Invoke())
	}
	if err != nil {
		return err
	}
	all, err := await(js.Global().Get("Promise").Call("all", failures), limit)
	if err != nil {
		return err
	}
	for i := range filters {
		err = errors.Join(err, failure(all.Index(i)))
	}
	return errors.Join(err, d.wrong)
}

// buffer makes memory on the device, of zero or more bytes.
func (d *device) buffer(label string, bytes int64, usage gputypes.BufferUsage) (b *buffer, err error) {
	defer caught(&err)
	b = &buffer{size: max(bytes, 256)}
	b.Value = d.buffers.Invoke(map[string]any{"label": label, "size": b.size, "usage": int(usage)})
	if usage&gputypes.BufferUsageMapRead == 0 {
		return b, nil
	}
	b.mapAsync, b.rangeOf, b.unmap, b.reading = bound(b.Value, "mapAsync"), bound(b.Value, "getMappedRange"), bound(b.Value, "unmap"), newReading()
	return b, nil
}

// Release frees the buffer after all that was submitted.
func (b *buffer) Release() {
	b.Call("destroy")
	if r := b.reading; r != nil && !r.pending {
		r.release()
	}
}

// group binds buffers for a session, or for a call.
func (d *device) group(call bool, all ...binding) (g *group, err error) {
	if call {
		return d.groupOf(&bindings{d.call}, all...)
	}
	return d.groupOf(&bindings{d.session}, all...)
}

// groupOf binds buffers.
func (d *device) groupOf(of *bindings, all ...binding) (g *group, err error) {
	defer caught(&err)
	var entries []any
	for _, b := range all {
		resource := map[string]any{"buffer": b.of.Value, "offset": b.offset}
		if b.size > 0 {
			resource["size"] = b.size
		}
		entries = append(entries, map[string]any{"binding": b.number, "resource": resource})
	}
	return &group{d.groups.Invoke(map[string]any{"layout": of.Value, "entries": entries})}, nil
}

// Release does nothing: JavaScript frees it.
func (g *group) Release() {}

// write copies data to the device before what is submitted next. It does not use data afterwards.
func (d *device) write(to *buffer, offset int64, data []byte) (err error) {
	if len(data) == 0 {
		return nil
	}
	defer caught(&err)
	if d.room < len(data) {
		d.scratch, d.room = js.Global().Get("Uint8Array").New(len(data)), len(data)
	}
	js.CopyBytesToJS(d.scratch, data)
	d.writes.Invoke(to.Value, offset, d.scratch, 0, len(data))
	return nil
}

// flush does nothing: the browser submits copies by itself.
func (d *device) flush(time.Duration) error { return nil }

// finish does nothing: the browser frees memory after its use.
func (d *device) finish(time.Duration) error { return nil }

// commands are calls of kernels, and then copies.
type commands struct {
	d             *device
	encoder, pass js.Value
}

func (d *device) begin(*buffer) (c commands, err error) {
	defer caught(&err)
	if d.wrong != nil {
		return c, d.wrong
	}
	d.push.Invoke("validation")
	encoder := d.encoders.Invoke()
	return commands{d, encoder, d.pass.Invoke(encoder)}, nil
}

func (c *commands) kernel(p *pipeline)       { c.d.kernel.Invoke(c.pass, p.Value) }
func (c *commands) bind(index int, g *group) { c.d.bind.Invoke(c.pass, index, g.Value) }
func (c *commands) dispatch(x, y int)        { c.d.dispatch.Invoke(c.pass, x, y) }

func (c *commands) endKernels() (err error) {
	defer caught(&err)
	c.d.endKernels.Invoke(c.pass)
	return nil
}

func (c *commands) copy(from *buffer, at int64, to *buffer, toAt, bytes int64) {
	c.d.copy.Invoke(c.encoder, from.Value, at, to.Value, toAt, bytes)
}

// run submits c, and asks for the results and for errors.
func (d *device) run(c *commands, results *buffer) (m mapping, err error) {
	defer caught(&err)
	d.commands.SetIndex(0, d.finished.Invoke(c.encoder))
	d.submits.Invoke(d.commands)
	both := []any{results.mapAsync.Invoke(1), d.pop.Invoke()}
	js.Global().Get("Promise").Call("all", both).Call("then", results.resolved, results.rejected)
	results.pending = true
	return results, nil
}

// wait waits for results.
func (d *device) wait(limit time.Duration, m mapping) error {
	_, err := arrival(m.done, limit)
	if err == errHeld {
		m.unmap.Invoke()
		m.givenUp, m.reading = true, newReading()
	}
	return errors.Join(err, d.wrong)
}

// mapped are results.
type mapped struct {
	of    *buffer
	bytes js.Value // Uint8Array
}

// mapped returns the results that wait has waited for.
func (d *device) mapped(of *buffer, _ mapping) (m mapped, err error) {
	defer caught(&err)
	return mapped{of, js.Global().Get("Uint8Array").New(of.rangeOf.Invoke())}, nil
}

func (m *mapped) read(to []byte, at int64) {
	js.CopyBytesToGo(to, m.bytes.Call("subarray", at, at+int64(len(to))))
}

func (m *mapped) unmap() (err error) {
	defer caught(&err)
	m.of.unmap.Invoke()
	return nil
}

// Use calls f with the browser's GPUDevice, for a renderer of one's own on it. An error of f means that the GPU is lost.
func (w *Work) Use(f func(gpu js.Value) error) error {
	return w.checked(func() error { return f(w.device.device) })
}

// Buffer returns the GPUBuffer, for Use: a storage and a vertex buffer.
func (m *Memory) Buffer() js.Value { return m.buffer.Value }
