// Package cellgrid finds which of many rectangles are near a place on the ground.
package cellgrid

import (
	"math"

	"mannequin/engine/m3"
)

// The cells of the grid are squares. Their pattern repeats, so that the ground has no border.
const (
	side = 64
	size = 4 // m
)

// Grid sorts rectangles into cells. The zero Grid is empty. Reading is safe from several goroutines.
type Grid struct {
	first []int32 // (side² + 1) where each cell's rectangles begin in in
	in    []int32 // by cell, ascending within one
}

// Fill sorts n rectangles, whose bounds along X and Z are given, m. It allocates memory only to make
// room for more.
func (g *Grid) Fill(n int, bounds func(i int) (x0, z0, x1, z1 float32)) {
	if g.first == nil {
		g.first = make([]int32, side*side+1)
	}
	clear(g.first)
	visit := func(i int, f func(cell int)) {
		x0, z0, x1, z1 := bounds(i)
		for z := Column(z0); z <= min(Column(z1), Column(z0)+side-1); z++ {
			for x := Column(x0); x <= min(Column(x1), Column(x0)+side-1); x++ {
				f(cell(x, z))
			}
		}
	}
	for i := range n {
		visit(i, func(cell int) { g.first[cell]++ })
	}
	var sum int32
	for c, k := range g.first {
		sum += k
		g.first[c] = sum
	}
	for int32(len(g.in)) < sum {
		g.in = append(g.in, 0)
	}
	for i := n - 1; i >= 0; i-- { // each cell's end moves down to its beginning
		visit(i, func(cell int) {
			g.first[cell]--
			g.in[g.first[cell]] = int32(i)
		})
	}
}

func cell(x, z int32) int { return int(z&(side-1))*side + int(x&(side-1)) }

// Column returns the column of cells in which a coordinate lies, m. It is for X and for Z.
func Column(v float32) int32 {
	const most = 1 << 30
	return int32(math.Floor(float64(m3.Clamp(v/size, -most, most))))
}

// Cell returns the rectangles that may be in the cell of a column of X and one of Z, in ascending order.
func (g *Grid) Cell(x, z int32) []int32 {
	if g.first == nil {
		return nil
	}
	c := cell(x, z)
	return g.in[g.first[c]:g.first[c+1]]
}

// At returns the rectangles that may contain a place, in ascending order.
func (g *Grid) At(x, z float32) []int32 { return g.Cell(Column(x), Column(z)) }
