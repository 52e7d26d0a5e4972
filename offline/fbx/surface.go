package fbx

import (
	"cmp"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/animsys/skin"
	"mannequin/engine/m3"
	"mannequin/internal/affine"
)

// surface is the triangles of a mesh, written into the document.
type surface struct {
	slots   []slot
	binding *binding // nil: no skin
	mesh    *mesh
	loose   int // vertices that no joint pulls at
	skin    int // in the document, for all models; −1: none yet
}

// slot is the triangles with one of a model's materials.
type slot struct {
	material   int // −1: none
	attributes gltf.PrimitiveAttributes
	targets    []gltf.PrimitiveAttributes // blend shapes
	indices    int
}

// surfaceKey is a mesh as a model shows it.
type surfaceKey struct {
	mesh   int64
	offset affine.Transform
	set    string // of texture coordinates
}

// vertex is what corners have in common that become one vertex.
type vertex struct {
	point  int32
	normal [3]float32
	uv     [2]float32
	colour [4]float32
}

// piece is the vertices and triangles of a slot.
type piece struct {
	material int
	number   map[vertex]uint32
	vertices []vertex
	index    []uint32
}

// offset returns the transform of a model's own mesh, which models below it do not follow, in the file's unit.
func (s *scene) offset(m *model) (affine.Transform, error) {
	p, err := s.properties(m.record)
	if err != nil {
		return affine.Identity, err
	}
	three := func(name string, otherwise float64) (v [3]float64) {
		for k := range v {
			v[k] = otherwise
			if x, ok := number(p[name], k); ok {
				v[k] = x
			}
		}
		return v
	}
	scale := three("GeometricScaling", 1)
	out := move(three("GeometricTranslation", 0))
	turn := euler(three("GeometricRotation", 0), 0) // in this order for all models
	for _, step := range []affine.Transform{of(&turn, [3]float64{}), {0: scale[0], 5: scale[1], 10: scale[2]}} {
		out = out.Mul(&step)
	}
	if !out.Finite() {
		return out, s.errorf(m.at, "the mesh of %.60q has a place that is not finite", m.name)
	}
	return out, nil
}

// surface returns the triangles of a model's mesh, or nil if it has none.
func (c *characterReader) surface(id int64, r *record, owner *model) (*surface, error) {
	offset, err := c.offset(owner)
	if err != nil {
		return nil, err
	}
	set, err := c.set(owner)
	if err != nil {
		return nil, err
	}
	key := surfaceKey{id, offset, set}
	if s, ok := c.surfaces[key]; ok {
		return s, nil
	}
	m, err := c.readMeshOnce(id, owner, r)
	if m == nil || err != nil {
		return nil, err
	}
	s := &surface{binding: m.binding, mesh: m, skin: -1}
	uv, err := c.coordinates(m, set)
	if err != nil {
		return nil, err
	}
	c.corners += len(m.corners)
	if uv != nil {
		c.corners += len(uv.values)/2 + len(uv.index)
	}
	if c.corners > maxCornersAll {
		return nil, c.errorf(m.at, "with the mesh %.60q there are more than %d corners and texture coordinates", m.name, maxCornersAll)
	}
	pieces, err := c.pieces(m, uv, &offset)
	if err != nil {
		return nil, err
	}
	for _, p := range pieces {
		slot := c.write(m, uv, s, p, &offset)
		if slot.targets, err = c.targets(m, p, &offset); err != nil {
			return nil, err
		}
		s.slots = append(s.slots, slot)
	}
	c.surfaces[key] = s
	return s, nil
}

// set returns the set of texture coordinates that the first picture of a model's materials uses, or "".
func (c *characterReader) set(m *model) (string, error) {
	for _, material := range c.below(m.id, "", "Material/") {
		for _, property := range baseColours {
			for _, t := range c.below(material, property, "Texture/") {
				s, known := c.sets[t]
				if !known {
					p, err := c.properties(c.objects[t])
					if err != nil {
						return "", err
					}
					s = text(p["UVSet"], 0)
					c.sets[t] = s
				}
				if s != "" && s != "default" {
					return s, nil
				}
			}
		}
	}
	return "", nil
}

// readMeshOnce reads a mesh and its skin.
func (c *characterReader) readMeshOnce(id int64, owner *model, r *record) (*mesh, error) {
	if m, ok := c.known[id]; ok {
		return m, nil
	}
	m, err := c.readMesh(id, owner.name, r)
	if m != nil && err == nil {
		if m.binding, err = c.readBinding(m, c.deformers(m, owner), owner); err == nil {
			m.channels, err = c.blendChannels(m)
		}
	}
	c.known[id] = m
	return m, err
}

// deformers returns the skins of a mesh. In version 6 they are those of the first model that shows it.
func (c *characterReader) deformers(m *mesh, owner *model) []int64 {
	skins := c.below(m.id, "", "Deformer/Skin")
	name := owner.record.child("NodeAttributeName")
	if c.version >= 7000 || name == nil {
		return skins
	}
	if len(skins) > 0 {
		c.shared[string(name.values)] = skins
	}
	return c.shared[string(name.values)]
}

// pieces cuts the polygons of a mesh into triangles, by material.
func (c *characterReader) pieces(m *mesh, uv *element, offset *affine.Transform) ([]*piece, error) {
	var all []*piece
	find := map[int]*piece{}
	mirrored := offset.Det() < 0
	var list []uint32 // the vertices of a polygon's corners
	none := [3]float32{}
	for polygon := range len(m.polygons) - 1 {
		from, to := int(m.polygons[polygon]), int(m.polygons[polygon+1])
		if to-from < 3 {
			continue // a line
		}
		material := 0
		if m.material != nil {
			material = -1
			if v := m.material.value(from, int(m.corners[from]), polygon); v >= 0 && m.material.values[v] >= 0 && m.material.values[v] < 1<<20 {
				material = int(m.material.values[v])
			}
		}
		p := find[material]
		if p == nil {
			p = &piece{material: material, number: map[vertex]uint32{}}
			find[material], all = p, append(all, p)
		}
		if c.triangles += to - from - 2; c.triangles > skin.MaxTriangles {
			return nil, c.errorf(m.at, "with the mesh %.60q there are more than %d triangles", m.name, skin.MaxTriangles)
		}
		list = list[:0]
		front := none
		for corner := from; corner < to; corner++ {
			point := m.corners[corner]
			v := vertex{point: point, colour: [4]float32{1, 1, 1, 1}}
			if k := m.normal.value(corner, int(point), polygon); k >= 0 {
				n := m.normal.values[3*k : 3*k+3]
				o := offset.Normal(m3.V(float32(n[0]), float32(n[1]), float32(n[2])))
				v.normal = [3]float32{o.X, o.Y, o.Z}
			}
			if m.normal != nil && v.normal == none {
				if front == none { // of the polygon
					n := m.polygonNormal(from, to)
					o := cmp.Or(offset.Normal(n.Normalize(m3.Up)), m3.Up)
					front = [3]float32{o.X, o.Y, o.Z}
				}
				v.normal = front
			}
			if k := uv.value(corner, int(point), polygon); k >= 0 {
				v.uv = [2]float32{float32(uv.values[2*k]), float32(1 - uv.values[2*k+1])}
			}
			if k := m.colour.value(corner, int(point), polygon); k >= 0 {
				for i, x := range m.colour.values[4*k : 4*k+4] {
					v.colour[i] = float32(min(max(x, 0), 1))
				}
			}
			number, ok := p.number[v]
			if !ok {
				if c.vertices++; c.vertices > skin.MaxVertices {
					return nil, c.errorf(m.at, "with the mesh %.60q there are more than %d vertices", m.name, skin.MaxVertices)
				}
				number = uint32(len(p.vertices))
				p.number[v], p.vertices = number, append(p.vertices, v)
			}
			list = append(list, number)
		}
		at := func(i int) [3]float64 {
			k := 3 * m.corners[from+i]
			return [3]float64(m.points[k : k+3])
		}
		c.cut.cut(to-from, at, func(i, j, k int) {
			if mirrored {
				j, k = k, j
			}
			p.index = append(p.index, list[i], list[j], list[k])
		})
	}
	return all, nil
}

// write writes a piece of a surface into the document.
func (c *characterReader) write(m *mesh, uv *element, s *surface, p *piece, offset *affine.Transform) slot {
	n := len(p.vertices)
	pos, normal := make([][3]float32, n), make([][3]float32, n)
	for i, v := range p.vertices {
		at := m.points[3*v.point : 3*v.point+3]
		x := offset.Apply(at[0], at[1], at[2])
		for k := range x {
			pos[i][k] = float32(x[k] * c.metres)
		}
		normal[i] = v.normal
	}
	out := slot{material: p.material, attributes: gltf.PrimitiveAttributes{gltf.POSITION: modeler.WritePosition(c.doc, pos)}}
	if m.normal != nil {
		out.attributes[gltf.NORMAL] = modeler.WriteNormal(c.doc, normal)
	}
	if uv != nil {
		at := make([][2]float32, n)
		for i, v := range p.vertices {
			at[i] = v.uv
		}
		out.attributes[gltf.TEXCOORD_0] = modeler.WriteTextureCoord(c.doc, at)
	}
	if m.colour != nil {
		colour := make([][4]float32, n)
		for i, v := range p.vertices {
			colour[i] = v.colour
		}
		out.attributes[gltf.COLOR_0] = modeler.WriteColor(c.doc, colour)
	}
	if b := s.binding; b != nil {
		joints, weights := make([][4]uint16, n), make([][4]float32, n)
		for i, v := range p.vertices {
			for k, q := range b.pulls[v.point] {
				joints[i][k], weights[i][k] = uint16(q.cluster), float32(q.weight)
			}
			if len(b.pulls[v.point]) == 0 {
				joints[i][0], weights[i][0] = uint16(len(b.clusters)), 1
				s.loose++
			}
		}
		out.attributes[gltf.JOINTS_0] = modeler.WriteJoints(c.doc, joints)
		out.attributes[gltf.WEIGHTS_0] = modeler.WriteWeights(c.doc, weights)
	}
	out.indices = modeler.WriteIndices(c.doc, p.index)
	return out
}
