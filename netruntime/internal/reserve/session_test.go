package reserve

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testnet"
	"mannequin/netruntime"
)

// device puts out 7, or fails.
type device struct {
	Session
	away, fails        bool
	beside             func()
	ran, failed, freed int
	longest, wide      int
}

func (d *device) Ready() bool { return !d.away }

func (d *device) Fits(out, in [][]float32, batch, length int) bool {
	d.wide, d.longest = max(d.wide, batch), max(d.longest, length)
	return len(out) == 1 && len(in) == 1 && len(out[0]) >= batch*length && len(in[0]) >= 2*batch*length
}

func (d *device) Compute(out, in [][]float32, batch, length int) error {
	if d.beside != nil {
		d.beside()
	}
	d.ran++
	for i := range out[0] {
		out[0][i] = 7
	}
	d.Gates = append(d.Gates[:0], 3)
	if d.fails {
		return errors.New("gone")
	}
	return nil
}

func (d *device) Failed(err error, out [][]float32) {
	d.failed++
	d.away = true
}

func (d *device) Free() { d.freed++ }

// open returns a device for a network that adds two values.
func open(t *testing.T) (*device, *atomic.Int64) {
	net := must.Get(netruntime.New(netruntime.Meta{Arch: "graph", Graph: &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: 2}}, Outputs: []string{"y"},
		Nodes: []netruntime.Node{{Name: "y", Op: netruntime.OpDense, In: []string{"x"}}},
	}}, []netruntime.Tensor{testnet.Constant(1, "y.weight", 1, 2), testnet.Constant(0, "y.bias", 1)}))(t)
	o := netruntime.SessionOptions{Batch: 3, Workers: 1}
	d, fallbacks := &device{}, new(atomic.Int64)
	d.Open("test", "device", d, net, must.Get(net.NewSession(o))(t), o, fallbacks)
	return d, fallbacks
}

// The device computes what it can, and after a failure the processor does, from the same inputs. Runs beside others are refused.
func TestSession(t *testing.T) {
	d, fallbacks := open(t)
	x, y := []float32{1, 2, 3, 4, 5, 6}, make([]float32, 3)
	run := func(rows int, want []float32, kernel string, ran, fell int) {
		t.Helper()
		clear(y)
		must.Do(t, d.Run(y, x, rows))
		if !slices.Equal(y[:len(want)], want) || d.Kernel() != kernel || d.ran != ran || fallbacks.Load() != int64(fell) {
			t.Errorf("%v by %s after %d runs of the device and %d of the processor, want %v by %s, %d and %d", y, d.Kernel(), d.ran, fallbacks.Load(), want, kernel, ran, fell)
		}
	}
	cpu := d.CPU.Kernel()
	run(3, []float32{7, 7, 7}, "device", 1, 0)
	if !slices.Equal(d.Gating(), []float32{3}) {
		t.Errorf("the device's weights are %v", d.Gating())
	}
	run(0, []float32{0}, "device", 1, 0)
	d.beside = func() {
		if err := d.Run(y, x, 1); err != netruntime.ErrBusy {
			t.Errorf("a run beside another: %v", err)
		}
		if err := d.RunSequences([][]float32{y}, [][]float32{x}, 1, 1); err != netruntime.ErrBusy {
			t.Errorf("sequences beside a run: %v", err)
		}
		if err := d.Close(); err != netruntime.ErrBusy {
			t.Errorf("Close beside a run: %v", err)
		}
	}
	run(1, []float32{7}, "device", 2, 0)
	for what, err := range map[string]error{
		"rows": d.Run(y, x, 4), "minus": d.Run(y, x, -1), "input": d.Run(y, x[:1], 1), "output": d.Run(y[:0], x, 1),
		"length": d.RunSequences([][]float32{y}, [][]float32{x}, 1, 2), "arrays": d.RunSequences([][]float32{y}, nil, 1, 1),
	} {
		if err == nil || d.ran != 2 {
			t.Errorf("%s: %v, and %d runs of the device", what, err, d.ran)
		}
	}
	if d.wide != 3 || d.longest != 1 {
		t.Errorf("the device is asked for %d sequences of %d frames", d.wide, d.longest)
	}
	d.fails = true
	run(3, []float32{3, 7, 11}, cpu, 3, 1)
	run(2, []float32{3, 7}, cpu, 3, 2)
	if d.failed != 1 || d.Gating() != nil {
		t.Errorf("%d failures, weights %v", d.failed, d.Gating())
	}
	d.beside = nil
	d.away, d.fails = false, false
	run(1, []float32{7}, "device", 4, 2)
	for range 2 {
		must.Do(t, d.Close())
	}
	if err := d.Run(y, x, 1); err == nil || !strings.Contains(err.Error(), "test: the session is closed") || d.freed != 1 || d.ran != 4 {
		t.Errorf("after Close: %v, freed %d times", err, d.freed)
	}
}

// A GPU is announced and lost once. A call that hangs is left after its time.
func TestGPU(t *testing.T) {
	var g GPU
	var text strings.Builder
	log := slog.New(slog.NewTextHandler(&text, nil))
	for i := range 2 {
		g.Announce(log, "a card", nil)
		if first := g.Lose(log, errors.New("unplugged")); first != (i == 0) || !g.Lost.Load() {
			t.Errorf("lost for the first time: %v", first)
		}
	}
	if s := text.String(); strings.Count(s, "a card") != 1 || strings.Count(s, "unplugged") != 1 {
		t.Error(s)
	}
	must.Do(t, Within(time.Hour, func() error { return nil }))
	never := make(chan int)
	defer close(never)
	if err := Within(time.Millisecond, func() error { <-never; return nil }); err == nil {
		t.Error("a call that hangs has ended")
	}
}
