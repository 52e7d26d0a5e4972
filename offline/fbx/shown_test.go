package fbx

import (
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/internal/affine"
	"mannequin/internal/testing/must"
)

// shown is a glTF as a viewer shows it, for tests: every vertex by the definition of the format.
type shown struct {
	doc    *gltf.Document
	parent []int
	order  []int
	known  map[int][]float64           // accessors
	binds  map[string]affine.Transform // of joints, instead of the file's; may be nil
	shapes map[int][]float64           // by node: weights of blend shapes, at the time of the last call of worlds
}

// corner is a vertex of a node's mesh.
type corner struct {
	local, at [3]float64 // in the mesh, in the world
	normal    [3]float64 // in the mesh
	uv        [2]float64
	joints    map[string]float64 // weights
}

func newShown(doc *gltf.Document) *shown {
	s := &shown{doc: doc, known: map[int][]float64{}, parent: slices.Repeat([]int{-1}, len(doc.Nodes))}
	for i, n := range doc.Nodes {
		for _, c := range n.Children {
			s.parent[c] = i
		}
	}
	var visit func(n int)
	visit = func(n int) {
		s.order = append(s.order, n)
		for _, c := range doc.Nodes[n].Children {
			visit(c)
		}
	}
	for i := range doc.Nodes {
		if s.parent[i] < 0 {
			visit(i)
		}
	}
	return s
}

// firstSkin returns the inverse bind matrices of the first skin by the joints' names.
func (s *shown) firstSkin(tb testing.TB) map[string]affine.Transform {
	out := map[string]affine.Transform{}
	m := s.read(tb, *s.doc.Skins[0].InverseBindMatrices, 16)
	for i, j := range s.doc.Skins[0].Joints {
		out[s.doc.Nodes[j].Name] = affine.Transform(m[16*i : 16*i+12])
	}
	return out
}

// read returns the numbers of an accessor, w per element.
func (s *shown) read(tb testing.TB, i, w int) []float64 {
	tb.Helper()
	if v, ok := s.known[i]; ok {
		return v
	}
	out := []float64{}
	add := func(v ...float32) {
		for _, x := range v {
			out = append(out, float64(x))
		}
	}
	switch v := must.Get(modeler.ReadAccessor(s.doc, s.doc.Accessors[i], nil))(tb).(type) {
	case []float32:
		add(v...)
	case [][2]float32:
		for _, x := range v {
			add(x[:]...)
		}
	case [][3]float32:
		for _, x := range v {
			add(x[:]...)
		}
	case [][4]float32:
		for _, x := range v {
			add(x[:]...)
		}
	case [][4][4]float32: // rows
		for _, m := range v {
			for _, x := range m {
				add(x[:]...)
			}
		}
	case [][4]uint16:
		for _, x := range v {
			add(float32(x[0]), float32(x[1]), float32(x[2]), float32(x[3]))
		}
	case [][4]uint8:
		for _, x := range v {
			add(float32(x[0]), float32(x[1]), float32(x[2]), float32(x[3]))
		}
	default:
		tb.Fatalf("an accessor of %T", v)
	}
	s.known[i] = out
	return out
}

// worlds returns the nodes' transforms at a time of an animation, or without one.
func (s *shown) worlds(tb testing.TB, a *gltf.Animation, t float64) []affine.Transform {
	type trs struct {
		at, scale [3]float64
		turn      [4]float64
	}
	nodes := make([]trs, len(s.doc.Nodes))
	moved := make([]bool, len(nodes))
	s.shapes = map[int][]float64{}
	for i, n := range s.doc.Nodes {
		nodes[i] = trs{n.Translation, n.ScaleOrDefault(), n.RotationOrDefault()}
	}
	if a != nil {
		for _, c := range a.Channels {
			w := 3
			if c.Target.Path == gltf.TRSWeights {
				w = 1
			}
			if c.Target.Path == gltf.TRSRotation {
				w = 4
			}
			times := s.read(tb, a.Samplers[c.Sampler].Input, 1)
			values := s.read(tb, a.Samplers[c.Sampler].Output, w)
			k := min(max(sort.SearchFloat64s(times, t+1e-6)-1, 0), len(times)-1)
			next := min(k+1, len(times)-1)
			u := 0.0
			if next > k {
				u = min(max((t-times[k])/(times[next]-times[k]), 0), 1)
			}
			if w == 1 {
				n := len(values) / len(times)
				for j := range n {
					s.shapes[*c.Target.Node] = append(s.shapes[*c.Target.Node], (1-u)*values[n*k+j]+u*values[n*next+j])
				}
				continue
			}
			var v [4]float64
			dot := 0.0
			for j := range w {
				dot += values[w*k+j] * values[w*next+j]
			}
			for j := range w {
				b := values[w*next+j]
				if w == 4 && dot < 0 {
					b = -b
				}
				v[j] = (1-u)*values[w*k+j] + u*b
			}
			n := &nodes[*c.Target.Node]
			moved[*c.Target.Node] = true
			switch c.Target.Path {
			case gltf.TRSTranslation:
				n.at = [3]float64(v[:3])
			case gltf.TRSScale:
				n.scale = [3]float64(v[:3])
			default:
				n.turn = v
			}
		}
	}
	out := make([]affine.Transform, len(nodes))
	for _, i := range s.order {
		n := nodes[i]
		l := math.Sqrt(n.turn[0]*n.turn[0] + n.turn[1]*n.turn[1] + n.turn[2]*n.turn[2] + n.turn[3]*n.turn[3])
		for j := range n.turn {
			n.turn[j] /= l
		}
		m := quat(n.turn).matrix()
		local := of(&m, n.at)
		for r := range 3 {
			for c := range 3 {
				local[4*r+c] *= n.scale[c]
			}
		}
		if m := s.doc.Nodes[i].Matrix; m != gltf.DefaultMatrix && m != [16]float64{} && !moved[i] {
			for r := range 3 {
				for c := range 4 {
					local[4*r+c] = m[4*c+r]
				}
			}
		}
		out[i] = local
		if p := s.parent[i]; p >= 0 {
			out[i] = out[p].Mul(&local)
		}
	}
	return out
}

// corners returns the vertices of all nodes with a mesh by the nodes' names, and their triangles' area.
func (s *shown) corners(tb testing.TB, world []affine.Transform) (map[string][]corner, map[string]float64) {
	return s.some(tb, world, true)
}

// places is corners without joints and areas.
func (s *shown) places(tb testing.TB, world []affine.Transform) map[string][]corner {
	out, _ := s.some(tb, world, false)
	return out
}

func (s *shown) some(tb testing.TB, world []affine.Transform, whole bool) (map[string][]corner, map[string]float64) {
	out, area := map[string][]corner{}, map[string]float64{}
	for _, n := range s.order {
		node := s.doc.Nodes[n]
		if node.Mesh == nil {
			continue
		}
		var joints []affine.Transform
		if node.Skin != nil {
			sk := s.doc.Skins[*node.Skin]
			m := s.read(tb, *sk.InverseBindMatrices, 16)
			for i, j := range sk.Joints {
				inverse := affine.Transform(m[16*i : 16*i+12])
				if b, ok := s.binds[s.doc.Nodes[j].Name]; ok {
					inverse = b
				}
				joints = append(joints, world[j].Mul(&inverse))
			}
		}
		for _, p := range s.doc.Meshes[*node.Mesh].Primitives {
			pos := s.read(tb, p.Attributes[gltf.POSITION], 3)
			weights := s.doc.Meshes[*node.Mesh].Weights
			if w, ok := s.shapes[n]; ok {
				weights = w
			}
			if len(p.Targets) > 0 {
				pos = slices.Clone(pos)
			}
			for k, target := range p.Targets {
				if len(weights) != len(p.Targets) {
					tb.Fatalf("node %q has %d weights for %d blend shapes", node.Name, len(weights), len(p.Targets))
				}
				for i, x := range s.read(tb, target[gltf.POSITION], 3) {
					pos[i] += weights[k] * x
				}
			}
			optional := func(name string, w int) []float64 {
				if i, ok := p.Attributes[name]; ok {
					return s.read(tb, i, w)
				}
				return make([]float64, w*len(pos)/3)
			}
			normal, uv := optional(gltf.NORMAL, 3), optional(gltf.TEXCOORD_0, 2)
			js, ws := optional(gltf.JOINTS_0, 4), optional(gltf.WEIGHTS_0, 4)
			first := len(out[node.Name])
			for v := range len(pos) / 3 {
				c := corner{local: [3]float64(pos[3*v : 3*v+3]), normal: [3]float64(normal[3*v : 3*v+3]), uv: [2]float64(uv[2*v : 2*v+2])}
				if whole {
					c.joints = map[string]float64{}
				}
				move := world[n]
				if joints != nil {
					move = affine.Transform{}
					for k := range 4 {
						j, w := int(js[4*v+k]), ws[4*v+k]
						if w == 0 {
							continue
						}
						if whole {
							c.joints[s.doc.Nodes[s.doc.Skins[*node.Skin].Joints[j]].Name] += w
						}
						for i := range move {
							move[i] += w * joints[j][i]
						}
					}
				}
				c.at = move.Apply(c.local[0], c.local[1], c.local[2])
				out[node.Name] = append(out[node.Name], c)
			}
			if !whole {
				continue
			}
			index := must.Get(modeler.ReadIndices(s.doc, s.doc.Accessors[*p.Indices], nil))(tb)
			for i := 0; i < len(index); i += 3 {
				n := newell(3, func(k int) [3]float64 { return out[node.Name][first+int(index[i+k])].at })
				area[node.Name] += math.Sqrt(n[0]*n[0]+n[1]*n[1]+n[2]*n[2]) / 2
			}
		}
	}
	return out, area
}
