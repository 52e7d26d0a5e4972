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

// Source returns the part of the kernels' source that depends on the rig and the ground.
func (c *Crowd) Source(f *terrain.Field) (string, error) {
	var text strings.Builder
	d := &device{joints: c.model.Skel.Len(), n: c.opt.Capacity}
	_, err := d.rigTables(&text, c, nil)
	d.sceneTables(&text, c, f)
	return text.String(), err
}

// Kept returns the number of ticks and of arrivals that are kept for a loss of the GPU.
func (c *Crowd) Kept() (ticks, arrivals int) { return len(c.played), len(c.came) }
