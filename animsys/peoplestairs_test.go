package animsys_test

import (
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/models"
	"mannequin/models/person"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// People walk up stairs of 16 cm every 30 cm, and down: their feet swing over the edges.
func TestStairsOfPeople(t *testing.T) {
	const steps, rise, deep, begin, top = 12, 0.16, 0.3, 3, 4 // begin, top: m
	var all []terrain.Deck
	add := func(z, height, depth float32) {
		all = append(all, terrain.Deck{At: m3.V(0, height, z+depth/2), Width: 8, Depth: depth, Thick: height})
	}
	for i := range steps {
		add(begin+deep*float32(i), rise*float32(i+1), deep)
		add(begin+deep*steps+top+deep*float32(i), rise*float32(steps-i), deep)
	}
	add(begin+deep*steps, rise*steps, top)
	decks := &terrain.Decks{}
	must.Do(t, decks.Set(all...))
	w := arche.NewWorld()
	opt := animsys.Options{Ground: decks}
	model := must.Get(models.OpenAs("human-strnn", strnn.NewModel))(t)
	steered := must.Get(animsys.NewCrowd(&w, must.Get(model.NewStream(strnn.StreamOptions{Capacity: 1}))(t), opt))(t)
	defer steered.Close()
	led := must.Get(animsys.NewCrowd(&w, must.Get(must.Get(person.Open())(t).NewStream(manifold.StreamOptions{Capacity: 1}))(t), opt))(t)
	defer led.Close()
	schedule := must.Get(ecs.NewSchedule(&w, 1.0/animsys.TickRate, animsys.Systems()...))(t)
	lane := must.Get(control.NewPath([]m3.Vec3{{X: 1}, {X: 1, Z: 10}, {X: 1, Z: 20}}, false))(t)
	must.Get(animsys.SpawnWith(steered, m3.V(-1, 0, 0), 0, strnn.Steer{Speed: 1}))(t)
	must.Get(animsys.SpawnWith(led, m3.V(1, 0, 0), 0, manifold.Curve{Path: lane, Speed: 1}))(t)
	var feet [2]struct {
		jerk
		most            float64
		deepest, climbs float32
	}
	for tick := range 16 * animsys.TickRate {
		must.Do(t, schedule.Step())
		for i, c := range []*animsys.Crowd{steered, led} {
			f, bones, floor := &feet[i], c.BonesAt(0), c.Ground.Body[0].Floor()
			if v, _ := f.add(bones, nil); tick > animsys.TickRate {
				f.most = max(f.most, v/recordedPersonJerk)
			}
			f.climbs = max(f.climbs, floor)
			for _, leg := range c.Ground.Rig.Roles.Legs {
				tip := bones[leg[len(leg)-1]].Pos
				f.deepest = max(f.deepest, decks.HeightFrom(tip.X, tip.Z, floor)-tip.Y)
			}
		}
	}
	for i, c := range []*animsys.Crowd{steered, led} {
		f := &feet[i]
		t.Logf("person %d: feet come up to %.1f cm into the stairs; jerk %.1f times the recordings' 99.9th percentile", i, 100*f.deepest, f.most)
		if at := c.Roots[0].Pos.Z; f.climbs < rise*steps-0.01 || at < begin+deep*steps+top {
			t.Errorf("person %d has come up to %.2f m, and to Z %.1f", i, f.climbs, at)
		}
		if f.deepest > 0.06 || f.most > 5.5 {
			t.Errorf("person %d: feet come %.1f cm into the stairs, with a jerk of %.1f", i, 100*f.deepest, f.most)
		}
	}
}
