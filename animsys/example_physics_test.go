package animsys_test

import (
	"fmt"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/ik"
	dogfree "mannequin/models/dog-free"
	humanstrnn "mannequin/models/human-strnn"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// A dog is steered into a wall and slides along it.
func Example_walls() {
	walls := &control.Obstacles{}
	err := walls.Set(
		control.Wall(m3.V(-20, 0, 5), m3.V(20, 0, 5), 0.3),
		control.Pillar(m3.V(3, 0, 0), 0.5),
		control.Box(m3.V(-4, 0, 1), 0.5, 2, 3), // its depth of 3 m lies along heading 0.5
	)
	options := animsys.Options{Ground: ik.Level(0), Walls: walls}

	model := get(mann.NewModel(get(dogfree.Open())))
	world := arche.NewWorld()
	crowd := get(animsys.NewCrowd(&world, get(model.NewController(mann.ControllerOptions{Capacity: 1})), options))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	dog := get(animsys.SpawnWith(crowd, m3.V(0, 0, 2), 0.8, control.Goal{Move: m3.V(0, 0, 1), Speed: 1}))
	run(schedule, 8*animsys.TickRate)
	at := crowd.Root(dog).Pos
	fmt.Println("along the wall:", at.X > 4, "outside:", at.Z < 5-0.15, err)
	// Output: along the wall: true outside: true <nil>
}

// physics stands for a game's own: it decides how far agents may go.
type physics struct{ crowd *animsys.Crowd }

// Sweep returns where a capsule comes to that moves from one place to another. This world ends at Z 3.
func (p *physics) Sweep(from, to m3.Vec3) m3.Vec3 { return m3.V(to.X, to.Y, min(to.Z, 3)) }

func (*physics) Initialize(*arche.World) {}
func (*physics) Finalize(*arche.World)   {}

func (p *physics) Update(*arche.World) {
	for row := range p.crowd.Agents() {
		agent := p.crowd.Entity(row)
		from, to := p.crowd.RootMotion(agent)
		allowed := p.Sweep(from.Pos, to.Pos)
		if err := p.crowd.Nudge(agent, allowed.Sub(to.Pos)); err != nil {
			fmt.Println(err)
		}
	}
}

// A game asks its own physics in each tick how far a person may go.
func Example_physics() {
	model := get(strnn.NewModel(get(humanstrnn.Open())))
	world := arche.NewWorld()
	crowd := get(animsys.NewCrowd(&world, get(model.NewStream(strnn.StreamOptions{Capacity: 1})), animsys.Options{Ground: ik.Level(0)}))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems(&physics{crowd})...))

	person := get(animsys.SpawnWith(crowd, m3.V(0, 0, 0), 0.5, strnn.Steer{Speed: 1.2}))
	run(schedule, 8*animsys.TickRate)
	at := crowd.Root(person).Pos
	fmt.Printf("at Z %.1f, on along X: %v\n", at.Z, at.X > 3)
	// Output: at Z 3.0, on along X: true
}

// A person rides a platform, and one goes over a bridge under which a third one passes.
func Example_floors() {
	decks := &terrain.Decks{}
	platform := terrain.Deck{At: m3.V(6, 1, 0), Width: 3, Depth: 3}
	build := func() error {
		return decks.Set(platform,
			terrain.Deck{At: m3.V(0, 3, 0), Width: 2, Depth: 4},               // a bridge
			terrain.Deck{At: m3.V(0, 1.5, -5), Width: 2, Depth: 6, Rise: 0.5}) // and its ramp
	}
	if err := build(); err != nil {
		fmt.Println(err)
	}
	options := animsys.Options{Ground: decks, Walls: &terrain.Edges{Ground: decks, Rise: 0.35, Drop: 0.6}}

	model := get(strnn.NewModel(get(humanstrnn.Open())))
	world := arche.NewWorld()
	crowd := get(animsys.NewCrowd(&world, get(model.NewStream(strnn.StreamOptions{Capacity: 3})), options))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	rider := get(crowd.Spawn(m3.V(6, 1, 0), 0)) // the height chooses the floor
	over := get(animsys.SpawnWith(crowd, m3.V(0, 0, -8), 0, strnn.Steer{Speed: 1.2}))
	under := get(animsys.SpawnWith(crowd, m3.V(-6, 0, 0), math.Pi/2, strnn.Steer{Speed: 1.2}))
	for tick := range 7 * animsys.TickRate {
		was := platform.At
		platform.At.X = 6 + 2*m3.Sin(float32(tick)/60)
		platform.Moved = platform.At.Sub(was) // takes along who stands there
		if err := build(); err != nil {
			fmt.Println(err)
		}
		run(schedule, 1)
	}
	fmt.Println("on the platform:", crowd.Root(rider).Pos.Dist(platform.At.Flat()) < 1)
	fmt.Printf("hips at %.1f m and %.1f m\n", crowd.Bones(over)[0].Pos.Y, crowd.Bones(under)[0].Pos.Y)
	// Output:
	// on the platform: true
	// hips at 4.0 m and 1.0 m
}
