package stage

import (
	"github.com/g3n/engine/geometry"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/math32"
)

// attribute is one vertex input; order and sizes match the shader's locations.
type attribute struct {
	name string
	size int32
}

// newGeometry returns a g3n geometry of interleaved vertices.
func newGeometry(vertices []float32, index []uint32, attribs ...attribute) *geometry.Geometry {
	g := geometry.NewGeometry()
	v := gls.NewVBO(math32.ArrayF32(vertices))
	for _, a := range attribs {
		v.AddCustomAttrib(a.name, a.size)
	}
	g.AddVBO(v)
	g.SetIndices(math32.ArrayU32(index))
	return g
}

// update replaces a geometry's contents; the vertex layout stays.
func update(g *geometry.Geometry, vertices []float32, index []uint32) {
	v := g.VBOs()[0]
	v.SetUsage(gls.DYNAMIC_DRAW)
	v.SetBuffer(math32.ArrayF32(vertices))
	g.SetIndices(math32.ArrayU32(index))
}

// newMesh puts a geometry into the scene without culling: our vertices do not
// lie where the geometry's bounding box says.
func newMesh(g *geometry.Geometry, s *shade, order int) *graphic.Mesh {
	m := graphic.NewMesh(g, s)
	m.SetCullable(false)
	m.SetRenderOrder(order)
	return m
}
