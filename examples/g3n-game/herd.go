package main

import (
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/body"
	"mannequin/engine/clock"
	"mannequin/engine/g3n"
	"mannequin/engine/m3"
	"mannequin/ik"
	dogfree "mannequin/models/dog-free"
	"mannequin/models/person"

	"github.com/g3n/engine/core"
	arche "github.com/mlange-42/arche/ecs"
)

// herd is all of mannequin in this game: dogs that run around, and a person who carries a lantern.
type herd struct {
	schedule *ecs.Schedule
	clock    *clock.Fixed
	crowds   []*animsys.Crowd
	views    []*g3n.Crowd
	bones    []m3.Xform
}

func newHerd(scene *core.Node, lantern core.INode) *herd {
	world, ground := arche.NewWorld(), animsys.Options{Ground: ik.Level(0)}
	dog, person := must(mann.NewModel(must(dogfree.Open()))), must(person.Open())
	dogs := must(animsys.NewCrowd(&world, must(dog.NewController(mann.ControllerOptions{Capacity: 20})), ground))
	people := must(animsys.NewCrowd(&world, must(person.NewStream(manifold.StreamOptions{Capacity: 1})), ground))
	h := &herd{clock: must(clock.New(animsys.TickRate, 8)), crowds: []*animsys.Crowd{dogs, people}}
	h.schedule = must(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	for i := range 20 {
		lane := must(control.Circle(3.5 + 0.6*float32(i%5)))
		at, ahead := lane.At(lane.Length() * float32(i) / 20)
		must(animsys.SpawnWith(dogs, at, m3.YawOf(ahead), control.Goal{Path: lane, Speed: control.TrotSpeed}))
	}
	lane := must(control.Circle(1.5))
	at, ahead := lane.At(0)
	must(animsys.SpawnWith(people, at, m3.YawOf(ahead), manifold.Curve{Path: lane, Speed: 1.2}))
	for _, c := range h.crowds {
		rig := &body.Rig{Names: c.Skel.Names, Parents: c.Skel.Parents, Offsets: c.Skel.Offsets}
		view := must(g3n.NewCrowd(must(body.New(rig))))
		view.SetShadow(ik.Level(0).Height, 0.5)
		scene.Add(view)
		h.views = append(h.views, view)
	}
	h.views[0].SetLooks([]g3n.Look{{Tint: [3]float32{0.33, 0.17, 0.07}}, {Tint: [3]float32{0.55, 0.42, 0.28}}})
	h.views[1].Attach(lantern, 0, people.Skel.Index("RightHand"), m3.Xform{})
	return h
}

// update is called once for each frame.
func (h *herd) update(dt time.Duration) error {
	for range h.clock.Advance(dt) {
		if err := h.schedule.Step(); err != nil {
			return err
		}
	}
	for k, c := range h.crowds {
		h.bones = c.Interpolate(h.bones, h.clock.Alpha())
		if err := h.views[k].Update(h.bones); err != nil {
			return err
		}
	}
	return nil
}
