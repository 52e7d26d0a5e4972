package animsys

import (
	"fmt"

	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/layer"
	"mannequin/engine/m3"

	arche "github.com/mlange-42/arche/ecs"
)

// Play plays a clip on an agent, over the motion of its generator, from the next tick on: a person
// waves and walks on. layer.New prepares the clip for Crowd.Skel. What plays on the same layer ends.
// With PlayOptions.RootMotion the clip moves the agent instead of its generator, which goes on from
// where the clip ends.
//
// Call Play between ticks or in a system of your own. The first Play of a crowd allocates its layers,
// about 1.7 KB for each agent that it has room for; ticks allocate nothing. Clips blend in and out; see
// PlayOptions. Play fails if e is not in this crowd, if the crowd is closed, and for options that
// PlayOptions.Validate refuses.
func (c *Crowd) Play(e arche.Entity, clip *layer.Clip, opt layer.PlayOptions) error {
	return c.onLayers("Play", e, func(row int) error {
		if err := c.openLayers(); err != nil {
			return err
		}
		return c.layers.Play(row, clip, opt)
	})
}

func (c *Crowd) openLayers() (err error) {
	if c.layers == nil {
		c.layers, err = layer.NewPlayer(c.Capacity(), c.Skel)
	}
	return err
}

// Stop blends out what plays on a layer of an agent, over out seconds. 0 is the PlayOptions.Out of the
// clip, and a negative time none. Without a clip on the layer it does nothing.
func (c *Crowd) Stop(e arche.Entity, layer int, out float32) error {
	return c.onLayers("Stop", e, func(row int) error {
		if c.layers == nil {
			return nil
		}
		return c.layers.Stop(row, layer, out)
	})
}

// SetLayer sets weight, 0 to 1, and speed of the clip that plays on a layer of an agent, at once. Change
// a weight little by little. A speed of 0 pauses the clip.
func (c *Crowd) SetLayer(e arche.Entity, layer int, weight, speed float32) error {
	return c.onLayers("SetLayer", e, func(row int) error {
		if c.layers == nil {
			return nil
		}
		return c.layers.Change(row, layer, weight, speed)
	})
}

// Playing returns the clip that plays on a layer of an agent, and the time in it, s; nil if none does.
func (c *Crowd) Playing(e arche.Entity, layer int) (*layer.Clip, float64) {
	row, ok := c.rows.Row(e)
	if !ok || c.layers == nil {
		return nil, 0
	}
	return c.layers.Playing(row, layer)
}

// onLayers calls do with the row of an agent.
func (c *Crowd) onLayers(what string, e arche.Entity, do func(row int) error) error {
	if err := c.claim(what); err != nil {
		return err
	}
	defer c.registry.release()
	row, ok := c.rows.Row(e)
	if !ok {
		return fmt.Errorf("animsys: entity %v is not in this crowd", e)
	}
	if err := do(row); err != nil {
		return fmt.Errorf("animsys: %s: %w", what, err)
	}
	return nil
}

// Clips is the system that moves the clips of [Crowd.Play] on in time, and the agents that they move
// over the ground.
type Clips struct{ system }

// Initialize prepares the system.
func (s *Clips) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		c.marks = c.marks[:0]
		if c.layers != nil {
			for row := range c.rows.Len() {
				if c.layers.Busy(row) && !c.frozen[row] {
					c.marks = c.layers.Advance(row, 1.0/TickRate, c.marks)
					c.moveByClip(row)
				}
			}
		}
		return nil
	})
}

// moveByClip puts row where a clip with root motion brings it.
func (c *Crowd) moveByClip(row int) {
	if !c.steps(row) {
		return
	}
	if root, ok := c.layers.Landed(row); ok && !c.layers.Moves(row) {
		turn := m3.WrapAngle(root.Rot.Yaw() - c.Poses.Roots[row].Rot.Yaw())
		if m3.Abs(turn) < landsWithin {
			return
		}
		c.gen.place(row, feature.Place{Pos: root.Pos, Yaw: root.Rot.Yaw()})
		c.restyle.forget(row)
		c.gen.pose(&c.Poses, row)
		c.Restarted[row] = false
		c.Inertial.Jump(row)
		return
	}
	if !c.layers.Moves(row) {
		return
	}
	// The generator goes along over the ground. It is turned when the clip ends.
	root, at := c.layers.Root(row), &c.Poses.Roots[row]
	if by := root.Pos.Sub(at.Pos).Flat(); by != (m3.Vec3{}) {
		c.nudge(row, by)
	}
	turn := root.Rot.Mul(at.Rot.Conj()).Normalize()
	hips := row * c.joints
	c.Pos[hips] = at.Pos.Add(turn.Rotate(c.Pos[hips].Sub(at.Pos)))
	c.Rot[hips] = turn.Mul(c.Rot[hips]).Normalize()
	at.Rot = root.Rot
}

// landsWithin is by how much a generator's heading may be beside the one of a clip that ends, rad: then
// it goes on without a stop.
const landsWithin = 1e-3

// Layers is the system that puts clips on the poses; see [Crowd.Play].
type Layers struct{ system }

// Initialize prepares the system.
func (s *Layers) Initialize(w *arche.World) {
	s.start(w, func(c *Crowd) error {
		if c.layers != nil {
			c.splitRows(c.work.layer)
		}
		return nil
	})
}

// layer puts clips on the poses of those rows from r0 up to r1 that take a step.
func (c *Crowd) layer(r0, r1 int) {
	for r := r0; r < r1; r++ {
		if !c.layers.Busy(r) || !c.steps(r) {
			continue
		}
		below := layer.Below{Root: c.Poses.Roots[r], DT: float32(c.rates[r].span) / TickRate, Last: c.Inertial}
		c.layers.Pose(r, &c.Pos[r*c.joints], c.Rot[r*c.joints:(r+1)*c.joints], &below)
		if c.Stand != nil {
			c.layers.Stands(r, c.tips, c.Stand[r*c.legs():(r+1)*c.legs()])
		}
	}
}

// layersState writes the state of a row's layers and of its feet's events, or reads it.
func (c *Crowd) layersState(s *generator.State, row int) {
	c.eventsState(s, row)
	some := c.layers != nil
	if s.Bool(&some); !some {
		if c.layers != nil {
			c.layers.Reset(row)
		}
		return
	}
	if err := c.openLayers(); err != nil {
		s.Fail(err)
		return
	}
	c.layers.State(s, row)
}
