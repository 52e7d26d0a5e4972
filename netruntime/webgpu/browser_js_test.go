//go:build webgpu

package webgpu

import (
	"log/slog"
	"math"
	"runtime"
	"slices"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/netruntime/internal/pool"
)

// mostAllocations of a run: the Go runtime's for an event that it waits for, a note of it, and references to the event and to its arguments.
const mostAllocations = 3

// TestArrived: a submission allocates nothing, and neither does reading its results, if they are there already.
func TestArrived(t *testing.T) {
	n := must.Get(models.Open("dog"))(t)
	w, err := NewWork(WorkOptions{Timeout: time.Hour}, ReadWrite)
	if err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
	defer w.Close()
	k := must.Get(w.Network(n, 4))(t)
	results := must.Get(w.Results(int64(4 * 4 * n.Outputs())))(t)
	launches := []Launch{{Network: k, Rows: 4}}
	copies := []Copy{{From: k.Values, At: int64(4 * k.Out), Bytes: int64(4 * 4 * n.Outputs())}}
	x, y := inputs(4*n.Inputs()), make([]float32, 4*n.Outputs())
	var before, after runtime.MemStats
	allocations := func(f func()) int {
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return int(after.Mallocs - before.Mallocs)
	}
	submitting, reading := math.MaxInt, math.MaxInt
	for range 6 {
		submitting = min(submitting, allocations(func() {
			must.Do(t, w.Write(k.Values, int64(4*k.In), Bytes(x)))
			must.Do(t, w.Submit(launches, copies, results))
		}))
		for begin := time.Now(); results.of.state() == resultsNone && time.Since(begin) < time.Minute; {
			time.Sleep(10 * time.Millisecond)
		}
		clear(y)
		reading = min(reading, allocations(func() { must.Do(t, w.Read(Bytes(y), results)) }))
	}
	if submitting > 0 || reading > 0 {
		t.Errorf("%d allocations in a submission, %d to read its results", submitting, reading)
	}
	want := make([]float32, len(y))
	must.Do(t, must.Get(n.NewSession(netruntime.SessionOptions{Batch: 4, Workers: 1}))(t).Run(want, x, 4))
	if e := off(y, want); !(e <= 2e-5) {
		t.Error("results are off by ", e)
	}
}

// makeFaulty puts a function before each call of a device that a session makes. It may fail the call,
// destroy the device, let it be invalid or let it hang.
const makeFaulty = `
let full = false;
const each = (o, ...names) => {
	for (const name of names) {
		const f = o[name].bind(o);
		Object.defineProperty(o, name, { value: (...args) => {
			switch (fault(name, String(args[0]?.label))) {
			case "throw": throw new Error("the driver's error");
			case "destroy": device.destroy(); break;
			case "invalid": device.createBuffer({ size: 4, usage: 0 }); break;
			case "hang": f(...args); return new Promise(() => {});
			case "slow": return f(...args).then(() => new Promise((end) => setTimeout(end, 300)));
			case "full": full = true; break;
			case "spoil": args = [null]; break;
			}
			let made = f(...args);
			if (args[0] === null) made.popDebugGroup(); // of an encoder: there is none to pop
			if (name === "createBuffer") each(made, "mapAsync", "getMappedRange", "unmap");
			if (name === "popErrorScope" && full) {
				full = false;
				made = made.then(() => new GPUOutOfMemoryError("full"));
			}
			return made;
		} });
	}
};
each(device, "createBuffer", "createBindGroup", "createCommandEncoder", "pushErrorScope", "popErrorScope");
each(device.queue, "submit", "writeBuffer");
`

// shared is the device of openFault, until a test spoils it: a software driver takes seconds to compile the kernels.
var shared struct {
	device *device
	fault  func(name, label string) string
}

// openFault lets sessions of the test run on a device before whose calls fault is called.
func openFault(t *testing.T, fault func(name, label string) string) *device {
	t.Helper()
	needGPU(t)
	if shared.device == nil {
		adapter := must.Get(await(js.Global().Get("navigator").Get("gpu").Call("requestAdapter"), time.Minute))(t)
		gpu := must.Get(await(adapter.Call("requestDevice"), time.Minute))(t)
		js.Global().Get("Function").New("device", "fault", makeFaulty).Invoke(gpu, js.FuncOf(func(_ js.Value, args []js.Value) any {
			return shared.fault(args[0].String(), args[1].String())
		}))
		shared.fault = func(string, string) string { return "" }
		shared.device = newDevice("faulty")
		must.Do(t, shared.device.use(gpu))
	}
	shared.fault = fault
	useFaulty(t, shared.device)
	return shared.device
}

// openFaulty lets sessions of the test run on a faulty driver.
func openFaulty(t *testing.T) *faulty {
	t.Helper()
	f := &faulty{}
	openFault(t, func(name, label string) string {
		switch {
		case f.next() != nil:
			return "throw"
		case name == "mapAsync" && f.hangs.Load():
			return "hang"
		case name == "createBuffer" && label == "values" && f.full.Load():
			return "full"
		}
		return ""
	})
	return f
}

// dogRun is a run of the dog, and the processor's results.
type dogRun struct {
	n          *netruntime.Net
	rows       int
	x, y, want []float32
}

func newDogRun(t *testing.T) *dogRun {
	t.Helper()
	r := &dogRun{n: must.Get(models.Open("dog"))(t), rows: 10}
	r.x, r.y, r.want = inputs(r.rows*r.n.Inputs()), make([]float32, r.rows*r.n.Outputs()), make([]float32, r.rows*r.n.Outputs())
	cpu := must.Get(r.n.NewSession(netruntime.SessionOptions{Batch: r.rows, Workers: 1}))(t)
	defer cpu.Close()
	must.Do(t, cpu.Run(r.want, r.x, r.rows))
	return r
}

func (r *dogRun) open(t *testing.T, log *strings.Builder) netruntime.Session {
	t.Helper()
	s := must.Get(NewSession(r.n, Options{SessionOptions: netruntime.SessionOptions{Batch: r.rows, Workers: 1}, Log: slog.New(slog.NewTextHandler(log, nil)), Timeout: time.Minute}))(t)
	if s.Kernel() != "webgpu" {
		t.Fatal("the session runs on ", s.Kernel(), log)
	}
	return s
}

// run runs s. It fails the test unless the results are the processor's, or near them.
func (r *dogRun) run(t *testing.T, s netruntime.Session, exact bool) {
	t.Helper()
	for i := range r.y {
		r.y[i] = float32(math.NaN())
	}
	must.Do(t, s.Run(r.y, r.x, r.rows))
	if e := off(r.y, r.want); !(e <= 2e-5) || exact && !slices.Equal(r.y, r.want) {
		t.Errorf("results are off by %g, want exact: %v", e, exact)
	}
}

// events lets JavaScript's events happen.
func events() { time.Sleep(100 * time.Millisecond) }

// TestDestroy destroys the device before each of its calls in the middle of runs, and lets each be invalid. No
// run has wrong results, and all later ones are the processor's.
func TestDestroy(t *testing.T) {
	r := newDogRun(t)
	for _, kind := range []string{"destroy", "invalid"} {
		for call, failed := 1, true; failed; call++ {
			left, calls := 0, 0
			var log strings.Builder
			openFault(t, func(string, string) string {
				calls++
				if left--; left == 0 {
					return kind
				}
				return ""
			})
			s := r.open(t, &log)
			r.run(t, s, false)
			left = call
			r.run(t, s, false)
			if failed = left <= 0; !failed {
				t.Logf("%s: %d calls", kind, call-1)
				if call < 8 {
					t.Errorf("a run takes %d calls of the device", call-1)
				}
			} else {
				events()
				r.run(t, s, true)
				before := calls
				for range 2 {
					r.run(t, s, true)
				}
				if n := strings.Count(log.String(), "the GPU is lost"); n != 1 || s.Kernel() == "webgpu" || calls != before || Fallbacks() < 3 || Fallbacks() > 4 {
					t.Errorf("%s before call %d: lost %d times, %d runs by the processor, the session is %s, with %d more calls: %s", kind, call, n, Fallbacks(), s.Kernel(), calls-before, &log)
				}
			}
			must.Do(t, s.Close())
			state.Lost.Store(false)
			state.Fallbacks.Store(0)
			shared.device = nil
		}
	}
}

// TestSpoilt: commands that the browser refuses leave the results of the run before, which nobody gets.
func TestSpoilt(t *testing.T) {
	r := newDogRun(t)
	spoil := false
	openFault(t, func(name, _ string) string {
		if spoil && name == "createCommandEncoder" {
			return "spoil"
		}
		return ""
	})
	var log strings.Builder
	s := r.open(t, &log)
	must.Do(t, s.Run(r.y, make([]float32, len(r.x)), r.rows))
	spoil = true
	r.run(t, s, true)
	if got := log.String(); !strings.Contains(got, "GPUValidationError") {
		t.Error(got)
	}
	must.Do(t, s.Close())
	shared.device = nil
}

// TestLostBetween: a device that is lost between runs costs none, also not of a session that opens then.
func TestLostBetween(t *testing.T) {
	r := newDogRun(t)
	var log strings.Builder
	d := openFault(t, func(string, string) string { return "" })
	s := r.open(t, &log)
	r.run(t, s, false)
	d.device.Call("destroy")
	shared.device = nil
	events()
	late := must.Get(NewSession(r.n, Options{SessionOptions: netruntime.SessionOptions{Batch: r.rows, Workers: 1}, Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
	r.run(t, late, true)
	r.run(t, s, true)
	if got := log.String(); strings.Count(got, "the GPU is lost") != 1 || !strings.Contains(got, "lost the device: destroyed") {
		t.Error(got)
	}
}

// fromJavaScript lets JavaScript call f, and waits for it.
func fromJavaScript(f func()) {
	done := make(chan struct{})
	call := js.FuncOf(func(js.Value, []js.Value) any {
		f()
		close(done)
		return nil
	})
	defer call.Release()
	js.Global().Call("setTimeout", call, 1)
	<-done
}

// TestCalled: runs in a function that JavaScript calls are the processor's, at once. Others are the GPU's,
// unless such a function begins to wait for them.
func TestCalled(t *testing.T) {
	r := newDogRun(t)
	slow := false
	openFault(t, func(name, _ string) string {
		if name == "mapAsync" && slow {
			return "slow"
		}
		return ""
	})
	var log strings.Builder
	s := r.open(t, &log)
	gpus := func(what string) {
		t.Helper()
		before := Fallbacks()
		r.run(t, s, false)
		if Fallbacks() != before || s.Kernel() != "webgpu" || slices.Equal(r.y, r.want) {
			t.Errorf("%s: the processor computed the run", what)
		}
	}
	gpus("at first")
	fromJavaScript(func() {
		r.run(t, s, true)
		if _, err := Device(); err != errHeld {
			t.Error(err)
		}
		other := must.Get(NewSession(r.n, Options{SessionOptions: netruntime.SessionOptions{Batch: r.rows, Workers: 1}, Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		if other.Kernel() == "webgpu" {
			t.Error("a session opened in a call of JavaScript is the GPU's")
		}
		r.run(t, other, true)
		must.Do(t, other.Close())
	})
	gpus("after a call")
	for range 2 {
		slow = true
		done := make(chan bool, 1)
		go func() {
			r.run(t, s, true)
			done <- true
		}()
		time.Sleep(20 * time.Millisecond) // the run waits for the GPU
		fromJavaScript(func() { pool.Await(done) })
		slow = false
		gpus("after one that was given up")
	}
	if n := Fallbacks(); n != 3 {
		t.Errorf("%d runs by the processor, want 3", n)
	}
	must.Do(t, s.Close())
	if got := log.String(); strings.Count(got, "the GPU cannot be waited for") > 1 || state.Lost.Load() {
		t.Error(got)
	}
}

// TestCalledLate is like the last part of TestCalled with a mapping that does end, after the run has given it up.
func TestCalledLate(t *testing.T) {
	r := newDogRun(t)
	openFault(t, func(string, string) string { return "" })
	var log strings.Builder
	s := r.open(t, &log)
	for range 3 {
		done := make(chan bool, 1)
		started := make(chan bool)
		fromJavaScript(func() {
			go func() {
				<-started
				// Not held: the call of JavaScript does not wait yet.
				r.run(t, s, false)
				done <- true
			}()
		})
		close(started)
		for range 3 { // the run is somewhere in its wait
			time.Sleep(0)
		}
		fromJavaScript(func() { pool.Await(done) })
		r.run(t, s, false)
		if slices.Equal(r.y, r.want) {
			t.Error("the run afterwards is not the GPU's")
		}
	}
	events()
	must.Do(t, s.Close())
	if state.Lost.Load() {
		t.Error(log.String())
	}
}

// TestNoAdapter: browsers without WebGPU, and without a device for it, say so.
func TestNoAdapter(t *testing.T) {
	navigator := js.Global().Get("navigator")
	real := navigator.Get("gpu")
	if !real.Truthy() {
		t.Skip("the browser has no WebGPU")
	}
	put := func(gpu any) {
		js.Global().Get("Object").Call("defineProperty", navigator, "gpu", map[string]any{"value": gpu, "configurable": true})
	}
	defer put(real)
	put(js.Undefined())
	if _, err := openDevice(); err == nil || !strings.Contains(err.Error(), "no WebGPU") {
		t.Error(err)
	}
	for source, want := range map[string]string{
		"return Promise.resolve(null)": "finds no GPU", `return Promise.reject(new Error("no"))`: "no", `throw new TypeError("never")`: "never",
		`return Promise.resolve({info: {}, limits: {}, features: new Set(), requestDevice: () => Promise.reject(new Error("taken"))})`: "taken",
	} {
		put(map[string]any{"requestAdapter": js.Global().Get("Function").New(source)})
		if _, err := openDevice(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", source, err)
		}
	}
}
