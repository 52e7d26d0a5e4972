package stage

import (
	"mannequin/engine/internal/gpu"
	"math"
	"slices"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
)

// blocks draws View.Blocks, with their shadows.
type blocks struct {
	mesh, cast *gpu.Geometry // the same triangles in the picture and in the shadow map
	shown      []hud.Block

	vertices, corners []float32
	index             []uint32
}

// blockVertex is the floats of a vertex: position, normal, colour.
const blockVertex = 9

func newBlocks(s *Stage) *blocks {
	b := &blocks{mesh: gpu.NewGeometry(nil, nil, 3, 3, 3), cast: gpu.NewGeometry(nil, nil, 3)}
	s.scene.Add(gpu.NewMesh(b.mesh, newShade("block", &s.lighting, nil), 2))
	s.shadows.Add(gpu.NewMesh(b.cast, newShade("cast", nil, nil), 0))
	return b
}

// set replaces the blocks. Those that are not finite are left out.
func (b *blocks) set(all []hud.Block) {
	if slices.Equal(all, b.shown) {
		return
	}
	b.shown = append(b.shown[:0], all...)
	b.vertices, b.corners, b.index = b.vertices[:0], b.corners[:0], b.index[:0]
	for i := range all {
		b.add(&all[i])
	}
	b.mesh.Set(b.vertices, b.index)
	b.cast.Set(b.corners, b.index)
}

func (b *blocks) add(k *hud.Block) {
	sin, cos := math.Sincos(float64(k.Yaw))
	across, along := m3.V(float32(cos), 0, -float32(sin)).Scale(k.Width/2), m3.V(float32(sin), k.Rise, float32(cos)).Scale(k.Depth/2)
	top := [4]m3.Vec3{ // counter-clockwise, seen from above
		k.At.Sub(across).Sub(along), k.At.Sub(across).Add(along), k.At.Add(across).Add(along), k.At.Add(across).Sub(along),
	}
	var bottom [4]m3.Vec3
	for i, p := range top {
		if !p.Finite() || !m3.Finite(k.Height) {
			return
		}
		bottom[i] = m3.V(p.X, min(k.At.Y-k.Height, p.Y), p.Z)
	}
	b.face(k, top[0], top[1], top[2], top[3])
	for i := range top {
		n := (i + 1) % 4
		b.face(k, top[n], top[i], bottom[i], bottom[n])
	}
	b.face(k, bottom[3], bottom[2], bottom[1], bottom[0])
}

// face appends a side whose corners are counter-clockwise, seen from outside. Two of them may be equal.
func (b *blocks) face(k *hud.Block, corners ...m3.Vec3) {
	n := corners[2].Sub(corners[0]).Cross(corners[3].Sub(corners[1])).Normalize(m3.Up)
	base := uint32(len(b.vertices) / blockVertex)
	for _, p := range corners {
		b.vertices = append(b.vertices, p.X, p.Y, p.Z, n.X, n.Y, n.Z, k.Colour[0], k.Colour[1], k.Colour[2])
		b.corners = append(b.corners, p.X, p.Y, p.Z)
	}
	b.index = append(b.index, base, base+1, base+2, base, base+2, base+3)
}
