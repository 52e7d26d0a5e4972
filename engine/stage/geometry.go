package stage

import (
	"github.com/g3n/engine/geometry"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/math32"

	"mannequin/engine/stage/internal/gl"
)

// mesh is a g3n geometry with its own vertex buffers: g3n passes buffer offsets as Go pointers,
// which Go's pointer checks (on under -race) refuse. g3n only counts the indices.
type mesh struct {
	*geometry.Geometry
	sizes    []int32 // floats per vertex of each attribute, in the order of the shader's locations
	vertices []float32
	index    []uint32
	changed  bool

	vao, vbo, ebo uint32 // 0 before the first use
}

// newGeometry returns a geometry of interleaved vertices. sizes are the floats of each attribute.
func newGeometry(vertices []float32, index []uint32, sizes ...int32) *mesh {
	m := &mesh{Geometry: geometry.NewGeometry(), sizes: sizes}
	m.set(vertices, index)
	return m
}

// set replaces the contents. The slices are kept until the next picture uploads them.
func (m *mesh) set(vertices []float32, index []uint32) {
	m.vertices, m.index, m.changed = vertices, index, true
	m.SetIndices(math32.ArrayU32(index))
}

// RenderSetup is called by the renderer before it draws.
func (m *mesh) RenderSetup(*gls.GLS) {
	if m.vao == 0 {
		m.vao, m.vbo, m.ebo = gl.GenVertexArray(), gl.GenBuffer(), gl.GenBuffer()
		gl.BindVertexArray(m.vao)
		gl.BindBuffer(gl.ARRAY_BUFFER, m.vbo)
		gl.BindBuffer(gl.ELEMENT_ARRAY_BUFFER, m.ebo)
		var stride int32
		for _, n := range m.sizes {
			stride += 4 * n
		}
		at := 0
		for i, n := range m.sizes {
			gl.EnableVertexAttribArray(uint32(i))
			gl.VertexAttribPointer(uint32(i), n, gl.FLOAT, false, stride, at)
			at += int(4 * n)
		}
	}
	gl.BindVertexArray(m.vao)
	if m.changed && len(m.index) > 0 {
		gl.BindBuffer(gl.ARRAY_BUFFER, m.vbo)
		gl.BufferData(gl.ARRAY_BUFFER, gl.Bytes(m.vertices), gl.DYNAMIC_DRAW)
		gl.BufferData(gl.ELEMENT_ARRAY_BUFFER, gl.Bytes(m.index), gl.DYNAMIC_DRAW)
		m.changed = false
	}
}

// newMesh returns a graphic of a geometry without culling: g3n does not know our vertices.
func newMesh(m *mesh, s *shade, order int) *graphic.Mesh {
	g := graphic.NewMesh(m, s)
	g.SetCullable(false)
	g.SetRenderOrder(order)
	return g
}
