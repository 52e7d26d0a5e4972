package style

import (
	"math/rand/v2"

	"mannequin/animsys/control"
	"mannequin/animsys/manifold"
	"mannequin/engine/m3"
	"mannequin/models/hero"
	"mannequin/offline/dataset"
	"mannequin/offline/metrics"
)

const (
	poseAgents  = 24
	poseSeconds = 15 // of each
)

// posesOf returns motions with poses of all kinds: what the shipped person under a stick does when asked
// for anything. The styles' maps of single poses are fitted to them.
func posesOf(m *manifold.Model, workers int) ([][]float32, error) {
	file, err := hero.Open()
	if err != nil {
		return nil, err
	}
	const ticks = poseSeconds * manifold.Rate
	c, r := file.Character(), rand.New(rand.NewPCG(1, 35))
	crouch, crouches := c.Action("crouch")
	jump, jumps := c.Action("jump")
	agents := make([]metrics.Agent, poseAgents)
	for i := range agents {
		var goals [ticks]control.Goal
		var move, face m3.Vec3 // in the world
		var goal control.Goal
		until := 0
		for tick := range goals {
			if tick == until {
				until += 30 + r.IntN(3*manifold.Rate)
				goal, move, face = control.Goal{}, m3.Vec3{}, m3.Vec3{}
				if r.IntN(6) > 0 {
					move = m3.YawQuat(6.2832 * r.Float32()).Forward()
					face, goal.Speed = move, 0.4+4*r.Float32()*r.Float32()
				}
				if r.IntN(4) == 0 { // aside and backward
					face, goal.Speed = m3.YawQuat(6.2832*r.Float32()).Forward(), min(goal.Speed, 1.8)
				}
				switch n := r.IntN(8); {
				case n == 0 && crouches:
					goal.Action, goal.Speed = crouch, min(goal.Speed, 1.2)
				case n == 1 && jumps:
					goal.Action = jump
				}
			}
			goal.Move, goal.Face = move, face
			goals[tick] = goal
		}
		agents[i] = metrics.Agent{Start: m3.V(10*float32(i), 0, 0), Goal: func(tick int, root m3.Xform) control.Goal {
			g, back := goals[tick], root.Rot.Conj()
			g.Move, g.Face = back.Rotate(g.Move), back.Rotate(g.Face)
			return g
		}}
	}
	takes, err := (&metrics.Rollout{Character: file, Workers: workers}).Run(agents, ticks)
	if err != nil {
		return nil, err
	}
	motions := make([][]float32, len(takes))
	for i := range takes {
		if motions[i], _, err = dataset.RowsOf(m.Layout, takes[i].Raw); err != nil {
			return nil, err
		}
	}
	return motions, nil
}
