package skin

import (
	"fmt"
	"math"
	"slices"

	"github.com/qmuntal/gltf"

	"mannequin/engine/m3"
)

// affine is a 3×4 matrix, row-major: rotation, scale, shear and translation.
type affine [12]float64

var identity = affine{0: 1, 5: 1, 10: 1}

// mul returns the transform that applies b first and a second.
func (a *affine) mul(b *affine) (out affine) {
	for r := range 3 {
		for c := range 4 {
			for k := range 3 {
				out[4*r+c] += a[4*r+k] * b[4*k+c]
			}
		}
		out[4*r+3] += a[4*r+3]
	}
	return out
}

func (a *affine) apply(x, y, z float64) [3]float64 {
	var out [3]float64
	for r := range out {
		out[r] = a[4*r]*x + a[4*r+1]*y + a[4*r+2]*z + a[4*r+3]
	}
	return out
}

// normal transforms a normal by the cofactors, the inverse transpose up to a factor: unit or zero.
func (a *affine) normal(n m3.Vec3) m3.Vec3 {
	row := func(i int) [3]float64 { return [3]float64{a[4*i], a[4*i+1], a[4*i+2]} }
	cross := func(u, v [3]float64) [3]float64 {
		return [3]float64{u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]}
	}
	var out [3]float64
	for i := range out {
		c := cross(row((i+1)%3), row((i+2)%3))
		out[i] = c[0]*float64(n.X) + c[1]*float64(n.Y) + c[2]*float64(n.Z)
	}
	l := math.Sqrt(out[0]*out[0] + out[1]*out[1] + out[2]*out[2])
	if !(l > 0) || math.IsInf(l, 0) {
		return m3.Vec3{}
	}
	if a.mirrors() {
		l = -l
	}
	return m3.V(float32(out[0]/l), float32(out[1]/l), float32(out[2]/l))
}

func (a *affine) mirrors() bool {
	return a[0]*(a[5]*a[10]-a[6]*a[9])-a[1]*(a[4]*a[10]-a[6]*a[8])+a[2]*(a[4]*a[9]-a[5]*a[8]) < 0
}

func (a *affine) finite() bool {
	return !slices.ContainsFunc(a[:], func(v float64) bool { return !(math.Abs(v) < 1e12) })
}

func local(n *gltf.Node) affine {
	if m := n.MatrixOrDefault(); m != gltf.DefaultMatrix {
		return affine{m[0], m[4], m[8], m[12], m[1], m[5], m[9], m[13], m[2], m[6], m[10], m[14]}
	}
	q, s, t := n.RotationOrDefault(), n.ScaleOrDefault(), n.Translation
	x, y, z, w := q[0], q[1], q[2], q[3]
	l := math.Sqrt(x*x + y*y + z*z + w*w)
	x, y, z, w = x/l, y/l, z/l, w/l
	return affine{
		(1 - 2*(y*y+z*z)) * s[0], 2 * (x*y - z*w) * s[1], 2 * (x*z + y*w) * s[2], t[0],
		2 * (x*y + z*w) * s[0], (1 - 2*(x*x+z*z)) * s[1], 2 * (y*z - x*w) * s[2], t[1],
		2 * (x*z - y*w) * s[0], 2 * (y*z + x*w) * s[1], (1 - 2*(x*x+y*y)) * s[2], t[2],
	}
}

// tree is the nodes of the file's scene.
type tree struct {
	order  []int    // nodes of the scene, parents before children
	parent []int    // per node, −1 for none
	world  []affine // per node
}

// newTree walks the scene. A node may have only one parent, and must not be its own ancestor.
func (f *file) newTree() (*tree, error) {
	nodes := f.doc.Nodes
	t := &tree{parent: slices.Repeat([]int{-1}, len(nodes)), world: make([]affine, len(nodes))}
	for i, n := range nodes {
		for k, c := range n.Children {
			where := fmt.Sprintf("nodes[%d].children[%d]", i, k)
			switch {
			case c < 0 || c >= len(nodes):
				return nil, f.errorf(where, "there is no nodes[%d]: there are %d", c, len(nodes))
			case t.parent[c] >= 0:
				return nil, f.errorf(where, "nodes[%d] already is a child of nodes[%d]", c, t.parent[c])
			}
			t.parent[c] = i
		}
	}
	stack, err := f.roots(t)
	if err != nil {
		return nil, err
	}
	// A node with at most one parent is visited once, from a root.
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := nodes[i]
		t.world[i] = local(n)
		if p := t.parent[i]; p >= 0 {
			t.world[i] = t.world[p].mul(&t.world[i])
		}
		if !t.world[i].finite() {
			return nil, f.errorf(fmt.Sprintf("nodes[%d]", i), "its position in the scene is not a number or far too large")
		}
		t.order = append(t.order, i)
		for k := len(n.Children) - 1; k >= 0; k-- {
			stack = append(stack, n.Children[k])
		}
	}
	return t, nil
}

// roots returns the scene's root nodes, first one last; without scenes, all nodes without a parent.
func (f *file) roots(t *tree) (roots []int, err error) {
	d := &f.doc
	if len(d.Scenes) == 0 {
		for i := len(d.Nodes) - 1; i >= 0; i-- {
			if t.parent[i] < 0 {
				roots = append(roots, i)
			}
		}
		return roots, nil
	}
	scene := 0
	if d.Scene != nil {
		scene = *d.Scene
	}
	if scene < 0 || scene >= len(d.Scenes) {
		return nil, f.errorf("scene", "there is no scenes[%d]: there are %d", scene, len(d.Scenes))
	}
	seen := make([]bool, len(d.Nodes))
	for k, n := range d.Scenes[scene].Nodes {
		where := fmt.Sprintf("scenes[%d].nodes[%d]", scene, k)
		switch {
		case n < 0 || n >= len(d.Nodes):
			return nil, f.errorf(where, "there is no nodes[%d]: there are %d", n, len(d.Nodes))
		case t.parent[n] >= 0:
			return nil, f.errorf(where, "nodes[%d] is a child of nodes[%d] and not a root", n, t.parent[n])
		case seen[n]:
			return nil, f.errorf(where, "nodes[%d] is there twice", n)
		}
		seen[n] = true
		roots = append(roots, n)
	}
	slices.Reverse(roots)
	return roots, nil
}
