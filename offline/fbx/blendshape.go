package fbx

import (
	"math"
	"slices"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/internal/affine"
	"mannequin/internal/boundedfile"
)

// Limits of blend shapes, of all meshes.
const (
	maxShapes = 1 << 12
	maxMoved  = 1 << 23 // vertices of shapes, and points that are looked up for them
)

// blendChannel is a slider of a mesh: shapes that take over from each other as it grows.
type blendChannel struct {
	id     int64
	name   string
	value  float64 // percent
	shapes []blendShape
}

// blendShape is where points of a mesh are moved.
type blendShape struct {
	full   float64 // percent of the channel at which it is alone
	points []int64
	by     []float64 // x, y, z of each
}

// blendChannels reads the blend shapes of a mesh of version 7.
func (c *characterReader) blendChannels(m *mesh) ([]blendChannel, error) {
	if c.version < 7000 {
		return nil, nil
	}
	var out []blendChannel
	for _, deformer := range c.below(m.id, "", "Deformer/BlendShape") {
		for _, id := range c.below(deformer, "", "Deformer/BlendShapeChannel") {
			k, err := c.blendChannel(m, id)
			if err != nil {
				return nil, err
			}
			if len(k.shapes) > 0 {
				out = append(out, k)
			}
		}
	}
	return out, nil
}

func (c *characterReader) blendChannel(m *mesh, id int64) (k blendChannel, err error) {
	r := c.objects[id]
	values, err := c.all(r, 2)
	if err != nil {
		return k, err
	}
	k = blendChannel{id: id, name: boundedfile.Printable(cleanName(text(values, 1)))}
	p, err := c.properties(r)
	if err != nil {
		return k, err
	}
	k.value, _ = number(p["DeformPercent"], 0)
	if v := r.child("DeformPercent"); v != nil {
		one, err := c.numbers(v, 1)
		if err != nil {
			return k, err
		}
		if len(one) > 0 {
			k.value = one[0]
		}
	}
	if !(math.Abs(k.value) < 1e6) {
		return k, c.errorf(r.at, "the blend shape %.60q is at %g %%", k.name, k.value)
	}
	var full []float64
	if v := r.child("FullWeights"); v != nil {
		if full, err = c.numbers(v, maxPoints); err != nil {
			return k, err
		}
	}
	shapes := c.below(id, "", "Geometry/Shape")
	for i, of := range shapes {
		if c.shapes++; c.shapes > maxShapes {
			return k, c.errorf(r.at, "with the mesh %.60q there are more than %d blend shapes", m.name, maxShapes)
		}
		s, err := c.blendShape(m, c.objects[of])
		if err != nil {
			return k, err
		}
		s.full = 100 * float64(i+1) / float64(len(shapes))
		switch {
		case len(full) == len(shapes):
			s.full = full[i]
		case len(full) == len(s.points): // Blender writes the weights of points there
			for n, share := range full {
				for j := range 3 {
					s.by[3*n+j] *= share / 100
				}
			}
		}
		if !(s.full > 0 && s.full < 1e6) || i > 0 && s.full <= k.shapes[i-1].full {
			return k, c.errorf(r.at, "the blend shape %.60q: its shape %d is full at %g %%: want numbers that grow", k.name, i+1, s.full)
		}
		k.shapes = append(k.shapes, s)
	}
	return k, nil
}

func (c *characterReader) blendShape(m *mesh, r *record) (s blendShape, err error) {
	points, by := r.child("Indexes"), r.child("Vertices")
	if points == nil || by == nil {
		return s, nil
	}
	if s.points, err = c.wholes(points, maxPoints); err != nil {
		return s, err
	}
	if s.by, err = c.numbers(by, 3*maxPoints); err != nil {
		return s, err
	}
	if len(s.by) != 3*len(s.points) {
		return s, c.errorf(by.at, "a blend shape of %.60q has %d coordinates for %d points", m.name, len(s.by), len(s.points))
	}
	for i, p := range s.points {
		if p < 0 || p >= int64(len(m.points)/3) {
			return s, c.errorf(points.at, "a blend shape is of point %d, the mesh %.60q has %d", p, m.name, len(m.points)/3)
		}
		for _, x := range s.by[3*i : 3*i+3] {
			if !(math.Abs(x) <= 1e9) {
				return s, c.errorf(by.at, "a blend shape of %.60q moves point %d by %g", m.name, p, x)
			}
		}
	}
	return s, nil
}

// targets writes the blend shapes of a mesh for a piece's vertices: the moved ones only.
func (c *characterReader) targets(m *mesh, p *piece, offset *affine.Transform) ([]gltf.PrimitiveAttributes, error) {
	if len(m.channels) == 0 {
		return nil, nil
	}
	of := make(map[int32][]uint32, len(p.vertices)) // vertices of a point
	for i, v := range p.vertices {
		of[v.point] = append(of[v.point], uint32(i))
	}
	by := make([][3]float32, len(p.vertices))
	var out []gltf.PrimitiveAttributes
	for _, k := range m.channels {
		for _, s := range k.shapes {
			var index []uint32
			for i, point := range s.points {
				d := s.by[3*i : 3*i+3]
				if c.moved += 1 + len(of[int32(point)]); c.moved > maxMoved {
					return nil, c.errorf(m.at, "with the mesh %.60q blend shapes move more than %d vertices", m.name, maxMoved)
				}
				for _, v := range of[int32(point)] {
					if by[v] == [3]float32{} {
						index = append(index, v)
					}
					for row := range 3 {
						by[v][row] += float32((offset[4*row]*d[0] + offset[4*row+1]*d[1] + offset[4*row+2]*d[2]) * c.metres)
						if !(math.Abs(float64(by[v][row])) <= math.MaxFloat32) {
							return nil, c.errorf(m.at, "a blend shape of the mesh %.60q moves point %d too far", m.name, point)
						}
					}
				}
			}
			out = append(out, gltf.PrimitiveAttributes{gltf.POSITION: c.sparse(by, index)})
			for _, v := range index {
				by[v] = [3]float32{}
			}
		}
	}
	return out, nil
}

// sparse writes an accessor that is zero but at some elements.
func (c *characterReader) sparse(values [][3]float32, at []uint32) int {
	slices.Sort(at)
	at = slices.Compact(at)
	a := &gltf.Accessor{ComponentType: gltf.ComponentFloat, Type: gltf.AccessorVec3, Count: len(values), Min: make([]float64, 3), Max: make([]float64, 3)}
	if len(at) > 0 {
		moved := make([][3]float32, len(at))
		for i, v := range at {
			moved[i] = values[v]
			for k, x := range moved[i] {
				if i == 0 && len(at) == len(values) { // no other is zero
					a.Min[k], a.Max[k] = float64(x), float64(x)
				}
				a.Min[k], a.Max[k] = min(a.Min[k], float64(x)), max(a.Max[k], float64(x))
			}
		}
		a.Sparse = &gltf.Sparse{Count: len(at), Indices: gltf.SparseIndices{BufferView: c.view(at), ComponentType: gltf.ComponentUint}, Values: gltf.SparseValues{BufferView: c.view(moved)}}
	}
	c.doc.Accessors = append(c.doc.Accessors, a)
	return len(c.doc.Accessors) - 1
}

// view writes data and returns its buffer view.
func (c *characterReader) view(data any) int {
	n := modeler.WriteAccessor(c.doc, gltf.TargetNone, data) // which aligns it
	view := *c.doc.Accessors[n].BufferView
	c.doc.Accessors = c.doc.Accessors[:n]
	return view
}

// weights returns those of the targets of channels, by their values in percent. Between two shapes one takes over
// from the other.
func weights(channels []blendChannel, value func(k *blendChannel) float64) []float64 {
	var out []float64
	for i := range channels {
		k := &channels[i]
		x, n := value(k), len(out)
		out = append(out, make([]float64, len(k.shapes))...)
		of := out[n:]
		j := 0 // the last shape that has been full before
		for j+2 < len(k.shapes) && x > k.shapes[j+1].full {
			j++
		}
		if len(k.shapes) == 1 || x <= k.shapes[0].full {
			of[0] = x / k.shapes[0].full
			continue
		}
		a, b := k.shapes[j].full, k.shapes[j+1].full
		of[j+1] = (x - a) / (b - a)
		of[j] = 1 - of[j+1]
	}
	return out
}

// percent returns the value of a channel at a time, all layers together.
func (k *stack) percent(c *blendChannel, t int64) float64 {
	out, base := c.value, true
	for _, y := range k.layers {
		if y.mute {
			continue
		}
		if v := y.sliders[c.id]; v != nil {
			out = y.combine(base, y.weightAt(t), out, v.at(t))
		}
		base = false
	}
	return out
}
