//go:build webgpu

package webgpu_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/mann"
	"mannequin/animsys/resident"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/netruntime/webgpu"
)

// TestLossResident loses the device at each of its calls in the middle of ticks of agents that live there. They are where they would be.
func TestLossResident(t *testing.T) {
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	o := resident.Options{Capacity: 2, Ground: ik.Level(0), Every: 10, Log: slog.New(slog.DiscardHandler), Timeout: time.Minute}
	walk := control.Goal{Move: m3.V(0, 0, 1), Speed: control.TrotSpeed, Action: control.Move}
	const ticks, lostIn = 60, 25
	// play takes ticks of two dogs, of which one comes later, and loses the device at a call; 0 does not.
	play := func(t *testing.T, f webgpu.Faulty, call int64) (roots [ticks][2]resident.Root, failed bool) {
		c := must.Get(resident.New(m, o))(t)
		defer func() { must.Do(t, c.Close()) }()
		if c.Device() != "faulty" {
			t.Fatal("agents live on ", c.Device())
		}
		must.Get(c.Add(feature.Place{}))(t)
		must.Do(t, c.SetGoal(0, walk))
		var calls int64
		for tick := range ticks {
			if tick == lostIn && call > 0 {
				f.Fail(call)
			}
			if tick == lostIn {
				must.Do(t, c.SetGoal(must.Get(c.Add(feature.Place{Pos: m3.V(2, 0, 0)}))(t), walk))
			}
			must.Do(t, c.Step())
			for i := range 2 {
				roots[tick][i] = c.Root(i)
			}
			must.Get(c.Bones(nil, 0))(t)
			if tick == lostIn+4 {
				failed = call > 0 && f.Failed()
				f.Fail(0)
				if failed != (c.Device() == "") {
					t.Error("call ", call, " has failed: ", failed, "; agents live on ", c.Device())
				}
				calls = f.Calls()
			}
		}
		if failed && f.Calls() != calls {
			t.Error(f.Calls()-calls, " calls of the driver after the loss")
		}
		return roots, failed
	}
	whole, _ := play(t, webgpu.OpenFaulty(t), 0)
	if d := whole[ticks-1][1].At.Pos.Dist(whole[lostIn][1].At.Pos); d < 0.01 {
		t.Fatal("a dog goes ", d, " m")
	}
	for call, failed := int64(1), true; failed; call++ {
		t.Run(fmt.Sprint(call), func(t *testing.T) {
			var got [ticks][2]resident.Root
			got, failed = play(t, webgpu.OpenFaulty(t), call)
			if !failed && call < 6 {
				t.Errorf("five ticks take %d calls that can fail", call-1)
			}
			for tick := range got {
				for i := range 2 {
					if d := got[tick][i].At.Pos.Dist(whole[tick][i].At.Pos); !(d <= 1e-3) {
						t.Errorf("tick %d, agent %d: %g m off", tick, i, d)
					}
				}
			}
		})
	}
}

// TestFailingResident makes each call of the driver fail while agents are to live there: they do on the processor.
func TestFailingResident(t *testing.T) {
	m := must.Get(mann.NewModel(must.Get(models.Open("dog"))(t)))(t)
	o := resident.Options{Capacity: 2, Ground: ik.Level(0), Log: slog.New(slog.DiscardHandler), Timeout: time.Minute}
	for call, failed := int64(1), true; failed; call++ {
		t.Run(fmt.Sprint(call), func(t *testing.T) {
			f := webgpu.OpenFaulty(t)
			f.Fail(call)
			c := must.Get(resident.New(m, o))(t)
			if failed = f.Failed(); failed != (c.Device() == "") {
				t.Error("agents live on ", c.Device())
			}
			must.Get(c.Add(feature.Place{}))(t)
			must.Do(t, c.Step())
			must.Get(c.Bones(nil, 0))(t)
			must.Do(t, c.Close())
		})
	}
}

// TestWork: kernels of one's own see what was written, launches come one after another, and mistakes are errors.
func TestWork(t *testing.T) {
	w, err := webgpu.NewWork(webgpu.WorkOptions{Timeout: time.Hour}, webgpu.ReadOnly, webgpu.ReadWrite)
	if err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
	defer w.Close()
	const n = 100
	in, out := must.Get(w.Memory("in", 4*n))(t), must.Get(w.Memory("out", 4*n))(t)
	bound := must.Get(w.Bind(in, out))(t)
	const source = `
@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read_write> sink: array<f32>;
@compute @workgroup_size(64)
fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
	if id.x < 100u {
		sink[id.x] = source[id.x];
	}
}
@compute @workgroup_size(64)
fn double(@builtin(global_invocation_id) id: vec3<u32>) {
	if id.x < 100u {
		sink[id.x] = 2.0 * sink[id.x] + f32(id.y);
	}
}`
	launch := func(name string, layers int) webgpu.Launch {
		return webgpu.Launch{Kernel: must.Get(w.Kernel(name, source))(t), Bound: bound, Groups: 2, Layers: layers}
	}
	numbers, got := make([]float32, n), make([]float32, n/2)
	for i := range numbers {
		numbers[i] = float32(i)
	}
	must.Do(t, w.Write(in, 0, webgpu.Bytes(numbers)))
	results := must.Get(w.Results(4 * n))(t)
	double := launch("double", 0)
	must.Do(t, w.Submit([]webgpu.Launch{launch("fill", 1), double, double}, []webgpu.Copy{{From: out, At: 4 * n / 2, Bytes: n}, {From: out, Bytes: n}}, results))
	if !results.Pending() {
		t.Error("nothing is pending")
	}
	must.Do(t, w.Read(webgpu.Bytes(got), results))
	for i, v := range got {
		if want := 4 * float32((i+n/2)%(3*n/4)); i < n/4 && v != want || i >= n/4 && v != 4*float32(i-n/4) {
			t.Fatal("number ", i, " is ", v, ", want ", want)
		}
	}
	if _, err := w.Kernel("wrong", "fn wrong( {"); err == nil || errors.Is(err, webgpu.ErrLost) {
		t.Error("a kernel with a mistake: ", err)
	}
	if _, err := w.Memory("too much", w.MaxBytes()+4); err == nil || errors.Is(err, webgpu.ErrLost) {
		t.Error("too much memory: ", err)
	}
	must.Do(t, w.Submit([]webgpu.Launch{double}, nil, results)) // it still works
	must.Do(t, w.Read(nil, results))
	w.Close()
	if w.Write(in, 0, webgpu.Bytes(numbers)) == nil {
		t.Error("a closed Work writes")
	}
}
