// Package gpu has vertex buffers and textures for graphics that g3n's renderer draws.
package gpu

import (
	"github.com/g3n/engine/geometry"
	"github.com/g3n/engine/gls"
	"github.com/g3n/engine/graphic"
	"github.com/g3n/engine/material"
	"github.com/g3n/engine/math32"

	"mannequin/engine/internal/gl"
)

// Geometry is a g3n geometry with its own vertex buffers: g3n passes buffer offsets as Go pointers,
// which Go's pointer checks (on under -race) refuse. g3n only counts the indices.
type Geometry struct {
	*geometry.Geometry
	sizes    []int32 // floats per vertex of each attribute, in the order of the shader's locations
	vertices []float32
	index    []uint32
	changed  bool

	vao, vbo, ebo uint32 // 0 before the first use
}

// NewGeometry returns a geometry of interleaved vertices. sizes are the floats of each attribute.
func NewGeometry(vertices []float32, index []uint32, sizes ...int32) *Geometry {
	m := &Geometry{Geometry: geometry.NewGeometry(), sizes: sizes}
	m.Set(vertices, index)
	return m
}

// Set replaces the contents. The slices are kept until the next picture uploads them.
func (m *Geometry) Set(vertices []float32, index []uint32) {
	m.vertices, m.index, m.changed = vertices, index, true
	m.SetIndices(math32.ArrayU32(index))
}

// Len returns the number of indices.
func (m *Geometry) Len() int { return len(m.index) }

// RenderSetup is called by the renderer before it draws.
func (m *Geometry) RenderSetup(*gls.GLS) {
	if m.vao == 0 || m.changed {
		bound := gl.Binding(gl.ARRAY_BUFFER_BINDING)
		defer gl.BindBuffer(gl.ARRAY_BUFFER, bound)
	}
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

// Dispose frees the buffers. The next use makes them again.
func (m *Geometry) Dispose() {
	if m.vao != 0 {
		gl.DeleteVertexArray(m.vao)
		gl.DeleteBuffer(m.vbo)
		gl.DeleteBuffer(m.ebo)
		m.vao, m.vbo, m.ebo, m.changed = 0, 0, 0, true
	}
	m.Geometry.Dispose()
}

// NewMesh returns a graphic of a geometry without culling: g3n does not know our vertices.
func NewMesh(m *Geometry, s material.IMaterial, order int) *graphic.Mesh {
	g := graphic.NewMesh(m, s)
	g.SetCullable(false)
	g.SetRenderOrder(order)
	return g
}
