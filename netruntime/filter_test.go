package netruntime

import (
	"fmt"
	"math"
	"testing"

	"mannequin/internal/kernel"
)

type filterCase struct {
	graphCase
	taps int // of its filters
}

// filterCases are graphs whose convolutions of the given width are heavy: side
// by side on one operand, one tied and reversed in time, one of an operand that
// an ordinary convolution reads as well, with what is folded into them and
// what follows.
func filterCases() []filterCase {
	var cases []filterCase
	add := func(name string, factor, taps int, f func(m *maker) []string) {
		m := newMaker(uint64(len(cases)))
		cases = append(cases, filterCase{graphCase{name, m.net(f(m)...), factor}, taps})
	}
	for _, width := range []int{3, 4, 5, 6, 7, 8, 9, 13, 16, 25} {
		in := max(12, 100/width)
		out := heavyWeights/(in*width) + 1
		add(fmt.Sprintf("width %d", width), 1, width, func(m *maker) []string {
			x := m.input("x", in, false)
			a := m.node(Node{Op: OpConv, In: []string{x}, Act: "elu"}, out, width)
			b := m.node(Node{Op: OpConv, In: []string{x}, Tied: true, Flip: true}, out, width)
			b = m.node(Node{Op: OpBatchNorm, In: []string{b}, Act: "tanh"}, 0, 0)
			b = m.node(Node{Op: OpDenormalize, In: []string{b}}, 0, 0)
			c := m.node(Node{Op: OpConv, In: []string{a}, Flip: true}, 3, 4)
			return []string{b, c, m.node(Node{Op: OpConv, In: []string{a}}, in, width), a}
		})
		add(fmt.Sprintf("depool, width %d", width), 2, width/2+1, func(m *maker) []string {
			p := m.node(Node{Op: OpMaxPool, In: []string{m.input("x", 2*in, false)}}, 0, 0)
			u := m.node(Node{Op: OpDepool, In: []string{p}}, 0, 0)
			a := m.node(Node{Op: OpConv, In: []string{u}, Act: "relu"}, out, width)
			return []string{m.node(Node{Op: OpBatchNorm, In: []string{a}}, 0, 0)}
		})
	}
	return cases
}

// TestFilters says which convolutions are filters.
func TestFilters(t *testing.T) {
	filtered := func(n *Net, bf16 bool) (widths []int) {
		for _, o := range compile(n, planKey{kernel.Active(), bf16}).ops {
			if p, ok := o.(*product); ok && p.filter != nil {
				widths = append(widths, p.taps)
			}
		}
		return widths
	}
	for _, c := range []struct {
		width, channels int
		want            bool
	}{{25, 73, true}, {15, 128, true}, {45, 7, true}, {3, 64, true}, {5, 60, true}, {4, 64, false}, {7, 64, false}, {1, 500, false}, {15, 5, false}, {kernel.MaxFilterWidth, 2, true}, {kernel.MaxFilterWidth + 1, 2, false}} {
		m := newMaker(1)
		n := m.net(m.node(Node{Op: OpConv, In: []string{m.input("x", c.channels, false)}}, 256, c.width))
		if got := filtered(n, false); (len(got) == 1) != c.want {
			t.Errorf("%d taps of %d channels: filters of %v taps, want some: %v", c.width, c.channels, got, c.want)
		}
		if got := filtered(n, true); len(got) > 0 {
			t.Errorf("%d taps of %d channels in bfloat16: filters of %v taps", c.width, c.channels, got)
		}
	}
	m := newMaker(1) // two of the same taps share the planes
	x := m.input("x", 64, false)
	n := m.net(m.node(Node{Op: OpConv, In: []string{x}}, 256, 9), m.node(Node{Op: OpConv, In: []string{x}}, 200, 9))
	if got := len(compile(n, planKey{kernel.Active(), false}).ops); got != 3 {
		t.Errorf("two filters of one value make %d operations", got)
	}
	for _, w := range works()[:2] {
		if got := filtered(w.net, false); len(got) < 2 {
			t.Errorf("%s: filters of %v taps", w.name, got)
		}
	}
}

// filterLengths are lengths around multiples of a block.
func filterLengths(taps int) []int {
	block := kernel.Taps{Width: taps}.Block()
	return []int{1, 2, block/2 + 1, block - 1, block, block + 1, 2 * block, 3*block + 1}
}

// TestFiltersAgainstFloat64 takes one session through lengths up and down, and
// every sequence then must have the bits that it has alone.
func TestFiltersAgainstFloat64(t *testing.T) {
	for _, c := range filterCases() {
		type run struct{ batch, length int }
		var runs []run
		for i, length := range filterLengths(c.taps) {
			runs = append(runs, run{[]int{5, 1, 2, 3, 4}[i%5], c.factor * length})
		}
		longest := runs[len(runs)-1].length
		want := map[run][][]float64{}
		for _, r := range runs {
			_, in := arrays(c.net, 5, r.batch, r.length)
			want[r] = interpret(c.net, in, r.batch, r.length)
		}
		for _, kind := range kernel.Kinds() {
			t.Run(c.name+"/"+kind.String(), func(t *testing.T) {
				defer kernel.Force(kind)()
				alone := openWith(t, c.net, SessionOptions{Batch: 1, Length: longest, Workers: 1})
				crews := []int{1, 2, 3, 5}
				if kind == kernel.Generic {
					crews = []int{3}
				}
				for _, workers := range crews {
					s := openWith(t, c.net, SessionOptions{Batch: 5, Length: longest, Workers: workers})
					for _, r := range runs {
						out, in := arrays(c.net, 5, r.batch, r.length)
						if err := s.RunSequences(out, in, r.batch, r.length); err != nil {
							t.Fatal(err)
						}
						one, _ := arrays(c.net, 5, 1, r.length)
						last := r.batch - 1
						if err := alone.RunSequences(one, pick(in, r.batch, last, 1), 1, r.length); err != nil {
							t.Fatal(err)
						}
						for i := range out {
							if e := relative(out[i], want[r][i]); !(e <= 1e-5) {
								t.Fatalf("%d workers, %d sequences of %d: output %d is off by %.2g", workers, r.batch, r.length, i, e)
							}
							if at := different(pick(out, r.batch, last, 1)[i], one[i]); at >= 0 {
								t.Fatalf("%d workers, %d sequences of %d: output %d of the last differs from its own alone at %d", workers, r.batch, r.length, i, at)
							}
						}
					}
					s.Close()
				}
			})
		}
	}
}

// TestFiltersKeepNaNInItsSequence gives one of some sequences a NaN.
func TestFiltersKeepNaNInItsSequence(t *testing.T) {
	for _, c := range filterCases() {
		for _, batch := range []int{2, 5} {
			length := c.factor * (c.taps + 3)
			s := openWith(t, c.net, SessionOptions{Batch: batch, Length: length, Workers: 2})
			want, in := arrays(c.net, 3, batch, length)
			out, _ := arrays(c.net, 3, batch, length)
			if err := s.RunSequences(want, in, batch, length); err != nil {
				t.Fatal(err)
			}
			pick(in, batch, 1, 1)[0][5] = float32(math.NaN())
			for range 2 { // the second run finds the NaN in all buffers
				if err := s.RunSequences(out, in, batch, length); err != nil {
					t.Fatal(err)
				}
			}
			for i := range out {
				for q := range batch {
					same := different(pick(out, batch, q, 1)[i], pick(want, batch, q, 1)[i]) < 0
					if same != (q != 1) {
						t.Fatalf("%s: sequence 1 of %d has a NaN; output %d of sequence %d is the same: %v", c.name, batch, i, q, same)
					}
				}
			}
			s.Close()
		}
	}
}

func TestFiltersAllocateNothing(t *testing.T) {
	for _, c := range works()[:2] {
		for _, batch := range []int{1, 4} {
			s := openWith(t, c.net, SessionOptions{Batch: batch, Length: 60, Workers: 2})
			out, in := arrays(c.net, 1, batch, 60)
			short, _ := arrays(c.net, 1, 1, 2)
			if got := testing.AllocsPerRun(3, func() {
				if s.RunSequences(out, in, batch, 60) != nil || s.RunSequences(short, in, 1, 2) != nil {
					panic("run failed")
				}
			}); got != 0 {
				t.Errorf("%s: %v allocations per run of %d sequences", c.name, got, batch)
			}
			s.Close()
		}
	}
}
