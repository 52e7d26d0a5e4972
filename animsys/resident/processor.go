package resident

import (
	"fmt"

	"mannequin/engine/m3"
	"mannequin/ik"
)

// onProcessor lets the processor move agents from here on.
func (c *Crowd) onProcessor() (err error) {
	c.cpu, err = c.motion.processor(c.opt.Capacity, c.opt.Workers)
	return err
}

// stepHere takes a tick on the processor, with goals as the GPU has them, and notes where agents are.
func (c *Crowd) stepHere(words []float32) error {
	return c.cpu.step(words, c.there)
}

// lost lets the processor take over from the GPU. If it cannot, the crowd is of no use any more.
func (c *Crowd) lost() error {
	c.gpu.work.Close()
	c.gpu = nil
	if err := c.takeOver(); err != nil {
		c.err = fmt.Errorf("resident: the GPU was lost, and the processor cannot take over: %w", err)
	}
	c.saved, c.played, c.spare, c.came, c.spareRows = nil, nil, nil, nil, nil
	return c.err
}

// takeOver takes the ticks since the last copy of the agents' states on the processor, with the goals that they had.
func (c *Crowd) takeOver() error {
	if err := c.onProcessor(); err != nil {
		return err
	}
	size := len(c.row)
	for agent := range c.opt.Capacity {
		// The copy may hold the state of an agent that was not there: it is not used.
		_ = c.cpu.unpack(agent, c.saved[agent*size:][:size])
	}
	arrive := func(tick int) {
		for _, a := range c.came {
			if a.tick == tick {
				_ = c.cpu.unpack(a.agent, a.row) // which Pack wrote
			}
		}
	}
	for i, words := range c.played {
		arrive(c.since + i)
		if err := c.stepHere(words); err != nil {
			return err
		}
	}
	arrive(c.tick)
	return nil
}

// stand writes the grounded pose of an agent as the GPU makes it, by the processor.
func (c *Crowd) stand(dst []m3.Xform, agent int) error {
	m, row := c.cpu, agent
	if m == nil { // before the first tick
		if err := c.pull(agent); err != nil {
			return err
		}
		if err := c.pass(c.row); err != nil {
			return err
		}
		defer c.motion.leave()
		m, row = c.motion, 0
	}
	pos, rot := m.pose(row)
	Stand(&c.rig.Ground, c.opt.Ground, dst, pos, rot)
	return nil
}

// Stand puts a pose for flat ground, local, the root's in world space, on the ground as the agents of a Crowd stand: it is what the solver s
// does with an agent of which it remembers nothing, with its foot lock off. It allocates.
func Stand(s *ik.Legged, ground ik.Ground, dst []m3.Xform, pos []m3.Vec3, rot []m3.Quat) {
	if s.Rig == nil || ground == nil || len(pos) != s.Rig.Tree.Len() || len(rot) != len(pos) || len(dst) != len(pos) {
		panic("resident: Stand wants a solver with a rig, ground, and a pose of its joints")
	}
	job := *s
	job.Ground, job.Pos, job.Rot, job.Model = ground, pos, rot, dst
	job.Feet, job.Body = make([]ik.Foot, len(job.Rig.Roles.Legs)), make([]ik.Body, 1)
	job.Contacts, job.Steps, job.Shifts, job.Goings, job.Anchors, job.Units = nil, nil, nil, nil, nil, nil
	job.Lock.On = 0
	job.Run(0, 1)
}
