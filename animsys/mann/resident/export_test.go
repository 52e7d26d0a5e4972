package resident

import (
	"strings"

	"mannequin/terrain"
)

// Packed returns the state of an agent as a shader has it.
func (c *Crowd) Packed(agent int) ([]float32, error) {
	err := c.pull(agent)
	return c.row, err
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

// Source returns the source of the kernels, and their tables, for a network whose inputs and outputs are somewhere in its memory.
func (c *Crowd) Source(f *terrain.Field, in, out int) (source string, tables, scene []float32, err error) {
	shader, err := c.porter.NewShader(in, out)
	if err != nil {
		return "", nil, nil, err
	}
	var text strings.Builder
	d := &device{joints: c.model.Skel.Len(), n: c.opt.Capacity}
	tables, err = d.rigTables(&text, c, shader.Tables)
	scene = d.sceneTables(&text, c, f)
	return text.String() + shader.Source, tables, scene, err
}

// Places returns where the network's inputs and outputs begin in its memory, in float32s.
func (c *Crowd) Places() (in, out int) { return c.gpu.network.In, c.gpu.network.Out }

// Kept returns the number of ticks and of arrivals that are kept for a loss of the GPU.
func (c *Crowd) Kept() (ticks, arrivals int) { return len(c.played), len(c.came) }
