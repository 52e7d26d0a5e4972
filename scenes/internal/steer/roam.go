package steer

import (
	"mannequin/animsys"
	"mannequin/animsys/control"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/scenes"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// Passive is the part of a system that needs no preparation and no end.
type Passive struct{}

// Initialize does nothing.
func (Passive) Initialize(*arche.World) {}

// Finalize does nothing.
func (Passive) Finalize(*arche.World) {}

// Roam is the system that makes the agents of a crowd wander near their homes.
type Roam struct {
	Passive
	*control.Wander
	Slowest, Fastest float32                           // speeds of agents that walk, m/s; 0 are Wander's
	Led              int                               // row that the player controls, which does not wander; −1 is none
	Avoid            Avoidance                         // nil: agents do not avoid each other
	Control          func(row int, goal *control.Goal) // sets the control of an agent
	Looks            func(row int) *ecs.LookAt         // of a person; nil: heads stay as the generator has them
	Crowd            *animsys.Crowd
	Roots            func() []m3.Xform // where all agents are, of whom some may live elsewhere, by numbers that take the place of rows; nil: the crowd's rows

	seed  uint64
	goals []control.Goal // (rows)
}

// Avoidance changes the goals of agents so that they do not run into each other.
type Avoidance interface {
	begin(roots []m3.Xform, led int)  // of a tick
	bend(goal *control.Goal, row int) // changes the goal of a row
}

// NewRoam returns the system for the agents of a crowd.
func NewRoam(c *animsys.Crowd, seed uint64, set func(row int, goal *control.Goal)) *Roam {
	n := c.Capacity()
	return &Roam{Wander: control.NewWander(n, seed), Led: -1, Control: set, Crowd: c, seed: seed, goals: make([]control.Goal, n)}
}

// Spawn adds an agent whose home is the place.
func (r *Roam) Spawn(at m3.Vec3, yaw float32) (arche.Entity, error) {
	row := r.Crowd.Agents()
	e, err := r.Crowd.Spawn(at, yaw)
	if err == nil {
		r.Reset(row, r.seed+uint64(row), at)
	}
	return e, err
}

// Update sets the controls.
func (r *Roam) Update(*arche.World) {
	roots := r.Crowd.Roots[:r.Crowd.Agents()]
	if r.Roots != nil {
		roots = r.Roots()
	}
	n := len(roots)
	if r.Avoid != nil {
		r.Avoid.begin(roots, r.Led)
	}
	people, _ := r.Avoid.(*People)
	head := r.Crowd.Skel.Index("Head")
	r.Wander.Update(r.goals, roots, 1.0/scenes.TickRate, 0, n)
	for row := range n {
		if row == r.Led {
			if r.Looks != nil {
				*r.Looks(row) = ecs.LookAt{}
			}
			continue
		}
		goal := &r.goals[row]
		if r.Fastest > 0 {
			goal.Speed = m3.Clamp(goal.Speed, r.Slowest, r.Fastest)
		}
		if r.Avoid != nil {
			r.Avoid.bend(goal, row)
		}
		r.Control(row, goal)
		if people != nil && r.Looks != nil {
			*r.Looks(row) = people.look(r.Crowd, row, head)
		}
	}
}

// Inside returns the distance from a place to the border of a terrain, m, negative outside.
func Inside(f *terrain.Field, at m3.Vec3) float32 {
	x0, z0, x1, z1 := f.Bounds()
	return min(at.X-x0, x1-at.X, at.Z-z0, z1-at.Z)
}
