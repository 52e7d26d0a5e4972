package skin

import (
	"cmp"
	"math"
	"slices"

	"mannequin/engine/m3"
	"mannequin/internal/affine"
)

// Poses differ if a joint is farther away than this share of the character's size, or its axes are.
const posedAlike = 0.01

// boundSkin is what the bind pose of a skin is found from. Slices have one entry per joint of the skin.
type boundSkin struct {
	nodes   []int
	inverse []affine.Transform // nil: the skin has no bind pose of its own
}

// bindPose returns the nodes' transforms with all joints in the pose in which the meshes were bound to
// them, and whether that differs from the pose of the nodes. What the skins do not bind keeps its place
// on the node above it. A bind pose with bones of other lengths is none: some programs store meshes in
// the space of each joint.
func (t *tree) bindPose(nodes []affine.Transform, skins []boundSkin) (world []affine.Transform, differs bool) {
	rank := make([]int, len(t.parent)) // in the order of the tree
	for i, n := range t.order {
		rank[n] = i
	}
	var posed, rest []boundSkin
	for _, s := range skins {
		switch {
		case s.inverse == nil:
		case t.isPosed(&s, rank):
			posed = append(posed, s)
		default:
			rest = append(rest, s)
		}
	}
	if len(posed) == 0 {
		return t.world, false
	}
	slices.SortStableFunc(posed, func(a, b boundSkin) int { return cmp.Compare(len(b.nodes), len(a.nodes)) })
	world = slices.Clone(t.world)
	placed, hangs := make([]bool, len(world)), make([]bool, len(world)) // hangs: below one that is placed
	follow := func() {
		for _, n := range t.order {
			p := t.parent[n]
			if p < 0 || placed[n] {
				continue
			}
			if hangs[n] = placed[p] || hangs[p]; hangs[n] {
				world[n] = world[p].Mul(&nodes[n])
			}
		}
	}
	for i, s := range append(posed, rest...) {
		top, known := s.top(rank), -1
		for k, n := range s.nodes {
			if placed[n] && (known < 0 || rank[n] < rank[s.nodes[known]]) {
				known = k
			}
		}
		if known < 0 {
			if hangs[s.nodes[top]] {
				known = top
			} else if i >= len(posed) {
				continue // as its nodes are
			}
		}
		var mesh affine.Transform // from the space of the mesh
		if known >= 0 {
			mesh = world[s.nodes[known]].Mul(&s.inverse[known])
		} else {
			mesh = straight(t.world[s.nodes[top]].Mul(&s.inverse[top]), &s.inverse[top])
		}
		for k, n := range s.nodes {
			if back, ok := s.inverse[k].Inverse(); ok && !placed[n] {
				world[n], placed[n] = mesh.Mul(&back), true
			}
		}
		follow()
	}
	for _, n := range t.order {
		if !world[n].Finite() {
			return t.world, false
		}
	}
	return world, true
}

// top returns the joint that is first in the tree.
func (s *boundSkin) top(rank []int) (top int) {
	for k, n := range s.nodes {
		if rank[n] < rank[s.nodes[top]] {
			top = k
		}
	}
	return top
}

// isPosed reports whether a skin's joints stand unlike they were bound, on the same bones.
func (t *tree) isPosed(s *boundSkin, rank []int) bool {
	top := s.top(rank)
	mesh := t.world[s.nodes[top]].Mul(&s.inverse[top])
	bound := make([]affine.Transform, len(s.nodes))
	of := make(map[int]int, len(s.nodes))
	size, least, most := 0.0, [3]float64{}, [3]float64{}
	for k, n := range s.nodes {
		back, ok := s.inverse[k].Inverse()
		if !ok {
			return false
		}
		bound[k], of[n] = mesh.Mul(&back), k
		for c := range 3 {
			v := t.world[n][4*c+3]
			if k == 0 {
				least[c], most[c] = v, v
			}
			least[c], most[c] = min(least[c], v), max(most[c], v)
		}
	}
	for c := range 3 {
		size = max(size, most[c]-least[c])
	}
	alike := true
	for k, n := range s.nodes {
		alike = alike && near(&bound[k], &t.world[n], posedAlike*size)
	}
	if alike {
		return false
	}
	same, bones := 0, 0
	for k, n := range s.nodes {
		p := t.parent[n]
		for p >= 0 {
			if _, ok := of[p]; ok {
				break
			}
			p = t.parent[p]
		}
		if p < 0 {
			continue
		}
		is, was := distance(&t.world[n], &t.world[p]), distance(&bound[k], &bound[of[p]])
		if is < posedAlike*size && was < posedAlike*size {
			continue
		}
		if bones++; math.Abs(is-was) < 0.1*max(is, was) {
			same++
		}
	}
	return bones > 0 && 4*same >= 3*bones
}

// distance returns how far the origins of two frames are apart.
func distance(a, b *affine.Transform) float64 {
	x, y, z := a[3]-b[3], a[7]-b[7], a[11]-b[11]
	return math.Sqrt(x*x + y*y + z*z)
}

// near reports whether two frames have the same origin, up to far, and about the same axes.
func near(a, b *affine.Transform, far float64) bool {
	long := 0.0
	for r := range 3 {
		for c := range 3 {
			long = max(long, math.Abs(b[4*r+c]))
		}
	}
	for r := range 3 {
		for c := range 3 {
			if math.Abs(a[4*r+c]-b[4*r+c]) > 5*posedAlike*long {
				return false
			}
		}
	}
	return distance(a, b) <= far
}

// straight turns the mesh of a posed first joint back, by at most 45°, to the nearest right angles: meshes
// are upright in their own space. inverse is the joint's inverse bind matrix; its place stays.
func straight(mesh affine.Transform, inverse *affine.Transform) affine.Transform {
	x, ok := rotationOf(&mesh)
	if !ok {
		return mesh
	}
	back := rightAngles(x).Mul(x.Conj())
	if a := back.Angle(m3.Ident); a < 1e-3 || a > math.Pi/4 {
		return mesh
	}
	at, ok := inverse.Inverse()
	if !ok {
		return mesh
	}
	from := mesh.Apply(at[3], at[7], at[11])
	turn := affineOf(back)
	out := turn.Mul(&mesh)
	to := out.Apply(at[3], at[7], at[11])
	out[3], out[7], out[11] = out[3]+from[0]-to[0], out[7]+from[1]-to[1], out[11]+from[2]-to[2]
	return out
}

// affineOf returns a rotation as a transform.
func affineOf(q m3.Quat) affine.Transform {
	x, y, z := q.Rotate(m3.V(1, 0, 0)), q.Rotate(m3.V(0, 1, 0)), q.Rotate(m3.V(0, 0, 1))
	return affine.Transform{
		float64(x.X), float64(y.X), float64(z.X), 0,
		float64(x.Y), float64(y.Y), float64(z.Y), 0,
		float64(x.Z), float64(y.Z), float64(z.Z), 0,
	}
}

// rotationOf returns the rotation of a transform without its scale. Mirrored axes are mirrored back, in x.
// It fails if axes have no length or lie in a plane.
func rotationOf(a *affine.Transform) (m3.Quat, bool) {
	axis := func(c int, by float64) m3.Vec3 { // normalised in float64, since scales may be large
		x, y, z := a[c], a[4+c], a[8+c]
		l := by / math.Sqrt(x*x+y*y+z*z)
		return m3.V(float32(x*l), float32(y*l), float32(z*l))
	}
	side := 1.0
	if a.Det() < 0 {
		side = -1
	}
	x, y := axis(0, side), axis(1, 1)
	z := x.Cross(y).Normalize(m3.Vec3{})
	if !x.Finite() || !y.Finite() || z == (m3.Vec3{}) {
		return m3.Ident, false
	}
	return m3.FromAxes(x, z.Cross(x), z), true
}
