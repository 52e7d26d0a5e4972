package manifold

import (
	"math"
	"slices"
	"testing"

	"mannequin/engine/m3"
)

// The hands of standing people move by some millimetres, differently for each person. Walking people, and a motion
// without a person, do not change. The
// motion depends on the person and the frame alone, so that windows that overlap agree.
func TestFidgets(t *testing.T) {
	m := made(t, 24, 9)
	l, cols := m.Layout, m.Layout.Columns()
	v := newFidgets(m)
	const frames = 600
	run := func(person uint32, first, n int, stands float64) []float32 {
		rows, rest := slices.Repeat(m.swaying(1)[:cols], n), make([]float64, n)
		for f := range rest {
			rest[f] = stands
		}
		v.run(l, rows, rest, person, first)
		return rows
	}
	still := run(0, 0, frames, 1)
	if !slices.Equal(still[:cols], still[cols:2*cols]) || !slices.Equal(run(1, 0, frames, 0), still) {
		t.Error("a motion without a person changes, or a walking person does")
	}
	one, other := run(1, 0, frames, 1), run(2, 0, frames, 1)
	if !slices.Equal(run(1, 100, 200, 1), one[100*cols:300*cols]) {
		t.Error("the same frames of the same person differ")
	}
	hand := l.Pos(l.Joint("LeftHand"))
	var sum, apart float64
	for f := range frames {
		at := vec(one[f*cols:], hand).Sub(vec(still, hand))
		sum += float64(at.Dot(at)) / frames
		apart += float64(at.Dist(vec(other[f*cols:], hand).Sub(vec(still, hand)))) / frames
		for _, c := range l.Contacts {
			if j := l.Pos(l.Joint(c.Joint)); vec(one[f*cols:], j) != vec(still, j) {
				t.Fatalf("frame %d: %s moves", f, c.Joint)
			}
		}
		for _, b := range m.Bones() {
			long := func(rows []float32, f int) float32 {
				return vec(rows[f*cols:], 3*b.From).Dist(vec(rows[f*cols:], 3*b.To))
			}
			if d := m3.Abs(long(one, f) - long(still, 0)); d > 2*breathRise {
				t.Fatalf("frame %d: a bone changes by %g m", f, d)
			}
		}
	}
	if far := math.Sqrt(sum); far < 0.005 || far > 0.03 {
		t.Errorf("a hand stirs by %g m", far)
	}
	if apart < 0.005 {
		t.Errorf("hands of two people move alike, within %g m", apart)
	}
	// A stride of the slow motion is some frames long: nothing jumps.
	for f := 1; f < frames; f++ {
		if d := vec(one[f*cols:], hand).Dist(vec(one[(f-1)*cols:], hand)); d > 0.006 {
			t.Fatalf("frame %d: a hand jumps by %g m", f, d)
		}
	}
}
