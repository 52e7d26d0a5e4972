package resident

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
