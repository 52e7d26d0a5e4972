package netruntime

import (
	"fmt"
	"math"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

type filterCase struct {
	graphCase
	taps int // of its filters
}

// filterCases are graphs whose convolutions of the given width are heavy: side by side on one
// operand, one tied and reversed in time, and one whose operand an ordinary convolution reads too,
// with operations folded into them and operations after them.
func filterCases() []filterCase {
	var cases []filterCase
	add := func(name string, factor, taps int, f func(m *maker) []string) {
		m := newMaker(uint64(len(cases)))
		cases = append(cases, filterCase{graphCase{name, m.net(f(m)...), factor}, taps})
	}
	for _, width := range []int{3, 8, 25} {
		in := max(12, 100/width)
		out := HeavyWeights/(in*width) + 1
		add(fmt.Sprintf("width %d", width), 1, width, func(m *maker) []string {
			x := m.input("x", in, false)
			a := m.node(Node{Op: OpConv, In: []string{x}, Act: "elu"}, out, width)
			b := m.node(Node{Op: OpConv, In: []string{x}, Tied: true, Flip: true}, out, width)
			b = m.node(Node{Op: OpBatchNorm, In: []string{b}, Act: "tanh"}, 0, 0)
			b = m.node(Node{Op: OpDenormalize, In: []string{b}}, 0, 0)
			c := m.node(Node{Op: OpConv, In: []string{a}, Flip: true}, 3, 4)
			return []string{b, c, a}
		})
		if width == 3 {
			continue // it pools to two taps
		}
		for _, by := range []int{2, 3} {
			add(fmt.Sprintf("depool by %d, width %d", by, width), 2, width/by+1, func(m *maker) []string {
				p := m.node(Node{Op: OpMaxPool, In: []string{m.input("x", 2*in, false)}}, 0, 0)
				u := m.node(Node{Op: OpDepool, In: []string{p}, Factor: by}, 0, 0)
				a := m.node(Node{Op: OpConv, In: []string{u}, Act: "relu"}, out, width)
				return []string{m.node(Node{Op: OpBatchNorm, In: []string{a}}, 0, 0)}
			})
		}
	}
	return cases
}

// TestFilters checks which convolutions are filters.
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
	}{{25, 21, true}, {45, 12, true}, {3, 171, true}, {5, 103, true}, {4, 128, false}, {7, 74, false}, {1, 512, false}, {15, 30, false}, {kernel.MaxFilterWidth, 1, true}, {kernel.MaxFilterWidth + 1, 1, false}} {
		m := newMaker(1)
		n := m.net(m.node(Node{Op: OpConv, In: []string{m.input("x", c.channels, false)}}, 64, c.width))
		if got := filtered(n, false); (len(got) == 1) != c.want {
			t.Errorf("%d taps of %d channels: filters of %v taps, want some: %v", c.width, c.channels, got, c.want)
		}
		if kernel.BF16() && len(filtered(n, true)) > 0 {
			t.Errorf("%d taps of %d channels: a filter in bfloat16", c.width, c.channels)
		}
	}
	m := newMaker(1) // two of the same taps share the planes
	x := m.input("x", 32, false)
	n := m.net(m.node(Node{Op: OpConv, In: []string{x}}, 128, 9), m.node(Node{Op: OpConv, In: []string{x}}, 120, 9))
	if got := len(compile(n, planKey{kernel.Active(), false}).ops); got != 3 {
		t.Errorf("two filters of one value make %d operations", got)
	}
}

// filterLengths are lengths around multiples of a block.
func filterLengths(taps int) []int {
	block := kernel.Taps{Width: taps}.Block()
	return []int{1, block/2 + 1, 2 * block, block - 1, 2*block + 1}
}

// TestFiltersAgainstFloat64 runs sessions with rising and falling lengths. Every sequence must have
// the same bits as alone, and the first one must be right.
func TestFiltersAgainstFloat64(t *testing.T) {
	const total = 5
	for _, c := range filterCases() {
		lengths := filterLengths(c.taps)
		longest := c.factor * lengths[len(lengths)-1]
		exact := make([][][]float64, len(lengths))
		for i, length := range lengths {
			length *= c.factor
			_, in := arrays(c.net, 5, total, length)
			exact[i] = interpret(c.net, pick(in, total, 0, 1), 1, length)
		}
		for _, kind := range kernel.Kinds() {
			t.Run(c.name+"/"+kind.String(), func(t *testing.T) {
				defer kernel.Force(kind)()
				alone := openWith(t, c.net, SessionOptions{Batch: 1, Length: longest, Workers: 1})
				var sessions []Session
				for _, workers := range []int{1, 2, 3, 5} {
					sessions = append(sessions, openWith(t, c.net, SessionOptions{Batch: total, Length: longest, Workers: workers}))
				}
				for i, length := range lengths {
					length *= c.factor
					want, in := arrays(c.net, 5, total, length)
					for q := range total {
						must.Do(t, alone.RunSequences(pick(want, total, q, 1), pick(in, total, q, 1), 1, length))
					}
					for o, x := range pick(want, total, 0, 1) {
						if e := relative(x, exact[i][o]); !(e <= 1e-5) {
							t.Fatalf("length %d: output %d is off by %.2g", length, o, e)
						}
					}
					for w, s := range sessions {
						batch := 1 + (i+w)%total
						out, _ := arrays(c.net, 0, batch, length)
						must.Do(t, s.RunSequences(out, pick(in, total, total-batch, batch), batch, length))
						for o, x := range pick(want, total, total-batch, batch) {
							if at := different(out[o], x); at >= 0 {
								t.Fatalf("session %d, %d sequences of %d: output %d differs at %d: %g, alone %g", w, batch, length, o, at, out[o][at], x[at])
							}
						}
					}
				}
			})
		}
	}
}

// TestFiltersKeepNaNInItsSequence puts a NaN into one of several sequences.
func TestFiltersKeepNaNInItsSequence(t *testing.T) {
	for _, c := range filterCases() {
		for _, batch := range []int{2, 5} {
			length := c.factor * (c.taps + 3)
			s := openWith(t, c.net, SessionOptions{Batch: batch, Length: length, Workers: 2})
			want, in := arrays(c.net, 3, batch, length)
			out, _ := arrays(c.net, 3, batch, length)
			must.Do(t, s.RunSequences(want, in, batch, length))
			pick(in, batch, 1, 1)[0][5] = float32(math.NaN())
			for range 2 { // the second run finds the NaN in all buffers
				must.Do(t, s.RunSequences(out, in, batch, length))
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
	for _, c := range filterCases() {
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
