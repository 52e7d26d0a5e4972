//go:build cuda

package netruntime_test

import (
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mannequin/internal/testing/fakecuda"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/netruntime/cuda"
)

func TestMain(m *testing.M) { fakecuda.Main(m) }

var precisions = []struct {
	precision cuda.Precision
	tolerance float64
}{{cuda.FP32, 2e-5}, {cuda.TF32, 3e-3}, {cuda.BF16, 0.03}}

func openCUDA(t netruntime.Test, n *netruntime.Net, o cuda.Options) netruntime.Session {
	o.Timeout = time.Hour
	s := must.Get(cuda.NewSession(n, o))(t)
	if !strings.HasPrefix(s.Kernel(), "cuda_") {
		t.Fatal("the session runs on ", s.Kernel())
	}
	return s
}

// onGPU fails the test if the processor has computed a run.
func onGPU(t netruntime.Test) {
	if n := cuda.Fallbacks(); n != 0 {
		t.Fatal(n, " runs fell back to the processor")
	}
}

// TestCUDAAgainstFloat64 runs every graph with rising and falling batches and lengths, and poisoned
// outputs.
func TestCUDAAgainstFloat64(t *testing.T) {
	names, nets, factors := netruntime.GraphCases()
	for i, n := range nets {
		for _, p := range precisions {
			t.Run(names[i]+"/"+string(p.precision), func(t *testing.T) {
				const batch, length = 5, 12
				s := openCUDA(t, n, cuda.Options{SessionOptions: netruntime.SessionOptions{Batch: batch, Length: length, Workers: 1}, Precision: p.precision})
				defer s.Close()
				runs := [][2]int{{1, 12}, {5, 12}, {2, 4}, {5, 2}}
				if factors[i] == 1 {
					runs = append(runs, [2]int{5, 1}, [2]int{2, 7})
				}
				for _, r := range runs {
					out, in := netruntime.Arrays(n, 5, r[0], r[1])
					poison(out)
					must.Do(t, s.RunSequences(out, in, r[0], r[1]))
					for j, want := range netruntime.Interpret(n, in, r[0], r[1]) {
						if e := netruntime.Relative(out[j], want); !(e <= p.tolerance) {
							t.Fatalf("%d sequences of %d: output %d is off by %.2g", r[0], r[1], j, e)
						}
					}
				}
				onGPU(t)
			})
		}
	}
}

func poison(out [][]float32) {
	for _, y := range out {
		for i := range y {
			y[i] = -1e30
		}
	}
}

// TestCUDABadSequences puts NaN into one sequence. Results that depend on it are NaN, and the other
// sequences keep their bits.
func TestCUDABadSequences(t *testing.T) {
	names, nets, _ := netruntime.GraphCases()
	for i, n := range nets {
		const batch, length, bad = 3, 4, 1
		s := openCUDA(t, n, cuda.Options{SessionOptions: netruntime.SessionOptions{Batch: batch, Length: length, Workers: 1}})
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
	onGPU(t)
}

// TestCUDARandomGraphs draws graphs, options and runs.
func TestCUDARandomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, factor := netruntime.RandomGraph(t, true, []int{2})
		p := precisions[rapid.IntRange(0, 2).Draw(t, "precision")]
		o := netruntime.SessionOptions{Batch: rapid.IntRange(1, 9).Draw(t, "batch"), Length: factor * rapid.IntRange(1, 5).Draw(t, "length"), Workers: 1}
		s := openCUDA(t, n, cuda.Options{SessionOptions: o, Precision: p.precision})
		defer s.Close()
		for range 2 {
			batch, length := rapid.IntRange(1, o.Batch).Draw(t, "sequences"), factor*rapid.IntRange(1, o.Length/factor).Draw(t, "frames")
			out, in := netruntime.Arrays(n, uint64(batch), batch, length)
			poison(out)
			must.Do(t, s.RunSequences(out, in, batch, length))
			for i, want := range netruntime.Interpret(n, in, batch, length) {
				// Some graphs amplify rounding.
				if e := netruntime.Relative(out[i], want); !(e <= 5*p.tolerance) {
					t.Fatalf("output %d of %+v is off by %g", i, n.Graph(), e)
				}
			}
		}
		onGPU(t)
	})
}

// The kernels lengthen only by two. The processor computes other networks, and the log says why.
func TestCUDALeavesOtherFactors(t *testing.T) {
	n := netruntime.LongGraph()
	var log strings.Builder
	s := must.Get(cuda.NewSession(n, cuda.Options{SessionOptions: netruntime.SessionOptions{Batch: 1, Length: 3, Workers: 1}, Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
	defer s.Close()
	if strings.HasPrefix(s.Kernel(), "cuda_") || !strings.Contains(log.String(), "lengthens by 5, the kernels only by 2") {
		t.Errorf("the session runs on %s: %s", s.Kernel(), &log)
	}
	out, in := netruntime.Arrays(n, 5, 1, 3)
	must.Do(t, s.RunSequences(out, in, 1, 3))
	for i, want := range netruntime.Interpret(n, in, 1, 3) {
		if e := netruntime.Relative(out[i], want); !(e <= 1e-5) {
			t.Errorf("output %d is off by %g", i, e)
		}
	}
}
