package manifold

import (
	"slices"
	"testing"

	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models/human"
)

// Variety turns the trunk and the arms, differently for each person and each stride, and smoothly. It leaves the legs, and
// person 0, as they are. Bones keep their length.
func TestVariety(t *testing.T) {
	m := must.Get(NewModel(must.Get(human.Open())(t)))(t)
	l, cols := m.Layout, m.Layout.Columns()
	v := newVariety(m)
	const frames = 1200
	rest := make([]float32, cols)
	at := make([]m3.Vec3, m.Skel.Len())
	for j, parent := range m.Skel.Parents {
		if parent >= 0 {
			at[j] = at[parent].Add(m.Skel.Offsets[j])
		}
	}
	for j, name := range l.Joints {
		p := at[m.Skel.Index(name)]
		copy(rest[l.Pos(j):], []float32{p.X, p.Y, p.Z})
	}
	for _, arm := range v.arms { // they hang: a turn about their own length moves no joint
		at := func(j int) m3.Vec3 { return m3.V(rest[l.Pos(j)], rest[l.Pos(j)+1], rest[l.Pos(j)+2]) }
		shoulder := at(arm[0])
		for _, j := range arm {
			copy(rest[l.Pos(j):], []float32{shoulder.X, shoulder.Y - at(j).Dist(shoulder), shoulder.Z})
		}
	}
	place := func(row []float32, name string) m3.Vec3 {
		p := row[l.Pos(l.Joint(name)):]
		return m3.V(p[0], p[1], p[2])
	}
	head := map[uint32]m3.Vec3{}
	for _, person := range []uint32{0, 1, 2} {
		rows := slices.Repeat(rest, frames)
		v.run(l, rows, slices.Repeat([]float64{1}, frames), person)
		if !slices.Equal(rows[:cols], rows[300*cols:][:cols]) {
			t.Errorf("person %d moves though it stands", person)
		}
		rows = slices.Repeat(rest, frames)
		v.run(l, rows, make([]float64, frames), person)
		var mean m3.Vec3
		var varies, most float64
		for f := range frames {
			row := rows[f*cols:][:cols]
			mean = mean.Add(place(row, "Head").Scale(1.0 / frames))
			for _, name := range []string{"Hips", "LeftUpLeg", "RightLeg", "LeftFoot", "RightToeBase"} {
				if d := place(row, name).Dist(place(rest, name)); d != 0 {
					t.Fatalf("person %d, frame %d: %s is %g m away", person, f, name, d)
				}
			}
			for _, bone := range [][2]string{{"Spine", "Spine1"}, {"Spine1", "Head"}, {"LeftArm", "LeftForeArm"}, {"RightForeArm", "RightHand"}} {
				if d := place(row, bone[0]).Dist(place(row, bone[1])) - place(rest, bone[0]).Dist(place(rest, bone[1])); m3.Abs(d) > 1e-5 {
					t.Fatalf("person %d, frame %d: the bone to %s is %g m longer", person, f, bone[1], d)
				}
			}
			if f > 0 {
				before := rows[(f-1)*cols:][:cols]
				most = max(most, float64(place(row, "LeftHand").Dist(place(before, "LeftHand"))))
			}
			if f >= 66 {
				varies += float64(place(row, "LeftHand").Dist(place(rows[(f-66)*cols:][:cols], "LeftHand"))) / (frames - 66)
			}
		}
		head[person] = mean
		if person == 0 && varies != 0 || person != 0 && (varies < 0.02 || varies > 0.08) {
			t.Errorf("person %d: a hand is %g m from where it was a stride before", person, varies)
		}
		if most > 0.6/Rate {
			t.Errorf("person %d: a hand goes at %g m/s", person, most*Rate)
		}
	}
	if d := head[1].Dist(head[2]); d < 0.002 {
		t.Errorf("heads of two people are %g m apart", d)
	}
}
