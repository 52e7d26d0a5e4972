package animsys_test

import (
	"math"
	"testing"

	"mannequin/ecs"
	"mannequin/engine/m3"

	"github.com/mlange-42/arche/generic"
)

// An agent with an ecs.LookAt looks there, and no other agent does; another row takes what is
// remembered along, and a tick allocates nothing.
func TestLookAt(t *testing.T) {
	w, plain := newWorld(t, 3, 2), newWorld(t, 3, 1)
	first, dog := w.spawn(0), w.spawn(1)
	plain.spawn(0)
	plain.spawn(1)
	looks := generic.NewMap1[ecs.LookAt](&w.ecs)
	looks.Add(dog)
	looks.Assign(first, &ecs.LookAt{Target: m3.V(float32(math.NaN()), 0, 0), Weight: 1})
	head, nose := w.crowd.Skel.Index("Head"), w.crowd.Skel.Index("HeadSite")
	target := func() m3.Vec3 {
		row, _ := w.crowd.Row(dog)
		return w.crowd.Roots[row].Apply(m3.V(1.5, 1, 2))
	}
	off := func() float32 {
		row, _ := w.crowd.Row(dog)
		b := w.crowd.BonesAt(row)
		ahead := b[nose].Pos.Sub(b[head].Pos).Normalize(m3.Up)
		return m3.Acos(ahead.Dot(target().Sub(b[head].Pos).Normalize(m3.Up)))
	}
	step := func() {
		t.Helper()
		*looks.Get(dog) = ecs.LookAt{Target: target(), Weight: 1}
		for _, w := range []*world{w, plain} {
			if err := w.schedule.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 120 {
		step()
	}
	if d := off() * 180 / math.Pi; d > 3 { // the target goes along with the dog, a tick late
		t.Errorf("the dog looks %.1f° aside", d)
	}
	for j, x := range plain.crowd.BonesAt(0) {
		if x != w.crowd.BonesAt(0)[j] {
			t.Fatalf("who looks at what is no number has another joint %d", j)
		}
	}
	for j, x := range plain.crowd.BonesAt(1) {
		if turns := w.crowd.BonesAt(1)[j] != x; turns != (j >= w.crowd.Skel.Index("Neck") && j <= nose) {
			t.Errorf("that joint %s turns is %v", w.crowd.Skel.Names[j], turns)
		}
	}
	if err := w.crowd.Despawn(first); err != nil {
		t.Fatal(err)
	}
	if step(); off() > 3*math.Pi/180 {
		t.Errorf("in another row it looks %.1f° aside", off()*180/math.Pi)
	}
	if n := testing.AllocsPerRun(10, func() { _ = w.schedule.Step() }); n > 0 {
		t.Errorf("%g allocations in a tick", n)
	}
}
