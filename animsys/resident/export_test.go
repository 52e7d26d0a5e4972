package resident

import (
	"slices"

	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime/webgpu"
	"mannequin/terrain"
)

// Packed returns the state of an agent as a shader has it.
func (c *Crowd) Packed(agent int) ([]float32, error) {
	err := c.pull(agent)
	return c.row, err
}

// AllPacked is Packed of the first n agents at once: their states one after another, until the next call.
func (c *Crowd) AllPacked(n int) ([]float32, error) {
	size := len(c.row)
	if err := c.settle(); err != nil {
		return nil, err
	}
	if c.gpu == nil {
		all := make([]float32, n*size)
		for agent := range n {
			c.cpu.pack(all[agent*size:][:size], agent)
		}
		return all, nil
	}
	all := c.gpu.read[:n*size]
	if err := c.gpu.work.Submit(nil, []webgpu.Copy{{From: c.gpu.rows, Bytes: int64(4 * len(all))}}, c.gpu.late); err != nil {
		return nil, err
	}
	return all, c.gpu.work.Read(webgpu.Bytes(all), c.gpu.late)
}

// Break ends the use of the GPU as its loss does, before the call that follows.
func (c *Crowd) Break() {
	if c.gpu != nil {
		c.gpu.work.Close()
	}
}

// Strand is Break, after which no session opens on the processor either.
func (c *Crowd) Strand() {
	c.Break()
	c.opt.Workers = -1
}

// Source returns the source of the kernels, and their tables, for networks whose inputs and outputs are somewhere in their memory.
func (c *Crowd) Source(f *terrain.Field, in, out int) (source string, tables, scene []float32, err error) {
	d := &device{joints: c.motion.skeleton().Len(), n: c.opt.Capacity}
	text, err := d.source(c, slices.Repeat([]places{{in, out}}, len(c.motion.networks())))
	if err != nil {
		return "", nil, nil, err
	}
	scene = d.sceneTables(text, c, f)
	return text.String() + standSource, text.Tables, scene, nil
}

// Room returns the error of the GPU for a crowd of another capacity.
func (c *Crowd) Room(capacity int) error {
	other := *c
	other.opt.Capacity = capacity
	_, err := openDevice(&other, nil)
	return err
}

// Places returns where the first network's inputs and outputs begin in its memory, in float32s.
func (c *Crowd) Places() (in, out int) { return c.gpu.networks[0].In, c.gpu.networks[0].Out }

// Kept returns the number of ticks and of arrivals that are kept for a loss of the GPU.
func (c *Crowd) Kept() (ticks, arrivals int) { return len(c.played), len(c.came) }

// Repack writes the state of an agent, as a shader has it.
func (c *Crowd) Repack(agent int, row []float32) error {
	if err := c.settle(); err != nil {
		return err
	}
	return c.gpu.put(agent, row)
}

// Flat returns the pose of an agent on the processor, on flat ground, and its solver.
func (c *Crowd) Flat(agent int) ([]m3.Vec3, []m3.Quat, *ik.Legged) {
	pos, rot := c.cpu.pose(agent)
	return pos, rot, &c.rig.Ground
}
