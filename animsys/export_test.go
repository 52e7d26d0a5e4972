package animsys

// WantedRate returns the rate that was set for a row.
func (c *Crowd) WantedRate(row int) UpdateRate { return c.rates[row].want }
