//go:build cuda

package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
	"unsafe"

	"mannequin/internal/testing/fakecuda"
	"mannequin/internal/testing/must"
	"mannequin/netruntime"
	"mannequin/netruntime/internal/program"
)

func TestMain(m *testing.M) { fakecuda.Main(m) }

// blends makes a mixture of experts with one hidden layer. The quadruped's network has two.
func blends(t testing.TB, in, hidden, out, experts int) *netruntime.Net {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(in*hidden*out)))
	tensor := func(name string, scale float64, shape ...int) netruntime.Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		x := netruntime.Tensor{Name: name, Shape: shape, Data: make([]float32, n)}
		for i := range x.Data {
			x.Data[i] = float32(scale * r.NormFloat64())
		}
		return x
	}
	g := &netruntime.Graph{
		Inputs: []netruntime.Input{{Name: "x", Channels: in}},
		Nodes: []netruntime.Node{
			{Name: "logits", Op: netruntime.OpDense, In: []string{"x"}},
			{Name: "omega", Op: netruntime.OpSoftmax, In: []string{"logits"}},
			{Name: "h", Op: netruntime.OpBlend, In: []string{"x", "omega"}, Act: "elu"},
			{Name: "y", Op: netruntime.OpBlend, In: []string{"h", "omega"}},
		},
		Outputs: []string{"y"},
	}
	fan := func(n int) float64 { return 1 / math.Sqrt(float64(n)) }
	n, err := netruntime.New(netruntime.Meta{Name: "blends", Arch: "graph", Graph: g}, []netruntime.Tensor{
		tensor("logits.weight", 2*fan(in), experts, in), tensor("logits.bias", 1, experts),
		tensor("h.weight", fan(in), experts, hidden, in), tensor("h.bias", 0.2, experts, hidden),
		tensor("y.weight", fan(hidden), experts, out, hidden), tensor("y.bias", 0.2, experts, out),
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func values(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func poisoned(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = -1e30
	}
	return x
}

// open opens a session on the GPU.
func open(t testing.TB, n *netruntime.Net, batch int, p Precision) *session {
	t.Helper()
	s := must.Get(NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: batch, Workers: 2}, Precision: p, Timeout: time.Minute}))(t)
	c, ok := s.(*session)
	if !ok {
		t.Fatal("the session is the processor's, ", s.Kernel())
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// onCPU computes rows on the processor.
func onCPU(t testing.TB, n *netruntime.Net, x []float32, rows int) (y, gating []float32) {
	t.Helper()
	s := must.Get(n.NewSession(netruntime.SessionOptions{Batch: rows, Workers: 2}))(t)
	defer s.Close()
	y = make([]float32, rows*n.Outputs())
	must.Do(t, s.Run(y, x, rows))
	return y, append([]float32(nil), s.Gating()...)
}

func off(got, want []float32) float64 {
	most, size := 0.0, 1e-3
	for i, w := range want {
		if got[i] != got[i] {
			return math.NaN()
		}
		most, size = max(most, math.Abs(float64(got[i]-w))), max(size, math.Abs(float64(w)))
	}
	return most / size
}

var ownTiles = tiles

// onlyTile makes products prefer a tile until the test ends.
func onlyTile(t testing.TB, i int) {
	tiles = ownTiles
	for j := range tiles {
		if j != i {
			tiles[j].time = 1 << 20
		}
	}
	t.Cleanup(func() { tiles = ownTiles })
}

// TestTiles runs sizes on both sides of the tiles' edges in every tile.
func TestTiles(t *testing.T) {
	type size struct{ rows, in, hidden, out int }
	for _, z := range []size{{1, 64, 128, 130}, {63, 65, 127, 257}, {65, 33, 320, 129}, {256, 70, 257, 128}, {257, 31, 300, 131}, {300, 96, 130, 363}} {
		n := blends(t, z.in, z.hidden, z.out, 3)
		x := values(3, z.rows*z.in)
		want, gating := onCPU(t, n, x, z.rows)
		for i := range tiles {
			t.Run(fmt.Sprintf("%s/%+v", tiles[i].name, z), func(t *testing.T) {
				onlyTile(t, i)
				for p, tolerance := range map[Precision]float64{FP32: 1e-5, TF32: 4e-3, BF16: 0.03} {
					s := open(t, n, z.rows, p)
					if got := s.device.tile(program.FP32, z.rows, z.out); got != i {
						t.Fatalf("tile %s", tiles[got].name)
					}
					y := poisoned(z.rows * z.out)
					must.Do(t, s.Run(y, x, z.rows))
					if e := off(y, want); !(e <= tolerance) {
						t.Errorf("%s is off by %.2g", p, e)
					}
					if e := off(s.Gating(), gating); !(e <= 1e-5) || len(s.Gating()) != len(gating) {
						t.Errorf("%s: %d gating weights, off by %.2g", p, len(s.Gating()), e)
					}
				}
			})
		}
	}
	onGPU(t)
}

// onGPU fails the test if the processor has computed a run.
func onGPU(t testing.TB) {
	t.Helper()
	if n := Fallbacks(); n != 0 || state.Lost.Load() {
		t.Fatal(n, " runs fell back to the processor")
	}
}

// TestRowsKeepTheirBits runs rows alone and among others, through the caller's memory and the
// session's, in small and large tiles.
func TestRowsKeepTheirBits(t *testing.T) {
	const rows = 300
	n := blends(t, 40, 280, 30, 4)
	x := values(5, rows*40)
	x[7*40+3] = float32(math.NaN())
	x[9*40] = float32(math.Inf(1))
	for _, p := range []Precision{FP32, TF32, BF16} {
		s := open(t, n, rows, p)
		want := poisoned(rows * 30)
		must.Do(t, s.Run(want, x, rows))
		for i, v := range want {
			if bad := i/30 == 7 || i/30 == 9; (v != v) != bad {
				t.Fatalf("%s: row %d has %g", p, i/30, v)
			}
		}
		in := must.Get(s.Buffer(rows * 40))(t)
		out := must.Get(s.Buffer(rows * 30))(t)
		copy(in, x)
		same := func(what string, y []float32, from int) {
			t.Helper()
			for i, v := range y {
				if w := want[from*30+i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
					t.Fatalf("%s, %s: row %d is %g, was %g", p, what, from+i/30, v, w)
				}
			}
		}
		for _, r := range [][2]int{{0, 1}, {7, 1}, {120, 13}, {0, rows}, {99, 201}} {
			copy(out, poisoned(rows*30))
			must.Do(t, s.Run(out[:r[1]*30], in[r[0]*40:], r[1]))
			same(fmt.Sprintf("%d rows", r[1]), out[:r[1]*30], r[0])
		}
		for i := range tiles {
			onlyTile(t, i)
			s.most = 67 - i
			copy(out, poisoned(rows*30))
			must.Do(t, s.Run(out, in, rows))
			same("in chunks and tiles "+tiles[i].name, out, 0)
		}
	}
	onGPU(t)
}

// TestChunks sends chunks through all lanes, with and without intermediate copies.
func TestChunks(t *testing.T) {
	const rows = splitRows + 700
	n := blends(t, 9, 24, 5, 2)
	s := open(t, n, rows, FP32)
	if len(s.lanes) != mostLanes {
		t.Fatal(len(s.lanes), " lanes")
	}
	x := values(6, rows*9)
	want, _ := onCPU(t, n, x, rows)
	in := must.Get(s.Buffer(rows * 9))(t)
	out := must.Get(s.Buffer(rows * 5))(t)
	copy(in, x)
	for i, side := range []struct{ in, out []float32 }{{x, make([]float32, rows*5)}, {in, out}, {x, out}, {in, make([]float32, rows*5)}} {
		copy(side.out, poisoned(rows*5))
		s.most = rows/7 + i
		must.Do(t, s.Run(side.out, side.in, rows))
		if e := off(side.out, want); !(e <= 1e-5) {
			t.Fatalf("case %d is off by %g", i, e)
		}
	}
	onGPU(t)
}

// TestSkipBelow skips experts as the processor does, beside a session that skips none.
func TestSkipBelow(t *testing.T) {
	const rows = 40
	n := blends(t, 30, 200, 20, 5)
	open(t, n, rows, FP32)
	o := netruntime.SessionOptions{Batch: rows, Workers: 1, SkipBelow: 0.2}
	cpu := must.Get(n.NewSession(o))(t)
	defer cpu.Close()
	s := must.Get(NewSession(n, Options{SessionOptions: o}))(t)
	defer s.Close()
	x, y, want := values(8, rows*30), poisoned(rows*20), make([]float32, rows*20)
	must.Do(t, s.Run(y, x, rows))
	must.Do(t, cpu.Run(want, x, rows))
	if e := off(y, want); !(e <= 1e-5) {
		t.Errorf("off by %g", e)
	}
	if e := off(s.Gating(), cpu.Gating()); !(e <= 1e-5) {
		t.Errorf("gating is off by %g", e)
	}
	onGPU(t)
}

// TestGating checks that the weights belong to the last run's rows, also if the processor computed
// it.
func TestGating(t *testing.T) {
	n := blends(t, 30, 20, 20, 5)
	s := open(t, n, 9, FP32)
	x := values(4, 9*30)
	for _, rows := range []int{9, 2, 0, 5} {
		_, want := onCPU(t, n, x, max(rows, 1))
		must.Do(t, s.Run(make([]float32, 9*20), x, rows))
		if got := s.Gating(); len(got) != 5*rows || !(off(got, want[:5*rows]) <= 1e-5) {
			t.Errorf("%d rows: %d weights, off by %g", rows, len(got), off(got, want[:5*rows]))
		}
	}
	onGPU(t)
}

// TestBuffers checks that a session's memory is zeros, and that a slice that only begins in it does
// not count as part of it.
func TestBuffers(t *testing.T) {
	n := blends(t, 30, 20, 20, 5)
	s := open(t, n, 9, FP32)
	b := must.Get(s.Buffer(100))(t)
	for i, v := range b {
		if v != 0 {
			t.Fatalf("value %d is %g", i, v)
		}
	}
	for i, c := range []struct {
		x    []float32
		want bool
	}{{b, true}, {b[3:], true}, {b[99:], true}, {make([]float32, 3), false}, {unsafe.Slice(&b[0], 101), false}, {unsafe.Slice(&b[99], 2), false}} {
		if got := s.direct(c.x); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

func TestRunsAllocateNothing(t *testing.T) {
	n := blends(t, 20, 60, 20, 3)
	s := open(t, n, 70, FP32)
	x, y := values(9, 70*20), make([]float32, 70*20)
	must.Do(t, s.Run(y, x, 70))
	if a := testing.AllocsPerRun(5, func() {
		must.Do(t, s.Run(y, x, 70))
	}); a > 0 {
		t.Errorf("%g allocations per run", a)
	}
	// Nor when the length changes.
	g := &netruntime.Graph{
		Inputs:  []netruntime.Input{{Name: "x", Channels: 3}},
		Nodes:   []netruntime.Node{{Name: "c", Op: netruntime.OpConv, In: []string{"x"}}, {Name: "y", Op: netruntime.OpMaxPool, In: []string{"c"}}},
		Outputs: []string{"y"},
	}
	n, err := netruntime.New(netruntime.Meta{Name: "conv", Arch: "graph", Graph: g}, []netruntime.Tensor{
		{Name: "c.weight", Shape: []int{4, 3, 5}, Data: values(1, 60)}, {Name: "c.bias", Shape: []int{4}, Data: values(2, 4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := must.Get(NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: 2, Length: 9, Workers: 1}}))(t)
	defer c.Close()
	out, in := [][]float32{make([]float32, 2*4*4)}, [][]float32{values(3, 2*8*3)}
	if a := testing.AllocsPerRun(5, func() {
		for _, length := range []int{8, 4} {
			must.Do(t, c.RunSequences(out, in, 2, length))
		}
	}); a > 0 {
		t.Errorf("%g allocations per two lengths", a)
	}
	onGPU(t)
}

// TestArguments checks that invalid arguments give the processor's errors and do not lose the GPU.
func TestArguments(t *testing.T) {
	n := blends(t, 4, 5, 6, 2)
	s := open(t, n, 3, FP32)
	for _, err := range []error{
		s.Run(make([]float32, 18), make([]float32, 12), 4), s.Run(make([]float32, 18), make([]float32, 12), -1),
		s.Run(make([]float32, 17), make([]float32, 12), 3), s.Run(make([]float32, 18), make([]float32, 11), 3),
		s.RunSequences(nil, nil, 1, 1), s.RunSequences([][]float32{make([]float32, 60)}, [][]float32{make([]float32, 60)}, 1, 2),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
	if err := s.Run(nil, nil, 0); err != nil {
		t.Error(err)
	}
	must.Fail(NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: 1, Workers: 1}, Precision: "fp8"}))(t, "fp8")
	must.Fail(NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: 1, Workers: 1}, Timeout: -1}))(t, "timeout")
	if _, err := NewSession(n, Options{}); err == nil {
		t.Error("no error for no rows")
	}
	s.Close()
	if err := s.Run(make([]float32, 6), make([]float32, 4), 1); err == nil {
		t.Error("a closed session runs")
	}
	if _, err := s.Buffer(1); err == nil {
		t.Error("a closed session gives memory")
	}
	onGPU(t)
}

func TestEverythingIsFreed(t *testing.T) {
	if fakecuda.Device() {
		t.Skip("counts the fake driver's objects")
	}
	n := blends(t, 4, 5, 6, 2)
	if _, err := Device(); err != nil {
		t.Fatal(err)
	}
	before := fakecuda.Live()
	a, b := open(t, n, 3, FP32), open(t, n, 8000, FP32)
	if a.weights != b.weights {
		t.Error("two sessions have two copies of the weights")
	}
	if _, err := a.Buffer(100); err != nil {
		t.Fatal(err)
	}
	a.Close()
	a.Close()
	must.Do(t, b.Run(make([]float32, 6), make([]float32, 4), 1))
	b.Close()
	if n := fakecuda.Live(); n != before {
		t.Errorf("%d objects on the GPU, were %d", n, before)
	}
	onGPU(t)
}

// TestSessionsSideBySide runs sessions on several goroutines.
func TestSessionsSideBySide(t *testing.T) {
	n := blends(t, 20, 60, 20, 3)
	x := values(9, 70*20)
	want, _ := onCPU(t, n, x, 70)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := NewSession(n, Options{SessionOptions: netruntime.SessionOptions{Batch: 70, Workers: 1}})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			y := poisoned(70 * 20)
			for range 3 {
				if err := s.Run(y, x, 70); err != nil {
					t.Error(err)
				}
				if e := off(y, want); !(e <= 1e-5) {
					t.Errorf("off by %g", e)
				}
			}
		})
	}
	wg.Wait()
	onGPU(t)
}

// TestMachine runs the self-test of the layer on which the kernels run on the processor.
func TestMachine(t *testing.T) {
	program := filepath.Join(t.TempDir(), "machine_test")
	if out, err := exec.Command("g++", "-O2", "-std=c++17", "-Ihost", "host/machine_test.cpp", "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
