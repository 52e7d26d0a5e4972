package animsys

import "mannequin/internal/statehash"

// Hash sums up the agents in 64 bits: their number, and row by row at which rate they go
// on, where they stand and the bits of their bones as of the last tick. Runs that are the same to the bit
// have the same sums; it tells accidents apart, not forgeries. It allocates nothing
// and takes about 10 ns for each bone: a tick can afford it.
func (b *Bodies) Hash() uint64 {
	n := b.Rows.Len()
	h := statehash.New.Int(n)
	for r := range b.rates[:n] {
		h = h.Int(int(b.rates[r].want)<<8 | int(b.rates[r].rate))
	}
	return uint64(h.Xforms(b.Roots[:n]).Xforms(b.now[:n*b.joints]))
}
