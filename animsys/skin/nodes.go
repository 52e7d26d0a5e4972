package skin

import (
	"fmt"
	"math"
	"slices"

	"github.com/qmuntal/gltf"

	"mannequin/internal/affine"
)

func local(n *gltf.Node) affine.Transform {
	if m := n.MatrixOrDefault(); m != gltf.DefaultMatrix {
		return affine.Transform{m[0], m[4], m[8], m[12], m[1], m[5], m[9], m[13], m[2], m[6], m[10], m[14]}
	}
	return placed(n.Translation, n.RotationOrDefault(), n.ScaleOrDefault())
}

// placed returns the transform of a translation, a rotation of any length but 0, and a scale.
func placed(t [3]float64, q [4]float64, s [3]float64) affine.Transform {
	x, y, z, w := q[0], q[1], q[2], q[3]
	l := math.Sqrt(x*x + y*y + z*z + w*w)
	x, y, z, w = x/l, y/l, z/l, w/l
	return affine.Transform{
		(1 - 2*(y*y+z*z)) * s[0], 2 * (x*y - z*w) * s[1], 2 * (x*z + y*w) * s[2], t[0],
		2 * (x*y + z*w) * s[0], (1 - 2*(x*x+z*z)) * s[1], 2 * (y*z - x*w) * s[2], t[1],
		2 * (x*z - y*w) * s[0], 2 * (y*z + x*w) * s[1], (1 - 2*(x*x+y*y)) * s[2], t[2],
	}
}

// tree is the nodes of the file's scene.
type tree struct {
	order  []int              // nodes of the scene, parents before children
	parent []int              // per node, −1 for none
	world  []affine.Transform // per node
}

// newTree walks the scene. A node may have only one parent, and must not be its own ancestor.
func (f *file) newTree() (*tree, error) {
	nodes := f.doc.Nodes
	t := &tree{parent: slices.Repeat([]int{-1}, len(nodes)), world: make([]affine.Transform, len(nodes))}
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
			t.world[i] = t.world[p].Mul(&t.world[i])
		}
		if !t.world[i].Finite() {
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
