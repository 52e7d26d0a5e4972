// Command dog makes a pack of dogs, steers one of them and prints where its head is.
package main

import (
	"fmt"
	"log"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	dogfree "mannequin/models/dog-free"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

func main() {
	world := arche.NewWorld()
	model := must(mann.NewModel(must(dogfree.Open()))) // embedded weights, CC0
	dogs := must(model.NewController(mann.ControllerOptions{Capacity: 20}))
	pack := must(animsys.NewCrowd(&world, dogs, animsys.Options{Ground: ik.Level(0)}))
	defer pack.Close()
	schedule := must(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	for i := range 19 {
		must(pack.Spawn(m3.V(2*float32(i-9), 0, -3), 0)) // these dogs idle
	}
	dog := must(pack.Spawn(m3.V(0, 0, 0), 0)) // metres and radians; +Z is ahead, +X left
	goals, head := generic.NewMap1[control.Goal](&world), pack.Skel.Index("Head")

	for tick := range 300 { // a game calls Step 60 times a second
		*goals.Get(dog) = control.Goal{Move: m3.V(0, 0, 1), Turn: 0.3, Speed: control.TrotSpeed}
		if err := schedule.Step(); err != nil {
			log.Fatal(err)
		}
		if tick%60 == 59 {
			at := pack.Bones(dog)[head].Pos // each bone has a place and a rotation in the world
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
