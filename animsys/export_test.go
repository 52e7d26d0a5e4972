package animsys

import "mannequin/engine/m3"

// Reanchor moves the anchor of a row by by, as recentre does.
func (c *Crowd) Reanchor(row int, by m3.Vec3) {
	c.gen.shift(row, by.Neg())
	c.reanchor(row, c.anchors[row].Add(by))
}

// WantedRate returns the rate that was set for a row.
func (c *Crowd) WantedRate(row int) UpdateRate { return c.rates[row].want }
