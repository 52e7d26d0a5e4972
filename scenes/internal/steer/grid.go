package steer

import "mannequin/engine/m3"

// cells is the most cells of a grid along one side.
const cells = 128

// Grid sorts places on the ground into square cells, which makes the search for neighbours fast.
// Filling it allocates nothing.
type Grid struct {
	x0, z0 float32 // the ground's corner, m
	cell   float32 // side of a cell, m: all neighbours within it are found
	nx, nz int
	at     []m3.Vec3 // the places, by row
	first  []int32   // (nx·nz + 1) where each cell's rows begin in rows
	rows   []int32   // by cell, ascending within one
}

// NewGrid returns a grid for at most n places on the ground between two corners. It finds neighbours
// up to reach metres away.
func NewGrid(x0, z0, x1, z1, reach float32, n int) *Grid {
	cell := max(reach, max(x1-x0, z1-z0)/cells)
	g := &Grid{x0: x0, z0: z0, cell: cell, nx: int((x1-x0)/cell) + 1, nz: int((z1-z0)/cell) + 1, rows: make([]int32, n)}
	g.first = make([]int32, g.nx*g.nz+1)
	return g
}

// index returns the cell of a coordinate along a side of n cells. Places outside, and NaN, count to
// the border's cells.
func (g *Grid) index(v float32, n int) int {
	v /= g.cell
	if !(v > 0) {
		return 0
	}
	return int(min(v, float32(n-1)))
}

// Fill sorts the places by a counting sort: equal places give equal orders.
func (g *Grid) Fill(at []m3.Vec3) {
	g.at = at
	clear(g.first)
	for _, p := range at {
		g.first[g.index(p.Z-g.z0, g.nz)*g.nx+g.index(p.X-g.x0, g.nx)]++
	}
	var sum int32
	for c, n := range g.first {
		sum += n
		g.first[c] = sum
	}
	// Each cell's end moves down to its beginning.
	for r := len(at) - 1; r >= 0; r-- {
		c := g.index(at[r].Z-g.z0, g.nz)*g.nx + g.index(at[r].X-g.x0, g.nx)
		g.first[c]--
		g.rows[g.first[c]] = int32(r)
	}
}

// Near returns the rows in strip k, 0 to 2, of the cells around p. The three strips together hold all
// rows within a cell's side of p.
func (g *Grid) Near(p m3.Vec3, k int) []int32 {
	z := g.index(p.Z-g.z0, g.nz) + k - 1
	if z < 0 || z >= g.nz {
		return nil
	}
	x := g.index(p.X-g.x0, g.nx)
	return g.rows[g.first[z*g.nx+max(x-1, 0)]:g.first[z*g.nx+min(x+1, g.nx-1)+1]]
}
