//go:build cuda

package cuda

import (
	"strings"
	"testing"
	"time"

	"mannequin/internal/testing/fakecuda"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

const short = 100 * time.Millisecond

// hang makes the GPU hang at a call, until the function that it returns lets it do its late work. It
// fails the test if the program has waited for much longer than it should.
func hang(t *testing.T, call string) (wake func()) {
	t.Helper()
	mend := fakecuda.Fail(call + ":hang")
	begin := time.Now()
	return func() {
		t.Helper()
		if waited := time.Since(begin); waited > 10*time.Second {
			t.Errorf("the program has waited %v", waited)
		}
		if !state.Lost.Load() {
			t.Error("the GPU hangs and is not lost")
		}
		mend()
		state.Lost.Store(false)
		state.Fallbacks.Store(0)
	}
}

// TestHang makes the GPU hang for ever in the middle of runs, with the caller's memory and the
// session's. The processor computes them, and what the GPU does later changes nothing. The test
// runs in a process of its own, because calls that hang keep their threads.
func TestHang(t *testing.T) {
	if fakecuda.Device() {
		t.Skip("needs the fake driver")
	}
	if _, parent := alone(t); parent {
		return
	}
	const rows = 200
	n := blends(t, 9, 24, 5, 2)
	x := values(6, rows*9)
	want, gating := onCPU(t, n, x, rows)
	for _, call := range []string{
		"cuMemcpyHtoDAsync:1", "cuMemcpyHtoDAsync:2", "cuLaunchKernel:1", "cuLaunchKernel:4", "cuMemcpyDtoHAsync:1", "cuMemcpyDtoHAsync:4", "cuStreamQuery:3",
	} {
		for _, direct := range []bool{false, true} {
			s, other := open(t, n, splitRows, BF16), open(t, n, 2, FP32)
			s.most = rows / 4 // two chunks for each of two lanes
			in, out := make([]float32, rows*9), make([]float32, rows*5)
			if direct {
				in, out = must.Get(s.Buffer(rows*9))(t), must.Get(s.Buffer(rows*5))(t)
			}
			copy(in, values(7, rows*9))
			s.opt.Timeout, other.opt.Timeout = short, short
			wake := hang(t, call)
			must.Do(t, s.Run(out, in, rows)) // what the GPU writes late
			calls := fakecuda.Calls("")
			copy(in, x)
			must.Do(t, s.Run(out, in, rows))
			must.Do(t, other.Run(make([]float32, 10), x, 2))
			must.Do(t, s.Close())
			must.Do(t, other.Close())
			if n := fakecuda.Calls("") - calls; n != 0 {
				t.Errorf("%s: %d calls of CUDA after the loss", call, n)
			}
			wake()
			for i, w := range want {
				if out[i] != w {
					t.Fatalf("%s: value %d is %g, on the processor %g", call, i, out[i], w)
				}
			}
			if e := off(s.Gating(), gating); e != 0 {
				t.Fatal("the gating weights are not the processor's")
			}
		}
	}

	// A length for which the lanes are laid out again, and so many frames that their launches fill the
	// driver's queue.
	const long = 2000
	g := &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: 3}},
		Nodes:   []netruntime.Node{{Name: "y", Op: netruntime.OpLSTM, In: []string{"x"}}},
		Outputs: []string{"y"},
	}
	lstm := must.Get(netruntime.New(netruntime.Meta{Name: "lstm", Arch: "graph", Graph: g}, []netruntime.Tensor{
		{Name: "y.weight", Shape: []int{8, 3}, Data: values(1, 24)}, {Name: "y.recurrent", Shape: []int{8, 2}, Data: values(2, 16)},
		{Name: "y.bias", Shape: []int{8}, Data: values(3, 8)},
	}))(t)
	for _, call := range []string{"cuMemcpyHtoDAsync:1", "cuMemsetD8Async:1", "cuLaunchKernel:1", "cuLaunchKernel:1000"} {
		s := must.Get(NewSession(lstm, Options{SessionOptions: netruntime.SessionOptions{Batch: 1, Length: long, Workers: 1}, Timeout: time.Minute}))(t)
		x, y := values(3, long*3), make([]float32, long*2)
		must.Do(t, s.RunSequences([][]float32{y}, [][]float32{x}, 1, 2))
		onGPU(t)
		s.(*session).opt.Timeout = short
		wake := hang(t, call)
		must.Do(t, s.RunSequences([][]float32{y}, [][]float32{x}, 1, long))
		wake()
		must.Do(t, s.Close())
	}

	// Everything else that may wait for the GPU.
	for _, call := range []string{"cuStreamCreate:1", "cuMemAlloc:1", "cuMemAlloc:2", "cuMemHostAlloc:2", "cuMemcpyHtoD:1", "cuCtxSynchronize:1"} {
		wake := hang(t, call)
		s := must.Get(NewSession(blends(t, 4, 5, 6, 2), Options{SessionOptions: netruntime.SessionOptions{Batch: 3, Workers: 1}, Timeout: short}))(t)
		if strings.HasPrefix(s.Kernel(), "cuda") {
			t.Errorf("%s: the session runs on %s", call, s.Kernel())
		}
		must.Do(t, s.Run(make([]float32, 6), make([]float32, 4), 1))
		must.Do(t, s.Close())
		wake()
	}
	for _, call := range []string{"cuStreamDestroy:1", "cuMemFree:1", "cuMemFreeHost:3"} {
		s := open(t, n, rows, FP32)
		s.opt.Timeout = short
		wake := hang(t, call)
		must.Do(t, s.Close())
		wake()
	}
	s := open(t, n, rows, FP32)
	s.opt.Timeout = short
	wake := hang(t, "cuMemHostRegister:1")
	if b := must.Get(s.Buffer(7))(t); len(b) != 7 {
		t.Errorf("%d values", len(b))
	}
	wake()
	wake = hang(t, "cuEventRecord:1")
	if _, err := Measure(s, rows, 1, 1); err == nil {
		t.Error("the times of a GPU that hangs")
	}
	wake()
}
