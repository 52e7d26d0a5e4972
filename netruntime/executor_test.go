package netruntime

import (
	"math"
	"math/rand/v2"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

// openWith returns a session that the test closes.
func openWith(t testing.TB, n *Net, o SessionOptions) Session {
	s := must.Get(n.NewSession(o))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// arrays returns random inputs and memory for the outputs of a run.
func arrays(n *Net, seed uint64, batch, length int) (out, in [][]float32) {
	g := n.Graph()
	size := func(name string) int {
		l, err := g.Length(name, length)
		if err != nil {
			panic(err)
		}
		for _, v := range n.Values() {
			if v.Name == name {
				return batch * l * v.Channels
			}
		}
		panic(name)
	}
	for i, x := range g.Inputs {
		in = append(in, randomRows(seed+uint64(i)*977, size(x.Name)))
	}
	for _, name := range g.Outputs {
		out = append(out, make([]float32, size(name)))
	}
	return out, in
}

// pick returns sequences [from, from + batch) of arrays of total sequences.
func pick(xs [][]float32, total, from, batch int) [][]float32 {
	out := make([][]float32, len(xs))
	for i, x := range xs {
		n := len(x) / total
		out[i] = x[from*n : (from+batch)*n]
	}
	return out
}

func relative(got []float32, want []float64) float64 {
	sum, most := 0.0, 0.0
	for i, w := range want {
		sum = max(sum, math.Abs(float64(got[i])-w))
		if got[i] != got[i] {
			return math.NaN()
		}
		most = max(most, math.Abs(w))
	}
	return sum / max(most, 1e-3)
}

// eachType runs f for every family of kernels, and in bfloat16.
func eachType(t *testing.T, f func(t *testing.T, bf16 bool)) {
	for _, k := range kernel.Kinds() {
		t.Run(k.String(), func(t *testing.T) {
			defer kernel.Force(k)()
			f(t, false)
		})
	}
	if kernel.BF16() {
		t.Run("bf16", func(t *testing.T) { f(t, true) })
	}
}

func tolerance(bf16 bool) float64 {
	if bf16 {
		return 0.03
	}
	return 2e-5
}

// TestGraphsAgainstFloat64 runs every graph in one session with rising and falling batches and
// lengths.
func TestGraphsAgainstFloat64(t *testing.T) {
	for _, c := range graphCases() {
		const batch, length = 5, 12
		type run struct{ batch, length int }
		runs := []run{{1, 12}, {5, 12}, {2, 4}, {5, 2}, {3, 8}}
		if c.factor == 1 {
			runs = append(runs, run{5, 1}, run{2, 7})
		}
		want := map[run][][]float64{}
		for _, r := range runs {
			_, in := arrays(c.net, 5, r.batch, r.length)
			want[r] = interpret(c.net, in, r.batch, r.length)
		}
		eachType(t, func(t *testing.T, bf16 bool) {
			for _, workers := range []int{1, 2, 3, 5} {
				s := openWith(t, c.net, SessionOptions{Batch: batch, Length: length, Workers: workers, BF16: bf16})
				for _, r := range runs {
					out, in := arrays(c.net, 5, r.batch, r.length)
					must.Do(t, s.RunSequences(out, in, r.batch, r.length))
					for i := range out {
						if e := relative(out[i], want[r][i]); !(e <= tolerance(bf16)) {
							t.Fatalf("%s, %d workers, %d sequences of %d: output %d is off by %.2g", c.name, workers, r.batch, r.length, i, e)
						}
					}
				}
				s.Close()
			}
		})
	}
}

// TestSequencesKeepTheirBits runs every sequence alone, then among others, in batches small and
// large enough for both ways of sharing the work.
func TestSequencesKeepTheirBits(t *testing.T) {
	for _, c := range graphCases() {
		eachType(t, func(t *testing.T, bf16 bool) {
			total, crews := 50, []int{1, 2, 3, 5}
			if kernel.Active() == kernel.Generic {
				total, crews = 13, []int{2, 3}
			}
			for _, skip := range []float32{0, 0.15} {
				if skip > 0 && c.name != "blend" {
					continue
				}
				for _, length := range []int{2, 16} {
					want, in := arrays(c.net, 8, total, length)
					alone := openWith(t, c.net, SessionOptions{Batch: 1, Length: length, Workers: 1, BF16: bf16, SkipBelow: skip})
					for q := range total {
						must.Do(t, alone.RunSequences(pick(want, total, q, 1), pick(in, total, q, 1), 1, length))
					}
					for _, workers := range crews {
						s := openWith(t, c.net, SessionOptions{Batch: total, Length: length + 3, Workers: workers, BF16: bf16, SkipBelow: skip})
						for _, batch := range []int{1, 2, 5, 13, total} {
							from := (7 * batch) % (total - batch + 1)
							out, _ := arrays(c.net, 0, batch, length)
							must.Do(t, s.RunSequences(out, pick(in, total, from, batch), batch, length))
							for i, w := range pick(want, total, from, batch) {
								if at := different(out[i], w); at >= 0 {
									t.Fatalf("%s, skip %g, %d workers, %d sequences of %d from %d: output %d differs at %d: %g, alone %g",
										c.name, skip, workers, batch, length, from, i, at, out[i][at], w[at])
								}
							}
						}
						s.Close()
					}
					alone.Close()
				}
			}
		})
	}
}

// TestBadSequencesStayAlone puts NaN and infinities into some sequences.
func TestBadSequencesStayAlone(t *testing.T) {
	for _, c := range graphCases() {
		eachType(t, func(t *testing.T, bf16 bool) {
			for _, batch := range []int{4, 30} {
				if batch > 4 && kernel.Active() == kernel.Generic {
					continue
				}
				const length = 8
				s := openWith(t, c.net, SessionOptions{Batch: batch, Length: length, Workers: 2, BF16: bf16})
				want, in := arrays(c.net, 9, batch, length)
				out, _ := arrays(c.net, 9, batch, length)
				must.Do(t, s.RunSequences(want, in, batch, length))
				bad := map[int]float32{1: float32(math.NaN()), 3: float32(math.Inf(1))}
				for q, v := range bad {
					for _, x := range pick(in, batch, q, 1) {
						for i := range x {
							x[i] = v
						}
					}
				}
				// The second run finds the bad values in all buffers.
				for range 2 {
					must.Do(t, s.RunSequences(out, in, batch, length))
				}
				for i := range out {
					for q := range batch {
						got, was := pick(out, batch, q, 1)[i], pick(want, batch, q, 1)[i]
						if _, isBad := bad[q]; !isBad && different(got, was) >= 0 {
							t.Fatalf("%s: output %d of sequence %d of %d changed with its neighbours", c.name, i, q, batch)
						}
					}
				}
				s.Close()
			}
		})
	}
}

func TestGraphRunsAllocateNothing(t *testing.T) {
	for _, c := range graphCases() {
		for _, o := range []SessionOptions{
			{Batch: 2, Length: 16, Workers: 2}, {Batch: 30, Length: 16, Workers: 2, BF16: true}, {Batch: 30, Length: 16, Workers: 1, SkipBelow: 0.1},
		} {
			s := openWith(t, c.net, o)
			out, in := arrays(c.net, 1, o.Batch, o.Length)
			short, _ := arrays(c.net, 1, 1, 4)
			if got := testing.AllocsPerRun(3, func() {
				if s.RunSequences(out, in, o.Batch, o.Length) != nil || s.RunSequences(short, in, 1, 4) != nil {
					panic("run failed")
				}
			}); got != 0 {
				t.Errorf("%s: %v allocations per run with %+v", c.name, got, o)
			}
			s.Close()
		}
	}
}

// TestLongLSTM has more frames than are projected at once, in both directions, for few sequences
// and for several.
func TestLongLSTM(t *testing.T) {
	m := newMaker(7)
	a := m.node(Node{Op: OpLSTM, In: []string{m.input("x", 30, false)}}, 83, 0)
	b := m.node(Node{Op: OpLSTM, In: []string{a}, Reverse: true}, 83, 0)
	n := m.net(b, a+".h", b+".c")
	const most, length = 3, 401
	for _, o := range compile(n, planKey{kernel.Active(), false}).ops {
		for batch := 1; batch <= most; batch++ {
			if at := o.(*lstm).ahead(batch, length); at == 1 || at == length || length%at == 0 {
				t.Fatalf("%d sequences: %d frames are projected at once", batch, at)
			}
		}
	}
	all, in := arrays(n, 7, most, length)
	want := interpret(n, pick(in, most, 0, 1), 1, length)
	eachType(t, func(t *testing.T, bf16 bool) {
		for _, workers := range []int{1, 2} {
			s := openWith(t, n, SessionOptions{Batch: most, Length: length, Workers: workers, BF16: bf16})
			must.Do(t, s.RunSequences(all, in, most, length))
			for i, first := range pick(all, most, 0, 1) {
				if e := relative(first, want[i]); !(e <= tolerance(bf16)) {
					t.Fatalf("%d workers: output %d is off by %.2g", workers, i, e)
				}
			}
			for batch := 1; batch < most; batch++ {
				out, _ := arrays(n, 0, batch, length)
				must.Do(t, s.RunSequences(out, pick(in, most, 1, batch), batch, length))
				for i, w := range pick(all, most, 1, batch) {
					if at := different(out[i], w); at >= 0 {
						t.Fatalf("%d workers, %d sequences: output %d differs at %d", workers, batch, i, at)
					}
				}
			}
			s.Close()
		}
	})
}

// A sequence gives the same as its frames one by one, passing the state on.
func TestLSTMSteps(t *testing.T) {
	m := newMaker(4)
	x, h, c := m.input("x", 40, false), m.input("h", 90, true), m.input("c", 90, true)
	a := m.node(Node{Op: OpLSTM, In: []string{x, h, c}}, 90, 0)
	n := m.net(a, a+".h", a+".c")
	const batch, length = 3, 6
	s := openWith(t, n, SessionOptions{Batch: batch, Length: length, Workers: 2})
	out, in := arrays(n, 2, batch, length)
	must.Do(t, s.RunSequences(out, in, batch, length))
	state := [][]float32{in[1], in[2]}
	for f := range length {
		frame := make([]float32, 0, batch*40)
		for q := range batch {
			frame = append(frame, in[0][(q*length+f)*40:][:40]...)
		}
		step, _ := arrays(n, 0, batch, 1)
		must.Do(t, s.RunSequences(step, [][]float32{frame, state[0], state[1]}, batch, 1))
		for q := range batch {
			if different(step[0][q*90:][:90], out[0][(q*length+f)*90:][:90]) >= 0 {
				t.Fatalf("frame %d of sequence %d", f, q)
			}
		}
		state = step[1:]
	}
	if different(state[0], out[1]) >= 0 || different(state[1], out[2]) >= 0 {
		t.Fatal("last state")
	}
}

// TestSkipBelow compares with a blend whose small weights are replaced by zero.
func TestSkipBelow(t *testing.T) {
	m := newMaker(6)
	x, w := m.input("x", 30, false), m.input("w", 4, false)
	n := m.net(m.node(Node{Op: OpBlend, In: []string{x, w}, Act: "tanh"}, 70, 0))
	r := rand.New(rand.NewPCG(1, 1))
	eachType(t, func(t *testing.T, bf16 bool) {
		for _, batch := range []int{1, 7, 250} {
			out, in := arrays(n, 3, batch, 1)
			cut := make([]float32, len(in[1]))
			for i := range cut {
				if in[1][i] = r.Float32(); in[1][i] >= 0.4 {
					cut[i] = in[1][i]
				}
			}
			s := openWith(t, n, SessionOptions{Batch: batch, Workers: 2, SkipBelow: 0.4, BF16: bf16})
			must.Do(t, s.RunSequences(out, in, batch, 1))
			if different(s.Gating(), in[1]) >= 0 || len(s.Gating()) != len(in[1]) {
				t.Fatal("the gating weights are not those that went in")
			}
			want := interpret(n, [][]float32{in[0], cut}, batch, 1)
			if e := relative(out[0], want[0]); !(e <= tolerance(bf16)) {
				t.Fatalf("%d rows: off by %g", batch, e)
			}
		}
	})
}

func TestKernelNames(t *testing.T) {
	n := odd.net(t, 1)
	for _, k := range kernel.Kinds() {
		restore := kernel.Force(k)
		want := k.String()
		if got := openWith(t, n, SessionOptions{Batch: 1, Workers: 1}).Kernel(); got != want {
			t.Errorf("%v kernels are called %q", k, got)
		}
		if kernel.BF16() {
			want += "_bf16"
		}
		if got := openWith(t, n, SessionOptions{Batch: 1, Workers: 1, BF16: true}).Kernel(); got != want {
			t.Errorf("%v kernels in bfloat16 are called %q", k, got)
		}
		restore()
	}
}

func TestRunSequencesChecks(t *testing.T) {
	m := newMaker(1)
	x := m.input("x", 3, false)
	p := m.node(Node{Op: OpMaxPool, In: []string{x}}, 0, 0)
	n := m.net(p, x)
	s := openWith(t, n, SessionOptions{Batch: 2, Length: 6, Workers: 1})
	out, in := arrays(n, 1, 2, 6)
	must.Do(t, s.RunSequences(out, in, 2, 6))
	if s.Gating() != nil {
		t.Error("gating of a network without blends")
	}
	for name, err := range map[string]error{
		"batch":      s.RunSequences(out, in, 3, 6),
		"negative":   s.RunSequences(out, in, -1, 6),
		"length":     s.RunSequences(out, in, 1, 8),
		"no length":  s.RunSequences(out, in, 1, 0),
		"odd length": s.RunSequences(out, in, 1, 5),
		"inputs":     s.RunSequences(out, nil, 1, 6),
		"outputs":    s.RunSequences(out[:1], in, 1, 6),
		"input":      s.RunSequences(out, pick(in, 2, 0, 1), 2, 6),
		"output":     s.RunSequences(pick(out, 2, 0, 1), in, 2, 6),
		"Run":        s.Run(out[0], in[0], 1),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, o := range []SessionOptions{
		{Batch: 1, Workers: 1}, {Batch: 1, Length: 1 << 20, Workers: 1}, {Batch: 1 << 21, Length: 2, Workers: 1},
		{Batch: 1, Length: 2, Workers: 1, SkipBelow: 1}, {Batch: 1, Length: 2, Workers: 1, SkipBelow: float32(math.NaN())}, {Batch: 1, Length: -1, Workers: 1},
	} {
		if _, err := n.NewSession(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	s.Close()
	if s.RunSequences(out, in, 2, 6) == nil {
		t.Error("a closed session runs")
	}
}
