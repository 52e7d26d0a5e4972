package manifold

import (
	"math"
	"slices"
	"testing"

	"mannequin/engine/m3"
)

// Whatever a style makes of a motion, standing feet stay, legs reach them, knees do not cross, hands
// stay out of the body, and joints stay near.
func TestStyleHolds(t *testing.T) {
	m := made(t, 8, 5)
	l := m.Layout
	const frames = 120
	cols := l.Columns()
	rest, _ := m.Normalisation()
	content, stand := make([]float32, frames*cols), make([]float32, frames*len(l.Contacts))
	for f := range frames {
		copy(content[f*cols:], rest)
		for c := range l.Contacts {
			if f < 40 { // then both feet swing
				stand[f*len(l.Contacts)+c] = 1
			}
		}
	}
	column := func(name string) int { return l.Pos(l.Joint(name)) }
	hold := func(style func(row []float32, f int)) []float32 {
		rows := slices.Clone(content)
		for f := range frames {
			style(rows[f*cols:][:cols], f)
		}
		newHolder(m.person, frames).run(rows, content, stand)
		return rows
	}
	each := func(rows []float32, check func(row, was []float32, f int)) {
		for f := range frames {
			check(rows[f*cols:][:cols], content[f*cols:][:cols], f)
		}
	}
	foot, knee, other, hand := column("LeftFoot"), column("LeftLeg"), column("RightLeg"), column("RightHand")
	by := m3.V(0.1, 0.08, 0.2)
	each(hold(func(row []float32, _ int) { put(row, foot, vec(row, foot).Add(by)) }), func(row, was []float32, f int) {
		want := m3.Vec3{}
		if f > 40+footEase { // it swings: no longer along the way
			want = m3.V(by.X, by.Y, 0)
		}
		if d := vec(row, foot).Sub(vec(was, foot)).Sub(want).Len(); (f < 40 || f > 40+footEase) && d > 1e-6 {
			t.Fatalf("frame %d: the foot is %g m off its place", f, d)
		}
	})
	last := float32(0)
	each(hold(func(row []float32, f int) { // up by 10 cm in the middle of the stance: legs are too short
		for j := range l.Joints {
			row[l.Pos(j)+1] += 0.1 * float32(math.Sin(math.Pi*float64(f)/40)) * float32(1-f/40)
		}
	}), func(row, was []float32, f int) {
		hip := column("LeftUpLeg")
		if f < 40 && vec(row, hip).Dist(vec(row, foot)) > 0.8201 {
			t.Fatalf("frame %d: the leg is %g m long", f, vec(row, hip).Dist(vec(row, foot)))
		}
		if f > 0 && m3.Abs(row[1]-last) > 0.012 {
			t.Fatalf("frame %d: the hips leap by %g m", f, row[1]-last)
		}
		last = row[1]
	})
	each(hold(func(row []float32, _ int) { row[knee] -= 0.3 }), func(row, _ []float32, f int) {
		if gap := row[knee] - row[other]; gap < kneesGap-1e-6 {
			t.Fatalf("frame %d: the knees are %g m apart", f, gap)
		}
	})
	each(hold(func(row []float32, _ int) { put(row, hand, vec(row, column("Spine")).Add(m3.V(0, 0, 0.02))) }), func(row, _ []float32, f int) {
		if d := vec(row, hand).Dist(vec(row, column("Spine"))); d < handsGap-0.02 {
			t.Fatalf("frame %d: a hand is %g m from the spine", f, d)
		}
	})
	each(hold(func(row []float32, f int) {
		for j := range l.Joints {
			if f > 60 {
				row[l.Pos(j)+2] += 3
			}
		}
	}), func(row, was []float32, f int) {
		if d := vec(row, column("Head")).Dist(vec(was, column("Head"))); d > 1.2*farthest {
			t.Fatalf("frame %d: the head is %g m from the content's", f, d)
		}
	})
}
