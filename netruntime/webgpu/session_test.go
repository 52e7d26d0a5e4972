//go:build webgpu

package webgpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"
	"mannequin/models"
	"mannequin/netruntime"
)

func open(t *testing.T, n *netruntime.Net, o netruntime.SessionOptions) *session {
	t.Helper()
	needGPU(t)
	o.Workers = 1
	s, ok := must.Get(NewSession(n, Options{SessionOptions: o, Timeout: time.Hour}))(t).(*session)
	if !ok {
		t.Fatal("the processor computes it")
	}
	t.Cleanup(func() {
		s.Close()
		if n := Fallbacks(); n != 0 {
			t.Error(n, " runs fell back to the processor")
		}
	})
	return s
}

func dog(t *testing.T) *netruntime.Net { return must.Get(models.Open("dog"))(t) }

func random(seed uint64, n int) []float32 {
	r, x := rand.New(rand.NewPCG(seed, 1)), make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// TestAlone: a row has the same bits alone, in a batch, in any tile and in any chunk.
func TestAlone(t *testing.T) {
	n := dog(t)
	in, out := n.Inputs(), n.Outputs()
	const most = 70
	x := random(1, most*in)
	all := make([]float32, most*out)
	s := open(t, n, netruntime.SessionOptions{Batch: most})
	must.Do(t, s.Run(all, x, most))
	gating := slices.Clone(s.Gating())
	k := len(gating) / most
	for _, rows := range []int{1, 3, 4, 5, 8, 9, 16, 17, 33} {
		y := make([]float32, rows*out)
		must.Do(t, s.Run(y, x, rows))
		if !slices.Equal(y, all[:rows*out]) || !slices.Equal(s.Gating(), gating[:rows*k]) {
			t.Errorf("%d rows differ from %d", rows, most)
		}
	}
	s.most = 9 // chunks, and a rest
	y := make([]float32, most*out)
	must.Do(t, s.Run(y, x, most))
	if !slices.Equal(y, all) || !slices.Equal(s.Gating(), gating) {
		t.Error("chunks change the results")
	}
}

// TestSkipBelow leaves out experts of small weight, as the processor does.
func TestSkipBelow(t *testing.T) {
	n := dog(t)
	const rows = 9
	x := random(2, rows*n.Inputs())
	y, want := make([]float32, rows*n.Outputs()), make([]float32, rows*n.Outputs())
	whole := slices.Clone(y)
	for _, skip := range []float32{0, 0.2} {
		cpu := must.Get(n.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 1, SkipBelow: skip}))(t)
		must.Do(t, cpu.Run(want, x, rows))
		s := open(t, n, netruntime.SessionOptions{Batch: rows, SkipBelow: skip})
		must.Do(t, s.Run(y, x, rows))
		if e := off(y, want); !(e <= 2e-5) {
			t.Errorf("below %g skipped: off by %g", skip, e)
		}
		if e := off(s.Gating(), cpu.Gating()); !(e <= 2e-5) {
			t.Errorf("below %g skipped: the gating is off by %g", skip, e)
		}
		if skip == 0 {
			copy(whole, y)
		} else if off(y, whole) < 1e-3 {
			t.Error("nothing is skipped")
		}
	}
}

// off returns the largest difference from want, of the largest value.
func off(y, want []float32) float64 {
	if len(y) != len(want) {
		return math.Inf(1)
	}
	most, size := 0.0, 0.0
	for i, v := range want {
		most, size = max(most, math.Abs(float64(y[i]-v))), max(size, math.Abs(float64(v)))
	}
	return most / size
}

// TestShipped runs every shipped network and compares with the processor.
func TestShipped(t *testing.T) {
	for _, name := range models.Names() {
		t.Run(name, func(t *testing.T) {
			n, err := models.Open(name)
			if err != nil {
				t.Skip(err) // no network
			}
			length := halved(n)
			for _, run := range [][2]int{{1, length}, {3, 2 * length}} {
				o := netruntime.SessionOptions{Batch: run[0], Length: run[1], Workers: 1}
				s, cpu := open(t, n, o), must.Get(n.NewSession(o))(t)
				in, out := arrays(n, run[0], run[1])
				_, want := arrays(n, run[0], run[1])
				must.Do(t, s.RunSequences(out, in, run[0], run[1]))
				must.Do(t, cpu.RunSequences(want, in, run[0], run[1]))
				for i := range out {
					e := off(out[i], want[i])
					t.Logf("%d sequences of %d: output %d is off by %.2g", run[0], run[1], i, e)
					if !(e <= 1e-4) {
						t.Error("too much")
					}
				}
			}
		})
	}
}

// TestTogether runs sessions of one network from several goroutines.
func TestTogether(t *testing.T) {
	n := dog(t)
	x, want := random(3, n.Inputs()), make([]float32, n.Outputs())
	must.Do(t, open(t, n, netruntime.SessionOptions{Batch: 1}).Run(want, x, 1))
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			s, err := NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: 1, Workers: 1}, Timeout: time.Hour})
			if err != nil {
				t.Error(err)
				return
			}
			y := make([]float32, len(want))
			for range 5 {
				clear(y)
				if err := s.Run(y, x, 1); err != nil || !slices.Equal(y, want) {
					t.Errorf("%v, equal: %v", err, slices.Equal(y, want))
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestMisuse: invalid arguments are errors, and lose nothing.
func TestMisuse(t *testing.T) {
	n := dog(t)
	s := open(t, n, netruntime.SessionOptions{Batch: 2})
	x, y := make([]float32, 2*n.Inputs()), make([]float32, 2*n.Outputs())
	for what, err := range map[string]error{
		"rows":   s.Run(y, x, 3),
		"minus":  s.Run(y, x, -1),
		"input":  s.Run(y, x[:1], 1),
		"output": s.Run(y[:1], x, 1),
		"length": s.RunSequences([][]float32{y}, [][]float32{x}, 1, 2),
		"arrays": s.RunSequences([][]float32{y}, nil, 1, 1),
	} {
		if err == nil {
			t.Error(what, ": no error")
		}
	}
	must.Do(t, s.Run(y, x, 0))
	must.Do(t, s.Run(y, x, 2))
	must.Do(t, s.Close())
	must.Do(t, s.Close())
	if s.Run(y, x, 1) == nil {
		t.Error("a closed session runs")
	}
	for _, o := range []Options{{Timeout: -1}, {SessionOptions: netruntime.SessionOptions{Batch: 0, Workers: 1}}} {
		if _, err := NewSession(n, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestAllocations: runs allocate nothing through Vulkan. In a browser they do, for references to JavaScript's objects, however many rows there are.
func TestAllocations(t *testing.T) {
	n := dog(t)
	s := open(t, n, netruntime.SessionOptions{Batch: 64})
	x, y := make([]float32, 64*n.Inputs()), make([]float32, 64*n.Outputs())
	for _, rows := range []int{1, 64} {
		fewAllocations(t, func() { must.Do(t, s.Run(y, x, rows)) })
	}
}

// fewAllocations fails the test if a run allocates more often than it must.
func fewAllocations(t *testing.T, run func()) {
	t.Helper()
	allocs := math.Inf(1)
	for range 5 {
		allocs = min(allocs, testing.AllocsPerRun(1, run))
	}
	t.Logf("%.0f allocations", allocs)
	if allocs > mostAllocations && !race.Enabled { // with which sync.Pool forgets
		t.Errorf("at most %d are allowed", mostAllocations)
	}
}

// TestWeightsAreShared uploads a network once, and frees it with its last session.
func TestWeightsAreShared(t *testing.T) {
	n := dog(t)
	a, b := open(t, n, netruntime.SessionOptions{Batch: 1}), open(t, n, netruntime.SessionOptions{Batch: 2})
	if a.weights != b.weights || len(uploaded) != 1 {
		t.Fatal("sessions of a network do not share its weights: ", len(uploaded))
	}
	must.Do(t, a.Close())
	must.Do(t, b.Run(make([]float32, n.Outputs()), make([]float32, n.Inputs()), 1))
	must.Do(t, b.Close())
	if len(uploaded) != 0 {
		t.Error("the weights are not freed")
	}
}

func TestTileOf(t *testing.T) {
	var got []int
	for _, rows := range []int{1, 4, 8, 9, 64} {
		got = append(got, tiles[tileOf(rows)].rows())
	}
	if want := []int{4, 4, 4, 16, 16}; !slices.Equal(got, want) {
		t.Error(fmt.Sprint(got, ", want ", want))
	}
}
