package animsys

import (
	"mannequin/animsys/generator"
	"mannequin/engine/m3"
)

// Reanchor moves the anchor of a row by by, as recentre does.
func (c *Crowd) Reanchor(row int, by m3.Vec3) {
	c.gen.shift(row, by.Neg())
	c.reanchor(row, c.anchors[row].Add(by))
}

// WantedRate returns the rate that was set for a row.
func (c *Crowd) WantedRate(row int) UpdateRate { return c.rates[row].want }

// LayersState writes or reads the state of a row's layers.
func (c *Crowd) LayersState(s *generator.State, row int) { c.layersState(s, row) }
