package benchnet

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// TestWorks checks the numbers of operations against the graphs, and that signals keep their size.
func TestWorks(t *testing.T) {
	for _, w := range Works() {
		net := must.Get(w.Net(1))(t)
		g, flop := net.Graph(), 0.0
		for _, n := range g.Nodes {
			frames := must.Get(g.Length(n.Name, w.Length))(t)
			for _, role := range []string{"weight", "recurrent"} {
				name := n.Tensors[role]
				if name == "" {
					name = n.Name + "." + role
				}
				tensor, ok := net.Tensor(name)
				if !ok {
					continue
				}
				weights := float64(len(tensor.Data))
				if n.In[0] == "depool" { // pairs of frames are equal
					width := float64(tensor.Shape[2])
					weights *= math.Ceil(width/2) / width
				}
				flop += 2 * weights * float64(frames)
			}
		}
		if flop != w.FLOP {
			t.Errorf("%s: %g operations, its graph has %g", w.Name, w.FLOP, flop)
		}
		s := must.Get(w.Session(net, 2, 1, false))(t)
		must.Do(t, s.Compute()())
		s.Close()
		sum := 0.0
		for _, v := range s.Y {
			sum += float64(v) * float64(v)
		}
		if size := math.Sqrt(sum / float64(len(s.Y))); !(size > 0.05 && size < 5) {
			t.Errorf("%s: outputs of size %g", w.Name, size)
		}
		other := must.Get(w.Net(2))(t)
		if slices.EqualFunc(net.Tensors(), other.Tensors(), func(a, b netruntime.Tensor) bool { return slices.Equal(a.Data, b.Data) }) {
			t.Errorf("%s: another seed gives the same weights", w.Name)
		}
	}
}

func TestRuns(t *testing.T) {
	w := lstm()
	w.Batches = []int{1, 3}
	runs, closeAll, err := w.Runs(2)
	defer closeAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		must.Do(t, r.Run())
		if n, err := Allocs(r.Run); err != nil || n != 0 {
			t.Errorf("%s, batch %d: %v allocations, %v", r.Name, r.Batch, n, err)
		}
		if r.FLOP != w.FLOP*float64(r.Batch) || r.Work != "lstm" {
			t.Errorf("%+v", r)
		}
	}
	if n := len(runs); n != 2 && n != 4 {
		t.Errorf("%d runs", n)
	}
}

func TestClock(t *testing.T) {
	var turns []string
	candidate := func(name string) *Candidate {
		return &Candidate{Name: name, Run: func() error {
			if len(turns) == 0 || turns[len(turns)-1] != name {
				turns = append(turns, name)
			}
			time.Sleep(time.Millisecond)
			return nil
		}}
	}
	a, b := candidate("a"), candidate("b")
	clock := Clock{Rounds: 2}
	must.Do(t, clock.Time(context.Background(), []*Candidate{a, b}))
	if !slices.Equal(turns, []string{"a", "b", "a", "b"}) {
		t.Errorf("turns %v", turns)
	}
	// A turn is one run to warm up and two that are measured.
	if len(a.samples) != 4 || !(a.Min() >= 1) || a.Median() < a.Min() {
		t.Errorf("samples %v", a.samples)
	}
	boom := errors.New("boom")
	err := clock.Time(context.Background(), []*Candidate{{Name: "c", Run: func() error { return boom }}})
	if !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := clock.Time(ctx, []*Candidate{a}); !errors.Is(err, context.Canceled) || len(a.samples) != 4 {
		t.Errorf("error %v after the end", err)
	}
	c := Candidate{samples: []float64{4, 1, 3, 2}}
	if c.Min() != 1 || c.Median() != 2.5 {
		t.Errorf("minimum %v, median %v", c.Min(), c.Median())
	}
}

var sink [3]*int

func TestAllocs(t *testing.T) {
	n, err := Allocs(func() error {
		for i := range sink {
			sink[i] = new(int)
		}
		return nil
	})
	if err != nil || n != 3 {
		t.Errorf("%v allocations, %v", n, err)
	}
}

// TestPeak checks that two threads are at least as fast as one.
func TestPeak(t *testing.T) {
	one, two := Peak(false, 1, 5*time.Millisecond), Peak(false, 2, 5*time.Millisecond)
	if !(one > 0) || !(two > 0.5*one) {
		t.Errorf("one thread %v GFLOP/s, two %v", one, two)
	}
}
