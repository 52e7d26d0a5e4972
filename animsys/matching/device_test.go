package matching_test

import (
	"errors"
	"math"
	"testing"

	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testgen"
	"mannequin/internal/testing/testmatching"
	"mannequin/netruntime"
)

// compare is a device that compares queries with all points, sums from the last column to the first, and has no answer while it fails.
type compare struct {
	*netruntime.Points
	fails  bool
	finds  int
	most   int
	closed bool
}

func (c *compare) Find(found []netruntime.Found, queries []float32, wants []netruntime.Want) bool {
	c.finds++
	c.most = max(c.most, len(wants))
	if c.fails {
		return false
	}
	for k := range wants {
		w, q := &wants[k], queries[k*c.Columns:][:c.Columns]
		f := netruntime.Found{Point: -1, Cost: float32(math.Inf(1)), Next: float32(math.Inf(1))}
		for i := range c.Tags[0] {
			if c.Tags[w.Set][i]&w.Must != w.Must || c.Tags[0][i]&w.Never != 0 || i >= w.First && i < w.End {
				continue
			}
			var sum float32
			for at := c.Columns - 1; at >= 0 && sum <= f.Next; at-- {
				e := q[at] - c.Features[i*c.Columns+at]
				sum += e * e
			}
			if sum < f.Cost {
				f = netruntime.Found{Point: i, Cost: sum, Next: f.Cost}
			} else {
				f.Next = min(f.Next, sum)
			}
		}
		found[k] = f
	}
	return true
}

func (c *compare) Close() error { c.closed = true; return nil }

// A stream shows the same frames, and its agents have the same bits, with a device that searches: one call in a tick for all agents. Where it has
// no answer, the processor searches in the same tick.
func TestDeviceHasTheSameBits(t *testing.T) {
	const agents, ticks = 12, 600
	for name, d := range map[string]*matching.Database{"actors": testmatching.Actors(t), "dogs": testmatching.Dogs(t), "people": testmatching.People(t)} {
		t.Run(name, func(t *testing.T) {
			var c *compare
			open := func(p *netruntime.Points, batch int) (netruntime.Nearest, error) {
				c = &compare{Points: p}
				return c, nil
			}
			all, again := testmatching.SameBits(t, d, open, agents, ticks, nil)
			t.Logf("%d searches, %d of them done again", all, again)
			if c.finds > ticks || c.most < 2 || all < ticks*agents/12 || again > all/10 {
				t.Errorf("%d calls for %d searches, of at most %d, %d of them done again", c.finds, all, c.most, again)
			}
			_, again = testmatching.SameBits(t, d, open, agents, 240, func(tick int) { c.fails = tick%50 > 20 })
			if again < 100 {
				t.Errorf("only %d searches of the processor after failures", again)
			}
		})
	}
}

// Ticks with a device allocate nothing.
func TestDeviceAllocations(t *testing.T) {
	d, agents := testmatching.Dogs(t), 7
	open := func(p *netruntime.Points, batch int) (netruntime.Nearest, error) { return &compare{Points: p}, nil }
	s := must.Get(d.NewStream(matching.StreamOptions{Capacity: agents, Workers: 2, Nearest: open}))(t)
	p := testgen.Play[control.Goal](s, d.Skel.Len())
	for row := range agents {
		must.Get(s.Add(feature.Place{}, &control.Goal{Move: m3.V(0, 0, 1), Speed: float32(row)}))(t)
	}
	if n := testing.AllocsPerRun(100, func() { must.Do(t, p.Tick(agents)) }); n > 0 {
		t.Errorf("%.0f allocations in a tick", n)
	}
	if all, _ := s.Searched(); all < 50 {
		t.Errorf("only %d searches", all)
	}
	must.Do(t, s.Close())
}

// NewStream returns the error of a device that does not open. Without a device the processor searches.
func TestDeviceOpens(t *testing.T) {
	d := testmatching.People(t)
	o := matching.StreamOptions{Capacity: 1, Nearest: func(*netruntime.Points, int) (netruntime.Nearest, error) { return nil, errors.New("none") }}
	if _, err := d.NewStream(o); err == nil {
		t.Error("no error")
	}
	o.Nearest = func(*netruntime.Points, int) (netruntime.Nearest, error) { return nil, nil }
	s := must.Get(d.NewStream(o))(t)
	if all, _ := s.Searched(); all != 0 {
		t.Error(all)
	}
	must.Do(t, s.Close())
	c := &compare{}
	o.Nearest = func(p *netruntime.Points, batch int) (netruntime.Nearest, error) {
		c.Points, c.most = p, batch
		return c, nil
	}
	s = must.Get(d.NewStream(o))(t)
	for range 2 {
		must.Do(t, s.Close())
	}
	if !c.closed || c.most < 1 || len(c.Features) != len(c.Tags[0])*d.Columns() {
		t.Errorf("%+v", c)
	}
	if o.Workers = -1; true {
		if _, err := d.NewStream(o); err == nil {
			t.Error("-1 workers: no error")
		}
	}
}
