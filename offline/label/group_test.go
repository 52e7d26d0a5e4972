package label

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Heaps of points are found, the largest first, whatever their number; the same heaps each time.
func TestGroup(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var points [][]float32
	var of []int
	sizes := []int{50, 120, 30, 80}
	for heap, n := range sizes {
		for range n {
			points = append(points, []float32{float32(heap) + 0.03*float32(r.NormFloat64()), float32(heap%2) + 0.03*float32(r.NormFloat64())})
			of = append(of, heap)
		}
	}
	middles := Group(points, 12, 0.1)
	var found []int
	for _, i := range middles {
		found = append(found, of[i])
	}
	if !slices.Equal(found, []int{1, 3, 0, 2}) {
		t.Errorf("heaps %v, want 1, 3, 0 and 2", found)
	}
	if !slices.Equal(middles, Group(points, 12, 0.1)) {
		t.Error("others the second time")
	}
	if n := len(Group(points, 2, 0.1)); n != 2 {
		t.Errorf("%d groups, at most 2 are allowed", n)
	}
	if n := len(Group(points, 12, 100)); n != 1 {
		t.Errorf("%d groups of points that are all near", n)
	}
	same := slices.Repeat([][]float32{{1, 2}}, 9)
	if m := Group(same, 5, 0); len(m) != 1 || m[0] != 0 {
		t.Errorf("groups %v of points that are all alike", m)
	}
	if Group(nil, 5, 1) != nil || Group(same, 0, 1) != nil {
		t.Error("groups of nothing")
	}
}
