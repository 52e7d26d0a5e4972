package resident_test

import (
	"fmt"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/mann"
	"mannequin/animsys/resident"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	dogfree "mannequin/models/dog-free"
	"mannequin/models/hero"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

func get[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A dog walks away from the camera. When it is far enough, it goes from its crowd to the GPU.
func Example() {
	world, ground := arche.NewWorld(), ik.Level(0)
	model := get(mann.NewModel(get(dogfree.Open())))
	near := get(animsys.NewCrowd(&world, get(model.NewController(mann.ControllerOptions{Capacity: 20})), animsys.Options{Ground: ground}))
	defer near.Close()
	far := get(resident.New(model, resident.Options{Capacity: 50, Ground: ground}))
	defer far.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	goals := generic.NewMap1[control.Goal](&world)

	dog, agent := get(near.Spawn(m3.V(0, 0, 8), 0)), -1
	walk := control.Goal{Move: m3.V(0, 0, 1), Speed: control.TrotSpeed, Action: control.Move}
	var state generator.State
	for range 4 * animsys.TickRate {
		if agent < 0 {
			*goals.Get(dog) = walk
			if near.Root(dog).Pos.Z > 10 {
				origin := get(near.SaveMotion(&state, dog))
				agent = get(far.Adopt(&state, origin))
				check(near.Despawn(dog))
			}
		} else {
			check(far.SetGoal(agent, walk)) // goals stay until they are set again
		}
		check(schedule.Step())
		check(far.Step())
	}
	bones := get(far.Bones(nil, agent)) // waits for the GPU: for those only whose bones the game needs
	fmt.Println(far.Root(agent).At.Pos.Z > 12, len(bones), "bones;", near.Agents(), "near")

	// It comes back.
	check(far.Save(&state, agent))
	check(far.Remove(agent))
	dog = get(near.SpawnSaved(&state, m3.Vec3{}))
	fmt.Println(near.Root(dog).Pos.Z > 12, near.Agents(), "near")
	// Output:
	// true 27 bones; 0 near
	// true 1 near
}

// A thousand people far away live on the GPU: they walk, and every third one jumps.
func ExampleNewLearned() {
	person := get(hero.Open()).Learned
	far := get(resident.NewLearned(person, resident.Options{Capacity: 1000, Ground: ik.Level(0)}))
	defer far.Close()
	for i := range 6 {
		agent := get(far.Add(feature.Place{Pos: m3.V(2*float32(i), 0, 60)}))
		walk := control.Goal{Move: m3.V(0, 0, 1), Speed: 1.4, Action: control.Move}
		if i%3 == 0 {
			walk.Action = control.Jump
		}
		check(far.SetGoal(agent, walk))
	}
	for range 2 * animsys.TickRate {
		check(far.Step())
	}
	fmt.Println(far.Root(0).At.Pos.Z > 61, far.Root(1).At.Pos.Z > 61)
	// Output: true true
}
