package animsys_test

import (
	"log"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/netruntime"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// A game adds a crowd to its Arche world, appends the systems to its schedule,
// sets goals, and hands the bones to its renderer.
func Example() {
	net, err := netruntime.Open("dog.safetensors")
	if err != nil {
		log.Fatal(err)
	}
	model, err := mann.NewModel(net)
	if err != nil {
		log.Fatal(err)
	}
	hills, err := terrain.Hills(terrain.Grid{Size: 100, Cell: 0.5}, terrain.HillsOptions{Seed: 1, MaxSlope: 20 * math.Pi / 180})
	if err != nil {
		log.Fatal(err)
	}

	world := arche.NewWorld()
	crowd, err := animsys.NewCrowd(&world, model, animsys.Options{Capacity: 64, Terrain: hills})
	if err != nil {
		log.Fatal(err)
	}
	defer crowd.Close()
	schedule, err := ecs.NewSchedule(&world, 1.0/mann.Rate, animsys.Systems()...)
	if err != nil {
		log.Fatal(err)
	}
	defer schedule.Close()

	dog, err := crowd.Spawn(m3.V(0, 0, 0), 0)
	if err != nil {
		log.Fatal(err)
	}
	goals := generic.NewMap1[control.Goal](&world)
	*goals.Get(dog) = control.Goal{Move: m3.V(0, 0, 1), Speed: control.TrotSpeed}

	for range 600 { // ten seconds
		if err := schedule.Step(); err != nil {
			log.Fatal(err)
		}
		row, _ := crowd.Rows.Row(dog)
		_ = crowd.Bones(row) // world transforms, grounded
	}
}
