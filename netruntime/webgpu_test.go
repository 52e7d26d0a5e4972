//go:build webgpu

package netruntime_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/netruntime/webgpu"
)

// webgpuTolerance is that of the other backends' float32.
const webgpuTolerance = 2e-5

func needWebGPU(t *testing.T) {
	t.Helper()
	if _, err := webgpu.Device(); err != nil {
		t.Skip("no GPU, and no software driver of one: ", err)
	}
}

func openWebGPU(t netruntime.Test, n *netruntime.Net, o webgpu.Options) netruntime.Session {
	o.Workers, o.Timeout = 1, time.Hour
	s := must.Get(webgpu.NewSession(n, o))(t)
	if k := s.Kernel(); k != "webgpu" && (k != "webgpu_f16" || !o.F16) {
		t.Fatal("the session runs on ", k)
	}
	return s
}

// webgpuModes are float32, and float16 with its tolerance.
var webgpuModes = []struct {
	name string
	f16  bool
	most float64
}{{"float32", false, webgpuTolerance}, {"float16", true, 0.01}}

// onWebGPU fails the test if the processor has computed a run.
func onWebGPU(t netruntime.Test) {
	if n := webgpu.Fallbacks(); n != 0 {
		t.Fatal(n, " runs fell back to the processor")
	}
}

func unset(out [][]float32) {
	for _, y := range out {
		for i := range y {
			y[i] = -1e30
		}
	}
}

// TestWebGPUAgainstFloat64 runs every graph with rising and falling batches and lengths, and
// poisoned outputs.
func TestWebGPUAgainstFloat64(t *testing.T) {
	needWebGPU(t)
	names, nets, factors := netruntime.GraphCases()
	for k := range 2 * len(nets) {
		i, mode := k/2, webgpuModes[k%2]
		n := nets[i]
		t.Run(names[i]+"/"+mode.name, func(t *testing.T) {
			const batch, length = 5, 12
			s := openWebGPU(t, n, webgpu.Options{SessionOptions: netruntime.SessionOptions{Batch: batch, Length: length}, F16: mode.f16})
			defer s.Close()
			runs := [][2]int{{1, 12}, {5, 12}, {2, 4}, {5, 2}}
			if factors[i] == 1 {
				runs = append(runs, [2]int{5, 1}, [2]int{2, 7})
			}
			for _, r := range runs {
				out, in := netruntime.Arrays(n, 5, r[0], r[1])
				unset(out)
				must.Do(t, s.RunSequences(out, in, r[0], r[1]))
				for j, want := range netruntime.Interpret(n, in, r[0], r[1]) {
					if e := netruntime.Relative(out[j], want); !(e <= mode.most) {
						t.Fatalf("%d sequences of %d: output %d is off by %.2g", r[0], r[1], j, e)
					}
				}
			}
			onWebGPU(t)
		})
	}
}

// TestWebGPUBadSequences puts NaN into one sequence. Results that depend on it are NaN, and the
// other sequences keep their bits.
func TestWebGPUBadSequences(t *testing.T) {
	needWebGPU(t)
	names, nets, _ := netruntime.GraphCases()
	for k := range 2 * len(nets) {
		i := k / 2
		n := nets[i]
		const batch, length, bad = 3, 4, 1
		s := openWebGPU(t, n, webgpu.Options{SessionOptions: netruntime.SessionOptions{Batch: batch, Length: length}, F16: webgpuModes[k%2].f16})
		good, in := netruntime.Arrays(n, 5, batch, length)
		must.Do(t, s.RunSequences(good, in, batch, length))
		for _, x := range in {
			x[bad*len(x)/batch] = float32(math.NaN())
		}
		out, _ := netruntime.Arrays(n, 5, batch, length)
		must.Do(t, s.RunSequences(out, in, batch, length))
		s.Close()
		for j, want := range netruntime.Interpret(n, in, batch, length) {
			k := len(want) / batch
			for c, v := range out[j] {
				switch {
				case c/k == bad && want[c] != want[c] && v == v:
					t.Fatalf("%s: output %d of the bad sequence has %g at %d, want NaN", names[i], j, v, c%k)
				case c/k != bad && math.Float32bits(v) != math.Float32bits(good[j][c]):
					t.Fatalf("%s: output %d of sequence %d has %g at %d, was %g", names[i], j, c/k, v, c%k, good[j][c])
				}
			}
		}
	}
	onWebGPU(t)
}

// TestWebGPURandomGraphs draws graphs, options and runs.
func TestWebGPURandomGraphs(t *testing.T) {
	needWebGPU(t)
	rapid.Check(t, func(t *rapid.T) {
		n, factor := netruntime.RandomGraph(t, true, []int{2, 3, 5})
		o := netruntime.SessionOptions{Batch: rapid.IntRange(1, 9).Draw(t, "batch"), Length: factor * rapid.IntRange(1, 5).Draw(t, "length"), Workers: 1}
		s := openWebGPU(t, n, webgpu.Options{SessionOptions: o})
		defer s.Close()
		for range 2 {
			batch, length := rapid.IntRange(1, o.Batch).Draw(t, "sequences"), factor*rapid.IntRange(1, o.Length/factor).Draw(t, "frames")
			out, in := netruntime.Arrays(n, uint64(batch), batch, length)
			unset(out)
			must.Do(t, s.RunSequences(out, in, batch, length))
			for i, want := range netruntime.Interpret(n, in, batch, length) {
				// Some graphs amplify rounding.
				if e := netruntime.Relative(out[i], want); !(e <= 5*webgpuTolerance) {
					t.Fatalf("output %d of %+v is off by %g", i, n.Graph(), e)
				}
			}
		}
		onWebGPU(t)
	})
}
