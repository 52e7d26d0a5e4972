package animsys

import "mannequin/internal/statehash"

// Hash sums up the agents in 64 bits: their number, and row by row at which rate they go
// on, where they stand and the bits of their bones as of the last tick. Runs that are the same to the bit
// have the same sums; it tells accidents apart, not forgeries. It allocates nothing
// and takes about 10 ns for each bone: a tick can afford it.
func (c *Crowd) Hash() uint64 {
	n := c.Rows.Len()
	h := statehash.New.Int(n)
	for r := range c.rates[:n] {
		h = h.Int(int(c.rates[r].want)<<8 | int(c.rates[r].rate))
	}
	return uint64(h.Xforms(c.Roots[:n]).Xforms(c.now[:n*c.joints]))
}
