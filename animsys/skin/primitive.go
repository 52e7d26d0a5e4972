package skin

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/qmuntal/gltf"

	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/internal/affine"
)

const (
	farthest      = 1e6 // largest valid coordinate, in the file's unit
	influenceSets = 4   // of four joints each, that are read of a vertex
)

// primitive appends the triangles of a primitive of node n. fixed is the only joint that moves
// them, or −1 if the skin has weights.
func (r *reader) primitive(where string, p *gltf.Primitive, n, fixed int) error {
	m := &r.skin.mesh
	first := len(m.pos)
	pos, err := r.attribute(where, p, "POSITION", -1, MaxVertices-first, gltf.AccessorVec3)
	if err != nil {
		return err
	}
	if pos == nil {
		return r.errorf(where+".attributes.POSITION", "is missing")
	}
	count := pos.count
	normal, err := r.attribute(where, p, "NORMAL", count, MaxVertices, gltf.AccessorVec3)
	if err != nil {
		return err
	}
	if name := fmt.Sprintf("JOINTS_%d", influenceSets); fixed < 0 {
		if _, ok := p.Attributes[name]; ok {
			return r.errorf(where+".attributes."+name, "more than %d joints for a vertex are not read: limit them in the export", 4*influenceSets)
		}
	}
	move := []affine.Transform{r.world[n]}
	m.influences = slices.Grow(m.influences, count)[:first+count]
	pulls := m.influences[first:]
	if fixed >= 0 {
		for v := range pulls {
			pulls[v] = []influence{{int32(fixed), 1}}
		}
	} else {
		skin := *r.doc.Nodes[n].Skin
		move = r.bind[skin]
		if err := r.influences(where, p, skin, pulls); err != nil {
			return err
		}
	}
	look, colour, uv, err := r.look(where, p, count)
	if err != nil {
		return err
	}
	index, err := r.indices(where, p, count)
	if err != nil {
		return err
	}
	nodes, flipped := r.skinNodes(n), 0
	for v := range count {
		var blend affine.Transform
		if fixed >= 0 {
			blend = move[0]
		} else {
			for i, q := range pulls[v] {
				for k := range blend {
					blend[k] += float64(q.weight) * move[q.joint][k]
				}
				pulls[v][i].joint = int32(r.jointOf[nodes[q.joint]])
			}
		}
		if blend.Det() < 0 {
			flipped++
		}
		at := blend.Apply(pos.at(v, 0), pos.at(v, 1), pos.at(v, 2))
		place := m3.V(float32(at[0]), float32(at[1]), float32(at[2]))
		if !place.Finite() || place.Len() > farthest {
			return r.errorf(where, "vertex %d lies at %v, beyond ±%g: move the character to the origin before the export", v, place, float64(farthest))
		}
		var out m3.Vec3
		if normal != nil {
			out = blend.Normal(m3.V(float32(normal.at(v, 0)), float32(normal.at(v, 1)), float32(normal.at(v, 2))))
		}
		m.pos, m.normal = append(m.pos, place), append(m.normal, out)
	}
	m.colour = append(m.colour, colour...)
	if uv == nil {
		uv = make([][2]float32, count)
	}
	m.uv = append(m.uv, uv...)
	r.parts = append(r.parts, body.Part{Start: len(m.index), Count: len(index)})
	r.used, r.ends = append(r.used, look), append(r.ends, len(m.pos))
	mirrored := 2*flipped > count
	for i := 0; i < len(index); i += 3 {
		a, b, c := index[i], index[i+1], index[i+2]
		if mirrored {
			b, c = c, b
		}
		m.index = append(m.index, uint32(first)+a, uint32(first)+b, uint32(first)+c)
	}
	return nil
}

// attribute reads a vertex attribute: finite elements, one per vertex unless count is negative. It
// returns nil if the primitive has no such attribute.
func (r *reader) attribute(where string, p *gltf.Primitive, name string, count, most int, types ...gltf.AccessorType) (*elements, error) {
	i, ok := p.Attributes[name]
	if !ok {
		return nil, nil
	}
	where += ".attributes." + name
	e, err := r.accessor(where, i, most, types...)
	if err != nil {
		return nil, err
	}
	if count >= 0 && e.count != count {
		return nil, r.errorf(where, "has %d elements, POSITION has %d", e.count, count)
	}
	return e, r.finite(where, e, farthest)
}

func (r *reader) skinNodes(n int) []int {
	if k := r.doc.Nodes[n].Skin; k != nil {
		return r.doc.Skins[*k].Joints
	}
	return nil
}

// influences reads the influences of each vertex, by index in skins[skin].joints: at most four, the
// strongest first, with weights that sum to 1.
func (r *reader) influences(where string, p *gltf.Primitive, skin int, pulls [][]influence) error {
	joints := len(r.doc.Skins[skin].Joints)
	var js, ws [influenceSets]*elements
	var atJ, atW [influenceSets]string
	for set := range influenceSets {
		joint, weight := fmt.Sprintf("JOINTS_%d", set), fmt.Sprintf("WEIGHTS_%d", set)
		atJ[set], atW[set] = where+".attributes."+joint, where+".attributes."+weight
		j, err := r.attribute(where, p, joint, len(pulls), MaxVertices, gltf.AccessorVec4)
		if err != nil {
			return err
		}
		w, err := r.attribute(where, p, weight, len(pulls), MaxVertices, gltf.AccessorVec4)
		if err != nil {
			return err
		}
		switch {
		case j == nil && (set == 0 || w != nil):
			return r.errorf(atJ[set], "is missing: the mesh has a skin")
		case j == nil:
			continue
		case w == nil:
			return r.errorf(atW[set], "is missing: the mesh has a skin")
		case !j.isWhole():
			return r.errorf(atJ[set], "is of %v, want UNSIGNED_BYTE or UNSIGNED_SHORT", j.kind)
		}
		js[set], ws[set] = j, w
	}
	kept := make([]influence, 0, 4*len(pulls)) // one block: small ones would take twice the memory
	var all [4 * influenceSets]influence
	for v := range pulls {
		pull := all[:0]
		for set, w := range ws {
			for c := 0; c < 4 && w != nil; c++ {
				share, joint := w.at(v, c), js[set].whole(v, c)
				if share < 0 {
					return r.errorf(atW[set], "element %d has the value %g", v, share)
				}
				if share == 0 {
					continue
				}
				if joint >= joints {
					return r.errorf(atJ[set], "element %d names joint %d, skins[%d] has %d", v, joint, skin, joints)
				}
				pull = append(pull, influence{int32(joint), float32(share)})
			}
		}
		if len(pull) == 0 {
			pull = append(pull, influence{0, 1})
			if r.unweighted++; r.unweighted == 1 {
				r.follows = r.jointOf[r.doc.Skins[skin].Joints[0]]
			}
		}
		if len(pull) > 4 {
			r.overLimit++
		}
		first := len(kept)
		kept = append(kept, strongest(pull)...)
		pulls[v] = kept[first:len(kept):len(kept)]
	}
	return nil
}

// strongest sums each joint's weights and returns the four largest, in order, scaled to the sum 1.
func strongest(all []influence) []influence {
	out := all[:0]
	for _, p := range all {
		if k := slices.IndexFunc(out, func(q influence) bool { return q.joint == p.joint }); k >= 0 {
			out[k].weight += p.weight
		} else {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b influence) int { return cmp.Compare(b.weight, a.weight) })
	out = out[:min(len(out), 4)]
	var sum float32
	for _, p := range out {
		sum += p.weight
	}
	if m3.Abs(sum-1) > 1e-6 { // otherwise keep the bits
		for i := range out {
			out[i].weight /= sum
		}
	}
	return out
}

// indices returns three vertices per triangle.
func (r *reader) indices(where string, p *gltf.Primitive, count int) ([]uint32, error) {
	room := MaxTriangles - len(r.skin.mesh.index)/3
	most := 3 * room
	if p.Mode != gltf.PrimitiveTriangles {
		most = room + 2
	}
	out := make([]uint32, 0, count)
	if p.Indices == nil {
		if count > most {
			return nil, r.errorf(where, "%d vertices without indices are too many triangles: at most %d are read", count, MaxTriangles)
		}
		for i := range count {
			out = append(out, uint32(i))
		}
	} else {
		where += ".indices"
		e, err := r.accessor(where, *p.Indices, most, gltf.AccessorScalar)
		if err != nil {
			return nil, err
		}
		if !e.isWhole() {
			return nil, r.errorf(where, "is of %v, want an unsigned type", e.kind)
		}
		for i := range e.count {
			v := e.whole(i, 0)
			if v >= count {
				return nil, r.errorf(where, "element %d is vertex %d, there are %d", i, v, count)
			}
			out = append(out, uint32(v))
		}
	}
	switch {
	case p.Mode == gltf.PrimitiveTriangles && len(out)%3 != 0:
		return nil, r.errorf(where, "%d of them are not a whole number of triangles", len(out))
	case p.Mode == gltf.PrimitiveTriangles:
		return out, nil
	case len(out) < 3:
		return nil, r.errorf(where, "%d vertices are too few for a %v", len(out), p.Mode)
	}
	return separate(out, p.Mode == gltf.PrimitiveTriangleFan), nil
}

// separate returns the triangles of a fan or a strip. Those without an area, by which strips are joined,
// are left out.
func separate(chain []uint32, fan bool) []uint32 {
	out := make([]uint32, 0, 3*(len(chain)-2))
	for i := range len(chain) - 2 {
		a, b, c := chain[i], chain[i+1], chain[i+2]
		switch {
		case fan:
			a = chain[0]
		case i%2 == 1: // every second one of a strip turns the other way
			b, c = c, b
		}
		if a != b && b != c && c != a {
			out = append(out, a, b, c)
		}
	}
	return out
}
