package animsys_test

import (
	"fmt"
	"log"
	"math"
	"slices"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/clock"
	"mannequin/engine/m3"
	"mannequin/ik"
	dogfree "mannequin/models/dog-free"
	dogfreestride2 "mannequin/models/dog-free-stride2"
	dogfreestride4 "mannequin/models/dog-free-stride4"
	humankeypose "mannequin/models/human-keypose"
	humanlatent "mannequin/models/human-latent"
	humannext "mannequin/models/human-next"
	humanstrnn "mannequin/models/human-strnn"
	"mannequin/models/person"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
)

// get returns v, and ends the example on an error.
func get[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// run steps the schedule.
func run(s *ecs.Schedule, ticks int) {
	for range ticks {
		if err := s.Step(); err != nil {
			log.Fatal(err)
		}
	}
}

// newPack returns a crowd of dogs on level ground and the schedule of its world, as the
// example of the package makes them. Its dogs can update every second and fourth tick.
func newPack(world *arche.World, dogs int) (*animsys.Crowd, *ecs.Schedule) {
	model := get(mann.NewModel(get(dogfree.Open())))
	every2, every4 := get(mann.NewModel(get(dogfreestride2.Open()))), get(mann.NewModel(get(dogfreestride4.Open())))
	controller := get(model.NewController(mann.ControllerOptions{Capacity: dogs, LOD: []*mann.Model{every2, every4}}))
	crowd := get(animsys.NewCrowd(world, controller, animsys.Options{Ground: ik.Level(0)}))
	return crowd, get(ecs.NewSchedule(world, 1.0/animsys.TickRate, animsys.Systems()...))
}

// A game adds a crowd to its Arche world, makes a schedule of the systems, sets goals and
// hands the bones to its renderer.
func Example() {
	model := get(mann.NewModel(get(dogfree.Open())))
	hills := get(terrain.Hills(terrain.Grid{Size: 100, Cell: 0.5}, terrain.HillsOptions{Seed: 1, MaxSlope: 20 * math.Pi / 180}))

	world := arche.NewWorld()
	dogs := get(model.NewController(mann.ControllerOptions{Capacity: 64}))
	crowd := get(animsys.NewCrowd(&world, dogs, animsys.Options{Ground: hills}))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	defer schedule.Close()

	dog := get(crowd.Spawn(m3.V(0, 0, 0), 0))
	goals := generic.NewMap1[control.Goal](&world)
	*goals.Get(dog) = control.Goal{Move: m3.V(0, 0, 1), Speed: control.TrotSpeed}
	run(schedule, 5*animsys.TickRate)

	hips := crowd.Bones(dog)[0].Pos // world transforms, on the ground
	fmt.Printf("ahead: %.0f m, above the ground: %.1f m\n", hips.Z, hips.Y-hills.Height(hips.X, hips.Z))
	// Output: ahead: 9 m, above the ground: 0.5 m
}

// People follow curves. The windows of motion are made on another goroutine.
func ExampleNewCrowd_people() {
	path := get(control.NewPath([]m3.Vec3{m3.V(0, 0, 0), m3.V(2, 0, 5), m3.V(0, 0, 10)}, false))

	world := arche.NewWorld()
	stream := get(get(person.Open()).NewStream(manifold.StreamOptions{Capacity: 16}))
	crowd := get(animsys.NewCrowd(&world, stream, animsys.Options{Ground: ik.Level(0)}))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))

	person := get(animsys.SpawnWith(crowd, m3.V(0, 0, 0), 0, manifold.Curve{Path: path, Speed: 1.4}))
	run(schedule, 15*animsys.TickRate)
	end, _ := path.At(path.Length())
	fmt.Printf("%.1f m from the end of the path\n", crowd.Bones(person)[0].Pos.Flat().Dist(end))
	// Output: 0.0 m from the end of the path
}

// People wander on predicted motion, at a speed and a rate of turn.
func ExampleNewCrowd_predicted() {
	model := get(strnn.NewModel(get(humanstrnn.Open())))

	world := arche.NewWorld()
	stream := get(model.NewStream(strnn.StreamOptions{Capacity: 16, BF16: true}))
	crowd := get(animsys.NewCrowd(&world, stream, animsys.Options{Ground: ik.Level(0)}))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))

	person := get(animsys.SpawnWith(crowd, m3.V(0, 0, 0), 0, strnn.Steer{Speed: 1.2, Turn: 0.3}))
	run(schedule, 5*animsys.TickRate)
	at := crowd.Bones(person)[0].Pos
	fmt.Println("to the left:", at.X > 1, "ahead:", at.Z > 2)
	// Output: to the left: true ahead: true
}

// People obey sliders. Here code sets them, for a turn to the left at 1.2 m/s.
func ExampleNewCrowd_sliders() {
	model, next := get(latent.NewModel(get(humanlatent.Open()))), get(humannext.Open())

	world := arche.NewWorld()
	stream := get(model.NewStream(next, latent.StreamOptions{Capacity: 16}))
	crowd := get(animsys.NewCrowd(&world, stream, animsys.Options{Ground: ik.Level(0)}))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))

	person := get(crowd.Spawn(m3.V(0, 0, 0), 0))
	sliders := generic.NewMap1[latent.Sliders](&world)
	get(model.NewSteering(next, 1)).Steer(sliders.Get(person), 0.3, 1.2)
	run(schedule, 5*animsys.TickRate)
	at := crowd.Bones(person)[0].Pos
	fmt.Println("to the left:", at.X > 1, "ahead:", at.Z > 2)
	// Output: to the left: true ahead: true
}

// People perform loops of key poses: this one waves.
func ExampleNewCrowd_keyposes() {
	model := get(keypose.NewModel(get(humankeypose.Open())))
	author := get(routines.NewAuthor(model.Layout, 1))

	world := arche.NewWorld()
	stream := get(model.NewStream(keypose.StreamOptions{Capacity: 16}))
	crowd := get(animsys.NewCrowd(&world, stream, animsys.Options{Ground: ik.Level(0)}))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))

	// This generator has no default: an agent begins with a routine.
	person := get(animsys.SpawnWith(crowd, m3.V(0, 0, 0), 0, keypose.Performance{Loop: get(author.Write("wave"))}))
	left, right, highest := crowd.Skel.Index("LeftHand"), crowd.Skel.Index("RightHand"), float32(0)
	for range 10 * animsys.TickRate {
		run(schedule, 1)
		bones := crowd.Bones(person)
		highest = max(highest, bones[left].Pos.Y, bones[right].Pos.Y)
	}
	fmt.Println("a hand was above the shoulders:", highest > 1.4)
	// Output: a hand was above the shoulders: true
}

// Dogs come and go between ticks. An entity keeps its bones; its row may change.
func ExampleCrowd_Despawn() {
	world := arche.NewWorld()
	crowd, schedule := newPack(&world, 2)
	defer crowd.Close()

	ajax := get(crowd.Spawn(m3.V(0, 0, 0), 0))
	bello := get(crowd.Spawn(m3.V(3, 0, 0), 0))
	if _, err := crowd.Spawn(m3.V(6, 0, 0), 0); err != nil {
		fmt.Println(err)
	}
	run(schedule, 60)
	if err := crowd.Despawn(ajax); err != nil {
		log.Fatal(err)
	}
	run(schedule, 60)
	fmt.Println("agents:", crowd.Agents())
	fmt.Println("bones:", len(crowd.Bones(ajax)), "and", len(crowd.Bones(bello)))
	// Output:
	// animsys: mann: all 2 rows of the controller are taken
	// agents: 1
	// bones: 0 and 27
}

// SpawnWith starts an agent in motion: its first tick knows its control already.
func ExampleSpawnWith() {
	world := arche.NewWorld()
	crowd, schedule := newPack(&world, 8)
	defer crowd.Close()

	dog := get(animsys.SpawnWith(crowd, m3.V(0, 0, 0), math.Pi/2, control.Goal{Move: m3.V(0, 0, 1), Speed: control.WalkSpeed}))
	run(schedule, 120)
	at := crowd.Bones(dog)[0].Pos
	fmt.Println("along +X:", at.X > 0.5 && m3.Abs(at.Z) < 0.2) // a heading of π/2
	// Output: along +X: true
}

// A distant dog updates every fourth tick. Its bones are interpolated in between. The
// controller has a network for it: see mann.ControllerOptions.LOD.
func ExampleCrowd_SetUpdateRate() {
	world := arche.NewWorld()
	crowd, schedule := newPack(&world, 8)
	defer crowd.Close()

	dog := get(crowd.Spawn(m3.V(0, 0, 50), 0))
	if err := crowd.SetUpdateRate(dog, animsys.Every4); err != nil {
		log.Fatal(err)
	}
	run(schedule, 4) // it begins within four ticks
	updates := 0
	row, _ := crowd.Row(dog)
	for range 60 {
		run(schedule, 1)
		if crowd.Update[row] {
			updates++
		}
	}
	fmt.Println(updates, "updates in 60 ticks")
	// Output: 15 updates in 60 ticks
}

// ApplyLOD sets the rates of all agents by their distance from the camera.
func ExampleCrowd_ApplyLOD() {
	world := arche.NewWorld()
	crowd, schedule := newPack(&world, 8)
	defer crowd.Close()
	for _, z := range []float32{5, 20, 60, 200} {
		get(crowd.Spawn(m3.V(0, 0, z), 0))
	}
	policy := animsys.DefaultLOD()
	eye, ahead := m3.V(0, 1.7, 0), m3.V(0, 0, 1)
	for range 4 {
		crowd.ApplyLOD(&policy, eye, ahead, 0) // before each tick; clock.Budget says how much to save
		run(schedule, 1)
	}
	for row := range crowd.Agents() {
		fmt.Printf("%3.0f m: %d\n", crowd.BonesAt(row)[0].Pos.Z, crowd.UpdateRateAt(row)) // 0 is Frozen
	}
	// Output:
	//   5 m: 1
	//  20 m: 2
	//  60 m: 4
	// 200 m: 0
}

// A game's frames are not 60 a second. A clock turns their times into ticks, and the picture
// shows a pose between the last two ticks.
func ExampleCrowd_Interpolate() {
	world := arche.NewWorld()
	crowd, schedule := newPack(&world, 8)
	defer crowd.Close()
	get(animsys.SpawnWith(crowd, m3.V(0, 0, 0), 0, control.Goal{Move: m3.V(0, 0, 1), Speed: control.TrotSpeed}))

	ticks := get(clock.New(animsys.TickRate, 5)) // after a long pause it catches up by at most 5 ticks
	var bones []m3.Xform                         // (agents, joints)
	taken := 0
	for range 100 { // one second at 100 frames per second
		frame := 10 * time.Millisecond // in a game: the time since the last frame
		due := ticks.Advance(frame)
		run(schedule, due)
		taken += due
		bones = crowd.Interpolate(bones, ticks.Alpha())
		_ = bones[:crowd.Skel.Len()] // draw row 0
	}
	fmt.Println(taken, "ticks")
	// Output: 60 ticks
}

// In a world of many kilometres the origin moves to the camera now and then. The game moves its own
// ground and camera.
func ExampleShiftOrigin() {
	hills := get(terrain.Hills(terrain.Grid{Size: 100, Cell: 0.5}, terrain.HillsOptions{Seed: 1, MaxSlope: 0.3}))
	hills.X0 += 20000

	world := arche.NewWorld()
	dogs := get(get(mann.NewModel(get(dogfree.Open()))).NewController(mann.ControllerOptions{Capacity: 4}))
	crowd := get(animsys.NewCrowd(&world, dogs, animsys.Options{Ground: hills}))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	dog := get(animsys.SpawnWith(crowd, m3.V(20000, 0, 0), 0, control.Goal{Move: m3.V(0, 0, 1), Speed: control.TrotSpeed}))
	camera := m3.V(20000, 1.5, -3)
	run(schedule, 60)
	before := crowd.InterpolateFrom(nil, 1, camera) // what the camera draws

	by := m3.V(20000, 0, 0) // whole metres
	if err := animsys.ShiftOrigin(&world, by); err != nil {
		log.Fatal(err)
	}
	camera = camera.Sub(by)
	moved := *hills // a field is immutable
	moved.X0 -= by.X
	crowd.Ground.Ground = &moved

	after := crowd.InterpolateFrom(nil, 1, camera)
	run(schedule, 60)
	fmt.Println("the same picture:", slices.Equal(before, after))
	fmt.Println("near the new origin:", crowd.Root(dog).Pos.Len() < 10)
	// Output:
	// the same picture: true
	// near the new origin: true
}

// A schedule that steps at another rate would play motion at another speed. NewSchedule
// refuses it.
func ExampleSystems_otherRate() {
	world := arche.NewWorld()
	crowd, schedule := newPack(&world, 8)
	defer crowd.Close()
	schedule.Close() // a world has one schedule at a time

	_, err := ecs.NewSchedule(&world, 1.0/30, animsys.Systems()...)
	fmt.Println(err)
	// Output: animsys: the schedule steps 0.033333335 s, and crowds step 1/60 s: give ecs.NewSchedule 1.0/animsys.TickRate, and interpolate for other frame rates (Crowd.Interpolate)
}
