package terrain

import (
	"fmt"
	"math"

	"mannequin/engine/m3"
	"mannequin/internal/cellgrid"
)

// MaxTriangles bounds the triangles of a mesh.
const MaxTriangles = 1 << 20

// mostCells bounds the memory of a mesh, in entries of its grid.
const mostCells = 1 << 25

// steepest is the least height of the unit normal of a triangle to stand on: 60° from level.
const steepest = 0.5

// Mesh is triangles to stand on: an ik.Floors. An agent stands on the highest triangle that is at most half a
// metre higher than where it stands; if all are higher, on the lowest. Places without a triangle have the height NaN:
// they are no ground. A mesh is immutable.
type Mesh struct {
	triangles []triangle
	grid      cellgrid.Grid
}

// triangle has the plane y = at + dx·x + dz·z, and its corners seen from above.
type triangle struct {
	x, z   [3]float32
	at     float64
	dx, dz float64
	normal m3.Vec3
}

// NewMesh returns a mesh of triangles: three indices of vertices each, counterclockwise seen from above. Vertices are in m. Triangles
// that face down, that are steeper than 60° from level, or that have no area are left out.
func NewMesh(vertices []m3.Vec3, indices []int32) (*Mesh, error) {
	if len(indices)%3 != 0 || len(indices) == 0 || len(indices) > 3*MaxTriangles {
		return nil, fmt.Errorf("terrain: a mesh of %d indices: want three for each of 1 to %d triangles", len(indices), MaxTriangles)
	}
	for i, v := range vertices {
		if !(max(m3.Abs(v.X), m3.Abs(v.Z)) <= MaxDeck && m3.Abs(v.Y) <= MaxHeight) {
			return nil, fmt.Errorf("terrain: vertex %d of a mesh is at %v: want places up to %d m from the origin and heights up to %g m", i, v, MaxDeck, float32(MaxHeight))
		}
	}
	m := &Mesh{}
	for i := 0; i < len(indices); i += 3 {
		var p [3]m3.Vec3
		for k := range p {
			n := indices[i+k]
			if n < 0 || int(n) >= len(vertices) {
				return nil, fmt.Errorf("terrain: index %d of a mesh is %d: there are %d vertices", i+k, n, len(vertices))
			}
			p[k] = vertices[n]
		}
		if t, ok := newTriangle(p); ok {
			m.triangles = append(m.triangles, t)
		}
	}
	if len(m.triangles) == 0 {
		return nil, fmt.Errorf("terrain: none of the mesh's %d triangles can be stood on: their corners go counterclockwise seen from above", len(indices)/3)
	}
	cells := 0
	for i := range m.triangles {
		x0, z0, x1, z1 := m.triangles[i].bounds()
		cells += int(cellgrid.Column(x1)-cellgrid.Column(x0)+1) * int(cellgrid.Column(z1)-cellgrid.Column(z0)+1)
	}
	if cells > mostCells {
		return nil, fmt.Errorf("terrain: the %d triangles of a mesh are too large: %d times one lies in a cell of 4 m, at most %d are allowed", len(m.triangles), cells, mostCells)
	}
	m.grid.Fill(len(m.triangles), func(i int) (x0, z0, x1, z1 float32) { return m.triangles[i].bounds() })
	return m, nil
}

// bounds returns the rectangle around the triangle, seen from above.
func (t *triangle) bounds() (x0, z0, x1, z1 float32) {
	return min(t.x[0], t.x[1], t.x[2]), min(t.z[0], t.z[1], t.z[2]), max(t.x[0], t.x[1], t.x[2]), max(t.z[0], t.z[1], t.z[2])
}

// newTriangle returns the triangle of three corners, and whether one can stand on it.
func newTriangle(p [3]m3.Vec3) (t triangle, ok bool) {
	ux, uy, uz := float64(p[1].X)-float64(p[0].X), float64(p[1].Y)-float64(p[0].Y), float64(p[1].Z)-float64(p[0].Z)
	vx, vy, vz := float64(p[2].X)-float64(p[0].X), float64(p[2].Y)-float64(p[0].Y), float64(p[2].Z)-float64(p[0].Z)
	nx, ny, nz := uy*vz-uz*vy, uz*vx-ux*vz, ux*vy-uy*vx
	l := math.Sqrt(nx*nx + ny*ny + nz*nz)
	if !(ny >= steepest*l && l > 1e-9) {
		return t, false
	}
	for k := range p {
		t.x[k], t.z[k] = p[k].X, p[k].Z
	}
	t.dx, t.dz = -nx/ny, -nz/ny
	t.at = float64(p[0].Y) - t.dx*float64(p[0].X) - t.dz*float64(p[0].Z)
	t.normal = m3.V(float32(nx/l), float32(ny/l), float32(nz/l))
	return t, true
}

// over reports whether a place is over the triangle, edges included.
func (t *triangle) over(x, z float32) bool {
	for i := range 3 {
		k := (i + 1) % 3
		ex, ez := float64(t.x[k])-float64(t.x[i]), float64(t.z[k])-float64(t.z[i])
		if ez*(float64(x)-float64(t.x[i]))-ex*(float64(z)-float64(t.z[i])) < 0 {
			return false
		}
	}
	return true
}

// from returns the height and the triangle on which an agent stands at (x, z) that stood at height y.
func (m *Mesh) from(x, z, y float32) (at float32, on *triangle) {
	at = float32(math.NaN())
	reached := false
	for _, i := range m.grid.At(x, z) {
		t := &m.triangles[i]
		if !t.over(x, z) {
			continue
		}
		h := float32(t.at + t.dx*float64(x) + t.dz*float64(z))
		switch reach := h <= y+stepUp; {
		case on == nil, reach && (!reached || h > at), !reach && !reached && h < at:
			at, on, reached = h, t, reach
		}
	}
	return at, on
}

// Height returns the height of the highest ground at (x, z), m; NaN if there is none.
func (m *Mesh) Height(x, z float32) float32 { return m.HeightFrom(x, z, math.MaxFloat32) }

// Normal returns its upward unit normal; straight up if there is none.
func (m *Mesh) Normal(x, z float32) m3.Vec3 { return m.NormalFrom(x, z, math.MaxFloat32) }

// HeightFrom returns the height of the ground at (x, z) for an agent that stands at height y near there, m.
func (m *Mesh) HeightFrom(x, z, y float32) float32 {
	h, _ := m.from(x, z, y)
	return h
}

// NormalFrom returns its upward unit normal.
func (m *Mesh) NormalFrom(x, z, y float32) m3.Vec3 {
	if _, on := m.from(x, z, y); on != nil {
		return on.normal
	}
	return m3.Up
}
