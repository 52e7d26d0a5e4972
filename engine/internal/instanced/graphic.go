package instanced

import (
	"github.com/g3n/engine/core"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"

	"mannequin/engine/body"
	"mannequin/engine/internal/gl"
	"mannequin/engine/internal/gpu"
)

// Graphic draws one run of a crowd with one material. g3n has no instancing, so it draws the
// instances itself and leaves g3n an empty material group.
type Graphic struct {
	*graphic.Mesh
	Before func(gs *gls.GLS, info *core.RenderInfo) // called before drawing; may be nil
	After  func(gs *gls.GLS)                        // called after drawing; may be nil

	c   *Crowd
	run int
	n   int32 // indices

	uBones, uOrder, uBase, uJoints, uPer gls.Uniform
}

// Attributes of vertices, in the order of the shaders' locations.
const (
	// Full vertices have position, normal, joints, weights, coat, and texture coordinates.
	Full = iota
	// Bare vertices have position, joints and weights.
	Bare
)

// NewGraphic returns the graphic of run, for the triangles of m.Parts[part], or for all of m if it
// has no parts.
func NewGraphic(c *Crowd, run int, m *body.Mesh, part, attributes int, mat material.IMaterial) *Graphic {
	g := &Graphic{c: c, run: run, uBones: gpu.Uniform("Bones"), uOrder: gpu.Uniform("Order"), uBase: gpu.Uniform("Base"),
		uJoints: gpu.Uniform("Joints"), uPer: gpu.Uniform("PerLine")}
	geom := newGeometry(m, part, attributes)
	g.n = int32(geom.Len())
	g.Mesh = graphic.NewMesh(geom, nil)
	g.SetIGraphic(g)
	g.SetCullable(false)
	g.Graphic.AddMaterial(g, mat, 0, 1)
	return g
}

// newGeometry returns the vertices of a part that its triangles use.
func newGeometry(m *body.Mesh, part, attributes int) *gpu.Geometry {
	index := m.Index
	if len(m.Parts) > 0 {
		p := m.Parts[part]
		index = index[p.Start : p.Start+p.Count]
	}
	var v []float32
	number := make([]int32, len(m.Pos)) // of the vertex in v, from 1; 0 is none
	used := make([]uint32, len(index))
	next := int32(0)
	for k, i := range index {
		if number[i] == 0 {
			next++
			number[i] = next
			p, n, j, w := m.Pos[i], m.Normal[i], m.Joints[i], m.Weights[i]
			v = append(v, p.X, p.Y, p.Z)
			if attributes == Full {
				v = append(v, n.X, n.Y, n.Z)
			}
			v = append(v, float32(j[0]), float32(j[1]), float32(j[2]), float32(j[3]), w[0], w[1], w[2], w[3])
			if attributes == Full {
				var uv [2]float32
				if m.UV != nil {
					uv = m.UV[i]
				}
				v = append(append(v, m.Coat[i][:]...), uv[0], uv[1])
			}
		}
		used[k] = uint32(number[i] - 1)
	}
	if attributes == Bare {
		return gpu.NewGeometry(v, used, 3, 4, 4)
	}
	return gpu.NewGeometry(v, used, 3, 3, 4, 4, 4, 2)
}

// RenderSetup draws all instances. The single index that g3n draws afterwards makes no triangle.
func (g *Graphic) RenderSetup(gs *gls.GLS, info *core.RenderInfo) {
	if g.Before != nil {
		g.Before(gs, info)
	}
	c := g.c
	g.Mesh.RenderSetup(gs, info)
	// Also without instances: g3n still draws its index, and WebGL refuses that while samplers of different types share a unit.
	gpu.BindTexture(gs, c.units.Bones, c.boneTex, &g.uBones)
	gpu.BindTexture(gs, c.units.Order, c.orderTex, &g.uOrder)
	if r := c.runs[g.run]; r.count > 0 {
		gs.Uniform1i(g.uBase.Location(gs), r.base)
		gs.Uniform1i(g.uJoints.Location(gs), int32(c.joints))
		gs.Uniform1i(g.uPer.Location(gs), int32(c.per))
		gl.DrawElementsInstanced(gl.TRIANGLES, g.n, gl.UNSIGNED_INT, r.count)
	}
	if g.After != nil {
		g.After(gs)
	}
}

// Dispose frees the vertices.
func (g *Graphic) Dispose() { g.Mesh.Graphic.Dispose() }
