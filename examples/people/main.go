// Command people walks three people round a circle, lets the last of them run after two seconds and
// prints where its head is.
package main

import (
	"fmt"
	"log"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/models/person"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

func main() {
	world := arche.NewWorld()
	networks := must(person.Open()) // embedded weights, MIT
	stream := must(networks.NewStream(manifold.StreamOptions{Capacity: 20}))
	people := must(animsys.NewCrowd(&world, stream, animsys.Options{Ground: ik.Level(0)}))
	defer people.Close()
	schedule := must(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	circle := must(control.Circle(8)) // metres
	var crowd []arche.Entity
	for i := range 3 { // four metres apart on the circle
		curve := manifold.Curve{Path: circle, Start: 4 * float32(i), Speed: 1.4}
		at, ahead := circle.At(curve.Start)
		crowd = append(crowd, must(animsys.SpawnWith(people, at, m3.YawOf(ahead), curve)))
	}
	runner := crowd[2] // the last, 8 m along the circle, ahead of the others
	curves, head := generic.NewMap1[manifold.Curve](&world), people.Skel.Index("Head")

	for tick := range 480 { // a game calls Step 60 times a second
		if tick == 120 {
			curves.Get(runner).Speed = 3
		}
		if err := schedule.Step(); err != nil {
			log.Fatal(err)
		}
		if tick%120 == 119 {
			at := people.Bones(runner)[head].Pos
			fmt.Printf("after %d s the head is at (%.1f, %.1f, %.1f)\n", (tick+1)/60, at.X, at.Y, at.Z)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
