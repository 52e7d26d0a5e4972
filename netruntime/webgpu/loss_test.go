//go:build webgpu

package webgpu

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/models"
	"mannequin/netruntime"
)

// faulty is a driver that fails on command, below the library.
type faulty struct {
	left  atomic.Int64 // calls until the one that fails
	calls atomic.Int64
	hangs atomic.Bool // nothing ends any more
	full  atomic.Bool // there is no room for values
}

var errFault = errors.New("the driver's error")

// next counts a call, and returns an error if it is to fail.
func (f *faulty) next() error {
	f.calls.Add(1)
	if f.left.Add(-1) == 0 {
		return errFault
	}
	return nil
}

// needGPU skips a test where there is no device.
func needGPU(t *testing.T) {
	t.Helper()
	if _, err := Device(); err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
}

// useFaulty lets sessions of the test run on d.
func useFaulty(t *testing.T, d *device) {
	t.Helper()
	right := theDevice
	theDevice = func() (*device, error) { return d, nil }
	t.Cleanup(func() {
		theDevice = right
		state.Lost.Store(false)
		state.Fallbacks.Store(0)
		clear(uploaded)
	})
}

// TestLoss makes each call of the driver fail, in the middle of runs. The run, and all later ones,
// are the processor's.
func TestLoss(t *testing.T) {
	n := must.Get(models.Open("dog"))(t)
	const rows = 10
	cpu := must.Get(n.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 1}))(t)
	x, want := inputs(rows*n.Inputs()), make([]float32, rows*n.Outputs())
	must.Do(t, cpu.Run(want, x, rows))
	gating := slices.Clone(cpu.Gating())
	for call := int64(1); ; call++ {
		failed := true
		t.Run(fmt.Sprint(call), func(t *testing.T) {
			f := openFaulty(t)
			var log strings.Builder
			o := Options{SessionOptions: netruntime.SessionOptions{Batch: rows, Workers: 1}, Log: slog.New(slog.NewTextHandler(&log, nil)), Timeout: time.Minute}
			s, other := must.Get(NewSession(n, o))(t), must.Get(NewSession(n, o))(t)
			y := make([]float32, len(want))
			must.Do(t, s.Run(y, x, rows))
			if s.Kernel() != "webgpu" || Fallbacks() != 0 {
				t.Fatal("the session runs on ", s.Kernel())
			}
			f.left.Store(call)
			must.Do(t, s.Run(y, x, rows))
			if failed = f.left.Load() <= 0; !failed {
				must.Do(t, s.Close())
				must.Do(t, other.Close())
				return
			}
			calls := f.calls.Load()
			for run := range 3 {
				if !slices.Equal(y, want) || !slices.Equal(s.Gating(), gating) {
					t.Fatal("run ", run, " after the loss is not the processor's")
				}
				clear(y)
				must.Do(t, s.Run(y, x, rows))
			}
			clear(y)
			must.Do(t, other.Run(y, x, rows))
			late := must.Get(NewSession(n, o))(t)
			for _, c := range []netruntime.Session{s, other, late} {
				if c.Kernel() == "webgpu" {
					t.Error("after the loss a session claims to run on the GPU")
				}
				must.Do(t, c.Close())
			}
			if !slices.Equal(y, want) {
				t.Error("another session's run after the loss is not the processor's")
			}
			if got := f.calls.Load(); got != calls {
				t.Errorf("%d calls of the driver after the loss", got-calls)
			}
			if n := Fallbacks(); n != 5 {
				t.Errorf("%d runs counted, want 5", n)
			}
			if _, err := Device(); err == nil {
				t.Error("there still is a device")
			}
			if got := strings.Count(log.String(), "the GPU is lost"); got != 1 {
				t.Errorf("the loss is logged %d times: %s", got, &log)
			}
		})
		if !failed {
			if call < 4 {
				t.Errorf("a run takes %d calls that can fail", call-1)
			}
			return
		}
	}
}

// TestLossCharacter loses the device in the middle of a tick of learned motion matching, at each of its calls. That tick is the
// processor's but for rounding, all later ones are to the bit.
func TestLossCharacter(t *testing.T) {
	hero := must.Get(models.OpenCharacter("hero"))(t)
	o := Options{Log: slog.New(slog.DiscardHandler), Timeout: time.Minute}
	const ticks, lostIn = 12, 6 // a row searches
	for call, failed := int64(1), true; failed; call++ {
		t.Run(fmt.Sprint(call), func(t *testing.T) {
			f := openFaulty(t)
			off := testmatching.Beside(t, hero, func(n *netruntime.Net, so netruntime.SessionOptions) (netruntime.Session, error) {
				o.SessionOptions = so
				return NewSession(n, o)
			}, ticks, func(tick int) {
				switch tick {
				case lostIn:
					f.left.Store(call)
				case lostIn + 1:
					failed = f.left.Load() <= 0
					f.left.Store(0)
				}
			})
			if !failed {
				if call <= 2*3 { // two for each network
					t.Errorf("a tick takes %d calls that can fail", call-1)
				}
				return
			}
			for tick, d := range off {
				if tick < lostIn && d == 0 || tick > lostIn && d != 0 || !(d <= 1e-3) {
					t.Errorf("tick %d, %d after the loss: a joint is %g m off", tick, tick-lostIn, d)
				}
			}
			if n := Fallbacks(); n < int64(2*(ticks-lostIn-1)) {
				t.Errorf("the processor computed %d runs", n)
			}
		})
	}
}

// TestLossSearch loses the device in the middle of a tick of agents that play recordings, at each of its calls. No tick changes.
func TestLossSearch(t *testing.T) {
	needGPU(t)
	d := testmatching.Actors(t)
	const agents, ticks, lostIn = 6, 30, 17
	for call := range int64(4) { // two for each tick that searches
		t.Run(fmt.Sprint(call), func(t *testing.T) {
			f := openFaulty(t)
			o := Options{Log: slog.New(slog.DiscardHandler), Timeout: time.Minute}
			open := func(p *netruntime.Points, batch int) (netruntime.Nearest, error) {
				o.Batch = batch
				return NewNearest(p, o)
			}
			all, again := testmatching.SameBits(t, d, open, agents, ticks, func(tick int) {
				if tick == lostIn {
					f.left.Store(1 + call)
				}
			})
			if n := Fallbacks(); f.left.Load() > 0 || again == 0 || again == all || n < 1 || n > ticks-lostIn {
				t.Errorf("%d of %d searches done again, %d calls counted", again, all, n)
			}
		})
	}
}

// TestFailingStart makes each call of the driver fail while a session opens: it is the processor's.
func TestFailingStart(t *testing.T) {
	n := must.Get(models.Open("dog"))(t)
	o := Options{SessionOptions: netruntime.SessionOptions{Batch: 10, Workers: 1}, Log: slog.New(slog.DiscardHandler), Timeout: time.Minute}
	for call := int64(1); ; call++ {
		failed := true
		t.Run(fmt.Sprint(call), func(t *testing.T) {
			f := openFaulty(t)
			f.left.Store(call)
			s := must.Get(NewSession(n, o))(t)
			if failed = f.left.Load() <= 0; failed == (s.Kernel() == "webgpu") {
				t.Error("the session runs on ", s.Kernel())
			}
			must.Do(t, s.Run(make([]float32, n.Outputs()), make([]float32, n.Inputs()), 1))
			must.Do(t, s.Close())
		})
		if !failed {
			return
		}
	}
}

// TestNoRoom: a network for which there is no memory is the processor's, and the GPU stays in use.
func TestNoRoom(t *testing.T) {
	n := must.Get(models.Open("dog"))(t)
	f := openFaulty(t)
	var log strings.Builder
	o := Options{SessionOptions: netruntime.SessionOptions{Batch: 2, Workers: 1}, Log: slog.New(slog.NewTextHandler(&log, nil)), Timeout: time.Minute}
	first := must.Get(NewSession(n, o))(t)
	f.full.Store(true)
	second := must.Get(NewSession(n, o))(t)
	f.full.Store(false)
	third := must.Get(NewSession(n, o))(t)
	for i, s := range []netruntime.Session{first, second, third} {
		if on := s.Kernel() == "webgpu"; on != (i != 1) {
			t.Errorf("session %d runs on %s", i, s.Kernel())
		}
		must.Do(t, s.Run(make([]float32, n.Outputs()), make([]float32, n.Inputs()), 1))
		must.Do(t, s.Close())
	}
	if got := strings.Count(log.String(), "the GPU cannot take a network"); got != 1 || state.Lost.Load() || Fallbacks() != 0 || len(uploaded) != 0 {
		t.Errorf("lost: %v, %d runs of the processor, %d networks left: %s", state.Lost.Load(), Fallbacks(), len(uploaded), &log)
	}
}

// TestHang: a GPU that does not end its work is lost after the timeout. What it does later does not reach
// the caller.
func TestHang(t *testing.T) {
	n := must.Get(models.Open("dog"))(t)
	const rows = 10
	o := Options{SessionOptions: netruntime.SessionOptions{Batch: rows, Workers: 1}, Log: slog.New(slog.DiscardHandler), Timeout: time.Minute}
	cpu := must.Get(n.NewSession(o.SessionOptions))(t)
	x, want, y := inputs(rows*n.Inputs()), make([]float32, rows*n.Outputs()), make([]float32, rows*n.Outputs())
	must.Do(t, cpu.Run(want, x, rows))
	f := openFaulty(t)
	s := must.Get(NewSession(n, o))(t)
	const timeout = 300 * time.Millisecond
	s.(*session).opt.Timeout = timeout
	f.hangs.Store(true)
	begin := time.Now()
	must.Do(t, s.Run(y, x, rows))
	if d := time.Since(begin); d < timeout || d > 20*timeout {
		t.Errorf("the run took %v", d)
	}
	if !state.Lost.Load() || Fallbacks() != 1 || !slices.Equal(y, want) {
		t.Errorf("lost: %v, %d runs of the processor, equal: %v", state.Lost.Load(), Fallbacks(), slices.Equal(y, want))
	}
	f.hangs.Store(false)
	must.Do(t, s.Run(y, x, rows))
	if !slices.Equal(y, want) {
		t.Error("a later run is not the processor's")
	}
	must.Do(t, s.Close())
}

func inputs(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%23)/11 - 1
	}
	return x
}

// TestCompiling: sessions wait for as long as somebody compiles kernels. It is no loss of the GPU. One who only hangs is.
func TestCompiling(t *testing.T) {
	needGPU(t)
	d := must.Get(theDevice())(t)
	n := must.Get(models.Open("dog"))(t)
	const limit = time.Second
	for _, compiles := range []bool{true, false} {
		useFaulty(t, d) // a loss ends with the test
		s := must.Get(NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: 1, Workers: 1}, Timeout: limit}))(t)
		x, y := make([]float32, n.Inputs()), make([]float32, n.Outputs())
		d.busy <- struct{}{}
		ended := func() {}
		if compiles {
			ended = d.compile()
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(5 * limit / 2)
			ended()
			d.leave()
		}()
		must.Do(t, s.Run(y, x, 1))
		if state.Lost.Load() == compiles {
			t.Errorf("another compiles: %v; the GPU is lost: %v", compiles, state.Lost.Load())
		}
		<-done
		s.Close()
	}
}
