package resident

// Packed returns the state of an agent as a shader has it.
func (c *Crowd) Packed(agent int) ([]float32, error) {
	err := c.pull(agent)
	return c.row, err
}
