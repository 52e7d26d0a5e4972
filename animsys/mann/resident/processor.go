package resident

import (
	"fmt"

	"mannequin/animsys/control"
	"mannequin/animsys/mann"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// processor moves agents without the GPU.
type processor struct {
	batch   *mann.Batch
	session netruntime.Session
	ground  ik.Ground
	x, y    []float32
	goals   []control.Goal
	rows    []int
}

// onProcessor lets the processor move agents from here on.
func (c *Crowd) onProcessor() error {
	s, err := c.session()
	if err != nil {
		return err
	}
	n, l := c.opt.Capacity, c.model.Layout
	c.cpu = &processor{batch: mann.NewBatch(c.model, n), session: s, ground: c.opt.Ground,
		x: make([]float32, n*l.Inputs()), y: make([]float32, n*l.Outputs()), goals: make([]control.Goal, n)}
	return nil
}

// lost lets the processor take over from the GPU. If it cannot, the crowd is of no use any more.
func (c *Crowd) lost() error {
	c.gpu.work.Close()
	c.gpu = nil
	if err := c.takeOver(); err != nil {
		c.err = fmt.Errorf("resident: the GPU was lost, and the processor cannot take over: %w", err)
	}
	c.saved, c.played, c.spare, c.came = nil, nil, nil, nil
	return c.err
}

// takeOver takes the ticks since the last copy of the agents' states on the processor, with the goals that they had.
func (c *Crowd) takeOver() error {
	if err := c.onProcessor(); err != nil {
		return err
	}
	size := c.shader.RowLen
	for agent := range c.opt.Capacity {
		// The copy may hold the state of an agent that was not there: it is not used.
		_ = c.cpu.batch.Unpack(agent, c.saved[agent*size:][:size])
	}
	arrive := func(tick int) {
		for _, a := range c.came {
			if a.tick == tick {
				_ = c.cpu.batch.Unpack(a.agent, a.row) // which Pack wrote
			}
		}
	}
	for i, words := range c.played {
		arrive(c.since + i)
		if err := c.cpu.step(words, c.roots); err != nil {
			return err
		}
	}
	arrive(c.tick)
	return nil
}

// step takes a tick with goals as the GPU has them, and notes where agents are.
func (p *processor) step(words []float32, roots []Root) error {
	in, out := p.batch.Model.Layout.Inputs(), p.batch.Model.Layout.Outputs()
	p.rows = p.rows[:0]
	for row := range p.goals {
		w := words[row*mann.GoalLen:]
		if w[5] == 0 {
			continue
		}
		p.goals[row] = control.Goal{Move: m3.V(w[0], 0, w[1]), Turn: w[2], Speed: w[3], Action: control.Action(w[4])}
		p.batch.Plan(p.goals, row, row+1)
		p.batch.GatherRow(p.x[len(p.rows)*in:][:in], row)
		p.rows = append(p.rows, row)
	}
	if err := p.session.Run(p.y, p.x, len(p.rows)); err != nil {
		return err
	}
	for i, row := range p.rows {
		p.batch.ScatterRow(p.y[i*out:][:out], row)
		root := p.batch.Root(row)
		pos, _ := p.batch.Pose(row)
		roots[row] = Root{At: root, Velocity: p.batch.Velocity(row), Restored: p.batch.Restored(row),
			Hips: pos[0].Y + p.ground.Height(pos[0].X, pos[0].Z)}
	}
	return nil
}

func (p *processor) close() error {
	if p == nil {
		return nil
	}
	return p.session.Close()
}

// stand writes the grounded pose of an agent as the GPU makes it, by the processor.
func (c *Crowd) stand(dst []m3.Xform, agent int) error {
	batch, row := (*mann.Batch)(nil), 0
	if c.cpu != nil {
		batch, row = c.cpu.batch, agent
	} else { // before the first tick
		if err := c.pull(agent); err != nil {
			return err
		}
		batch = &c.porter.Batch
		if err := batch.Unpack(0, c.row); err != nil {
			return err
		}
	}
	pos, rot := batch.Pose(row)
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
