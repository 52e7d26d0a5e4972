package animsys_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	dogfree "mannequin/models/dog-free"

	arche "github.com/mlange-42/arche/ecs"
)

// newHerd returns a crowd of dogs as a game makes it when it starts, without agents.
func newHerd(world *arche.World) (*animsys.Crowd, *ecs.Schedule) {
	model := get(mann.NewModel(get(dogfree.Open())))
	crowd := get(animsys.NewCrowd(world, get(model.NewController(mann.ControllerOptions{Capacity: 20})), animsys.Options{Ground: ik.Level(0)}))
	return crowd, get(ecs.NewSchedule(world, 1.0/animsys.TickRate, animsys.Systems()...))
}

// A game is saved while dogs walk, and loaded into a world that has just begun.
func Example_save() {
	dir := get(os.MkdirTemp("", "save"))
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "game.save")

	world := arche.NewWorld()
	crowd, schedule := newHerd(&world)
	defer crowd.Close()
	for i := range 3 {
		get(animsys.SpawnWith(crowd, m3.V(float32(i), 0, 0), 0, control.Goal{Path: control.Meander(), Speed: 1}))
	}
	run(schedule, 100)

	save, err := animsys.Save(&world, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, save, 0o644); err != nil {
		log.Fatal(err)
	}
	run(schedule, 100)

	again := arche.NewWorld()
	herd, ticks := newHerd(&again)
	defer herd.Close()
	if err := animsys.Restore(&again, get(os.ReadFile(file))); err != nil {
		log.Fatal(err)
	}
	for row := range herd.Agents() {
		fmt.Println("a dog is entity", herd.Entity(row).ID())
	}
	run(ticks, 100)
	fmt.Println("the same bits:", herd.Hash() == crowd.Hash())
	// Output:
	// a dog is entity 1
	// a dog is entity 2
	// a dog is entity 3
	// the same bits: true
}

// A tick is played again with another input, after 8 ticks have passed.
func Example_rollback() {
	world := arche.NewWorld()
	crowd, schedule := newHerd(&world)
	defer crowd.Close()
	dog := get(animsys.SpawnWith(crowd, m3.V(0, 0, 0), 0, control.Goal{Move: m3.V(0, 0, 1), Speed: 1}))
	run(schedule, 60)

	save := get(animsys.Save(&world, nil)) // before each tick, into a ring of buffers
	run(schedule, 8)
	if err := animsys.Restore(&world, save); err != nil {
		log.Fatal(err)
	}
	run(schedule, 8) // again, with the inputs that have come
	was := crowd.Root(dog)
	save = get(animsys.Save(&world, save[:0])) // allocates nothing
	fmt.Println(was == crowd.Root(dog), len(save) < 20_000)
	// Output: true true
}
