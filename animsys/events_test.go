package animsys_test

import (
	"slices"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/layer"
	"mannequin/animsys/skel"
	"mannequin/internal/testing/must"

	arche "github.com/mlange-42/arche/ecs"
)

// Each contact of each foot gives one event down and one up, in the tick in which it shows, with the
// foot's place and the ground's normal there, whatever the update rate and the number of workers.
func TestConformanceFeetEvents(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		track := func(workers int) (all []animsys.Event) {
			s := k.scene(t, 3, workers)
			agents := s.run(1, numbers(3)...)
			setRate(t, s.people, 1, animsys.Every2)
			setRate(t, s.people, 2, animsys.Every4)
			legs := len(s.people.Ground.Rig.Roles.Legs)
			contact := func(row, leg int) bool { return s.people.Ground.Feet[row*legs+leg].Contact() }
			was := make([]bool, 3*legs) // as shown
			for i := range was {
				was[i] = contact(i/legs, i%legs)
			}
			downs := 0
			s.play(agents, numbers(3), 1, 400, func(tick int) {
				events, row := s.people.Events(), 0
				for _, e := range events {
					at, ok := s.people.Row(e.Entity)
					if !ok || at < row {
						t.Fatalf("tick %d: events are not in the order of rows", tick)
					}
					row = at
					down := e.Kind == animsys.FootDown
					if i := at*legs + int(e.Leg); was[i] == down || contact(at, int(e.Leg)) != down {
						t.Fatalf("tick %d: %v of leg %d of row %d, contact was %v and is %v", tick, e.Kind, e.Leg, at, was[i], contact(at, int(e.Leg)))
					} else {
						was[i] = down
					}
					if down {
						downs++
					}
					if e.Pos != s.bones(e.Entity)[e.Joint].Pos || e.Normal != s.field.Normal(e.Pos.X, e.Pos.Z) {
						t.Fatalf("tick %d: the foot is said to be at %v on %v", tick, e.Pos, e.Normal)
					}
					if !(e.Speed >= 0 && e.Speed < 20) {
						t.Fatalf("tick %d: a foot comes at %g m/s", tick, e.Speed)
					}
				}
				for i := range was {
					// A row that updates in each tick has no change left; others may show it three ticks later.
					if row := i / legs; row == 0 && was[i] != contact(row, i%legs) {
						t.Fatalf("tick %d: the contact of leg %d has changed without an event", tick, i%legs)
					}
				}
				all = append(all, events...)
			})
			if k.name != "keypose" && downs < 6 {
				t.Errorf("%d feet came down in 400 ticks", downs)
			}
			return all
		}
		if one, three := track(1), track(3); !slices.Equal(one, three) {
			t.Error("one worker and three have different events")
		}
	})
}

// Each marker gives one event each time the clip passes it, in the very tick, at any update rate, and in
// loops that are shorter than a tick.
func TestMarkerEvents(t *testing.T) {
	k := kinds(t)[0]
	s := k.scene(t, 4, 2)
	all := s.run(8, numbers(4)...)
	for row, rate := range []animsys.UpdateRate{animsys.EveryTick, animsys.Every2, animsys.Every4, animsys.EveryTick} {
		setRate(t, s.people, row, rate)
	}
	s.step(4)
	motion := func(fps float64, frames int, at ...float32) *layer.Clip {
		var m []layer.Marker
		for i, x := range at {
			m = append(m, layer.Marker{Name: string(rune('a' + i)), Time: x})
		}
		return must.Get(layer.New(s.people.Skel, skel.NewClip(s.people.Skel, fps, frames), layer.ClipOptions{Markers: m}))(t)
	}
	tail := must.Get(layer.Tail(s.people.Skel))(t)
	second := motion(30, 31, 0, 0.5, 1)        // a second
	short := motion(500, 2, 0.001, 0.002/1000) // 4 ms in a loop: 4.17 times a tick
	for _, e := range all[:3] {
		must.Do(t, s.people.Play(e, second, layer.PlayOptions{Mask: tail}))
	}
	must.Do(t, s.people.Play(all[3], short, layer.PlayOptions{Mask: tail, Loop: true}))
	type seen struct {
		e    arche.Entity
		name string
	}
	when, count := map[seen][]int{}, 0
	for tick := range 120 {
		s.step(1)
		for _, e := range s.people.Events() {
			switch {
			case e.Clip == short:
				count++
			case e.Kind == animsys.ClipMarker:
				when[seen{e.Entity, e.Marker}] = append(when[seen{e.Entity, e.Marker}], tick)
			case e.Kind == animsys.ClipEnd:
				when[seen{e.Entity, "end"}] = append(when[seen{e.Entity, "end"}], tick)
			}
		}
	}
	for i, e := range all[:3] {
		start := when[seen{e, "a"}]
		if len(start) != 1 || start[0] > []int{1, 2, 4}[i] {
			t.Fatalf("agent %d: the first marker is passed in ticks %v", i, start)
		}
		for name, after := range map[string]int{"b": 29, "c": 59, "end": 59} {
			if at := when[seen{e, name}]; len(at) != 1 || at[0] < start[0]+after-1 || at[0] > start[0]+after+1 {
				t.Errorf("agent %d: %s in ticks %v, want once about %d ticks after %d", i, name, at, after, start[0])
			}
		}
	}
	if want := 2 * 119 * 1000 / 60 / 4; count < want-2 || count > want+10 {
		t.Errorf("%d markers of a loop of 4 ms in 119 ticks, want about %d", count, want)
	}
}
