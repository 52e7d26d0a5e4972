package matching_test

import (
	"slices"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/matching"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models"
)

// A hit takes the upper body of a person who runs, and nothing else: the same steps follow.
func TestHitAtARun(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	hit := actionOf(t, f, "hit")
	run := func(speed float32, action control.Action) (poses [][]m3.Vec3, head, foot int) {
		r := newRester(t, f)
		*r.goal = control.Goal{Move: m3.V(0, 0, 1), Speed: speed}
		r.steps(2 * animsys.TickRate)
		r.goal.Action = action
		poses = r.steps(12)
		r.goal.Action = control.Idle
		legs := r.crowd.Ground.Rig.Roles.Legs
		return append(poses, r.steps(animsys.TickRate)...), r.crowd.Skel.Index("Head"), legs[0][len(legs[0])-1]
	}
	for _, speed := range []float32{1.4, 3.5} {
		is, head, foot := run(speed, hit)
		was, _, _ := run(speed, control.Idle)
		var bent, strays, end float32
		for k := range is {
			bent = max(bent, is[k][head].Sub(is[k][0]).Dist(was[k][head].Sub(was[k][0])))
			strays = max(strays, is[k][foot].Dist(was[k][foot]))
			end = is[k][head].Dist(was[k][head])
		}
		t.Logf("at %g m/s the head moves by %.2f m beside the hips, a foot by %.2f, and a second later the head by %.3f", speed, bent, strays, end)
		if bent < 0.06 || strays > 0.1 || end > 0.01 {
			t.Errorf("at %g m/s the head moves by %.2f m beside the hips, a foot by %.2f, and a second later the head by %.3f", speed, bent, strays, end)
		}
	}
}

// An agent that is restored in the middle of a hit goes on with the same bits, and a state that plays an action which is no such one is refused.
func TestHitRestores(t *testing.T) {
	f := must.Get(models.OpenCharacter("hero"))(t)
	hit := actionOf(t, f, "hit")
	s := must.Get(f.NewStream(matching.StreamOptions{Capacity: 2, Workers: 1}))(t)
	defer s.Close()
	frozen := make([]bool, 2)
	row := must.Get(s.Add(feature.Place{}, &control.Goal{Move: m3.V(0, 0, 1), Speed: 3}))(t)
	for range 100 {
		must.Do(t, s.Generate(frozen))
	}
	s.Controls()[row].Action = hit
	for range 5 {
		must.Do(t, s.Generate(frozen))
	}
	var st generator.State
	s.Save(&st, row)
	st.Rewind()
	other := must.Get(s.Restore(&st))(t)
	for tick := range 30 {
		must.Do(t, s.Generate(frozen))
		if a, b := s.Weight(row, hit), s.Weight(other, hit); a != b || tick == 3 && a != 1 || s.Root(row) != s.Root(other) {
			t.Fatalf("tick %d: weights of the hit are %g and %g, roots at %v and %v", tick, a, b, s.Root(row), s.Root(other))
		}
	}
}

// Hits are played on the spot, jumps and rolls are not. A character with thousands of actions, such as a file may claim, plays all with the whole body.
func TestUppers(t *testing.T) {
	l := must.Get(models.OpenCharacter("hero"))(t).Learned
	n := l.Networks()
	tag := matching.Tags(1) << slices.Index(l.Tags, "hit")
	for i, can := range l.Uppers() {
		if can != (n.Acts[i].Tags == tag) {
			t.Errorf("action %d with tags %b: %v", i, n.Acts[i].Tags, can)
		}
	}
	n.Acts = slices.Repeat(n.Acts, 100)
	if slices.Contains(must.Get(l.With(n))(t).Uppers(), true) {
		t.Error("one of thousands of actions is played by the upper body")
	}
}
