//go:build webgpu && js

package webgpu

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"syscall/js"
	"time"
	"unsafe"

	"github.com/gogpu/gputypes"

	"mannequin/netruntime/internal/pool"
	"mannequin/netruntime/internal/reserve"
)

// The library for Vulkan has a browser's WebGPU, too, but neither error scopes nor the loss of a device.

type (
	openGPU  = js.Value
	bindings struct{ js.Value }
	layout   struct{ js.Value }
	mapping  = *buffer
)

// group and pipeline are objects with their numbers in the table of browser.js.
type (
	group struct {
		d      *device
		number int
	}
	pipeline struct {
		d      *device
		number int
	}
)

//go:embed browser.js
var script string

// gpu is a GPUDevice.
type gpu struct {
	device                js.Value
	session, call, layout js.Value

	buffers, groups, push, pop js.Value // methods

	// Functions of browser.js.
	keep, drop, writes, runs, newResults, newHost, problem, giveUp js.Value
	newScratch, newWords, flags                                    js.Value

	scratch js.Value  // Uint8Array, what write copies from
	room    int       // bytes of scratch
	shared  js.Value  // Uint8Array, what JavaScript sees of words
	words   []float64 // of a call
	space   int       // words that shared has room for
	wrong   error     // the device's first error that no scope has caught, or its loss
}

// buffer is a GPUBuffer.
type buffer struct {
	js.Value
	d      *device
	number int
	size   int64
	*reading
}

// reading is what JavaScript says of results.
type reading struct {
	number int
	wake   js.Func
	done   chan error // from wake
	flags  js.Value   // Uint8Array: the state, and whether to wake
	flag   [2]byte
	host   js.Value // Uint8Array, the results
	room   int64    // of host
	rest   []byte   // of the results, for those that do not begin at 0
}

// The states of results, as in browser.js.
const (
	resultsNone = iota
	resultsThere
	resultsRefused
	resultsFailed
)

// The commands of a run, as there.
const (
	runEnds = iota
	runPipeline
	runGroup
	runDispatch
	runEndKernels
	runCopy
)

// read takes the results of a buffer.
func (d *device) read(b *buffer) *reading {
	r := &reading{done: make(chan error, 1)}
	r.wake = js.FuncOf(func(js.Value, []js.Value) any {
		r.done <- nil
		return nil
	})
	r.number = d.newResults.Invoke(b.Value, r.wake).Int()
	r.flags = d.flags.Invoke(r.number)
	return r
}

// state returns how far results are.
func (r *reading) state() byte {
	js.CopyBytesToGo(r.flag[:], r.flags)
	return r.flag[0]
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

// bound returns a function that calls a method of x.
func bound(x js.Value, name string) js.Value { return x.Get(name).Call("bind", x) }

// init takes an open device, and describes the kernels' bindings.
func (d *device) init(open openGPU) (err error) {
	defer caught(&err)
	d.device = open
	for name, to := range map[string]*js.Value{"createBuffer": &d.buffers, "createBindGroup": &d.groups, "pushErrorScope": &d.push, "popErrorScope": &d.pop} {
		*to = bound(open, name)
	}
	calls := js.Global().Get("Function").New("device", script).Invoke(open)
	for name, to := range map[string]*js.Value{"keep": &d.keep, "drop": &d.drop, "write": &d.writes, "run": &d.runs, "results": &d.newResults, "flags": &d.flags,
		"host": &d.newHost, "problem": &d.problem, "giveUp": &d.giveUp, "scratch": &d.newScratch, "words": &d.newWords} {
		*to = calls.Get(name)
	}
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

// Release lets JavaScript free it.
func (p *pipeline) Release() { p.d.drop.Invoke(p.number) }

// pipelineOf compiles a kernel with a layout.
func (d *device) pipelineOf(of *layout, name, source string) (p *pipeline, err error) {
	defer caught(&err)
	module := d.device.Call("createShaderModule", map[string]any{"label": name, "code": source})
	v, err := await(d.device.Call("createComputePipelineAsync", map[string]any{"label": name, "layout": of.Value,
		"compute": map[string]any{"module": module, "entryPoint": name}}), startTimeout)
	if err != nil {
		return nil, errors.Join(err, mistakes(module))
	}
	return &pipeline{d, d.keep.Invoke(v).Int()}, nil
}

// mistakes returns what the browser finds wrong in the source of kernels. The error of a pipeline does not say it.
func mistakes(module js.Value) error {
	info, err := await(module.Call("getCompilationInfo"), startTimeout)
	if err != nil {
		return err
	}
	messages := info.Get("messages")
	for i := range messages.Length() {
		if m := messages.Index(i); m.Get("type").String() == "error" {
			return fmt.Errorf("webgpu: line %d: %s", m.Get("lineNum").Int(), m.Get("message").String())
		}
	}
	return nil
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
	b = &buffer{d: d, size: max(bytes, 256)}
	b.Value = d.buffers.Invoke(map[string]any{"label": label, "size": b.size, "usage": int(usage)})
	b.number = d.keep.Invoke(b.Value).Int()
	if usage&gputypes.BufferUsageMapRead != 0 {
		b.reading = d.read(b)
	}
	return b, nil
}

// Release frees the buffer after all that was submitted.
func (b *buffer) Release() {
	b.Call("destroy")
	b.d.drop.Invoke(b.number)
	if r := b.reading; r != nil {
		b.d.drop.Invoke(r.number) // and never calls wake
		r.wake.Release()
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
	return &group{d, d.keep.Invoke(d.groups.Invoke(map[string]any{"layout": of.Value, "entries": entries})).Int()}, nil
}

// Release lets JavaScript free it.
func (g *group) Release() { g.d.drop.Invoke(g.number) }

// write copies data to the device before what is submitted next. It does not use data afterwards.
func (d *device) write(to *buffer, offset int64, data []byte) (err error) {
	if len(data) == 0 {
		return nil
	}
	defer caught(&err)
	if d.room < len(data) {
		d.scratch, d.room = d.newScratch.Invoke(len(data)), len(data)
	}
	js.CopyBytesToJS(d.scratch, data)
	d.words = append(d.words[:0], float64(to.number), float64(offset), float64(len(data)))
	d.invoke(d.writes)
	return nil
}

// invoke calls a function of browser.js for words.
func (d *device) invoke(f js.Value) {
	if n := len(d.words); d.space < n {
		d.space = max(n, 256, 2*d.space)
		d.shared = d.newWords.Invoke(d.space)
	}
	js.CopyBytesToJS(d.shared, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(d.words))), 8*len(d.words)))
	f.Invoke()
}

// flush does nothing: the browser submits copies by itself.
func (d *device) flush(time.Duration) error { return nil }

// finish does nothing: the browser frees memory after its use.
func (d *device) finish(time.Duration) error { return nil }

// commands are calls of kernels, and then copies. JavaScript makes them when they are submitted; until then nothing is written.
type commands struct {
	d    *device
	used int64 // bytes of the results
}

func (d *device) begin(*buffer) (c commands, err error) {
	d.words = d.words[:0]
	return commands{d: d}, d.wrong
}

func (c *commands) add(words ...float64) { c.d.words = append(c.d.words, words...) }

func (c *commands) kernel(p *pipeline)       { c.add(runPipeline, float64(p.number)) }
func (c *commands) bind(index int, g *group) { c.add(runGroup, float64(index), float64(g.number)) }
func (c *commands) dispatch(x, y int)        { c.add(runDispatch, float64(x), float64(y)) }

func (c *commands) endKernels() error {
	c.add(runEndKernels)
	return nil
}

func (c *commands) copy(from *buffer, at int64, to *buffer, toAt, bytes int64) {
	c.add(runCopy, float64(from.number), float64(at), float64(to.number), float64(toAt), float64(bytes))
	c.used = max(c.used, toAt+bytes)
}

// run submits c, and asks for the results and for errors.
func (d *device) run(c *commands, results *buffer) (m mapping, err error) {
	defer caught(&err)
	r, used := results.reading, max(c.used, 4)
	if r.room < used {
		r.host, r.room = d.newHost.Invoke(r.number, used), used
	}
	c.add(runEnds, float64(r.number), float64(used))
	d.invoke(d.runs)
	return results, nil
}

// wait waits for results. Those that are there already cost no event, and so no allocation.
func (d *device) wait(limit time.Duration, m mapping) (err error) {
	defer caught(&err)
	r := m.reading
	if r.state() == resultsNone {
		r.flag[1] = 1
		js.CopyBytesToJS(r.flags, r.flag[:])
		if _, err := arrival(r.done, limit); err != nil {
			if err == errHeld {
				d.giveUp.Invoke(r.number)
				select {
				case <-r.done: // it came at the last moment
				default:
				}
			}
			return errors.Join(err, d.wrong)
		}
	}
	switch r.state() {
	case resultsRefused:
		err = failure(d.problem.Invoke(r.number))
	case resultsFailed:
		err = fmt.Errorf("webgpu: copy from the GPU: %w", js.Error{Value: d.problem.Invoke(r.number)})
	}
	return errors.Join(err, d.wrong)
}

// mapped are results.
type mapped struct{ of *buffer }

// mapped returns the results that wait has waited for.
func (d *device) mapped(of *buffer, _ mapping) (mapped, error) { return mapped{of}, nil }

func (m *mapped) read(to []byte, at int64) {
	r := m.of.reading
	if at == 0 {
		js.CopyBytesToGo(to, r.host)
		return
	}
	if n := at + int64(len(to)); int64(len(r.rest)) < n {
		r.rest = make([]byte, n)
	}
	rest := r.rest[:at+int64(len(to))] // a part of host would be another object
	js.CopyBytesToGo(rest, r.host)
	copy(to, rest[at:])
}

func (m *mapped) unmap() error { return nil }

// Use calls f with the browser's GPUDevice, for a renderer of one's own on it. An error of f means that the GPU is lost.
func (w *Work) Use(f func(gpu js.Value) error) error {
	return w.checked(func() error { return f(w.device.device) })
}

// Buffer returns the GPUBuffer, for Use: a storage and a vertex buffer.
func (m *Memory) Buffer() js.Value { return m.buffer.Value }
