//go:build webgpu

package webgpu

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mannequin/internal/testing/must"
	"mannequin/netruntime"
)

// openPoints opens a search on the device.
func openPoints(t *testing.T, p *netruntime.Points, batch int) *nearest {
	t.Helper()
	needGPU(t)
	n, ok := must.Get(NewNearest(p, Options{SessionOptions: netruntime.SessionOptions{Batch: batch}, Log: slog.New(slog.DiscardHandler), Timeout: time.Hour}))(t).(*nearest)
	if !ok {
		t.Fatal("the GPU has no search")
	}
	t.Cleanup(func() { must.Do(t, n.Close()) })
	return n
}

// randomPoints returns points in two sets of tags.
func randomPoints(seed uint64, count, columns int) *netruntime.Points {
	r := rand.New(rand.NewPCG(seed, 2))
	p := &netruntime.Points{Columns: columns, Features: random(seed, count*columns), Tags: make([][]uint64, 2)}
	for i := range count {
		tags := r.Uint64() | r.Uint64()
		p.Tags[0] = append(p.Tags[0], tags)
		p.Tags[1] = append(p.Tags[1], tags&r.Uint64())
		if i%7 == 6 {
			copy(p.Features[i*columns:][:columns], p.Features[(i-1)*columns:]) // the same point again
		}
	}
	return p
}

// randomWants returns queries and what they want, of all kinds.
func randomWants(seed uint64, p *netruntime.Points, n int) (queries []float32, wants []netruntime.Want) {
	r, count := rand.New(rand.NewPCG(seed, 3)), len(p.Tags[0])
	queries = random(seed+1, n*p.Columns)
	for i := range n {
		var w netruntime.Want
		if i%3 == 1 {
			first, second := r.IntN(64), r.IntN(64)
			w = netruntime.Want{Must: 1<<first | 1<<second, Set: i / 3 % 2}
		}
		if i%5 > 2 {
			w.Never = 1 << r.IntN(64)
		}
		if i%4 > 1 {
			w.First = r.IntN(count)
			w.End = min(count, w.First+1+r.IntN(40))
		}
		if i%11 == 10 {
			w.End = count
			w.First = 0 // nothing is left
		}
		wants = append(wants, w)
	}
	return queries, wants
}

// allowed reports whether a want allows a point.
func allowedPoint(p *netruntime.Points, w *netruntime.Want, i int) bool {
	return p.Tags[w.Set][i]&w.Must == w.Must && p.Tags[0][i]&w.Never == 0 && (i < w.First || i >= w.End)
}

// scanPoints returns the costs of the nearest and of the next allowed point, in float64, and the first nearest one.
func scanPoints(p *netruntime.Points, q []float32, w *netruntime.Want) (point int, cost, next float64) {
	point, cost, next = -1, math.Inf(1), math.Inf(1)
	for i := range p.Tags[0] {
		if !allowedPoint(p, w, i) {
			continue
		}
		var sum float64
		for c, v := range p.Features[i*p.Columns:][:p.Columns] {
			sum += (float64(q[c]) - float64(v)) * (float64(q[c]) - float64(v))
		}
		if sum < cost {
			point, cost, next = i, sum, cost
		} else {
			next = min(next, sum)
		}
	}
	return point, cost, next
}

// TestNearest: at the edges of tiles, workgroups and queries the GPU finds what a comparison with all points finds in float64. What it calls certain
// is so, and two points in one place never are.
func TestNearest(t *testing.T) {
	most := 0
	for _, count := range []int{1, 2, 63, 64, 65, 127, 129, 4095, 4097, 9000} {
		for _, columns := range []int{1, 2, 27, 63} {
			p := randomPoints(uint64(count), count, columns)
			n := openPoints(t, p, 40)
			n.most = 16 // several times in a Find
			for _, queries := range []int{1, 7, 8, 9, 16, 17, 40} {
				q, wants := randomWants(uint64(queries), p, queries)
				found := make([]netruntime.Found, queries)
				if !n.Find(found, q, wants) {
					t.Fatal("no answer")
				}
				for i := range wants {
					f := &found[i]
					point, cost, next := scanPoints(p, q[i*columns:], &wants[i])
					if point < 0 {
						if f.Point != -1 || !math.IsInf(float64(f.Cost), 1) || !f.Certain(columns) {
							t.Fatalf("%d points, %d columns, %d queries: for %d, that allows none, %+v", count, columns, queries, i, *f)
						}
						continue
					}
					near := func(got float32, want float64) bool {
						return math.IsInf(want, 1) && math.IsInf(float64(got), 1) || math.Abs(float64(got)-want) <= float64(columns+4)/(1<<23)*want+1e-30
					}
					if f.Point < 0 || !allowedPoint(p, &wants[i], f.Point) || !near(f.Cost, cost) || !near(f.Next, next) {
						t.Fatalf("%d points, %d columns, %d queries: for %d %+v, want %d of %g before %g", count, columns, queries, i, *f, point, cost, next)
					}
					if sure := f.Certain(columns); sure && f.Point != point || sure && cost == next || !sure && next > 1.0001*cost+1e-20 {
						t.Fatalf("%d points, %d columns: %+v is certain: %v, want %d of %g before %g", count, columns, *f, sure, point, cost, next)
					}
					most++
				}
			}
		}
	}
	if most < 1000 {
		t.Error("only ", most, " searches find anything")
	}
}

// TestNearestTogether: a query has the same bits alone and among others, also beside one that is not a number.
func TestNearestTogether(t *testing.T) {
	p := randomPoints(9, 3000, 27)
	n := openPoints(t, p, 20)
	q, wants := randomWants(4, p, 20)
	found, alone := make([]netruntime.Found, 20), make([]netruntime.Found, 1)
	for c := range p.Columns {
		q[5*p.Columns+c] = float32(math.NaN())
	}
	if !n.Find(found, q, wants) {
		t.Fatal("no answer")
	}
	for i := range wants {
		if n.Find(alone, q[i*p.Columns:], wants[i:i+1]); i != 5 && alone[0] != found[i] {
			t.Errorf("query %d finds %+v, alone %+v", i, found[i], alone[0])
		}
	}
	fewAllocations(t, func() { n.Find(found, q, wants) })
}

// TestNearestLoss makes each call of the driver fail, in the middle of a search and while one opens.
func TestNearestLoss(t *testing.T) {
	needGPU(t)
	p := randomPoints(9, 300, 27)
	q, wants := randomWants(4, p, 9)
	o := Options{SessionOptions: netruntime.SessionOptions{Batch: 9}, Log: slog.New(slog.DiscardHandler), Timeout: time.Minute}
	for _, opening := range []bool{true, false} {
		for call := int64(1); ; call++ {
			failed := true
			t.Run(fmt.Sprintf("%v %d", opening, call), func(t *testing.T) {
				f := openFaulty(t)
				if opening {
					f.left.Store(call)
				}
				n := must.Get(NewNearest(p, o))(t)
				if opening {
					if failed = f.left.Load() <= 0; failed != (n == nil) {
						t.Fatal("opened after an error, or not without one")
					}
					if n != nil {
						must.Do(t, n.Close())
					}
					return
				}
				found, before := make([]netruntime.Found, 9), make([]netruntime.Found, 9)
				if !n.Find(before, q, wants) {
					t.Fatal("no answer")
				}
				f.left.Store(call)
				answers := n.Find(found, q, wants)
				if failed = f.left.Load() <= 0; answers == failed {
					t.Error("an answer after an error, or none without one")
				}
				if !failed {
					if !slices.Equal(found, before) {
						t.Error("another answer")
					}
					must.Do(t, n.Close())
					return
				}
				calls := f.calls.Load()
				for range 2 {
					if n.Find(found, q, wants) {
						t.Error("an answer of a lost device")
					}
				}
				if n := Fallbacks(); n != 3 || f.calls.Load() != calls {
					t.Errorf("%d searches counted, %d calls of a lost device", n, f.calls.Load()-calls)
				}
				must.Do(t, n.Close())
				if late := must.Get(NewNearest(p, o))(t); late != nil {
					t.Error("a search opens on a lost device")
				}
			})
			if !failed {
				if call < 3 {
					t.Errorf("only %d calls", call-1)
				}
				break
			}
		}
	}
}

// TestNearestMisuse: points that cannot be searched are errors. Those that do not fit are the processor's.
func TestNearestMisuse(t *testing.T) {
	o := Options{SessionOptions: netruntime.SessionOptions{Batch: 1}, Log: slog.New(slog.DiscardHandler)}
	one := randomPoints(1, 1, 1)
	for what, p := range map[string]*netruntime.Points{"nil": nil, "empty": {}, "tags": {Columns: 1, Features: []float32{1}}, "few": {Columns: 1, Features: []float32{1, 2}, Tags: one.Tags}, "odd": {Columns: 2, Features: []float32{1}, Tags: one.Tags}} {
		if _, err := NewNearest(p, o); err == nil {
			t.Error(what, ": no error")
		}
	}
	for _, o := range []Options{{}, {Timeout: -1, SessionOptions: o.SessionOptions}} {
		if _, err := NewNearest(one, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	needGPU(t)
	d := must.Get(theDevice())(t)
	most := d.most
	d.most = 1000
	defer func() { d.most = most }()
	if n := must.Get(NewNearest(randomPoints(1, 300, 27), o))(t); n != nil || state.Lost.Load() {
		t.Error("a search that does not fit")
	}
}

// A crowd's queries among 100,000 points.
func BenchmarkNearest(b *testing.B) {
	if _, err := Device(); err != nil {
		b.Skip(err)
	}
	p := randomPoints(1, 100000, 27)
	n := must.Get(NewNearest(p, Options{SessionOptions: netruntime.SessionOptions{Batch: 168}}))(b)
	defer n.Close()
	for _, queries := range []int{1, 17, 167} {
		b.Run(fmt.Sprintf("queries=%d", queries), func(b *testing.B) {
			q, wants := random(2, queries*p.Columns), make([]netruntime.Want, queries)
			found := make([]netruntime.Found, queries)
			b.ReportAllocs()
			for b.Loop() {
				n.Find(found, q, wants)
			}
		})
	}
}
