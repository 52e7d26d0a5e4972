package animsys_test

import (
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/generator"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"

	arche "github.com/mlange-42/arche/ecs"
)

// An agent that leaves a crowd by SaveMotion and comes back by SpawnSaved goes where one goes that stayed, to the bit, in the world's space
// and far from its origin; and with the origin moved it goes as far.
func TestMotionHandedOver(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		stays, leaves, elsewhere := k.scene(t, 3, 1), k.scene(t, 3, 1), k.scene(t, 3, 1)
		all := []*actors{stays, leaves, elsewhere}
		far := m3.V(5000, 0, -3000)
		var first m3.Vec3
		for _, a := range all {
			a.home = far
			e := must.Get(a.start(0))(t)
			first = a.people.Root(e).Pos
			for tick := range 130 {
				a.control(e, 0, tick)
				a.step(1)
			}
		}
		var st generator.State
		c := leaves.people
		origin := must.Get(c.SaveMotion(&st, c.Entity(0)))(t)
		must.Do(t, c.Despawn(c.Entity(0)))
		back := must.Get(c.SpawnSaved(&st, origin))(t)
		if c.Root(back) != stays.people.Root(stays.people.Entity(0)) {
			t.Error("it comes back elsewhere")
		}
		moved := m3.V(-2000, 0, 100) // by whole metres, which no bits of the motion know
		c = elsewhere.people
		must.Do(t, c.Despawn(c.Entity(0)))
		other := must.Get(c.SpawnSaved(&st, origin.Add(moved)))(t)
		elsewhere.shift(other, moved)
		for tick := 130; tick < 330; tick++ {
			for _, a := range all {
				a.control(a.people.Entity(0), 0, tick)
			}
			elsewhere.shift(other, moved)
			for _, a := range all {
				a.step(1)
			}
			want := stays.people.Root(stays.people.Entity(0))
			if got := leaves.people.Root(back); got != want {
				t.Fatalf("tick %d: root %v, want %v", tick, got, want)
			}
			if got := elsewhere.people.Root(other); got.Pos.Sub(moved).Dist(want.Pos) > 0.02 {
				t.Fatalf("tick %d: moved root %v, want %v", tick, got, want.Pos.Add(moved))
			}
		}
		if d := stays.people.Root(stays.people.Entity(0)).Pos.Dist(first); d < 1e-3 {
			t.Error("it has come ", d, " m far")
		}
		for call, err := range map[string]error{"SaveMotion": second(c.SaveMotion(nil, c.Entity(0))), "SpawnSaved": second(c.SpawnSaved(nil, m3.Vec3{}))} {
			if err == nil || !strings.Contains(err.Error(), call+": the state is nil") {
				t.Errorf("%s of a nil state: %v", call, err)
			}
		}
		whole := st.Data
		nan := append(slices.Clone(whole[:len(whole)-4]), 0, 0, 0xc0, 0x7f) // of a rotation, or of how fast it turns
		for what, data := range map[string][]byte{"half": whole[:len(whole)/2], "a byte less": whole[:len(whole)-1], "a byte more": append(slices.Clone(whole), 0), "a NaN": nan} {
			st.Data = data
			if _, err := c.SpawnSaved(&st, m3.Vec3{}); err == nil || !strings.HasPrefix(err.Error(), "animsys: SpawnSaved: ") || c.Agents() != 1 {
				t.Errorf("%s: %v, %d agents", what, err, c.Agents())
			}
		}
	})
}

// An agent that is handed over right after it was placed elsewhere, or nudged, is there at once: its way there is nothing to ease.
func TestMotionPlaced(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		for what, move := range map[string]func(a *actors, e arche.Entity) error{
			"placed": func(a *actors, e arche.Entity) error {
				return a.people.Place(e, a.people.Root(e).Pos.Add(m3.V(1500, 0, 40)), 1)
			},
			"nudged": func(a *actors, e arche.Entity) error { return a.people.Nudge(e, m3.V(0.5, 0, 0)) },
		} {
			var hips [2][]m3.Vec3
			for i, leaves := range []bool{false, true} {
				a := k.scene(t, 2, 1)
				e := must.Get(a.start(0))(t)
				for tick := range 100 {
					a.control(e, 0, tick)
					a.step(1)
				}
				must.Do(t, move(a, e))
				if leaves {
					var st generator.State
					origin := must.Get(a.people.SaveMotion(&st, e))(t)
					must.Do(t, a.people.Despawn(e))
					e = must.Get(a.people.SpawnSaved(&st, origin))(t)
				}
				for tick := 100; tick < 106; tick++ {
					a.control(e, 0, tick)
					a.step(1)
					hips[i] = append(hips[i], a.people.Bones(e)[0].Pos)
				}
			}
			for tick := range hips[0] {
				if d := hips[0][tick].Flat().Dist(hips[1][tick].Flat()); d > 0.12 {
					t.Fatalf("%s: %d ticks after a handover the hips are %.2f m away from the hips of an agent without a handover", what, tick+1, d)
				}
			}
		}
	})
}

// Handovers allocate nothing, once the crowd has had as many agents.
func TestMotionAllocations(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		a := k.scene(t, 3, 1)
		for i := range 2 {
			must.Get(a.start(i))(t)
		}
		tick := 0
		step := func() {
			for row := range 2 {
				a.control(a.people.Entity(row), row, tick)
			}
			tick++
			a.step(1)
		}
		for range 100 {
			step()
		}
		var st generator.State
		c := a.people
		handOver := func() {
			e := c.Entity(0)
			origin := must.Get(c.SaveMotion(&st, e))(t)
			must.Do(t, c.Despawn(e))
			must.Get(c.SpawnSaved(&st, origin))(t)
		}
		handOver()
		mustNotAllocate(t, func() {
			for range 10 {
				handOver()
			}
		})
	})
}

// An agent that is handed over in motion looks in the next tick as one that stays: its feet do not come down at once, and its body does not sink for
// them.
func TestMotionShown(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		if k.name == "keypose" {
			t.Skip("the phases of its windows differ from row to row")
		}
		a := k.scene(t, 2, 1)
		stays := must.Get(a.start(0))(t)
		var st generator.State
		var most, sum float32
		n := 0
		for tick := range 300 {
			a.control(stays, 0, tick)
			if tick < 60 || tick%5 != 0 {
				a.step(1)
				continue
			}
			origin := must.Get(a.people.SaveMotion(&st, stays))(t)
			other := must.Get(a.people.SpawnSaved(&st, origin))(t)
			a.control(other, 0, tick)
			a.step(1)
			want, got := a.people.Bones(stays), a.people.Bones(other)
			for j := range want {
				d := got[j].Pos.Dist(want[j].Pos)
				most, sum, n = max(most, d), sum+d, n+1
			}
			must.Do(t, a.people.Despawn(other))
		}
		mean := sum / float32(n)
		if t.Logf("joints are %.1f mm off in the mean, %.0f at most", 1000*mean, 1000*most); mean > 7e-3 || most > 0.15 || mean == 0 {
			t.Error("that is too far")
		}
	})
}
