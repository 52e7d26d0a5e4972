package animsys

import "mannequin/internal/statehash"

// Hash sums up the agents in 64 bits: their number, and row by row where they stand
// and the bits of their bones as of the last tick. Runs that are the same to the bit
// have the same sums; it tells accidents apart, not forgeries. It allocates nothing
// and takes about 10 ns for each bone: a tick can afford it.
func (b *Bodies) Hash() uint64 {
	n := b.Rows.Len()
	return uint64(statehash.New.Int(n).Xforms(b.Roots[:n]).Xforms(b.now[:n*b.joints]))
}
