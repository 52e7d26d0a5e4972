package matching_test

import (
	"fmt"
	"log"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/matching"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/offline/procgen/human"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// A person walks by the clips of a game, in the direction of a stick.
func Example() {
	takes, _, err := human.Generate(human.Options{Minutes: 1, Actions: []string{human.Walk, human.Stand}, Styles: []string{"neutral"}})
	if err != nil {
		log.Fatal(err)
	}
	var clips []matching.Clip
	for _, t := range takes {
		clips = append(clips, matching.Clip{Name: t.Name, Motion: t.Clip})
	}
	db, err := matching.Build(takes[0].Clip.Skel, clips, matching.Options{})
	if err != nil {
		log.Fatal(err)
	}
	stream, err := db.NewStream(matching.StreamOptions{Capacity: 1})
	if err != nil {
		log.Fatal(err)
	}
	world := arche.NewWorld()
	crowd, err := animsys.NewCrowd(&world, stream, animsys.Options{Ground: ik.Level(0)})
	if err != nil {
		log.Fatal(err)
	}
	schedule, err := ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...)
	if err != nil {
		log.Fatal(err)
	}
	hero, err := crowd.Spawn(m3.Vec3{}, 0)
	if err != nil {
		log.Fatal(err)
	}
	goals := generic.NewMap1[control.Goal](&world)
	stick := m3.V(1, 0, 0) // in the world: to the left of where the hero faces
	for range 3 * animsys.TickRate {
		way := crowd.Root(hero).Rot.Conj().Rotate(stick) // in the hero's frame
		*goals.Get(hero) = control.Goal{Move: way, Face: way, Speed: 1.3}
		if err := schedule.Step(); err != nil {
			log.Fatal(err)
		}
	}
	root := crowd.Root(hero)
	fmt.Printf("faces %.0f°, has gone more than 2 m to the left: %v\n", root.Rot.Yaw()*180/3.14159, root.Pos.X > 2)
	// Output: faces 90°, has gone more than 2 m to the left: true
}
