package netruntime

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/netruntime/internal/kernel"
)

// TestSharedWeightsAreBounded reads a small file whose nodes all pack the same weights.
func TestSharedWeightsAreBounded(t *testing.T) {
	deep := func(nodes int) *maker {
		m := newMaker(4)
		x := m.input("x", 256, false)
		shared := map[string]string{"weight": "w", "bias": "b"}
		for range nodes {
			x = m.node(Node{Op: OpDense, In: []string{x}, Tensors: shared}, 256, 0)
		}
		m.g.Outputs = []string{x}
		return m
	}
	m := deep(100)
	if _, err := New(Meta{Arch: "graph", Graph: &m.g}, m.tensors); err != nil {
		t.Error(err)
	}
	m = deep(2000)
	_, err := New(Meta{Arch: "graph", Graph: &m.g}, m.tensors)
	var ge *GraphError
	if !errors.As(err, &ge) || !strings.Contains(err.Error(), "weights in all nodes") {
		t.Errorf("error %v, want one about the weights of all nodes", err)
	}
}

// TestPackedBound checks that a plan packs no more values than bind counts.
func TestPackedBound(t *testing.T) {
	cases := graphCases()
	for _, c := range filterCases() {
		cases = append(cases, c.graphCase)
	}
	for _, factor := range []int{2, 3, 5, maxFactor} {
		for width := range 30 {
			m := newMaker(1)
			u := m.node(Node{Op: OpDepool, In: []string{m.input("x", 40, false)}, Factor: factor}, 0, 0)
			cases = append(cases, graphCase{fmt.Sprintf("depool by %d, width %d", factor, width+1), m.net(m.node(Node{Op: OpConv, In: []string{u}}, 40, width+1)), 1})
		}
	}
	for _, c := range cases {
		eachType(t, func(t *testing.T, bf16 bool) {
			bound, packed := 0.0, 0
			for i := range c.net.bound.nodes {
				bound += c.net.bound.packed(&c.net.bound.nodes[i])
			}
			for _, o := range compile(c.net, planKey{kernel.Active(), bf16}).ops {
				switch o := o.(type) {
				case *product:
					k := o.k
					if o.filter != nil {
						k = 2 * o.filter.Block() * o.filter.Channels // four parts of half a block
					}
					packed += k * o.experts * o.panels() * o.panel
				case *lstm:
					_, blocks := o.grid()
					_, panels := o.panels(0, blocks)
					packed += (c.net.bound.values[o.x].Channels + o.units) * panels * o.unit
				}
			}
			if float64(packed) > bound {
				t.Errorf("%s: %d values packed, %g counted", c.name, packed, bound)
			}
		})
	}
}

// TestErrorsAreShort reads headers with very many mistakes.
func TestErrorsAreShort(t *testing.T) {
	var many strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&many, `,"tensor %d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`, i)
	}
	const meta = `{"__metadata__":{"format":"mannequin/1","arch":"graph","graph":"{\"inputs\":[{\"name\":\"x\",\"channels\":1}],\"outputs\":[\"x\"]}"}`
	numbers := strings.Repeat("0,", 100000) + "0"
	for want, head := range map[string]string{
		"9980 more":                meta + many.String() + "}",
		"shape of 100001 axes":     meta + `,"w":{"dtype":"F32","shape":[` + numbers + `],"data_offsets":[0,0]}}`,
		"offsets of 100001 values": meta + `,"w":{"dtype":"F32","shape":[1],"data_offsets":[` + numbers + `]}}`,
	} {
		_, err := Decode(file(head, 0))
		var te *TensorError
		if !errors.As(err, &te) || !strings.Contains(err.Error(), want) || len(err.Error()) > 2000 {
			t.Errorf("error %.300v, want a short one with %s", err, want)
		}
	}
}

// A session whose longest run cannot be halved supports the longest run that can.
func TestOddSessionsAllocateNothing(t *testing.T) {
	m := newMaker(4)
	p := m.node(Node{Op: OpMaxPool, In: []string{m.input("x", 40, false)}}, 0, 0)
	n := m.net(m.node(Node{Op: OpLSTM, In: []string{p}}, 91, 0))
	s := openWith(t, n, SessionOptions{Batch: 1, Length: 401, Workers: 2}).(*session)
	out, in := arrays(n, 2, 1, 400)
	room := cap(s.steps)
	must.Do(t, s.RunSequences(out, in, 1, 400))
	if len(s.steps) <= 200 || cap(s.steps) != room {
		t.Fatalf("%d steps, room for %d", len(s.steps), room)
	}
}

// TestSessionBounds asks for sessions that are too large in ways that are easily forgotten: scratch
// memory, steps, the pool's counters.
func TestSessionBounds(t *testing.T) {
	m := newMaker(4)
	wide := m.net(m.node(Node{Op: OpBlend, In: []string{m.input("x", 1<<18, false), m.input("w", 1, false)}}, 1, 0))
	m = newMaker(5)
	x := m.input("x", 1, false)
	for range 4 {
		x = m.node(Node{Op: OpDepool, In: []string{x}}, 0, 0)
	}
	long := m.net(m.node(Node{Op: OpLSTM, In: []string{x}}, 91, 0) + ".h")
	for want, err := range map[string]error{
		"takes 4.":         second(wide.NewSession(SessionOptions{Batch: 1, Workers: 9, SkipBelow: 0.1})),
		"recurrent layers": second(long.NewSession(SessionOptions{Batch: 1, Length: maxLength, Workers: 2})),
		"-1 frames":        second(long.NewSession(SessionOptions{Batch: 1, Length: -1, Workers: 1})),
	} {
		must.FailWith(t, err, want)
	}
	m = newMaker(6)
	light := m.net(m.node(Node{Op: OpAct, Act: "elu", In: []string{m.input("x", 1, false)}}, 0, 0))
	s := openWith(t, light, SessionOptions{Batch: 3, Length: maxLength, Workers: 2}).(*session)
	out, in := arrays(light, 1, 3, maxLength)
	must.Do(t, s.RunSequences(out, in, 3, maxLength))
	if s.blocks != 0 || s.counts[0] > lightTasks*2 {
		t.Errorf("%d tasks in a step", s.counts[0])
	}
}

func second[A any](_ A, err error) error { return err }
