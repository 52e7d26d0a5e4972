package style

import (
	"math"
	"slices"
	"testing"

	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/offline/dataset"
	"mannequin/offline/procgen/human"
)

// Every shipped style of a crowd holds on motion far from all that it was found from: somebody who
// leans 20° ahead, another one who runs so, and one whose chest is turned aside.
func TestStylesHold(t *testing.T) {
	m := must.Get(manifold.NewModel(must.Get(models.Open("human"))(t)))(t)
	styles := must.Get(must.Get(stylesgram.Open())(t).For(m))(t)
	for _, c := range []struct {
		name, action, content string
		lean, turn            float64
	}{
		{"a walk that leans ahead", human.Walk, "walk-straight", 20, 0},
		{"a fast run that leans ahead", human.Run, "run-fast", 15, 0},
		{"a walk with the chest turned", human.Walk, "walk-slow", 8, 40},
	} {
		takes, _, err := human.Generate(human.Options{Seed: 9, Minutes: 1e-3, Actions: []string{c.action}, Styles: []string{"neutral"}, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, take := range takes {
			if take.Content != c.content {
				continue
			}
			rows, _, err := dataset.RowsOf(m.Layout, take.Clip)
			if err != nil {
				t.Fatal(err)
			}
			rows = rows[:min(len(rows)/m.Layout.Columns(), 300)/2*2*m.Layout.Columns()]
			bow(m, rows, c.lean*math.Pi/180, c.turn*math.Pi/180)
			floor := FloorOf(m.Layout, rows)
			was := NewPostures(m.Layout)
			was.Add(rows, floor)
			content := was.Value()
			for _, s := range styles {
				made := must.Get(m.Restyle(rows, manifold.WeightedStyle{Transfer: s, Weight: 1}, manifold.DefaultIterations, 2))(t)
				p := NewPostures(m.Layout)
				p.Add(made, floor)
				v := p.Value()
				t.Logf("%s, %s: %+v", c.name, s.Name, v)
				for i, f := range figures {
					if got, most := f.of(&v), limit(i, &content); got > most {
						t.Errorf("%s, %s: %s is %.3g, want at most %.3g", c.name, s.Name, f.name, got, most)
					}
				}
			}
		}
	}
}

// bow turns all that is above the legs: down about the hips and aside.
func bow(m *manifold.Model, rows []float32, lean, turn float64) {
	l := m.Layout
	legs := map[string]bool{"LeftUpLeg": true, "LeftLeg": true, "LeftFoot": true, "LeftToeBase": true,
		"RightUpLeg": true, "RightLeg": true, "RightFoot": true, "RightToeBase": true}
	by := m3.AxisAngle(m3.Up, float32(turn)).Mul(m3.AxisAngle(m3.V(1, 0, 0), float32(lean)))
	for f := 0; f < len(rows); f += l.Columns() {
		hips := m3.V(rows[f], rows[f+1], rows[f+2])
		for j, name := range l.Joints {
			if !legs[name] {
				at := rows[f+l.Pos(j):]
				p := hips.Add(by.Rotate(m3.V(at[0], at[1], at[2]).Sub(hips)))
				at[0], at[1], at[2] = p.X, p.Y, p.Z
			}
		}
	}
}

// The measures find what they are for.
func TestPosture(t *testing.T) {
	m := must.Get(manifold.NewModel(must.Get(models.Open("human"))(t)))(t)
	l := m.Layout
	takes, _, err := human.Generate(human.Options{Minutes: 1e-3, Actions: []string{human.Walk}, Styles: []string{"neutral"}, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := dataset.RowsOf(l, takes[0].Clip)
	if err != nil {
		t.Fatal(err)
	}
	floor := FloorOf(l, rows)
	value := func(change func(row []float32, f int)) Posture {
		made := append([]float32(nil), rows...)
		for f := range len(made) / l.Columns() {
			change(made[f*l.Columns():][:l.Columns()], f)
		}
		p := NewPostures(l)
		p.Add(made, floor)
		return p.Value()
	}
	column := func(name string) int { return l.Pos(l.Joint(name)) }
	plain := value(func([]float32, int) {})
	if plain.Cross > 0 || plain.Torso > 0 || plain.Up > 0.03 || plain.Twist < 2 || plain.Twist > 14 || plain.Jerk > 8000 || plain.Lean > 30 {
		t.Errorf("a walk has %+v", plain)
	}
	if v := value(func(row []float32, _ int) { row[column("LeftLeg")] -= 0.5 }); v.Cross < 0.9 {
		t.Errorf("knees that cross: %+v", v)
	}
	if v := value(func(row []float32, _ int) {
		for j := range l.Joints {
			row[l.Pos(j)+1] += 0.08
		}
	}); v.Up < 0.9 {
		t.Errorf("feet in the air: %+v", v)
	}
	if v := value(func(row []float32, _ int) { copy(row[column("LeftHand"):][:3], row[column("Spine"):][:3]) }); v.Torso < 0.9 {
		t.Errorf("a hand in the body: %+v", v)
	}
	if v := value(func(row []float32, f int) { row[column("Head")] += 0.01 * float32(f%2) }); v.Jerk < 2*plain.Jerk {
		t.Errorf("a head that trembles: %+v", v)
	}
	if v := value(func(row []float32, f int) {
		sin, cos := math.Sincos(0.8 * math.Sin(float64(f)/8))
		for _, name := range []string{"LeftArm", "RightArm"} {
			x, z := float64(row[column(name)]), float64(row[column(name)+2])
			row[column(name)], row[column(name)+2] = float32(x*cos+z*sin), float32(z*cos-x*sin)
		}
	}); v.Twist < 25 {
		t.Errorf("shoulders that turn by 45°: %+v", v)
	}
}

// A pair of a style and a set counts if no figure is above the set's own limit.
func TestShares(t *testing.T) {
	r := Report{Rows: []Row{
		{Set: "a", Posture: Posture{Twist: 20}}, // limit 28
		{Set: "a", Method: "gram", Style: "x", Posture: Posture{Twist: 27}},
		{Set: "a", Method: "mar", Style: "y", Posture: Posture{Twist: 29}},
		{Set: "b"}, // limit 16
		{Set: "b", Method: "gram", Style: "x", Posture: Posture{Twist: 27}},
		{Set: "b", Method: "mar", Style: "y", Posture: Posture{Twist: 15}},
	}}
	r.bars()
	if want := []Share{{"gram", 1, 2}, {"mar", 1, 2}}; !slices.Equal(r.Shares, want) {
		t.Errorf("shares %+v, want %+v", r.Shares, want)
	}
}
