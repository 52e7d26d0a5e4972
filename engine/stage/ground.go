package stage

import (
	"math"

	"mannequin/engine/internal/gpu"
	"mannequin/engine/m3"
)

// The ground is drawn as nested square grids around the camera's focus. Each ring has cells
// twice as large as the next inner one: the mesh is fine near the feet and small overall.
const (
	groundCells  = 48    // cells along a side of every grid; a multiple of 4
	groundLevels = 7     // grids
	groundCell   = 0.125 // m: cells of the finest grid
	groundVertex = 7     // floats per vertex: position, normal, sharpness
)

// HeightFunc returns the ground's height in metres at the world point (x, z).
type HeightFunc func(x, z float32) float32

type ground struct {
	height HeightFunc
	geom   *gpu.Geometry
	at     [2]int // the finest grid's corner, in cells of the second grid
	valid  bool

	vertices []float32
	index    []uint32
	grid     []float32 // heights of one level, with a border of one
}

func newGround() *ground {
	return &ground{geom: gpu.NewGeometry(nil, nil, 3, 3, 1)}
}

// move centres the ground on p if p has left the cell that the mesh was built for.
func (g *ground) move(p m3.Vec3) {
	if g.height == nil || !p.Finite() || m3.Abs(p.X) > 1e5 || m3.Abs(p.Z) > 1e5 {
		return
	}
	const step = 2 * groundCell
	at := [2]int{int(math.Floor(float64(p.X) / step)), int(math.Floor(float64(p.Z) / step))}
	if g.valid && at == g.at {
		return
	}
	g.at, g.valid = at, true
	g.vertices, g.index = g.vertices[:0], g.index[:0]
	// The grid's corner in its own cells; every corner lies on the next grid's lattice.
	x, z := 2*at[0]-groundCells/2, 2*at[1]-groundCells/2
	cell := float32(groundCell)
	hole := [4]int{0, 0, 0, 0} // the cells that the finer grid covers
	for l := range groundLevels {
		g.level(x, z, cell, hole, l < groundLevels-1)
		// The same ground in cells of the next grid.
		inner := [4]int{x / 2, z / 2, (x + groundCells) / 2, (z + groundCells) / 2}
		cell *= 2
		// The next corner: centred, and on the lattice of the one after it.
		x = 2*floorDiv(inner[0]+groundCells/4, 2) - groundCells/2
		z = 2*floorDiv(inner[1]+groundCells/4, 2) - groundCells/2
		hole = [4]int{inner[0] - x, inner[1] - z, inner[2] - x, inner[3] - z}
	}
	g.geom.Set(g.vertices, g.index)
}

func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// level appends a grid with the corner (x0, z0) in its cells, without the cells in hole: first x,
// first z, past-the-end x, past-the-end z. If a coarser grid follows, the border uses only the
// coarser grid's vertices: one in the middle of a neighbour's edge would leave gaps.
func (g *ground) level(x0, z0 int, cell float32, hole [4]int, coarser bool) {
	const n = groundCells + 1
	const w = n + 2
	if len(g.grid) < w*w {
		g.grid = make([]float32, w*w)
	}
	h := g.grid
	for k := range w {
		for i := range w {
			h[k*w+i] = g.height(float32(x0+i-1)*cell, float32(z0+k-1)*cell)
		}
	}
	slope := func(i, k int) (float32, float32) {
		return (h[k*w+i+1] - h[k*w+i-1]) / (2 * cell), (h[(k+1)*w+i] - h[(k-1)*w+i]) / (2 * cell)
	}
	base := uint32(len(g.vertices) / groundVertex)
	for k := 1; k <= n; k++ {
		for i := 1; i <= n; i++ {
			sx, sz := slope(i, k)
			d := m3.V(-sx, 1, -sz).Normalize(m3.Up)
			x, z := float32(x0+i-1)*cell, float32(z0+k-1)*cell
			around := (h[k*w+i-1] + h[k*w+i+1] + h[(k-1)*w+i] + h[(k+1)*w+i]) / 4
			g.vertices = append(g.vertices, x, h[k*w+i], z, d.X, d.Y, d.Z, sharpness(h[k*w+i]-around, cell))
		}
	}
	// The vertex in column i of row k. Odd ones on such a border are replaced by the previous one.
	vertex := func(i, k int) uint32 {
		if coarser && (i == 0 || i == groundCells) {
			k &^= 1
		}
		if coarser && (k == 0 || k == groundCells) {
			i &^= 1
		}
		return base + uint32(k*n+i)
	}
	for k := range groundCells {
		for i := range groundCells {
			if i >= hole[0] && i < hole[2] && k >= hole[1] && k < hole[3] {
				continue
			}
			a, b, c, d := vertex(i, k), vertex(i+1, k), vertex(i, k+1), vertex(i+1, k+1)
			// Diagonals alternate, so that slopes have no grain.
			if (i+k)%2 == 0 {
				g.triangle(a, c, d)
				g.triangle(a, d, b)
			} else {
				g.triangle(a, c, b)
				g.triangle(b, c, d)
			}
		}
	}
}

// sharpness returns how sharply the ground bends at a vertex that lies above the mean of its neighbours:
// 1 at the edge of a step, −1 at its foot, and 0 on rolling ground and in coarse grids.
func sharpness(above, cell float32) float32 {
	const rolling, step = 0.04, 0.15 // of a cell
	if cell > 0.5 {
		return 0
	}
	bend := above / cell
	return m3.Clamp((bend-m3.Clamp(bend, -rolling, rolling))/(step-rolling), -1, 1)
}

// triangle appends a triangle unless two of its corners are equal.
func (g *ground) triangle(a, b, c uint32) {
	if a != b && b != c && c != a {
		g.index = append(g.index, a, b, c)
	}
}
