package animsys_test

import (
	"fmt"
	"math"

	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/ecs"
	"mannequin/engine/m3"
	dogfree "mannequin/models/dog-free"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// castle is a game's own ground: hills, a bridge over them and a lift.
type castle struct {
	hills *terrain.Field
	lift  float32 // height of the lift, m; changes between ticks only
}

// floor returns the height of the bridge or the lift at (x, z), if one of them is there.
func (c *castle) floor(x, z float32) (height float32, there bool) {
	switch {
	case m3.Abs(x) < 1 && m3.Abs(z) < 10:
		return 2.5, true
	case m3.Abs(x-8) < 2 && m3.Abs(z) < 2:
		return c.lift, true
	}
	return 0, false
}

// Height returns the height of what agents walk on, m.
func (c *castle) Height(x, z float32) float32 {
	if h, there := c.floor(x, z); there {
		return h
	}
	return c.hills.Height(x, z)
}

// Normal returns the upward normal of what agents walk on.
func (c *castle) Normal(x, z float32) m3.Vec3 {
	if _, there := c.floor(x, z); there {
		return m3.Up
	}
	return c.hills.Normal(x, z)
}

// A dog crosses a bridge while another one rides a lift. Options.Ground is any ik.Ground.
func Example_ground() {
	hills := get(terrain.Hills(terrain.Grid{Size: 40, Cell: 0.5}, terrain.HillsOptions{Seed: 1, MaxSlope: 0.3}))
	model := get(mann.NewModel(get(dogfree.Open())))
	dogs := get(model.NewController(mann.ControllerOptions{Capacity: 2}))
	world, ground := arche.NewWorld(), &castle{hills: hills}
	crowd := get(animsys.NewCrowd(&world, dogs, animsys.Options{Ground: ground}))
	defer crowd.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	walker := get(animsys.SpawnWith(crowd, m3.V(0, 0, -6), 0, control.Goal{Move: m3.V(0, 0, 1), Speed: control.PaceSpeed}))
	rider := get(crowd.Spawn(m3.V(8, 0, 0), 0))

	paw := crowd.Skel.Index("RightHandSite")
	for tick := range 480 {
		if tick%120 == 0 {
			a, b := crowd.Bones(walker)[paw].Pos, crowd.Bones(rider)[paw].Pos
			fmt.Printf("%d s: paws at %.1f m on the bridge, at %.1f m on the lift\n", tick/60, a.Y, b.Y)
		}
		// The lift goes up 3 m and down again. It never accelerates by more than 5 m/s².
		ground.lift = 1.5 - 1.5*m3.Cos(2*math.Pi*float32(tick+1)/480)
		run(schedule, 1)
	}
	// Output:
	// 0 s: paws at 2.5 m on the bridge, at 0.0 m on the lift
	// 2 s: paws at 2.5 m on the bridge, at 1.5 m on the lift
	// 4 s: paws at 2.5 m on the bridge, at 3.0 m on the lift
	// 6 s: paws at 2.5 m on the bridge, at 1.5 m on the lift
}
