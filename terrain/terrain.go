// Package terrain holds height fields: a regular grid of heights with generators and
// allocation-free height and normal queries.
package terrain

import (
	"fmt"

	"mannequin/engine/m3"
)

// MaxNodes is the most nodes of one field (64 MiB of heights).
const MaxNodes = 1 << 24

// MaxHeight bounds the heights of fields up and down, m: float32 is exact to a centimetre there.
const MaxHeight = 1e5

// minCell is the least distance of nodes, m: normals are finite on any heights.
const minCell = 1e-6

// Field is a regular grid of heights, immutable once built and safe to share. Node (i, k) is at x =
// X0 + i·Cell, z = Z0 + k·Cell, with height Y[k·NX+i]. Between nodes the surface is bilinear.
// Beyond the border it continues with the border's heights.
type Field struct {
	X0, Z0 float32   // world position of node (0, 0), m
	Cell   float32   // distance between neighbouring nodes, m; at least a micrometre
	NX, NZ int       // nodes along x and z, at least 2 each
	Y      []float32 // (NZ, NX) heights, row-major, m; up to MaxHeight
}

// Validate returns an error for the first rule that f breaks. Queries require a valid field, and
// generators return only valid fields.
func (f *Field) Validate() error {
	switch {
	case f.NX < 2 || f.NZ < 2:
		return fmt.Errorf("terrain: %d×%d nodes: at least 2×2 are needed", f.NX, f.NZ)
	case f.NX > MaxNodes/f.NZ:
		return fmt.Errorf("terrain: %d×%d nodes: at most %d are allowed", f.NX, f.NZ, MaxNodes)
	case len(f.Y) != f.NX*f.NZ:
		return fmt.Errorf("terrain: %d heights for %d×%d nodes", len(f.Y), f.NX, f.NZ)
	case !(f.Cell >= minCell) || !m3.Finite(f.Cell):
		return fmt.Errorf("terrain: cell of %g m: want a length of at least %g m", f.Cell, float32(minCell))
	case !m3.Finite(f.X0) || !m3.Finite(f.Z0):
		return fmt.Errorf("terrain: origin (%g, %g) is not finite", f.X0, f.Z0)
	}
	x0, z0, x1, z1 := f.Bounds()
	if far := max(-x0, x1, -z0, z1); !(f.Cell >= far*0x1p-19) {
		return fmt.Errorf("terrain: nodes %g m apart reach %g m from the origin, where float32 has not 16 places between two: make the field nearer to the origin", f.Cell, far)
	}
	for n, y := range f.Y {
		if !(m3.Abs(y) <= MaxHeight) {
			return fmt.Errorf("terrain: height of node (%d, %d) is %g m: want a number up to %g m, up or down", n%f.NX, n/f.NX, y, float32(MaxHeight))
		}
	}
	return nil
}

// valid returns f, or the rule that it breaks.
func (f *Field) valid() (*Field, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	return f, nil
}

// Height returns the surface's height at (x, z), in metres.
func (f *Field) Height(x, z float32) float32 {
	n, u, v := f.cell(x, z)
	y := f.Y[n:]
	return m3.Lerp(m3.Lerp(y[0], y[1], u), m3.Lerp(y[f.NX], y[f.NX+1], u), v)
}

// Normal returns the upward unit normal at (x, z). It interpolates the slopes at the nodes (central
// differences). Unlike the normal of the bilinear patches, it does not jump at cell borders, where
// feet would jump with it.
func (f *Field) Normal(x, z float32) m3.Vec3 {
	n, u, v := f.cell(x, z)
	i, k := n%f.NX, n/f.NX
	ax, az := f.slope(i, k)
	bx, bz := f.slope(i+1, k)
	cx, cz := f.slope(i, k+1)
	dx, dz := f.slope(i+1, k+1)
	sx := m3.Lerp(m3.Lerp(ax, bx, u), m3.Lerp(cx, dx, u), v)
	sz := m3.Lerp(m3.Lerp(az, bz, u), m3.Lerp(cz, dz, u), v)
	return m3.V(-sx, 1, -sz).Normalize(m3.Up)
}

// NodeNormal returns the normal at node (i, k), for meshes.
func (f *Field) NodeNormal(i, k int) m3.Vec3 {
	sx, sz := f.slope(i, k)
	return m3.V(-sx, 1, -sz).Normalize(m3.Up)
}

// Bounds returns the corners of the area of the nodes.
func (f *Field) Bounds() (x0, z0, x1, z1 float32) {
	return f.X0, f.Z0, f.X0 + float32(f.NX-1)*f.Cell, f.Z0 + float32(f.NZ-1)*f.Cell
}

// MaxSlope returns the steepest angle of the bilinear surface, in radians.
func (f *Field) MaxSlope() float32 {
	// A patch's squared gradient is convex in both coordinates, so its maximum is at a corner.
	var steepest float32
	for k := range f.NZ - 1 {
		for i := range f.NX - 1 {
			y := f.Y[k*f.NX+i:]
			x0, x1 := y[1]-y[0], y[f.NX+1]-y[f.NX]
			z0, z1 := y[f.NX]-y[0], y[f.NX+1]-y[1]
			steepest = max(steepest, max(x0*x0, x1*x1)+max(z0*z0, z1*z1))
		}
	}
	return m3.Atan2(m3.Sqrt(steepest), f.Cell)
}

// cell returns the first node of the cell that contains (x, z) and the position in the cell, both
// clamped to the grid. NaN maps to the low border.
func (f *Field) cell(x, z float32) (n int, u, v float32) {
	i, u := clampCell((x-f.X0)/f.Cell, f.NX)
	k, v := clampCell((z-f.Z0)/f.Cell, f.NZ)
	return k*f.NX + i, u, v
}

func clampCell(x float32, nodes int) (int, float32) {
	last := float32(nodes - 1)
	switch {
	case !(x > 0):
		return 0, 0
	case x >= last:
		return nodes - 2, 1
	}
	i := min(int(x), nodes-2)
	return i, x - float32(i)
}

// slope returns dy/dx and dy/dz at node (i, k): central differences, one-sided at the border.
func (f *Field) slope(i, k int) (sx, sz float32) {
	i0, i1 := max(i-1, 0), min(i+1, f.NX-1)
	k0, k1 := max(k-1, 0), min(k+1, f.NZ-1)
	sx = (f.Y[k*f.NX+i1] - f.Y[k*f.NX+i0]) / (float32(i1-i0) * f.Cell)
	sz = (f.Y[k1*f.NX+i] - f.Y[k0*f.NX+i]) / (float32(k1-k0) * f.Cell)
	return sx, sz
}
