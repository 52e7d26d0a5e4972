package animsys_test

import (
	"fmt"
	"log"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/latent"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/models/human"
	humanfootstep "mannequin/models/human-footstep"
	humanlatent "mannequin/models/human-latent"
	humanlocomotion "mannequin/models/human-locomotion"
	humannext "mannequin/models/human-next"
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
	dogs, err := model.NewController(mann.ControllerOptions{Capacity: 64})
	if err != nil {
		log.Fatal(err)
	}
	crowd, err := animsys.NewCrowd(&world, dogs, animsys.Options{Ground: hills})
	if err != nil {
		log.Fatal(err)
	}
	defer crowd.Close()
	schedule, err := ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...)
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
		_ = crowd.Bones(dog) // world transforms, on the ground
	}
}

// A person walks along a path. The tick plays windows of motion that another goroutine
// makes.
func ExampleNewCrowd_people() {
	var nets []*netruntime.Net
	for _, open := range []func() (*netruntime.Net, error){human.Open, humanfootstep.Open, humanlocomotion.Open} {
		net, err := open()
		if err != nil {
			log.Fatal(err)
		}
		nets = append(nets, net)
	}
	model, err := manifold.NewModel(nets[0])
	if err != nil {
		log.Fatal(err)
	}
	hills, err := terrain.Hills(terrain.Grid{Size: 100, Cell: 0.5}, terrain.HillsOptions{Seed: 1, MaxSlope: 20 * math.Pi / 180})
	if err != nil {
		log.Fatal(err)
	}
	path, err := control.NewPath([]m3.Vec3{m3.V(0, 0, 0), m3.V(2, 0, 5), m3.V(0, 0, 10)}, false)
	if err != nil {
		log.Fatal(err)
	}

	world := arche.NewWorld()
	stream, err := model.With(nets[1], nets[2]).NewStream(manifold.StreamOptions{People: 16})
	if err != nil {
		log.Fatal(err)
	}
	people, err := animsys.NewCrowd(&world, stream, animsys.Options{Ground: hills})
	if err != nil {
		log.Fatal(err)
	}
	defer people.Close()
	schedule, err := ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...)
	if err != nil {
		log.Fatal(err)
	}
	defer schedule.Close()

	person, err := people.Spawn(m3.V(0, 0, 0), 0)
	if err != nil {
		log.Fatal(err)
	}
	curves := generic.NewMap1[manifold.Curve](&world)
	*curves.Get(person) = manifold.Curve{Path: path, Speed: 1.4}

	for range 900 { // fifteen seconds
		if err := schedule.Step(); err != nil {
			log.Fatal(err)
		}
	}
	row, _ := people.Rows.Row(person)
	fmt.Printf("it stands %.1f m from the end of its path\n", people.Roots[row].Pos.Dist(m3.V(0, 0, 10)))
	// Output: it stands 0.0 m from the end of its path
}

// A person moves on predicted motion, ahead and to the left.
func ExampleNewCrowd_predicted() {
	net, err := netruntime.Open("human-strnn.safetensors") // with a guide: see mannequin train guide
	if err != nil {
		log.Fatal(err)
	}
	model, err := strnn.New(net)
	if err != nil {
		log.Fatal(err)
	}
	flat, err := terrain.Flat(terrain.Grid{Size: 100, Cell: 0.5})
	if err != nil {
		log.Fatal(err)
	}

	world := arche.NewWorld()
	stream, err := model.NewStream(strnn.StreamOptions{People: 100, BF16: true})
	if err != nil {
		log.Fatal(err)
	}
	people, err := animsys.NewCrowd(&world, stream, animsys.Options{Ground: flat})
	if err != nil {
		log.Fatal(err)
	}
	defer people.Close()
	schedule, err := ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...)
	if err != nil {
		log.Fatal(err)
	}
	defer schedule.Close()

	person, err := people.Spawn(m3.V(0, 0, 0), 0)
	if err != nil {
		log.Fatal(err)
	}
	wanders := generic.NewMap1[strnn.Wander](&world)
	*wanders.Get(person) = strnn.Wander{Speed: 1.2, Turn: 0.3}

	for range 300 { // five seconds
		if err := schedule.Step(); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(people.Bones(person)[0].Pos)
}

// A person walks by sliders that code sets: to the left, at 1.2 m/s.
func ExampleNewCrowd_sliders() {
	net, err := humanlatent.Open()
	if err != nil {
		log.Fatal(err)
	}
	model, err := latent.New(net)
	if err != nil {
		log.Fatal(err)
	}
	next, err := humannext.Open()
	if err != nil {
		log.Fatal(err)
	}
	flat, err := terrain.Flat(terrain.Grid{Size: 100, Cell: 0.5})
	if err != nil {
		log.Fatal(err)
	}

	world := arche.NewWorld()
	stream, err := model.NewStream(next, latent.StreamOptions{People: 16})
	if err != nil {
		log.Fatal(err)
	}
	people, err := animsys.NewCrowd(&world, stream, animsys.Options{Ground: flat})
	if err != nil {
		log.Fatal(err)
	}
	defer people.Close()
	schedule, err := ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...)
	if err != nil {
		log.Fatal(err)
	}
	defer schedule.Close()
	steering, err := model.NewSteering(next, 1)
	if err != nil {
		log.Fatal(err)
	}

	person, err := people.Spawn(m3.V(0, 0, 0), 0)
	if err != nil {
		log.Fatal(err)
	}
	sliders := generic.NewMap1[latent.Sliders](&world)
	steering.Steer(sliders.Get(person), 0.3, 1.2)

	for range 300 { // five seconds
		if err := schedule.Step(); err != nil {
			log.Fatal(err)
		}
	}
	at := people.Bones(person)[0].Pos
	fmt.Println("to the left:", at.X > 1, "ahead:", at.Z > 2)
	// Output: to the left: true ahead: true
}
