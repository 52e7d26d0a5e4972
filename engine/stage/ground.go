package stage

import (
	"math"

	"mannequin/engine/m3"
)

// The ground is drawn as nested square grids around the camera's focus: each
// ring has cells twice as large as the one inside it, so that the mesh is fine
// where feet are looked at and small in all.
const (
	groundCells  = 48    // cells along a side of every grid; a multiple of 4
	groundLevels = 6     // grids
	groundCell   = 0.125 // m: cells of the finest grid
	groundVertex = 7     // floats per vertex
)

// HeightFunc returns the ground's height in metres at the world point (x, z).
type HeightFunc func(x, z float32) float32

type ground struct {
	height HeightFunc
	geom   *mesh
	at     [2]int // the finest grid's corner, in cells of the second grid
	valid  bool

	vertices []float32
	index    []uint32
	grid     []float32 // heights of one level, with a border of one
}

func newGround() *ground {
	return &ground{geom: newGeometry(nil, nil, 3, 3, 1)} // position, normal, patch
}

// move centres the ground on p, when p has left the cell that it was built for.
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
	// The grid's corner in its own cells; every corner lies on the next
	// grid's lattice.
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
	g.geom.set(g.vertices, g.index)
}

func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// level appends one grid whose corner is (x0, z0) in its cells, without the
// cells in hole: first x, first z, past-the-end x, past-the-end z. Where a
// coarser grid follows, the border takes its shape.
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
			y := h[k*w+i]
			sx, sz := slope(i, k)
			if coarser {
				// Odd border vertices sit in the middle of a coarse edge.
				switch {
				case (i == 1 || i == n) && k%2 == 0:
					y = (h[(k-1)*w+i] + h[(k+1)*w+i]) / 2
				case (k == 1 || k == n) && i%2 == 0:
					y = (h[k*w+i-1] + h[k*w+i+1]) / 2
				}
			}
			d := m3.V(-sx, 1, -sz).Normalize(m3.Up)
			x, z := float32(x0+i-1)*cell, float32(z0+k-1)*cell
			g.vertices = append(g.vertices, x, y, z, d.X, d.Y, d.Z, patches(x, z))
		}
	}
	for k := range groundCells {
		for i := range groundCells {
			if i >= hole[0] && i < hole[2] && k >= hole[1] && k < hole[3] {
				continue
			}
			a := base + uint32(k*n+i)
			b, c, d := a+1, a+n, a+n+1
			// Diagonals alternate, so that slopes have no grain.
			if (i+k)%2 == 0 {
				g.index = append(g.index, a, c, d, a, d, b)
			} else {
				g.index = append(g.index, a, c, b, b, c, d)
			}
		}
	}
}

// patches returns how lush the ground is at (x, z), from 0 to 1: smooth noise
// of two sizes, the same for every terrain. It is a vertex's business, because
// noise for every pixel is what software rendering spends most time on.
func patches(x, z float32) float32 {
	return 0.65*valueNoise(0.35*x, 0.35*z) + 0.35*valueNoise(1.3*x+31, 1.3*z+17)
}

// valueNoise interpolates random values at whole numbers of x and z.
func valueNoise(x, z float32) float32 {
	fx, fz := float32(math.Floor(float64(x))), float32(math.Floor(float64(z)))
	u, v := x-fx, z-fz
	u, v = u*u*(3-2*u), v*v*(3-2*v)
	at := func(i, k int32) float32 {
		h := uint32(int32(fx)+i)*0x9E3779B1 ^ uint32(int32(fz)+k)*0x85EBCA77
		h ^= h >> 15
		h *= 0x2C1B3C6D
		h ^= h >> 13
		return float32(h&0xFFFF) / 0xFFFF
	}
	return m3.Lerp(m3.Lerp(at(0, 0), at(1, 0), u), m3.Lerp(at(0, 1), at(1, 1), u), v)
}
