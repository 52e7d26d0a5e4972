package crowd

import (
	"slices"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/models/person"
	stylesgram "mannequin/models/styles-gram"
	"mannequin/scenes"
	"mannequin/scenes/internal/testscene"
)

// Who goes along a lane in a style of Gram goes where they would without, and moves
// otherwise; the others move as they would.
func TestGramStyles(t *testing.T) {
	var o Options
	o.People = must.Get(person.Open())(t)
	ts, err := stylesgram.Open()
	if err != nil {
		t.Fatal(err)
	}
	transfers, err := ts.For(o.People.Model)
	if err != nil {
		t.Fatal(err)
	}
	o.Agents, o.Room, o.Seed, o.Workers = 6, 6, 4, 1
	play := func(o Options) *Scene {
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		testscene.Step(t, s, 240, scenes.Input{})
		return s
	}
	plain := play(o)
	o.Transfers = transfers
	styled := play(o)
	otherwise := 0
	a, b := plain.populations[0], styled.populations[0]
	for row := range a.Agents() {
		if d := a.Roots[row].Pos.Dist(b.Roots[row].Pos); d > 0.01 {
			t.Errorf("person %d is %g m from where it would be without a style", row, d)
		}
		if !slices.Equal(a.BonesAt(row), b.BonesAt(row)) {
			otherwise++
		}
	}
	if otherwise == 0 || otherwise == a.Agents() {
		t.Errorf("%d of %d move otherwise, want some", otherwise, a.Agents())
	}
}
