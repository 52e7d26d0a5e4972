package control

import (
	"math"

	"mannequin/engine/m3"
)

// grid sorts agents into square cells. The cells repeat after gridSide of them, so that the ground
// has no border.
type grid struct {
	first [gridSide*gridSide + 1]int32 // where each cell's agents begin in rows
	rows  []int32                      // by cell, ascending within one
}

const gridSide = 32

// column returns the column or row of cells of a coordinate. NaN counts as 0.
func column(v float32) int {
	const far = 1e9
	if v /= seen; !(v > -far && v < far) {
		return 0
	}
	return int(math.Floor(float64(v))) & (gridSide - 1)
}

// fill sorts all by a counting sort.
func (g *grid) fill(all []placed) {
	for len(g.rows) < len(all) {
		g.rows = append(g.rows, 0)
	}
	clear(g.first[:])
	for i := range all {
		at := all[i].now.at
		g.first[column(at.z)*gridSide+column(at.x)]++
	}
	var sum int32
	for c, n := range g.first {
		sum += n
		g.first[c] = sum
	}
	for r := len(all) - 1; r >= 0; r-- { // each cell's end moves down to its beginning
		at := all[r].now.at
		c := column(at.z)*gridSide + column(at.x)
		g.first[c]--
		g.rows[g.first[c]] = int32(r)
	}
}

// cell returns the agents in the k-th cell, 0 to 8, of those around at.
func (g *grid) cell(at flat, k int) []int32 {
	x, z := (column(at.x)+k%3-1)&(gridSide-1), (column(at.z)+k/3-1)&(gridSide-1)
	c := z*gridSide + x
	return g.rows[g.first[c]:g.first[c+1]]
}

// flat is a vector on the ground.
type flat struct{ x, z float32 }

func flatOf(v m3.Vec3) flat         { return flat{v.X, v.Z} }
func (a flat) add(b flat) flat      { return flat{a.x + b.x, a.z + b.z} }
func (a flat) sub(b flat) flat      { return flat{a.x - b.x, a.z - b.z} }
func (a flat) scale(s float32) flat { return flat{a.x * s, a.z * s} }
func (a flat) dot(b flat) float32   { return a.x*b.x + a.z*b.z }

// left returns the sine of the angle from a to b, of units: above 0 to the left.
func (a flat) left(b flat) float32 { return a.z*b.x - a.x*b.z }

// rotate turns a by a direction: {0, 1} is no turn.
func (a flat) rotate(by flat) flat { return flat{a.x*by.z + a.z*by.x, a.z*by.z - a.x*by.x} }
