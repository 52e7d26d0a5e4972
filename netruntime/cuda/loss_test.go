//go:build cuda

package cuda

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"mannequin/internal/testing/fakecuda"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testmatching"
	"mannequin/models"
	"mannequin/netruntime"
)

// TestLoss makes every kind of call fail in the middle of runs.
func TestLoss(t *testing.T) {
	if fakecuda.Device() {
		t.Skip("needs the fake driver")
	}
	const rows = splitRows
	n := blends(t, 9, 24, 5, 2)
	x := values(6, rows*9)
	want, gating := onCPU(t, n, x, rows)
	for _, failure := range []string{
		"cuCtxSetCurrent:1:201", "cuMemcpyHtoDAsync:1:1", "cuMemcpyHtoDAsync:2:700", "cuLaunchKernel:1:719", "cuLaunchKernel:5:700",
		"cuLaunchKernel:2:1", "cuMemcpyDtoHAsync:1:700", "cuMemcpyDtoHAsync:4:1", "cuStreamQuery:1:700", "cuStreamQuery:2:46", "cuStreamQuery:1:702",
	} {
		t.Run(failure, func(t *testing.T) {
			s := open(t, n, rows, BF16)
			other := open(t, n, 2, FP32)
			y := poisoned(rows * 5)
			must.Do(t, s.Run(y, x, rows))
			mend := fakecuda.Fail(failure)
			defer func() {
				mend()
				state.Lost.Store(false)
				state.Fallbacks.Store(0)
			}()
			for run := range 3 {
				calls := fakecuda.Calls("")
				copy(y, poisoned(rows*5))
				must.Do(t, s.Run(y, x, rows))
				for i, w := range want {
					if y[i] != w {
						t.Fatalf("value %d is %g, on the processor %g", i, y[i], w)
					}
				}
				if e := off(s.Gating(), gating); e != 0 {
					t.Fatal("the gating weights are not the processor's")
				}
				if got := fakecuda.Calls(""); run > 0 && got != calls {
					t.Fatalf("%d calls of CUDA after the loss", got-calls)
				}
			}
			calls := fakecuda.Calls("")
			must.Do(t, other.Run(y[:10], x, 2))
			late := must.Get(NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: 1, Workers: 1}}))(t)
			for _, c := range []netruntime.Session{s, other, late} {
				if strings.HasPrefix(c.Kernel(), "cuda") {
					t.Error("after the loss a session claims to run on ", c.Kernel())
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
			if got := fakecuda.Calls(""); got != calls {
				t.Errorf("%d calls of CUDA after the loss", got-calls)
			}
			if n := Fallbacks(); n != 4 {
				t.Errorf("%d runs counted, want 4", n)
			}
			if _, err := Device(); err == nil {
				t.Error("there still is a device")
			}
		})
	}
}

// TestLossCharacter loses the device in the middle of a tick of learned motion matching. That tick is the processor's but for
// rounding, all later ones are to the bit.
func TestLossCharacter(t *testing.T) {
	if fakecuda.Device() {
		t.Skip("needs the fake driver")
	}
	hero := must.Get(models.OpenCharacter("hero"))(t)
	const ticks, lostIn = 12, 6 // a row searches
	// Calls of the projector, the stepper and the decompressor.
	for _, failure := range []string{"cuMemcpyHtoDAsync:1:1", "cuLaunchKernel:3:719", "cuMemcpyHtoDAsync:2:700", "cuMemcpyDtoHAsync:2:1", "cuMemcpyDtoHAsync:3:700"} {
		t.Run(failure, func(t *testing.T) {
			mend, before := func() {}, int64(0)
			defer func() {
				mend()
				state.Lost.Store(false)
				state.Fallbacks.Store(0)
			}()
			far := testmatching.Beside(t, hero, func(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
				return NewSession(n, Options{SessionOptions: o, Precision: FP32, Timeout: time.Minute})
			}, ticks, func(tick int) {
				if tick == lostIn {
					before, mend = Fallbacks(), fakecuda.Fail(failure)
				}
			})
			for tick, d := range far {
				if tick < lostIn && d == 0 || tick > lostIn && d != 0 || !(d <= 1e-3) {
					t.Errorf("tick %d, %d after the loss: a joint is %g m off", tick, tick-lostIn, d)
				}
			}
			if n := Fallbacks(); !state.Lost.Load() || before != 0 || n < 2*(ticks-lostIn-1)+1 {
				t.Errorf("lost: %v; the processor computed %d runs, %d of them before the loss", state.Lost.Load(), n, before)
			}
		})
	}
}

// alone runs the test that calls it in a process of its own, and returns that process's output and
// true. In that process it returns false.
func alone(t *testing.T, env ...string) (out []byte, parent bool) {
	t.Helper()
	const name = "MANNEQUIN_ALONE"
	if os.Getenv(name) != "" {
		return nil, false
	}
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=1m")
	c.Env = append(append(os.Environ(), name+"=1"), env...)
	out, err := c.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Fatalf("%v\n%s", err, out)
	}
	return out, true
}

// TestFault lets a kernel read invalid memory, on a GPU if there is one. It runs in a process of
// its own, because that process loses the GPU.
func TestFault(t *testing.T) {
	if _, parent := alone(t); parent {
		return
	}
	const rows = 100
	n := blends(t, 9, 24, 5, 2)
	x, y := values(6, rows*9), poisoned(rows*5)
	want, _ := onCPU(t, n, x, rows)
	s := open(t, n, rows, FP32)
	must.Do(t, s.Run(y, x, rows))
	onGPU(t)
	s.calls[len(s.calls)-1].op = 1 << 44
	copy(y, poisoned(rows*5))
	must.Do(t, s.Run(y, x, rows))
	for i, w := range want {
		if y[i] != w {
			t.Fatalf("value %d is %g, on the processor %g", i, y[i], w)
		}
	}
	if !state.Lost.Load() || Fallbacks() != 1 {
		t.Errorf("after a fault: lost %v, %d runs of the processor", state.Lost.Load(), Fallbacks())
	}
}

// TestNoRoom checks that a network that does not fit runs on the processor and others stay on the
// GPU. Any other error while a network is opened loses the GPU.
func TestNoRoom(t *testing.T) {
	if fakecuda.Device() {
		t.Skip("needs the fake driver")
	}
	n := blends(t, 4, 5, 6, 2)
	if _, err := Device(); err != nil {
		t.Fatal(err)
	}
	live := fakecuda.Live()
	for _, failure := range []string{
		"cuMemAlloc:1:2", "cuMemAlloc:2:2", "cuMemAlloc:3:2", "cuMemHostAlloc:1:2", "cuMemHostAlloc:2:2", "cuMemHostAlloc:3:2", "cuStreamCreate:1:2",
		"cuMemAlloc:1:700", "cuMemcpyHtoD:1:1", "cuMemcpyHtoDAsync:1:1", "cuMemsetD8Async:1:1", "cuCtxSynchronize:1:719",
	} {
		room := strings.HasSuffix(failure, ":2")
		mend := fakecuda.Fail(failure)
		s, err := NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: 3, Workers: 1}})
		mend()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(s.Kernel(), "cuda") {
			t.Errorf("%s: the session runs on %s", failure, s.Kernel())
		}
		if err := s.Run(make([]float32, 6), make([]float32, 4), 1); err != nil {
			t.Error(err)
		}
		s.Close()
		if n := fakecuda.Live(); n != live && room {
			t.Errorf("%s: %d objects on the GPU, were %d", failure, n, live)
		}
		if state.Lost.Swap(false) == room {
			t.Errorf("%s: the GPU is lost: %v", failure, !room)
		}
		live = fakecuda.Live()
	}
	// Running out of memory for a buffer is not an error.
	s := open(t, n, 3, FP32)
	mend := fakecuda.Fail("cuMemHostAlloc:1:2")
	b, err := s.Buffer(12)
	mend()
	if err != nil || len(b) != 12 {
		t.Errorf("%d values, %v", len(b), err)
	}
	for _, n := range []int{-1, 1 << 62} {
		if _, err := s.Buffer(n); err == nil {
			t.Errorf("a buffer of %d values", n)
		}
	}
	onGPU(t)
}

// TestNoDriver starts a program whose driver is missing. It logs that once, and computes.
func TestNoDriver(t *testing.T) {
	if out, parent := alone(t, "CUDA_DRIVER_LIB=/nonexistent"); parent {
		if bytes.Count(out, []byte("no GPU")) != 1 {
			t.Fatalf("%s", out)
		}
		return
	}
	n := blends(t, 9, 24, 5, 2)
	x, y := values(6, 9*9), make([]float32, 9*5)
	want, _ := onCPU(t, n, x, 9)
	for range 2 {
		s := must.Get(NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: 9, Workers: 1}}))(t)
		if err := s.Run(y, x, 9); err != nil || off(y, want) != 0 {
			t.Error(err, off(y, want))
		}
		s.Close()
	}
	if name, err := Device(); err == nil {
		t.Error("a device: ", name)
	}
}
